"""Loaders: what the family's door refuses, how text is decoded, plain text, transcripts and folders."""

from __future__ import annotations

import codecs
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag import loaders
from rag.environment import SAMPLES_FOLDER
from rag.errors import LoadError
from rag.loaders import LOADERS, find_files, load
from rag.loaders.base import decode, heading_paths, sections_from
from rag.schema import Section
from tests.loader_support import assert_is_whole, blocks, kinds, paths, write  # noqa: F401

# The door


def test_a_document_is_named_after_its_file_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Text.")
    assert (load(path).name, load(path).source) == ("notes.txt", path.as_posix())
    told = load(path, name="Notes", source="uploads/notes.txt")
    assert (told.name, told.source, told.text) == ("Notes", "uploads/notes.txt", "Text.")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "a.txt: no text found"),
        ("a.txt", b" \n\t\r\n ", "a.txt: no text found"),
        ("a.txt", codecs.BOM_UTF8, "a.txt: no text found"),
        ("a.md", b"\xef\xbb\xbf\n\n", "a.md: no text found"),
        ("a.html", b"<html><script>x</script><p> </p></html>", "a.html: no text found"),
        ("a.csv", b"question,answer\n", "a.csv: no text found"),
        ("a.txt", b"%PDF-1.4 1 0 obj", "a.txt: not a text file"),
        ("a.txt", b"PK\x03\x04 zipped", "a.txt: not a text file"),
        ("a.md", b"\x89PNG\r\n\x1a\n", "a.md: not a text file"),
        ("a.txt", bytes(range(256)) * 4, "a.txt: not a text file"),
        ("a.csv", bytes(range(32)) * 40, "a.csv: not a text file"),
        ("a.doc", b"x", "a.doc: an old Word document; open it in Word and save it as DOCX"),
        ("a.XLSX", b"x", "a.XLSX: a spreadsheet; save each sheet as CSV"),
        ("a.odt", b"x", "a.odt: an OpenDocument text; save it as DOCX or PDF"),
    ],
)  # fmt: skip
def test_a_file_that_gives_no_text_is_refused_with_its_name_and_a_reason(
    write, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(LoadError) as error:
        write(name, content)
    assert str(error.value) == message
    assert (error.value.name, error.value.reason) == tuple(message.split(": ", 1))


def test_a_kind_of_file_that_nobody_reads_is_refused_with_the_kinds_that_are_read(write) -> None:
    with pytest.raises(LoadError, match="^a.xyz: files of this kind cannot be read; supported are .txt, .text, .md, "):
        write("a.xyz", b"x")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "# A", "markdown"),
        ("a.html", "<p>A", "html"),
        ("a.txt", "Text.", "text"),
        ("a.txt", "A: Yes.\nB: No?\nA: Yes.\nB: No.", "transcript"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello.", "transcript"),
        ("a.csv", "a,b\n1,2", "table"),
        ("a.jsonl", '{"a": 1}', "table"),
    ],
)
def test_a_document_says_what_it_was_read_as(write, name: str, content: str, expected: str) -> None:
    assert write(name, content).format == expected


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="^a.txt: no such file$"):
        load(tmp_path / "a.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(LoadError, match="^folder.txt: not a file$"):
        load(tmp_path / "folder.txt")


def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaders, "MAX_MEGABYTES", 2)
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(3_000_000)
    with pytest.raises(LoadError, match=r"^big.txt: too large \(3 MB; the limit is 2 MB\)$"):
        load(path)


def test_an_ending_is_known_in_any_case(write) -> None:
    assert paths(write("README.MD", "# Title\n")) == [("Title",)]


