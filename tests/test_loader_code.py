"""Source files: the text as it stands, sections named by class and function, in every language with a grammar."""

from __future__ import annotations

import time

import pytest

from rag.errors import LoadError
from rag.loaders import LOADERS, code_outline, load
from rag.loaders.code import LANGUAGES
from rag.loaders.code_outline import GRAMMARS, outline
from tests.loader_support import assert_is_whole, blocks, kinds, paths, sections, write  # noqa: F401

PYTHON = '''"""A parser."""

import re

LIMIT = 3


@cache
def add(a, b):
    """Adds."""

    def inner():
        return a

    return inner() + b


class Parser(Base):
    """Parses."""

    size = 1

    # Reads one line.
    # Two, where it must.
    async def parse(self, line):
        return line

    class Inner:
        def z(self):
            pass


TOTAL = add(1, 2)
'''

# By language: a source, and the paths of all that it defines.
SOURCES = {
    "javascript": (
        "import a from 'b';\n/** Doc. */\nexport function f(a) { return 1; }\nexport default class C {\n"
        "  m() { return 2; }\n  h = () => 3;\n}\nconst g = (a) => a + 1;\nmodule.exports.z = function () {};\n",
        [("f",), ("C",), ("C", "m"), ("C", "h"), ("g",), ("module.exports.z",)],
    ),
    "typescript": (
        "export interface I { a(): void }\n@Dec()\nexport class A<T> {\n  constructor(private x: number) {}\n"
        "  public a(): void {}\n}\nnamespace N { export function f(): void {} }\nenum E { A }\n",
        [("I",), ("I", "a"), ("A",), ("A", "constructor"), ("A", "a"), ("N",), ("N", "f"), ("E",)],
    ),
    "tsx": ("export const App = () => { return <div>hi</div>; };\n", [("App",)]),
    "java": (
        "package a;\n/** Doc. */\n@Anno\npublic class P extends Q {\n  public P() {}\n  @Override\n  public int m() {\n"
        "    return 1;\n  }\n  interface I { void z(); }\n}\n",
        [("P",), ("P", "P"), ("P", "m"), ("P", "I"), ("P", "I", "z")],
    ),
    "go": (
        "package a\n\n// T is.\ntype T struct {\n\tA int\n}\n\nfunc F() error { return nil }\n\nfunc (t *T) M() {}\n",
        [("T",), ("F",), ("T", "M")],
    ),
    "rust": (
        "mod away;\n/// Doc.\n#[derive(Debug)]\npub struct S { a: i32 }\nimpl Tr for S {\n    #[inline]\n"
        "    fn m(&self) -> i32 { 1 }\n}\nfn main() {}\n",
        [("S",), ("S",), ("S", "m"), ("main",)],
    ),
    "c": (
        "#include <a.h>\n/* Doc. */\nstatic int *add(int a)\n{\n  return 0;\n}\nstruct foo { int a; };\nstruct foo x;\n"
        "int proto(int);\n",
        [("add",), ("foo",)],
    ),
    "cpp": (
        "namespace n {\n// Doc.\ntemplate <class T>\nclass C : public B {\n public:\n  C() : a(1) {}\n  ~C() {}\n"
        "};\n}\nvoid n::C::far(int x) {}\n",
        [("n",), ("n", "C"), ("n", "C", "C"), ("n", "C", "~C"), ("n", "C", "far")],
    ),
    "csharp": (
        "namespace N {\n  [Attr]\n  public class P : Q {\n    public int X { get; set; }\n"
        "    public int M() => 1;\n  }\n}\n",
        [("N",), ("N", "P"), ("N", "P", "M")],
    ),
    "ruby": (
        "module M\n  class C < D\n    def m(a)\n      1\n    end\n    # Doc.\n    def self.s; end\n  end\nend\n",
        [("M",), ("M", "C"), ("M", "C", "m"), ("M", "C", "s")],
    ),
    "php": (
        "<?php\nnamespace A;\n/** Doc. */\nclass C extends D {\n  public function m($a) { return 1; }\n}\n"
        "function f() {}\n",
        [("C",), ("C", "m"), ("f",)],
    ),
    "bash": ("set -e\n# Doc.\nf() {\n  echo 1\n}\nfunction g { echo 2; }\nf\n", [("f",), ("g",)]),
    "kotlin": (
        "/** Doc. */\nclass P(val x: Int) : Q() {\n  fun m(): Int { return 1 }\n}\n\nfun top(a: Int) = 1\n",
        [("P",), ("P", "m"), ("top",)],
    ),
    "swift": (
        "/// Doc.\nclass P: Q {\n  init(a: Int) { }\n  func m() -> Int { return 1 }\n}\nfunc top() {}\n",
        [("P",), ("P", "init"), ("P", "m"), ("top",)],
    ),
    "scala": (
        "class P(x: Int) extends Q {\n  def m(a: Int): Int = a\n}\ndef top = 1\n",
        [("P",), ("P", "m"), ("top",)],
    ),
    "lua": (
        "local M = {}\n-- Doc.\nfunction M.f(a) return 1 end\nM.h = function() end\nreturn M\n",
        [("M.f",), ("M.h",)],
    ),
}


