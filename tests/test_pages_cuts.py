"""The Cuts part of the Documents page: a document's text with its chunks, their sizes, and its sections."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from pages.shared.chunk_view import PART_CHARACTERS, Part, cuts_html, described, figures_html, parts, tree_html
from pages.shared.cuts_view import Cut, embedded_words, histogram
from pages.shared.names import titles
from rag.catalogue import DocumentRecord
from rag.chunkers import CHUNKERS
from rag.environment import Environment
from rag.errors import ProviderError
from rag.schema import Chunk, Document, Page, Section
from tests.chat_support import CAR, HOSTILE_NAME, documents
from tests.documents_support import PAGE
from tests.page_support import Browser, machine, workspace_name

__all__ = ["documents", "machine", "workspace_name"]
TEXT = "One two three four five."


def a_chunk(position: int, start: int, end: int, text: str = TEXT, **changes: object) -> Chunk:
    return Chunk("id", "a.md", position, start, end, text[start:end], **changes)


def drawn(chunks: list[Chunk], text: str = TEXT, start: int = 0, end: int | None = None) -> BeautifulSoup:
    document = Document("a.md", "a.md", text)
    return soup(cuts_html(chunks, document, Part(start, end or len(text), "")))


def soup(html: str) -> BeautifulSoup:
    """The HTML parsed with its blank space as it is, which the parser keeps only inside of ``pre``."""
    return BeautifulSoup(f"<pre>{html}</pre>", "html.parser")


def text_of(html: str) -> str:
    return soup(html).get_text()


def source_text(page: BeautifulSoup) -> str:
    """What is left of the page when labels and repeated headers are taken away: the document's own text."""
    for part in page.select(".rf-number, .rf-repeated"):
        part.decompose()
    return page.select_one(".rf-cuts").get_text()


def test_chunks_are_drawn_in_turns_of_two_colours_with_number_size_and_place() -> None:
    section = {"section": ("A", "B"), "page_start": 12, "page_end": 12, "page_labels": ("x",)}
    page = drawn([a_chunk(0, 0, 7), a_chunk(1, 8, 24, **section)])
    assert [(part["class"][1], part.get_text()) for part in page.select(".rf-cut")] == [
        ("rf-cut-0", "One two"),
        ("rf-cut-1", "three four five."),
    ]
    assert [part.get_text() for part in page.select(".rf-number")] == ["1 · 7", "2 · 16"]
    assert page.select(".rf-cut")[1]["title"] == "Chunk 2 · 16 characters · A > B · p. x (sheet 12)"
    assert source_text(page) == TEXT


def test_an_overlap_is_shaded_and_names_both_chunks() -> None:
    page = drawn([a_chunk(0, 0, 13), a_chunk(1, 8, 24)])
    [overlap] = page.select(".rf-overlap")
    assert overlap.get_text() == "three"
    assert overlap["title"].split("\n") == ["Chunk 1 · 13 characters", "Chunk 2 · 16 characters"]
    assert source_text(page) == TEXT


def test_what_no_chunk_holds_is_marked_and_blank_space_is_not() -> None:
    page = drawn([a_chunk(0, 4, 7), a_chunk(1, 8, 13)])
    assert [part.get_text() for part in page.select(".rf-uncut")] == ["One ", " four five."]
    assert [part.get_text() for part in page.select(".rf-blank")] == [" "]


def test_a_repeated_header_stands_before_its_chunk_and_is_marked_as_not_of_this_place() -> None:
    page = drawn([a_chunk(0, 0, 24, header="| <b>Name</b> | Age |")])
    assert page.select_one(".rf-repeated").get_text() == "↻ | <b>Name</b> | Age |\n"
    assert page.select_one(".rf-number")["title"].endswith("with a repeated header")
    assert source_text(page) == TEXT


def test_a_chunk_that_began_in_an_earlier_part_says_so() -> None:
    page = drawn([a_chunk(0, 0, 13, header="h"), a_chunk(1, 14, 24)], start=8)
    assert [part.get_text() for part in page.select(".rf-number")] == ["… 1 · 13", "2 · 10"]
    assert not page.select(".rf-repeated")
    assert source_text(page) == TEXT[8:]


def test_text_is_text_whatever_it_holds() -> None:
    text = '<script>alert(1)</script> & "quotes" <b onclick=x>*bold*</b> $x^2$ &lt;'
    page = drawn([a_chunk(0, 0, 26, text, section=('"><script>', "s")), a_chunk(1, 26, len(text), text)], text)
    assert source_text(page) == text
    assert not page.select("script, [onclick]")


def test_lines_of_source_code_are_named() -> None:
    assert described(a_chunk(4, 0, 24, line_start=3, line_end=9)) == "Chunk 5 · 24 characters · lines 3-9"


