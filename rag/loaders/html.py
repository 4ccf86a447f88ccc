"""HTML: blocks on lines of their own, inline markup left in its sentence, tables as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from bs4 import BeautifulSoup
from bs4.element import Tag

from rag.loaders.base import Assembly, Content, clean, decode, sections_from
from rag.loaders.html_nodes import (
    BLOCKS,
    IGNORED,
    is_data_table,
    is_visible,
    layout_tables,
    markdown_table,
    visible_text,
)

CHARSET = re.compile(rb"<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
PROLOGUE = re.compile(r"\A\s*<\?xml[^>]*\?>")
SCOPES = frozenset(("section", "article"))
LISTS = frozenset(("ul", "ol", "menu"))
MAX_INDENTED_LISTS = 10
MAX_SECTION_DEPTH = 10
MAX_NESTING = 1000
MAX_TITLE_CHARACTERS = 300
HEADING = re.compile(r"h[1-6]")


def load_html(data: bytes, name: str) -> Content:
    """The visible text, with a section for each heading; a section or article element ends the headings inside it."""
    declared = CHARSET.search(data[:4096])
    markup = decode(data, name, declared.group(1).decode("ascii") if declared else None)
    # Without the prologue, and with a tag in any case, so that the parser has nothing to warn of.
    soup = _BoundedSoup("<html>" + PROLOGUE.sub("", markup), "lxml")
    writer = _Writer()
    writer.write(soup)
    text = writer.assembly.text
    # Drawings have titles of their own.
    titles = (one for one in soup.find_all("title", limit=10) if one.find_parent("svg") is None)
    title = " ".join(clean("".join(one.get_text() for one in islice(titles, 1))).split())
    marks = writer.marks if any(path for _, path in writer.marks) else [(0, (title,))] if title else []
    return Content(text, sections_from(text, marks), blocks=tuple(writer.assembly.blocks), format="html")


class _BoundedSoup(BeautifulSoup):
    """A tree of bounded depth: tags that lie deeper only part words, as each text in them would cost their depth."""

    def reset(self) -> None:
        """Forget what was parsed; the parser begins with this."""
        super().reset()
        self._too_deep = 0
        self._muted_from = 0

    def handle_starttag(self, name: str, *arguments: object, **options: object) -> Tag | None:
        """Open a tag, or only count one that lies too deep."""
        if not self._too_deep and len(self.tagStack) <= MAX_NESTING:
            return super().handle_starttag(name, *arguments, **options)
        self._too_deep += 1
        self.handle_data(" ")
        if name in IGNORED and not self._muted_from:
            self._muted_from = self._too_deep
        return None

    def handle_endtag(self, name: str, *arguments: object) -> None:
        """Close a tag, or one of those only counted."""
        if not self._too_deep:
            super().handle_endtag(name, *arguments)
            return
        if self._muted_from == self._too_deep:
            self._muted_from = 0
        self._too_deep -= 1
        self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        """Add text, unless it stands in a script or the like that lies too deep."""
        if not self._muted_from:
            super().handle_data(data)


@dataclass
class _List:
    """One open list: what its next item is marked with, and the mark still waiting for its item's first words."""

    next_number: int | None
    waiting: str = ""
    last_mark: str = ""