@hypothesis_settings(max_examples=4000, deadline=None)
@given(
    suffix=st.sampled_from([suffix for suffix in LOADERS if suffix not in (".pdf", ".docx")]),
    content=st.one_of(
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                ["# A\n", "\n", "```\n", "~~~\n", "> q\n", "- a\n", "| a | b |\n|---|---|\n", "<h2>B</h2>",
                 "<table><tr>", "<td rowspan=9>", "<ul><li>", "</section>", "<section>", "<pre>",
                 "&#0;&#xd800;&nbsp;", '"', ",", "\t", "question,answer\n", "A: b\n", "\r\n", "\r", "===\n",
                 "---\n", "\ufeff", "<h1></h1>", "text ", '{"question": ', '"answer": "x"}\n', "[", "]", "{", "}",
                 '"a": 1, ', '{"messages": [{"role": "user", "content": "x"}', "\\ud800", "WEBVTT\n\n", "NOTE x\n",
                 "00:01.000 --> 00:02.000\n", "1\n00:00:01,000 --> 00:00:02,000\n", "<v Ann>", "- x\n",
                 "[12:03] <ann> ", "12:03 ann: hi\n", "*** ann joined\n", "Ann  10:32 AM\n", "&#13;", "sep=;\n",
                 "<article>", "<div style='font-size:0'>", "<nav>", "<h3>C</h3>", "<!--", "+++\n", "title: x\n"]
            ),
            max_size=40,
        ).map(lambda parts: "".join(parts).encode("utf-8")),
    ),
)  # fmt: skip
def test_any_bytes_become_a_whole_document_or_a_load_error(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            document = load(path)
        except LoadError as error:
            assert error.reason in ("no text found", "not a text file") or " left out: " in error.reason
            return
    assert document.text.strip() and document.format
    assert_is_whole(document)


@hypothesis_settings(max_examples=400, deadline=None)
@given(
    name=st.sampled_from(["faq.csv", "release-notes.md", "service-guide.html", "support-chats.txt"]),
    start=st.integers(0, 20_000),
    changes=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 40), st.binary(max_size=5)), max_size=8),
)
def test_a_good_file_with_bytes_changed_is_read_or_refused(
    name: str, start: int, changes: list[tuple[int, int, bytes]]
) -> None:
    data = (SAMPLES_FOLDER / name).read_bytes()[start : start + 3000]
    for place, length, instead in changes:
        data = data[:place] + instead + data[place + length :]
    try:
        assert_is_whole(loaders.parse(data, Path(name), name, name))
    except LoadError as error:
        assert error.name == name and error.reason


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    text = "Grüße aus der Küche: 5 Stück."
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Привет, как дела? Сегодня хорошая погода, и мы пойдём гулять в парк."),
        ("gb18030", "今天天气很好，我们去公园散步吧。"),
        ("cp1252", "“Quoted” – café"),
    ],
)
def test_an_encoding_without_a_mark_is_told_by_its_bytes(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


def test_line_ends_become_newlines_and_unwanted_characters_go() -> None:
    data = "one\r\ntwo\rthree\ffour\u2028five\x00six\ufeff".encode("utf-8")
    assert decode(data, "a.txt") == "one\ntwo\nthree\nfour\nfivesix"


def test_a_byte_order_mark_hides_no_heading_and_no_column(write) -> None:
    assert paths(write("a.md", b"\xef\xbb\xbf# Title\n\nText.")) == [("Title",)]
    pair = ["How to pay?\nCard"]
    assert blocks(write("a.csv", b"\xef\xbb\xbfquestion,answer\nHow to pay?,Card\n")) == pair
    assert blocks(write("b.csv", b'\xef\xbb\xbf"question, short",answer\nHow to pay?,Card\n')) == pair
    assert blocks(write("c.csv", "question,answer\r\nHow to pay?,Card\r\n".encode("utf-16"))) == pair


# Sections from headings


def test_a_heading_lies_under_the_nearest_one_before_it_of_a_lower_level() -> None:
    headings = [(0, 1, "A"), (2, 2, "B"), (4, 3, "C"), (6, 2, "D"), (8, 1, "E"), (9, 3, "F")]
    found = [path for _, path in heading_paths(headings)]
    assert found == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",), ("E", "F")]


def test_sections_cover_the_text_and_what_stands_before_the_first_has_an_empty_path() -> None:
    assert sections_from("Before. A text", [(8, ("A",))]) == (Section((), 0, 8), Section(("A",), 8, 14))
    assert sections_from("\n\nA text", [(2, ("A",))]) == (Section(("A",), 0, 8),)
    assert sections_from("Text", []) == ()


def test_of_two_sections_at_one_place_the_last_stands() -> None:
    assert sections_from("Text", [(0, ("A",)), (0, ("A", "B"))]) == (Section(("A", "B"), 0, 4),)


# Plain text


def test_plain_text_is_kept_as_it_stands(write) -> None:
    document = write("a.txt", "One line,\nthe next.\n\n\nAnother: paragraph.\n")
    assert document.text == "One line,\nthe next.\n\n\nAnother: paragraph.\n"
    assert blocks(document, "paragraph") == ["One line,\nthe next.", "Another: paragraph."]
    assert paths(document) == []


# Folders


def test_the_supported_files_of_a_folder_are_found_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "sub/c.PDF", "sub/d.doc", ".hidden.txt", ".git/e.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    os.symlink(tmp_path, tmp_path / "sub" / "loop")
    os.symlink(tmp_path / "nowhere.txt", tmp_path / "broken.txt")
    assert [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path)] == ["a.txt", "b.md", "sub/c.PDF"]
    assert find_files(tmp_path / "b.md") == [tmp_path / "b.md"]
    with pytest.raises(LoadError, match="nowhere: no such file or folder$"):
        find_files(tmp_path / "nowhere")


def test_a_path_that_the_system_refuses_is_named_with_the_reason(tmp_path: Path) -> None:
    for path in (tmp_path / ("x" * 300 + ".txt"), Path("a/" * 3000)):
        with pytest.raises(LoadError, match=r"cannot be read \(File name too long\)"):
            find_files(path)


def test_what_can_be_reached_without_a_link_is_known_by_its_own_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.txt").write_text("Text.")
    (tmp_path / "before").symlink_to(tmp_path / "real")
    assert find_files(tmp_path) == [tmp_path / "real" / "x.txt"]


def test_a_small_file_that_unfolds_to_a_huge_text_is_refused(write, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(loaders, "MAX_CHARACTERS", 1000)
    assert len(write("a.txt", "x" * 1000).text) == 1000
    with pytest.raises(LoadError, match=r"a.txt: too much text \(1,001 characters; the limit is 1,000\)"):
        write("a.txt", "x" * 1001)