def test_parts_cover_a_long_document_once_and_begin_with_sections() -> None:
    lines = [f"Line {number} says something about nothing.\n" for number in range(2000)]
    text = "".join(lines)
    cuts = [0, *(text.index(lines[number]) for number in (100, 300, 310, 1500)), len(text)]
    sections = tuple(Section((f"S{n}",), start, end) for n, (start, end) in enumerate(zip(cuts, cuts[1:])))
    pages = (Page(1, "i", 0, cuts[2]), Page(2, "1", cuts[2], len(text)))
    found = parts(Document("a.md", "a.md", text, sections, pages))
    assert [part.start for part in found] == [0, *(part.end for part in found[:-1])]
    assert found[-1].end == len(text)
    assert max(part.end - part.start for part in found) <= PART_CHARACTERS
    assert found[1].start == cuts[2] or found[1].start == cuts[3]
    assert all(text[part.start - 1] == "\n" for part in found[1:])
    assert found[0].label == f"1 of {len(found)} · S0 · p. i"
    assert parts(Document("a.md", "a.md", "short")) == (Part(0, 5, "1 of 1"),)


@pytest.mark.parametrize("text", ["x" * 50_000, "words " * 9000, "", "\n" * 30_000])
def test_parts_of_text_without_places_to_cut(text: str) -> None:
    found = parts(Document("a.md", "a.md", text))
    assert "".join(text[part.start : part.end] for part in found) == text
    assert max(part.end - part.start for part in found) <= PART_CHARACTERS


def test_figures_and_histogram_of_sizes() -> None:
    chunks = (a_chunk(0, 0, 3), a_chunk(1, 4, 7), a_chunk(2, 8, 24))
    assert text_of(figures_html([3, 3, 16], [1, 1, 5])) == (
        "3 chunks · characters: median 3, 3 to 16 · tokens: median 1, 1 to 5"
    )
    assert text_of(figures_html([], [])) == "0 chunks"
    figure = histogram([Cut("a", chunks), Cut("b", chunks[:1])])
    assert [(trace.type, trace.name, list(trace.x)) for trace in figure.data] == [
        ("histogram", "a", [3, 3, 16]),
        ("histogram", "b", [3]),
    ]
    assert figure.layout.yaxis.dtick == 1, "whole chunks"
    assert figure.data[0].xbins == figure.data[1].xbins


def test_the_section_tree_has_levels_pages_and_sheets() -> None:
    sections = (
        Section((), 0, 4),
        Section(("<i>A</i>",), 4, 8, 1, 1),
        Section(("<i>A</i>", "B"), 8, 24, 1, 2),
    )
    pages = (Page(1, "iii", 0, 8), Page(2, "iv", 8, 24))
    page = BeautifulSoup(tree_html(Document("a.md", "a.md", TEXT, sections, pages)), "html.parser")
    rows = [" ".join(row.get_text(" ").split()) for row in page.select(".rf-tree > div")]
    assert rows == ["<i>A</i> p. iii (sheet 1) 4 characters", "B pp. iii-iv (sheets 1-2) 16 characters"]
    assert [row["style"] for row in page.select(".rf-tree > div")] == [
        "padding-inline-start:0.0rem",
        "padding-inline-start:1.2rem",
    ]
    assert tree_html(Document("a.md", "a.md", TEXT)) == ""


@pytest.fixture
def browser(machine: Environment) -> Browser:
    """A session that looks at the cuts of the two small documents."""
    return Browser().go(PAGE).part("Cuts")


def shown(browser: Browser) -> list[str]:
    """The document's text as each column shows it."""
    return [source_text(soup(html.value)) for html in browser.app.html if 'class="rf-cuts"' in html.value]


def choose(browser: Browser, name: str) -> None:
    [record] = [record for record in browser.workspace.catalogue.documents() if record.name == name]
    browser.app.selectbox(key="_cut_document").set_value(record.id).run()
    browser.sound()


def test_every_chunker_is_drawn_without_an_index_over_the_whole_text(browser: Browser) -> None:
    choose(browser, "heron.md")
    for chunker in CHUNKERS:
        browser.app.selectbox(key="_cut_a").set_value(chunker).run()
        assert browser.sound().errors() == []
        assert shown(browser) == [CAR]
        assert not [part for part in browser.texts(".rf-uncut") if part.strip("#- |")], chunker
        assert int(browser.texts(".rf-figures b")[0].replace(",", "")) == len(browser.parts(".rf-number"))
    assert [index.plan["chunker"] for index in browser.workspace.catalogue.indexes()] == ["recursive"]


