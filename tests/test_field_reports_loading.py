"""Reported faults of loading, with their very inputs and with others of their kind; grep a number: B10."""

from __future__ import annotations

import csv
import io

import pytest

from rag.errors import LoadError
from tests.docx_support import paragraph, word
from tests.loader_support import assert_is_whole, blocks, kinds, paths, sections, write  # noqa: F401
from tests.support import cut, settings_for

FENCED = "# Pump manual\n\n````text\n```\n# drain\n```\n# still code\n````\n\nTail text.\n"


@pytest.mark.parametrize(
    "source",
    [
        FENCED,
        FENCED.replace("`", "~"),
        FENCED.replace("````", "~~~"),
        FENCED.replace("\n", "\r\n"),
        "Pump manual\n===========\n\n" + FENCED.split("\n", 2)[2],
        "---\ntitle: Pumps\n# comment\n---\n" + FENCED,
    ],
)
def test_comments_in_a_block_of_code_are_no_headings_and_all_its_lines_stay(write, source: str) -> None:
    """B01."""
    document = write("a.md", source)
    assert {path for path in paths(document) if path} == {("Pump manual",)}
    assert {"# drain", "# still code", "Tail text."} <= set(document.text.split("\n"))
    assert document.section_at(document.text.index("Tail")).path == ("Pump manual",)


CHAPTERS = "<h1>Boiler</h1><h2>Overview</h2><p>Heats water.</p><h1>Chiller</h1><h2>Overview</h2><p>Cools water.</p>"


def docx_of(*lines: tuple[int, str]) -> bytes:
    return word("".join(paragraph(text, f"Heading{level}" if level else "") for level, text in lines))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", CHAPTERS),
        ("a.html", CHAPTERS.replace("<h1>", "<section><h1>").replace("</p>", "</p></section>")),
        ("a.md", "# Boiler\n## Overview\nHeats water.\n# Chiller\n## Overview\nCools water.\n"),
        ("a.md", "Boiler\n===\nOverview\n---\nHeats water.\n\nChiller\n===\nOverview\n---\nCools water.\n"),
        ("a.docx", docx_of((1, "Boiler"), (2, "Overview"), (0, "Heats water."),
                           (1, "Chiller"), (2, "Overview"), (0, "Cools water."))),
    ],
)  # fmt: skip
def test_sections_of_the_same_name_keep_their_chapters(write, name: str, content: str | bytes) -> None:
    """B02."""
    document = write(name, content)
    for words, chapter in (("Heats water.", "Boiler"), ("Cools water.", "Chiller")):
        assert document.section_at(document.text.index(words)).path == (chapter, "Overview")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "# A\n\n## B\n\n### C\n\ndeep\n\n## D\n\nshallow\n"),
        ("a.html", "<h1>A</h1><h2>B</h2><h3>C</h3>deep<h2>D</h2>shallow"),
        ("a.html", "<h1>A</h1><section><h2>B</h2><section><h3>C</h3>deep</section></section><h2>D</h2>shallow"),
        ("a.docx", docx_of((1, "A"), (2, "B"), (3, "C"), (0, "deep"), (2, "D"), (0, "shallow"))),
    ],
)
def test_no_heading_outlives_its_section(write, name: str, content: str | bytes) -> None:
    """B02, its sister."""
    document = write(name, content)
    assert document.section_at(document.text.index("deep")).path == ("A", "B", "C")
    assert document.section_at(document.text.index("shallow")).path == ("A", "D")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b""),
        ("a.txt", b"  \n\n \t\r\n"),
        ("a.txt", "\u00a0\u200b\n\u3000".encode()),
        ("a.md", b"<!-- nothing -->\n"),
        ("a.md", b"---\ntitle: x\n---\n"),
        ("a.html", b"<title>Scan</title><body><img src=scan.png></body>"),
        ("a.docx", word(paragraph(" ") + paragraph("hidden", run="<w:vanish/>"))),
        ("a.csv", b"question,answer\n"),
        ("a.jsonl", b"\n\n"),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\n\n"),
    ],
)
def test_a_file_without_text_is_named_as_such(write, name: str, content: bytes) -> None:
    """B06."""
    with pytest.raises(LoadError, match=f"^{name}: no text found$"):
        write(name, content)


