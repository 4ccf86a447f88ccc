"""Which functions and classes a source file defines, and where each begins and ends, as its grammar tells."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING

from rag.schema import Span

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

# By language: the package that holds its grammar, and the function that gives it.
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "bash": ("tree_sitter_bash", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "swift": ("tree_sitter_swift", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "lua": ("tree_sitter_lua", "language"),
}


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


FUNCTIONS = _kinds(
    "function_definition function_declaration generator_function_declaration function_item function_signature_item "
    "function_signature method_definition method_declaration method_signature abstract_method_signature "
    "constructor_declaration compact_constructor_declaration destructor_declaration operator_declaration "
    "conversion_operator_declaration method singleton_method init_declaration deinit_declaration "
    "protocol_function_declaration secondary_constructor macro_definition"
)
CLASSES = _kinds(
    "class_definition class_declaration abstract_class_declaration class_specifier struct_specifier union_specifier "
    "enum_specifier interface_declaration annotation_type_declaration enum_declaration record_declaration "
    "struct_declaration object_declaration companion_object object_definition trait_definition trait_declaration "
    "enum_definition protocol_declaration struct_item enum_item union_item impl_item trait_item mod_item "
    "namespace_definition namespace_declaration internal_module module class singleton_class type_spec"
)
BODY_NEEDED = _kinds(
    "type_spec struct_specifier union_specifier enum_specifier class_specifier namespace_definition mod_item"
)
# A value that has a function for its right side is a function of the left side's name.
ASSIGNMENTS = _kinds(
    "variable_declarator assignment_expression assignment_statement pair field field_definition public_field_definition"
)
FUNCTION_VALUES = _kinds("arrow_function function_expression generator_function function_definition")
COMMENTS = _kinds(
    "comment line_comment block_comment multiline_comment attribute_item attribute_list attribute decorator annotation"
)
# Data, which may be long and defines nothing.
DATA = _kinds("list dictionary set tuple string array initializer_list array_creation_expression")
# A file in another language than its name says takes ten seconds a megabyte.
MAX_CHARACTERS = 2_000_000
MAX_SECONDS = 30.0
READ_BYTES = 65_536
MAX_NAME = 80
MAX_SIGNATURE = 600
DECORATORS = ("@", "[", "#[")
# Definitions that lie deeper in the tree are left to the definition around them.
MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class with its decorators and the comment above it: ``text[start:end]``.

    ``signature`` is the span of its first line or lines, up to the body; ``parts`` are what a class defines inside.
    """

    path: tuple[str, ...]
    start: int
    end: int
    signature: Span
    parts: tuple[Definition, ...] = field(default=())


def outline(text: str, language: str) -> tuple[Definition, ...]:
    """What the text defines at its top level, in order; nothing where there is no grammar for the language."""
    if language not in GRAMMARS or len(text) > MAX_CHARACTERS:
        return ()
    data = text.encode("utf-8", "replace")
    tree = _parsed(data, language)
    found = _Reader(text, data).definitions(tree.root_node) if tree else []
    return _in_order(text, found, 0, len(text))


def _parsed(data: bytes, language: str) -> Tree | None:
    """The tree, or None where it takes too long: some grammars need time with the square of what is left open."""
    from tree_sitter import Parser

    deadline = time.monotonic() + MAX_SECONDS
    try:
        return Parser(_grammar(language)).parse(
            lambda place, _: data[place : place + READ_BYTES],
            progress_callback=lambda *_: time.monotonic() > deadline,
        )
    except ValueError:  # what the parser says of a parse that was broken off
        return None


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    package, function = GRAMMARS[language]
    return Language(getattr(import_module(package), function)())