def test_two_chunkers_stand_side_by_side_each_with_its_own_knobs(browser: Browser) -> None:
    choose(browser, "heron.md")
    browser.app.toggle(key="_two").set_value(True).run()
    browser.app.selectbox(key="_cut_b").set_value("recursive").run()
    browser.app.number_input(key="_cut_b_recursive_chunk_size").set_value(200).run()
    browser.app.number_input(key="_cut_b_recursive_chunk_overlap").set_value(50).run()
    assert shown(browser.sound()) == [CAR, CAR]
    left, right = (len(part.select(".rf-number")) for part in browser.parts(".rf-cuts"))
    assert 1 < left < right
    assert len(browser.parts(".rf-figures")) == 2
    browser.app.number_input(key="_cut_b_recursive_chunk_overlap").set_value(150).run()
    assert browser.errors() == ["chunk_overlap is 150; it may be at most half of chunk_size (200)."]
    assert shown(browser) == [CAR], "the other one is still there"


def test_the_same_cuts_on_both_sides_are_named_so(browser: Browser) -> None:
    choose(browser, "heron.md")
    browser.app.toggle(key="_two").set_value(True).run()
    browser.app.selectbox(key="_cut_b").set_value("recursive").run()
    assert [info.value for info in browser.sound().app.info] == ["The same cuts."]
    browser.app.number_input(key="_cut_b_recursive_chunk_overlap").set_value(50).run()
    browser.app.number_input(key="_cut_b_recursive_chunk_size").set_value(200).run()
    assert not browser.sound().app.info


def test_what_is_embedded_beside_the_text_is_said(browser: Browser) -> None:
    choose(browser, "heron.md")
    assert not [caption for caption in browser.app.caption if caption.value.startswith("Embedded before")]
    browser.app.selectbox(key="_cut_a").set_value("layout").run()
    [words] = [caption.value for caption in browser.sound().app.caption if caption.value.startswith("Embedded before")]
    assert 'its heading path, such as "Heron handbook > ' in words.replace("\\", "")
    chunks = (a_chunk(0, 0, 7, header="| A | B |"), a_chunk(1, 8, 24))
    assert embedded_words(chunks, [chunk.reading for chunk in chunks]) == (
        "Embedded before the text of a chunk: the header that it repeats (1 of 2 chunks have one)."
    )
    assert embedded_words(chunks[1:], [chunks[1].text]) == ""


def test_documents_of_one_name_are_told_apart_by_their_origin() -> None:
    def record(source: str, name: str) -> DocumentRecord:
        return DocumentRecord(source, name, source, "", "", 1, 0, 0)

    sources = {
        "samples/faq.csv": "faq.csv",
        "uploads/faq.csv": "faq.csv",
        "/a/docs/faq.csv": "faq.csv",
        "/b/docs/faq.csv": "faq.csv",
        "/b/docs/more/owl.md": "more/owl.md",
    }
    assert list(titles([record(*pair) for pair in sources.items()]).values()) == [
        "faq.csv (sample)",
        "faq.csv (upload)",
        "faq.csv (folder /a/docs)",
        "faq.csv (folder /b/docs)",
        "more/owl.md",
    ]
    two = {"uploads/faq.csv": "faq.csv", "/home/me/docs/faq.csv": "faq.csv"}
    assert titles([record(*pair) for pair in two.items()])["/home/me/docs/faq.csv"] == "faq.csv (folder …/docs)"


def test_a_hostile_document_is_shown_as_text(browser: Browser) -> None:
    choose(browser, HOSTILE_NAME)
    [record] = [record for record in browser.workspace.catalogue.documents() if record.name == HOSTILE_NAME]
    assert shown(browser) == [browser.workspace.catalogue.document(record.id).text]
    assert "<script>" in shown(browser)[0]
    assert not browser.parts(".rf-cuts script, .rf-cuts i, .rf-tree script")


def test_cuts_are_made_once_and_a_failure_is_a_sentence_and_tried_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(browser, "heron.md")
    browser.app.number_input(key="_cut_a_recursive_chunk_size").set_value(400).run()
    made: list[object] = []
    work = type(browser.workspace).chunks

    def counted(*arguments: object):
        made.append(arguments)
        if len(made) == 1:
            raise ProviderError("The model <i>timed out</i>. Try again.")
        return work(*arguments)

    monkeypatch.setattr(type(browser.workspace), "chunks", counted)
    browser.app.number_input(key="_cut_a_recursive_chunk_size").set_value(500).run()
    assert browser.sound().errors() == ["The model <i>timed out</i>. Try again."]
    browser.app.run()
    assert browser.errors() == [] and shown(browser) == [CAR]
    browser.app.number_input(key="_cut_a_recursive_chunk_size").set_value(400).run()
    browser.app.number_input(key="_cut_a_recursive_chunk_size").set_value(500).run()
    assert shown(browser.sound()) == [CAR] and len(made) == 2


def test_a_long_document_is_turned_part_by_part(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.shared.chunk_view.PART_CHARACTERS", 300)
    choose(browser, "heron.md")
    browser.app.run()
    seen = shown(browser)
    assert browser.app.button(key="earlier").disabled
    while not browser.app.button(key="later").disabled:
        browser.app.button(key="later").click().run()
        seen += shown(browser.sound())
    assert "".join(seen) == CAR and len(seen) > 2