FAQ = "question,answer\nHow to pay?,Card\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + FAQ.encode(),
        b"\xef\xbb\xbf" + FAQ.replace("question,", '"question, short",').encode(),
        FAQ.encode("utf-16"),
        FAQ.encode("utf-16-le"),
        b"\xfe\xff" + FAQ.encode("utf-16-be"),
        FAQ.encode("utf-32"),
        FAQ.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf\xef\xbb\xbf" + FAQ.replace(",", ";").encode(),
    ],
)
def test_marks_before_the_text_hide_no_column(write, content: bytes) -> None:
    """B10."""
    document = write("a.csv", content)
    assert (blocks(document), document.notices) == (["How to pay?\nCard"], ())
    assert "\ufeff" not in document.text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.md", "# Title\n\nText.\n"), ("a.html", "<h1>Title</h1>Text."), ("a.md", "Title\n===\n\nText.\n")],
)
def test_marks_before_the_text_hide_no_heading(write, encoding: str, name: str, content: str) -> None:
    """B10."""
    document = write(name, content.encode(encoding))
    assert paths(document) == [("Title",)] and "\ufeff" not in document.text


@pytest.mark.parametrize(
    ("declared", "encoding", "text"),
    [
        ("koi8-r", "koi8-r", "Привет, мир"),
        ("Shift_JIS", "cp932", "窯の温度①を上げます"),
        ("gb2312", "gb18030", "今天天气很好镕"),
        ("iso-8859-1", "cp1252", "“Quoted” – 5 €"),
        ("iso-2022-jp", "iso-2022-jp", "窯の温度"),
        ("windows-1255", "cp1255", "שלום עולם"),
        ("utf-16", "utf-8", "Grüße"),
        ("utf-8", "utf-8", "Grüße"),
        ("no-such-thing", "cp1252", "Grüße"),
        ("idna", "utf-8", "a..b Größe"),
        ("idna", "ascii", "a..b"),
        ("rot13", "ascii", "plain"),
    ],
)
def test_a_page_is_read_in_what_it_says_it_is_written_in(write, declared: str, encoding: str, text: str) -> None:
    """B10."""
    assert write("a.html", f"<meta charset={declared}><p>{text}</p>".encode(encoding)).text == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Grüße aus der Küche: „fünf Stück“ – 5 €."),
        ("shift_jis", "窯の温度を上げます。一晩冷まします。扉を開けます。カタカナとひらがな、漢字。"),
        ("cp1251", "Привет, как дела? Сегодня хорошая погода, и мы пойдём гулять в парк."),
        ("utf-16-le", "窯の温度を上げます。 One night. " * 5),
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv"])
def test_text_in_an_encoding_nobody_declared_is_read_by_its_looks(write, name: str, encoding: str, text: str) -> None:
    """B10."""
    content = f"question,answer\nWhat?,{text}\n" if name == "a.csv" else text
    assert text.strip() in write(name, content.encode(encoding)).text


UNCLOSED = 'question\tanswer\nHow wide?\t"12 in" is standard\nHow long?\t"30 in\nHow tall?\t18 in\nWeight?\t4 kg\n'


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_quote_mark_that_is_never_closed_swallows_nothing(write, delimiter: str, end: str) -> None:
    """B11."""
    document = write("faq.csv", UNCLOSED.replace("\t", delimiter).replace("\n", end))
    assert blocks(document) == [
        'How wide?\n"12 in" is standard', 'How long?\n"30 in', "How tall?\n18 in", "Weight?\n4 kg",
    ]  # fmt: skip
    assert paths(document) == [("How wide?",), ("How long?",), ("How tall?",), ("Weight?",)]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_delimiter_nobody_quoted_drops_nothing(write, delimiter: str) -> None:
    """B11."""
    content = f"question{delimiter}answer\nHow to pay?{delimiter}By card{delimiter} cash or transfer\n"
    document = write("faq.csv", content)
    assert blocks(document) == [f"How to pay?\nBy card{delimiter} cash or transfer"]
    assert document.notices == ("rows with more cells than the header, joined to the answer: line 2",)


