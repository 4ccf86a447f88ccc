"""Loaders: what each format becomes, and what the family's door refuses (PDF has a file of its own)."""

from __future__ import annotations

import codecs
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st

from rag import loaders
from rag.errors import LoadError
from rag.loaders import LOADERS, find_files, load
from rag.loaders.base import decode, heading_paths, sections_from
from rag.schema import Document, Section


@pytest.fixture
def write(tmp_path: Path):
    """Write a file and load it."""

    def written(name: str, content: str | bytes) -> Document:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return load(path)

    return written


def paths(document: Document) -> list[tuple[str, ...]]:
    return [section.path for section in document.sections]


def blocks(document: Document, kind: str | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]


def kinds(document: Document) -> list[str]:
    return [block.kind for block in document.blocks]


def section_texts(document: Document) -> list[str]:
    return [document.text[section.start : section.end].strip() for section in document.sections]


def assert_is_whole(document: Document) -> None:
    """Sections cover the text in order; blocks are in order, typed, and never blank at their edges."""
    if document.sections:
        assert document.sections[0].start == 0 and document.sections[-1].end == len(document.text)
        assert all(one.end == other.start for one, other in zip(document.sections, document.sections[1:]))
        assert all(section.start < section.end for section in document.sections)
    assert all(one.end <= other.start for one, other in zip(document.blocks, document.blocks[1:]))
    for block in document.blocks:
        assert block.kind in "heading paragraph table code list question-answer speaker-turn".split()
        assert document.text[block.start : block.end].rstrip() == document.text[block.start : block.end] != ""
    assert not set("\r\x00\ufeff") & set(document.text)
    document.text.encode("utf-8")


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
        (
            "a.docx",
            b"x",
            "a.docx: files of this kind cannot be read; supported are"
            " .txt, .text, .md, .markdown, .html, .htm, .xhtml, .pdf, .csv, .tsv",
        ),
    ],
)  # fmt: skip
def test_a_file_that_gives_no_text_is_refused_with_its_name_and_a_reason(
    write, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(LoadError) as error:
        write(name, content)
    assert str(error.value) == message
    assert (error.value.name, error.value.reason) == tuple(message.split(": ", 1))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="^a.txt: no such file$"):
        load(tmp_path / "a.txt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(LoadError, match=r"^folder.txt: cannot be read \(Is a directory\)$"):
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


@hypothesis_settings(max_examples=120, deadline=None)
@given(
    suffix=st.sampled_from([suffix for suffix in LOADERS if suffix != ".pdf"]),
    content=st.one_of(
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                ["# A\n", "\n", "```\n", "~~~\n", "> q\n", "- a\n", "| a | b |\n|---|---|\n", "<h2>B</h2>", "<table><tr>",
                 "<td rowspan=9>", "<ul><li>", "</section>", "<section>", "<pre>", "&#0;&#xd800;&nbsp;", '"', ",", "\t",
                 "question,answer\n", "A: b\n", "\r\n", "\r", "===\n", "---\n", "\ufeff", "<h1></h1>", "text "]
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
            assert error.reason in ("no text found", "not a text file")
            return
    assert document.text.strip()
    assert_is_whole(document)


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


# Markdown


def test_markdown_keeps_its_source_as_its_text(write) -> None:
    source = "# Title\n\nSome *text*.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n    code\n"
    document = write("a.md", source)
    assert document.text == source
    assert list(zip(kinds(document), blocks(document))) == [
        ("heading", "# Title"),
        ("paragraph", "Some *text*."),
        ("list", "- one\n- two"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("paragraph", "> quoted"),
        ("code", "    code"),
    ]


@pytest.mark.parametrize(
    "fenced",
    [
        "````text\n```\n# drain\n```\n# still code\n````",
        "~~~\n# drain\n```\n# still code\n~~~",
        "```\n# drain\n~~~\n# still code\n```",
        "    # drain\n    # still code",
    ],
)
def test_a_comment_in_code_is_no_heading(write, fenced: str) -> None:
    document = write("a.md", f"# Pump manual\n\n{fenced}\n\nTail text.\n")
    assert paths(document) == [("Pump manual",)]
    assert fenced in document.text
    assert kinds(document) == ["heading", "code", "paragraph"]


@pytest.mark.parametrize(
    "source",
    [
        "---\ntitle: Not a heading\n---\n\n# A\n\nText.\n",
        "> # Quoted\n\n# A\n\n- # In a list\n\nText.\n",
        "<!--\n# Hidden\n-->\n\n# A\n\nText.\n",
        "#hashtag\n\n\\# escaped\n\n# A\n\nText.\n",
    ],
)
def test_what_only_looks_like_a_heading_makes_no_section(write, source: str) -> None:
    assert [path for path in paths(write("a.md", source)) if path] == [("A",)]


def test_headings_of_both_styles_make_sections_with_their_whole_path(write) -> None:
    document = write("a.md", "Intro.\n\nGuide\n=====\n\n## *Fast* `start` [here](x) ##\n\nText.\n\nUse\n---\n\nMore.\n")
    assert paths(document) == [(), ("Guide",), ("Guide", "Fast start here"), ("Guide", "Use")]
    assert section_texts(document)[2] == "## *Fast* `start` [here](x) ##\n\nText."
    assert_is_whole(document)


# HTML


def test_blocks_stand_on_lines_of_their_own_and_inline_markup_stays_in_its_sentence(write) -> None:
    document = write(
        "a.html",
        "<script>var x=1</script><h2>Fees</h2><p>Entry is <b>free</b>, parking <i>5</i> euro.</p>"
        "<ul><li>Mon</li><li>Tue</li></ul>12 Mill Lane<br>Oakford",
    )
    assert document.text == "Fees\n\nEntry is free, parking 5 euro.\n\n- Mon\n- Tue\n\n12 Mill Lane\nOakford"
    assert kinds(document) == ["heading", "paragraph", "list", "paragraph"]


def test_two_chapters_with_a_section_of_the_same_name_can_be_told_apart(write) -> None:
    document = write(
        "a.html",
        "<h1>Boiler</h1><h2>Overview</h2><p>Heats water.</p><h1>Chiller</h1><h2>Overview</h2><p>Cools water.</p>",
    )
    assert paths(document) == [("Boiler",), ("Boiler", "Overview"), ("Chiller",), ("Chiller", "Overview")]
    assert section_texts(document)[1::2] == ["Overview\n\nHeats water.", "Overview\n\nCools water."]


@pytest.mark.parametrize(
    "hidden",
    [
        "<nav>Menu</nav>", "<footer>Menu</footer>", "<template>Menu</template>", "<style>Menu</style>",
        "<p hidden>Menu</p>", "<div style='display: none'><p>Menu</p></div>", "<!-- Menu -->", "<noscript>Menu</noscript>",
    ],
)  # fmt: skip
def test_what_a_reader_does_not_see_is_left_out(write, hidden: str) -> None:
    assert write("a.html", f"<p>Before.</p>{hidden}<p>After.</p>").text == "Before.\n\nAfter."


def test_a_section_element_ends_the_headings_inside_it(write) -> None:
    document = write(
        "a.html",
        "<h1>Guide</h1><section><h2>Setup</h2><p>One.</p><section><h2>Cables</h2><p>Two.</p></section><p>Three.</p>"
        "</section><p>Four.</p><article><h2>Use</h2>Five.</article>",
    )
    assert paths(document) == [
        ("Guide",),
        ("Guide", "Setup"),
        ("Guide", "Setup", "Cables"),
        ("Guide", "Setup"),
        ("Guide",),
        ("Guide", "Use"),
    ]
    assert section_texts(document)[3:] == ["Three.", "Four.", "Use\n\nFive."]
    assert_is_whole(document)


def test_the_title_stands_in_where_there_is_no_heading(write) -> None:
    assert paths(write("a.html", "<title>Opening\nhours</title><p>Daily.</p>")) == [("Opening hours",)]
    assert paths(write("b.html", "<title>Site</title><h1>Hours</h1><p>Daily.</p>")) == [("Hours",)]
    assert paths(write("c.html", "<p>Daily.</p>")) == []


def test_a_table_becomes_a_markdown_table_and_one_block(write) -> None:
    document = write(
        "a.html",
        "<table><caption>Sizes</caption><tr><th>Model<th>Width<tr><td rowspan=2>K<td>3 | 4<tr><td>5<br>cm</table>",
    )
    assert document.text == "Sizes\n| Model | Width |\n|---|---|\n| K | 3 \\| 4 |\n| K | 5 cm |"
    assert kinds(document) == ["paragraph", "table"]


def test_two_header_rows_become_one(write) -> None:
    document = write(
        "a.html",
        "<table><thead><tr><th rowspan=2>Load<th colspan=2>Pressure<tr><th>Front<th>Rear</thead>"
        "<tr><td>Empty<td>240<td>250<tr><td colspan=2>Full</table>",
    )
    assert document.text.split("\n") == [
        "| Load | Pressure Front | Pressure Rear |",
        "|---|---|---|",
        "| Empty | 240 | 250 |",
        "| Full |  |  |",
    ]


def test_a_table_that_lays_out_the_page_is_read_as_blocks(write) -> None:
    page = "<table><tr><td><h1>A</h1><p>One.</p></td><td><table><tr><td>x<td>y</table></td></tr></table>"
    assert write("a.html", page).text == "A\n\nOne.\n\n| x | y |\n|---|---|"


def test_lists_nest_and_count(write) -> None:
    page = "<ol start=3><li>Open<ul><li>left</ul><li><p>Close</p><p>gently</p></ol>"
    assert write("a.html", page).text == "3. Open\n  - left\n4. Close\n   gently"


def test_preformatted_text_keeps_its_lines(write) -> None:
    document = write("a.html", "<p>Run:</p><pre>\n  one\n    two\n</pre>")
    assert document.text == "Run:\n\n  one\n    two"
    assert kinds(document) == ["paragraph", "code"]


def test_entities_are_read_and_soft_hyphens_go(write) -> None:
    assert write("a.html", "<p>Caf&eacute;&nbsp;&amp; main&shy;tenance &lt;5&gt;</p>").text == "Café & maintenance <5>"


@pytest.mark.parametrize(
    "head", ['<meta charset="iso-8859-2">', '<meta http-equiv="content-type" content="text/html; charset=iso-8859-2">']
)
def test_the_encoding_a_page_declares_is_used(write, head: str) -> None:
    assert write("a.html", f"<head>{head}</head><p>Žluťoučký kůň</p>".encode("iso-8859-2")).text == "Žluťoučký kůň"


@pytest.mark.parametrize("tag", ["div", "ul><li", "blockquote", "section", "b", "table><tr><td"])
def test_deep_nesting_does_not_stop_the_load(write, tag: str) -> None:
    document = write("a.html", f"<{tag}>" * 5000 + "deep" + "<p>after")
    assert document.text.split() == ["-"] * document.text.count("-") + ["deep", "after"]


# CSV and TSV


def test_each_pair_is_a_block_and_a_section_named_after_its_question(write) -> None:
    document = write("faq.csv", "ID,Question,ANSWER\n1,How to pay?,Card\n2,Open on Monday?,No\n")
    assert document.text == "How to pay?\nCard\n\nOpen on Monday?\nNo"
    assert kinds(document) == ["question-answer"] * 2
    assert paths(document) == [("How to pay?",), ("Open on Monday?",)]
    assert document.notices == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "q,a\nWhy?,So\n"),
        ("a.csv", "Frage;Antwort\nWhy?;So\n"),
        ("a.csv", "sep=;\nQuestion;Answer\nWhy?;So\n"),
        ("a.tsv", "Answers\tQuestions\nSo\tWhy?\n"),
        ("a.csv", "\n\nquestion|answer\nWhy?|So\n"),
    ],
)
def test_the_columns_are_known_by_several_names_in_any_order(write, name: str, content: str) -> None:
    assert blocks(write(name, content)) == ["Why?\nSo"]


UNCLOSED = 'question\tanswer\nHow wide?\t"12 in" is standard\nHow long?\t"30 in\nHow tall?\t18 in\nWeight?\t4 kg\n'


@pytest.mark.parametrize("content", [UNCLOSED, UNCLOSED.replace("\t", ",")])
def test_a_quote_that_is_never_closed_swallows_no_row(write, content: str) -> None:
    document = write("a.tsv" if "\t" in content else "a.csv", content)
    pairs = ['How wide?\n"12 in" is standard', 'How long?\n"30 in', "How tall?\n18 in", "Weight?\n4 kg"]
    assert blocks(document) == pairs
    assert document.notices == ()


def test_a_quote_that_a_later_row_happens_to_close_swallows_no_row(write) -> None:
    document = write("a.csv", 'question,answer\nHow long?,"30 in\nHow tall?,18"\nWeight?,4 kg\n')
    assert blocks(document) == ['How long?\n"30 in', 'How tall?\n18"', "Weight?\n4 kg"]


def test_a_quoted_answer_may_run_over_several_lines(write) -> None:
    document = write("a.csv", 'question,answer\nHow?,"First, open it.\n\nThen, ""gently"", close it."\nWhy?,So\n')
    assert blocks(document) == ['How?\nFirst, open it.\nThen, "gently", close it.', "Why?\nSo"]


def test_a_comma_nobody_quoted_stays_in_the_answer(write) -> None:
    document = write("a.csv", "question,answer\nHow to pay?,By card, cash or transfer\n")
    assert blocks(document) == ["How to pay?\nBy card, cash or transfer"]
    assert document.notices == ("rows with more cells than the header, joined to the answer: line 2",)


def test_pairs_and_rows_left_out_add_up_to_the_rows_of_the_file(write) -> None:
    document = write("a.csv", 'question,answer\nWhy?,So\nHow?,\n,Lost\n\n"Two\nlines?",Yes\nAlone\n')
    assert blocks(document) == ["Why?\nSo", "Two\nlines?\nYes"]
    left_out = "3 of 5 rows left out: line 3 (no answer), line 4 (no question), line 8 (no answer)"
    assert document.notices == (left_out,)


def test_a_table_of_other_columns_is_told_row_by_row(write) -> None:
    document = write("a.csv", "Part,Stock,\nbolt,21,x\nnut,,y\n")
    assert document.text == "Part: bolt\nStock: 21\ncolumn 3: x\n\nPart: nut\ncolumn 3: y"
    assert document.notices == ("no question and answer columns: each row is read as column: value lines",)


# Plain text and transcripts


def test_plain_text_is_kept_as_it_stands(write) -> None:
    document = write("a.txt", "One line,\nthe next.\n\n\nAnother: paragraph.\n")
    assert document.text == "One line,\nthe next.\n\n\nAnother: paragraph.\n"
    assert blocks(document, "paragraph") == ["One line,\nthe next.", "Another: paragraph."]
    assert paths(document) == []


def test_a_transcript_is_read_turn_by_turn_under_the_line_that_names_it(write) -> None:
    chat = "Customer: It is dead.\nAgent: Which light?\nIs it red?\nCustomer: Red.\nAgent: Reset it."
    document = write("chats.txt", f"Chat 12, 3 May\n\n{chat}\n\nChat 13, 4 May\n\n{chat}\n")
    assert paths(document) == [("Chat 12, 3 May",), ("Chat 13, 4 May",)]
    assert blocks(document, "heading") == ["Chat 12, 3 May", "Chat 13, 4 May"]
    assert blocks(document, "speaker-turn")[:2] == ["Customer: It is dead.", "Agent: Which light?\nIs it red?"]
    assert len(blocks(document, "speaker-turn")) == 8


@pytest.mark.parametrize("text", ["Name: Kiln\nWidth: 3 m\nHeight: 2 m\nWeight: 90 kg\n", "Note: one.\n\nProse here.\n\nMore.\n"])
def test_values_with_names_are_no_transcript(write, text: str) -> None:
    assert set(kinds(write("a.txt", text))) == {"paragraph"}


# Folders


def test_the_supported_files_of_a_folder_are_found_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "sub/c.PDF", "sub/d.docx", ".hidden.txt", ".git/e.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    os.symlink(tmp_path, tmp_path / "sub" / "loop")
    os.symlink(tmp_path / "nowhere.txt", tmp_path / "broken.txt")
    assert [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path)] == ["a.txt", "b.md", "sub/c.PDF"]
    assert find_files(tmp_path / "b.md") == [tmp_path / "b.md"]
    with pytest.raises(LoadError, match="nowhere: no such file or folder$"):
        find_files(tmp_path / "nowhere")
