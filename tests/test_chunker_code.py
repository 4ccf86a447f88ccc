"""The code chunker: functions and classes whole where they fit, and what the pieces of longer ones carry along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag.loaders import parse
from rag.schema import Chunk, Document
from rag.settings import Settings
from rag.text import is_blank
from tests.support import cut


def source(text: str, name: str = "a.py") -> Document:
    return parse(text.encode("utf-8"), Path(name), name, name)


def pieces(document: Document, size: int = 400) -> tuple[Chunk, ...]:
    """Its chunks, once it is known that nothing is lost, doubled, above the size or without its place."""
    chunks = cut(document, Settings(chunker="code", chunk_size=size, chunk_overlap=0))
    ends = [0, *(one.end for one in chunks)]
    assert all(is_blank(document.text[end : one.start]) for end, one in zip(ends, chunks))
    assert is_blank(document.text[ends[-1] :])
    lines = document.text.split("\n")
    for one in chunks:
        assert document.text[one.start : one.end] == one.text and len(one.reading) <= size
        assert one.header in document.text[: one.start]
        assert one.text.split("\n")[0] in lines[one.line_start - 1]
        assert one.text.split("\n")[-1] in lines[one.line_end - 1]
    return chunks


def function(name: str, lines: int, indent: str = "") -> str:
    body = "\n".join(f"{indent}    total += weigh(part, {number})  # of {name}" for number in range(lines))
    return f"{indent}def {name}(self, part):\n{body}\n"


def test_each_function_is_a_chunk_cited_by_its_name_and_lines() -> None:
    text = f'"""Weighs."""\n\n{function("first", 6)}\n\n{function("second", 6)}'
    first, second = pieces(source(text))
    assert (first.section, first.line_start, first.line_end) == (("first",), 1, 9)
    assert (second.section, second.line_start, second.line_end) == (("second",), 12, 18)


def test_a_class_that_fits_is_one_chunk_named_after_the_class() -> None:
    text = f"class Scale:\n{function('a', 2, '    ')}\n{function('b', 2, '    ')}"
    (only,) = pieces(source(text))
    assert (only.section, only.header) == (("Scale",), "")


def test_a_longer_class_is_cut_per_method_with_its_line_as_header_and_small_ones_together() -> None:
    methods = [function(name, lines, "    ") for name, lines in (("a", 1), ("b", 1), ("c", 8), ("d", 1), ("e", 1))]
    text = "@final\nclass Scale(Base):\n    # Tares.\n\n" + "\n".join(methods) + "\n\nDONE = 1\n"
    chunks = pieces(source(text))
    assert [one.section for one in chunks] == [("Scale",), ("Scale", "c"), ("Scale",)]
    assert [one.header for one in chunks] == ["", "class Scale(Base):", "class Scale(Base):"]
    assert chunks[0].text.startswith("@final\nclass Scale") and chunks[2].text.endswith("DONE = 1")


def test_a_longer_function_is_cut_at_statements_and_its_pieces_carry_its_first_lines() -> None:
    steps = "\n".join(f"    if part.weight > {n}:\n        drop(part)\n        stop({n})\n" for n in range(30))
    text = f"@timed\ndef weigh(\n    part,\n    scale,\n):\n{steps}"
    first, *later = pieces(source(text))
    assert first.text.startswith("@timed\ndef weigh(")
    assert {one.header for one in later} == {"def weigh(\n    part,\n    scale,\n):"}
    assert all(one.text.startswith("if part.weight") for one in later)
    assert {one.section for one in later} == {("weigh",)}


def test_comments_and_decorators_stay_with_their_function() -> None:
    both = f"# Weighs.\n@timed\n{function('a', 6)}\n\n# Also weighs.\n{function('b', 6)}"
    first, second = pieces(source(both))
    assert first.text.startswith("# Weighs.\n@timed\ndef a") and second.text.startswith("# Also weighs.\ndef b")


def test_code_between_functions_goes_with_a_neighbour_and_much_of_it_stands_alone() -> None:
    table = "\n".join(f"NAME_{number} = {number}" for number in range(20))
    text = f"{function('a', 6)}\nLIMIT = 3\n\n\n{table}\n\n\n{function('b', 6)}"
    assert [one.section for one in pieces(source(text))] == [("a",), (), ("b",)]
    short = f"{function('a', 6)}\nLIMIT = 3\n\n\n{function('b', 6)}"
    assert [one.section for one in pieces(source(short))] == [("a",), ("b",)]


def test_braces_stay_with_what_they_close() -> None:
    method = "  int weigh{0}(int part) {{\n" + "    part += 12345678;\n" * 8 + "  }}\n"
    text = "class Scale {\n" + "".join(method.format(number) for number in range(4)) + "}\n"
    chunks = pieces(source(text, "A.java"), size=300)
    assert [one.text[-1] for one in chunks] == ["}"] * 4
    assert [one.header for one in chunks[1:]] == ["class Scale {"] * 3


def test_a_file_of_tiny_functions_is_not_a_chunk_for_each() -> None:
    text = "\n".join(f"def f{number}(): return {number}" for number in range(200))
    assert all(len(one.text) > 300 for one in pieces(source(text))[:-1])


def test_small_functions_in_one_chunk_are_cited_by_their_lines_and_under_the_name_of_none_of_them() -> None:
    small = "\n".join(f"def {name}(x):\n    return x + {len(name)}\n" for name in ("gauge", "valve", "kiln"))
    (all_three,) = pieces(source(small))
    assert (all_three.section, all_three.line_start, all_three.line_end) == ((), 1, 8)
    (long_one,) = pieces(source(f"{function('weigh', 5)}\n\ndef nil(): return 0\n"))
    assert long_one.section == ("weigh",)


@pytest.mark.parametrize(("name", "text"), [("a.toml", "[part]\nsize = 1\n\n"), ("a.sql", "SELECT 1\nFROM t;\n\n")])
def test_what_has_no_functions_is_cut_at_blank_lines(name: str, text: str) -> None:
    chunks = pieces(source(text * 60, name))
    assert len(chunks) > 2
    assert all(one.text.startswith(text.split("\n")[0]) for one in chunks)


def test_other_documents_are_cut_as_recursive_does_it() -> None:
    document = source("# A\n\n" + "The kiln must cool for a whole night. " * 40, "a.md")
    recursive = Settings(chunker="recursive", chunk_size=400, chunk_overlap=0)
    assert cut(document, Settings(chunker="code", chunk_size=400, chunk_overlap=0)) == cut(document, recursive)


@pytest.mark.parametrize("size", [300, 1000])
def test_the_standard_library_is_cut_whole(size: int) -> None:
    folder = Path(sys.modules["json"].__file__).parent.parent
    for name in ("textwrap.py", "argparse.py", "typing.py", "json/encoder.py", "asyncio/base_events.py"):
        chunks = pieces(source((folder / name).read_text(encoding="utf-8")), size)
        assert sum(bool(one.section) for one in chunks) > len(chunks) * 0.7


LINES = [
    "def f(a):", "    return a", "class C(B):", "    def m(self):", "        x = (1,", "@deco", "# note", "", "}", "{",
    '"""', "x = 1", "    " * 9 + "y", "if x:", "else:", "é = '日本'", "\t", "async def g(", "    ):", "z" * 150,
    "function h() {",
]  # fmt: skip
ENDINGS = st.sampled_from(["py", "js", "java", "go", "rb", "cpp"])


@hypothesis_settings(max_examples=150, deadline=None)
@given(lines=st.lists(st.sampled_from(LINES), max_size=60), ending=ENDINGS)
def test_any_lines_are_covered_whatever_their_syntax(lines: list[str], ending: str) -> None:
    text = "\n".join(["x = 0", *lines])
    pieces(source(text, f"a.{ending}"), size=120)