@dataclass
class _Writer:
    """Walks a tree without recursion (pages nest thousands deep) and writes its text block by block."""

    assembly: Assembly = field(default_factory=Assembly)
    marks: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    # (scope, level, title) of the open headings, and those that were open around each open scope.
    _headings: tuple[tuple[int, int, str], ...] = ()
    _outside: list[tuple[tuple[int, int, str], ...]] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _list_is_open: bool = False
    _heading_level: int = 0
    _in_pre: int = 0
    _after_term: bool = False

    def write(self, root: Tag) -> None:
        """Write everything visible under ``root``."""
        layout = layout_tables(root)
        # What to leave stands on the stack under what is in it, as the function that leaves it.
        stack: list[object] = [root]
        while stack:
            node = stack.pop()
            if callable(node) and not isinstance(node, Tag):
                node()
            elif not isinstance(node, Tag):
                self._string(node)
            elif is_visible(node):
                if node.name == "table" and id(node) not in layout and is_data_table(node):
                    self._table(node)
                    continue
                stack.append(self._enter(node))
                stack.extend(reversed(node.contents))
        self._flush()

    def _string(self, node: object) -> None:
        text = visible_text(node)
        self._inline.append(text if self._in_pre else re.sub(r"\s+", " ", text))

    def _enter(self, node: Tag) -> Callable[[], None]:
        """Begin what the element begins; what to call at its end."""
        if node.name == "br":
            self._inline.append("\n")
        if node.name not in BLOCKS:
            return lambda: None
        if self._heading_level and not HEADING.fullmatch(node.name):
            # Blocks inside a heading part its words, they do not end it.
            self._inline.append(" ")
            return self._inline_space
        self._flush()
        if node.name in SCOPES:
            self._outside.append(self._headings)
        elif node.name in LISTS:
            number = str(node.get("start", "1"))
            start = int(number) if re.fullmatch(r"-?\d{1,9}", number) else 1
            self._lists.append(_List(start if node.name == "ol" else None))
        elif node.name == "li" and self._lists:
            self._item(self._lists[-1])
        elif node.name == "pre":
            self._in_pre += 1
        elif HEADING.fullmatch(node.name):
            self._heading_level = int(node.name[1])
        return partial(self._leave, node)

    def _inline_space(self) -> None:
        self._inline.append(" ")

    def _item(self, current: _List) -> None:
        current.waiting = "- "
        if current.next_number is not None:
            current.waiting = f"{current.next_number}. "
            current.next_number += 1
        current.last_mark = current.waiting

    def _leave(self, node: Tag) -> None:
        self._flush()
        if node.name in SCOPES:
            self._headings = self._outside.pop()
        elif node.name in LISTS:
            self._lists.pop()
            self._list_is_open = bool(self._lists) and self._list_is_open
        elif node.name == "pre":
            self._in_pre -= 1
        elif HEADING.fullmatch(node.name):
            self._heading_level = 0
        self._after_term = node.name == "dt"

    def _flush(self) -> None:
        """Write the inline text collected so far as one block."""
        text, self._inline = "".join(self._inline), []
        if self._in_pre:
            text = text.strip("\n").rstrip()
        else:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
            text = re.sub(r"\n{3,}", "\n\n", text)
        if not text.strip():
            return
        if self._heading_level and len(text) <= MAX_TITLE_CHARACTERS:
            self._heading(" ".join(text.split()), self._heading_level)
        elif self._lists and not self._in_pre:
            self._list_line(text)
        else:
            self._block("code" if self._in_pre else "paragraph", text)

    def _heading(self, title: str, level: int) -> None:
        # A heading of the same rank in an inner section lies under the one outside; a deeper one outside has ended.
        scope = len(self._outside)
        around = [one for one in self._headings if one[1] < level or (one[1] == level and one[0] < scope)]
        self._headings = (*around[: MAX_SECTION_DEPTH - 1], (scope, level, title))
        self._block("heading", title, new_section=True)

    def _list_line(self, text: str) -> None:
        mark, self._lists[-1].waiting = self._lists[-1].waiting, ""
        indent = "  " * min(len(self._lists) - 1, MAX_INDENTED_LISTS)
        hanging = indent + " " * len(self._lists[-1].last_mark)
        line = (indent + mark if mark else hanging) + text.replace("\n", "\n" + hanging)
        if self._list_is_open:
            self.assembly.extend_last("\n" + line)
        else:
            self._block("list", line)
            self._list_is_open = True

    def _block(self, kind: str, text: str, new_section: bool = False, joined_by: str = "\n\n") -> None:
        block = self.assembly.add(kind, text, "\n" if self._after_term else joined_by)
        self._list_is_open = self._after_term = False
        path = tuple(title for *_, title in self._headings)
        if new_section or path != (self.marks[-1][1] if self.marks else ()):
            self.marks.append((block.start, path))

    def _table(self, node: Tag) -> None:
        self._flush()
        caption, rows = markdown_table(node)
        if caption:
            self._block("paragraph", caption)
        if rows:
            self._block("table", rows, joined_by="\n" if caption else "\n\n")