class _Reader:
    """Reads definitions out of a tree whose places are bytes, and gives characters."""

    def __init__(self, text: str, data: bytes) -> None:
        self.text = text
        self._characters: list[int] | None = None
        if len(data) != len(text):
            self._characters = [0, *accumulate(byte & 0xC0 != 0x80 for byte in data)]

    def at(self, byte: int) -> int:
        """The character that the byte at a character's edge begins."""
        return self._characters[byte] if self._characters else byte

    def definitions(self, node: Node) -> list[Definition]:
        """Those within the node, outermost only, the inner ones as their parts."""
        return list(self._within(node, (), None, 0))

    def _within(self, node: Node, path: tuple[str, ...], begin: int | None, depth: int) -> Iterator[Definition]:
        """``begin`` is where a wrapper that holds one definition alone begins, such as ``export``."""
        before: Node | None = None
        first = found = 0
        for child in node.children:
            if child.type in COMMENTS:
                if before is None or self._apart(before, child):
                    first = child.start_byte
                before = child
                continue
            start = child.start_byte if before is None or self._apart(before, child) else first
            before = None
            if begin is not None and not found and child.end_byte + 2 >= node.end_byte:
                start = min(start, begin)
            if name := self._name(child):
                found += 1
                yield self._definition(child, (*path, *name), start, depth)
            elif depth < MAX_DEPTH and child.child_count and child.type not in DATA:
                for definition in self._within(child, path, start, depth + 1):
                    found += 1
                    yield definition

    def _apart(self, one: Node, other: Node) -> bool:
        """Whether a blank line, or code, stands between a comment and what follows it."""
        between = self.text[self.at(one.end_byte) : self.at(other.start_byte)]
        # Some grammars count a comment's line end as its own.
        ended = self.text[self.at(one.end_byte) - 1] == "\n"
        return between.count("\n") + ended > 1 or bool(between.strip())

    def _definition(self, node: Node, path: tuple[str, ...], start: int, depth: int) -> Definition:
        body = node.child_by_field_name("body")
        parts: Sequence[Definition] = ()
        if node.type in CLASSES and depth < MAX_DEPTH:
            parts = list(self._within(body or node, path, None, depth + 1))
        begin, end = self.at(node.start_byte), self.at(node.end_byte)
        return Definition(path, self.at(start), end, self._signature(begin, end), tuple(parts))

    def _signature(self, begin: int, end: int) -> Span:
        """The line that names the definition, decorators above it left out, and those up to the bracket it opens."""
        line_start = self.text.rfind("\n", 0, begin) + 1
        first = position = line_start if begin - line_start <= MAX_NAME else begin
        opened = 0
        named = False
        for line in self.text[first : min(end, first + MAX_SIGNATURE)].splitlines(keepends=True):
            position += len(line)
            if not named and line.lstrip().startswith(DECORATORS):
                first = position
                continue
            named = True
            opened += line.count("(") - line.count(")")
            if opened <= 0:
                break
        # A decorator on the very line of the name is part of it.
        first = first if named else begin
        found = self.text[first : min(position, end)]
        return first + len(found) - len(found.lstrip()), first + len(found.rstrip())

    def _name(self, node: Node) -> tuple[str, ...]:
        """The path of a definition's own name; empty where the node defines nothing."""
        if not node.is_named:
            return ()
        if node.type in ASSIGNMENTS:
            return self._assigned(node)
        if node.type not in FUNCTIONS and node.type not in CLASSES:
            return ()
        if node.type in BODY_NEEDED:
            # Without a body it is a mention of a type; with one it is its definition.
            body = node.child_by_field_name("body") or node.child_by_field_name("type")
            if body is None or not body.child_count:
                return ()
        found = node.child_by_field_name("name")
        if found is None and node.type == "impl_item":
            found = node.child_by_field_name("type")
        inner = node.child_by_field_name("declarator")
        while found is None and inner is not None:
            deeper = inner.child_by_field_name("declarator")
            if deeper is None and inner.type.endswith("declarator") and inner.named_children:
                deeper = inner.named_children[0]
            found, inner = (None, deeper) if deeper is not None else (inner, None)
        if found is None:
            kinds = ("identifier", "simple_identifier", "type_identifier")
            found = next((child for child in node.children if child.type in kinds), None)
        name = self._words(found) if found is not None else node.type.split("_")[0]
        receiver = node.child_by_field_name("receiver")
        owner = self._words(receiver).strip("()").split()[-1:] if receiver is not None else []
        return tuple(part for part in (*(one.strip("*&") for one in owner), *name.split("::")) if part)

    def _assigned(self, node: Node) -> tuple[str, ...]:
        named = node.named_children
        if len(named) < 2:
            return ()
        value = named[-1]
        while value.type == "expression_list" and value.named_child_count == 1:
            value = value.named_children[0]
        return (self._words(named[0]),) if value.type in FUNCTION_VALUES else ()

    def _words(self, node: Node) -> str:
        return " ".join(self.text[self.at(node.start_byte) : self.at(node.end_byte)].split())[:MAX_NAME]


def _in_order(text: str, found: Sequence[Definition], low: int, high: int) -> tuple[Definition, ...]:
    """The definitions in order without overlap, each with the rest of its last line: ``;`` and a comment behind it."""
    kept: list[Definition] = []
    found = sorted(found, key=lambda one: one.start)
    for one, following in zip(found, [*(other.start for other in found[1:]), high]):
        start = max(one.start, low)
        line_end = text.find("\n", one.end)
        end = min(high if line_end < 0 else line_end, max(following, one.end), high)
        if start < one.end:
            parts = _in_order(text, one.parts, one.start, one.end)
            kept.append(Definition(one.path, start, end, one.signature, parts))
            low = end
    return tuple(kept)
