"""What stands beside the code: a sentence on every public name, and paragraphs that no automatic re-wrap has broken."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
CODE = sorted([PROJECT / "app.py", *PROJECT.glob("pages/**/*.py"), *PROJECT.glob("rag/**/*.py")])
ALL = sorted([*CODE, *PROJECT.glob("tests/**/*.py"), *PROJECT.glob("data/*.py")])
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FEWEST_WORDS = 3


def undocumented(node: ast.Module | ast.ClassDef, inside: str) -> Iterator[str]:
    """Public functions, classes, methods and properties, setters too, without a docstring."""
    for child in node.body:
        if isinstance(child, DEFINITIONS) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield f"{inside}{child.name}, line {child.lineno}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{inside}{child.name}.")


def paragraphs(source: str) -> Iterator[list[str]]:
    """The lines of each paragraph of the docstrings and comments in a file."""
    texts = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, *DEFINITIONS)):
            texts.append(ast.get_docstring(node) or "")
    before = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith("#"):
            goes_on = before == (token.start[0] - 1, token.start[1])
            texts.append(f"{texts.pop()}\n{token.string[1:]}" if goes_on else token.string[1:])
            before = token.start
    for text in texts:
        for part in text.split("\n\n"):
            if part.strip():
                yield [line.strip() for line in part.strip().split("\n")]


def broken(lines: list[str]) -> Iterator[str]:
    """Lines of a word or three that stand between others of a paragraph."""
    for line, following in zip(lines, lines[1:], strict=False):
        if len(line.split()) <= FEWEST_WORDS and not line.startswith(("-", "*", "|", "#")):
            yield f"{line} / {following}"


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_public_name_has_a_sentence(path: Path) -> None:
    assert list(undocumented(ast.parse(path.read_text(encoding="utf-8")), "")) == []


@pytest.mark.parametrize("path", ALL, ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_line_of_a_few_words_stands_within_a_paragraph(path: Path) -> None:
    found = [line for part in paragraphs(path.read_text(encoding="utf-8")) for line in broken(part)]
    assert found == []


def test_the_rules_themselves() -> None:
    code = 'class A:\n    """A."""\n\n    @b.setter\n    def b(self): ...\n\n    def _c(self): ...\n'
    assert list(undocumented(ast.parse(code), "")) == ["A.b, line 5"]
    comment = (
        "# Each weak one may be there by chance. So three\n# signals\n# are added, and their sum is compared.\nx = 1\n"
    )
    assert [list(broken(part)) for part in paragraphs(comment)] == [["signals / are added, and their sum is compared."]]