def test_what_a_spreadsheet_program_wrote_comes_back_as_it_was(write) -> None:
    """B11: quoting that is right is read as it should be."""
    pairs = [
        ("Why?", 'He said "so", twice'),
        ("How, then?", "line one\nline two"),
        ('A "quoted" question?', "x;y,z\t!"),
    ]
    for delimiter in ",;\t":
        target = io.StringIO()
        csv.writer(target, delimiter=delimiter).writerows([("question", "answer"), *pairs])
        document = write("faq.csv", target.getvalue())
        assert blocks(document) == [f"{question}\n{answer}" for question, answer in pairs]


def test_blocks_of_a_page_stand_apart_and_markup_in_a_sentence_does_not_part_it(write) -> None:
    """B12."""
    document = write(
        "a.html",
        "<script>var x=1</script><h2>Fees</h2><p>Entry is <b>free</b>, parking <i>5</i> euro.</p>"
        "<ul><li>Mon</li><li>Tue</li></ul>12 Mill Lane<br>Oakford",
    )
    lines = [line.removeprefix("- ") for line in document.text.split("\n") if line]
    assert lines == ["Fees", "Entry is free, parking 5 euro.", "Mon", "Tue", "12 Mill Lane", "Oakford"]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<div>one</div><div>two</div>", ["one", "two"]),
        ("one<div>two</div>three", ["one", "two", "three"]),
        ("<p>one<p>two", ["one", "two"]),
        ("<dl><dt>one<dd>two</dl>", ["one", "two"]),
        ("<b>o</b>ne<br/>tw<sub>o</sub>", ["one", "two"]),
        ("<pre>one\ntwo</pre>", ["one", "two"]),
        ("<pre>one<br>two</pre>", ["one", "two"]),
        ("<td>one</td><td>two</td>", ["one", "two"]),
        ("<select><option>x</select><label>one</label><fieldset>two</fieldset>", ["one", "two"]),
        ("<h2>one</h2><address>two</address>", ["one", "two"]),
        ("<p>one &lt;b&gt;</p><![CDATA[x]]><p>two</p>", ["one <b>", "two"]),
        ("o<wbr>ne<hr>t<span>w</span>o", ["one", "two"]),
    ],
)
def test_words_of_neighbouring_blocks_are_never_glued(write, page: str, lines: list[str]) -> None:
    """B12."""
    assert [line for line in write("a.html", page).text.split("\n") if line] == lines


def test_the_cells_of_a_table_are_parted_and_none_is_lost(write) -> None:
    """B12."""
    document = write("a.html", "<table><tr><td>Mon<td>9<br>5<tr><td><p>Tue</p><p>Wed</p><td></table>")
    assert document.text == "| Mon | 9 5 |\n|---|---|\n| Tue Wed |  |"
    assert kinds(document) == ["table"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.md", "# A\n\n## B\n\n## C\n\nText.\n"),
        ("a.md", "# A\n\n##\n\n## C\n\nText.\n"),
        ("a.html", "<h1>A</h1><h2> </h2><h2>C</h2><p> </p><p>Text."),
        ("a.docx", docx_of((1, "A"), (2, "B"), (2, " "), (2, "C"), (0, " "), (0, "Text."))),
        ("a.csv", "question,answer\nA,Text.\n , \n"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n \n\n2\n00:00:02,000 --> 00:00:03,000\nText.\n"),
    ],
)
@pytest.mark.parametrize("chunker", ["paragraph", "recursive"])
def test_headings_with_nothing_under_them_give_no_blank_chunk(
    write, name: str, content: str | bytes, chunker: str
) -> None:
    """B13, the loader's part: no block and no section is blank, so no chunk can be."""
    document = write(name, content)
    assert_is_whole(document)
    assert all(text.strip() for text in sections(document).values())
    chunks = cut(document, settings_for(chunker=chunker))
    assert chunks and all(chunk.text.strip() for chunk in chunks)
    assert "Text." in "".join(chunk.text for chunk in chunks)