def defined(text: str, language: str) -> list[tuple[tuple[str, ...], str]]:
    """The path and the text of everything that is defined, from the outside in."""

    def each(definitions):
        for one in definitions:
            yield one.path, text[one.start : one.end]
            yield from each(one.parts)

    return list(each(outline(text, language)))


def test_sections_are_named_by_class_and_function_and_cover_the_file(write) -> None:  # noqa: F811
    source = write("parser.py", PYTHON)
    assert_is_whole(source)
    assert source.text == PYTHON
    assert source.format == "code:python"
    assert paths(source) == [
        (), ("add",), ("Parser",), ("Parser", "parse"), ("Parser", "Inner"), ("Parser", "Inner", "z"), (),
    ]  # fmt: skip
    assert set(kinds(source)) == {"code"} and len(blocks(source)) == len(source.sections)


def test_decorators_comments_and_inner_functions_stay_with_their_function(write) -> None:  # noqa: F811
    found = sections(write("parser.py", PYTHON))
    assert found[("add",)].startswith("@cache\ndef add") and found[("add",)].endswith("return inner() + b")
    assert found[("Parser", "parse")].startswith("# Reads one line.\n    # Two, where it must.\n    async def parse")


def test_a_comment_that_a_blank_line_parts_from_a_function_is_not_its_own() -> None:
    ((_, text),) = defined("# About the file.\n\n# Adds.\ndef add(): pass\n", "python")
    assert text == "# Adds.\ndef add(): pass"


@pytest.mark.parametrize("language", SOURCES)
def test_each_language_tells_its_definitions_with_the_comments_above(language: str) -> None:
    text, expected = SOURCES[language]
    found = defined(text, language)
    assert [path for path, _ in found] == expected
    assert any("Doc." in one.split("\n")[0] for _, one in found) == ("Doc." in text)


def test_every_grammar_is_tried_here() -> None:
    assert set(GRAMMARS) == {*SOURCES, "python"}


def test_a_file_with_an_error_in_it_still_tells_the_rest(write) -> None:  # noqa: F811
    source = write("broken.py", "def a():\n    return (1\n\ndef b(:\n    pass\n\nclass C:\n    def m(self): pass\n")
    assert_is_whole(source)
    assert ("C", "m") in paths(source)


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("a.sql", "code:sql"),
        ("a.toml", "code:toml"),
        ("a.YML", "code:yaml"),
        ("a.conf", "code:ini"),
        ("a.pl", "code:perl"),
    ],
)
def test_what_has_no_grammar_is_read_by_blank_lines(write, name: str, format_name: str) -> None:  # noqa: F811
    source = write(name, "one = 1\n\n[part]\ntwo = 2\n")
    assert (source.format, source.sections) == (format_name, ())
    assert blocks(source) == ["one = 1", "[part]\ntwo = 2"]
    assert set(kinds(source)) == {"code"}


def test_a_header_is_read_as_the_language_it_is_written_in(write) -> None:  # noqa: F811
    assert write("a.h", "int add(int a);\n").format == "code:c"
    assert write("a.h", "#pragma once\nnamespace n {\nint add(int a);\n}\n").format == "code:cpp"


def test_places_are_characters_in_any_script() -> None:
    text = "# 日本語のコメント\nx = '👩‍👩‍👧'\n\ndef grüße():\n    return 'ß'\n"
    ((path, found),) = defined(text, "python")
    assert (path, found) == (("grüße",), "def grüße():\n    return 'ß'")


def test_json_is_left_to_its_own_loader_and_code_swallows_no_other() -> None:
    assert "json" not in LANGUAGES
    assert all(f".{ending}" in LOADERS for ending in LANGUAGES)
    assert all(LOADERS[ending] is not LOADERS[".py"] for ending in (".md", ".txt", ".csv", ".html", ".pdf"))


def test_a_binary_file_with_the_ending_of_a_script_is_refused(write) -> None:  # noqa: F811
    with pytest.raises(LoadError, match="a.ts: not a text file"):
        write("a.ts", bytes(range(256)) * 20)


HOSTILE = {
    "brackets": "(" * 50_000,
    "blocks": "{" * 50_000,
    "nested classes": "\n".join(" " * depth + f"class A{depth}:" for depth in range(500)),
    "data": "X = [" + ", ".join(map(str, range(100_000))) + "]\n",
    "one line": "def f(): pass; " * 20_000,
    "no line end": "x" * 300_000,
    "only comments": "# hash\n" * 20_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("ending", ["py", "js", "cpp"])
def test_hostile_files_are_read_whole(write, kind: str, ending: str) -> None:  # noqa: F811
    source = write(f"a.{ending}", HOSTILE[kind])
    assert source.text == HOSTILE[kind]
    assert_is_whole(source)


def test_a_missing_file_is_told_as_ever(tmp_path) -> None:
    with pytest.raises(LoadError, match="no such file"):
        load(tmp_path / "a.py")


def test_a_parse_without_end_is_broken_off_and_the_text_is_kept(write, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """The shell's grammar needs time with the square of the here-documents that are left open: a minute for these."""
    monkeypatch.setattr(code_outline, "MAX_SECONDS", 0.5)
    text = "main() {\n  ls\n}\n" + "<<E\n" * 60_000
    started = time.monotonic()
    source = write("a.sh", text)
    assert time.monotonic() - started < 20
    assert (source.text, source.sections) == (text, ())
    assert_is_whole(source)
