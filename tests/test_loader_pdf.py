"""PDF files: what cannot be loaded and why, sheets and labels, running headers, and the manual we ship."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject
from reportlab.pdfgen.canvas import Canvas

from rag.chunkers import CHUNKERS
from rag.errors import LoadError
from rag.loaders import load
from rag.settings import Settings
from tests.loader_support import LONG, Words, assert_is_whole, blocks, changed, outlined, pages, placed, read, story  # noqa: F401
from tests.support import cut as chunk

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


# What cannot be loaded


def test_pages_without_text_are_named_as_a_scan(read) -> None:
    """B06: two blank pages."""
    with pytest.raises(LoadError) as error:
        read(placed([], []))
    assert str(error.value) == "a.pdf: no text found (perhaps a scan)"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_file_guarded_only_against_editing_opens(read, algorithm: str) -> None:
    """B07: encrypted, the user's password empty, the owner's s3."""
    data = placed([(50, 400, "Free to read.")])
    guarded = changed(data, lambda writer: writer.encrypt("", "s3", algorithm=algorithm))
    assert PdfReader(io.BytesIO(guarded)).is_encrypted
    assert read(guarded).text == "Free to read."


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_file_that_needs_a_password_says_so(read, algorithm: str) -> None:
    """B07: encrypted, the user's password x."""
    data = placed([(50, 400, "Secret.")])
    with pytest.raises(LoadError) as error:
        read(changed(data, lambda writer: writer.encrypt("x", algorithm=algorithm)), "locked.pdf")
    assert str(error.value) == "locked.pdf: needs a password"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"plain words", "not a PDF file"),
        (b"%PDF-1.4\nnothing of the kind", "damaged PDF, cannot be opened"),
        (changed(placed([]), lambda writer: writer.remove_page(0)), "damaged PDF, it has no pages"),
    ],
)
def test_a_damaged_file_is_refused_with_a_reason(read, data: bytes, reason: str) -> None:
    with pytest.raises(LoadError) as error:
        read(data)
    assert error.value.reason.startswith(reason)


def test_a_file_cut_short_gives_its_text_or_a_reason(read) -> None:
    data = story(*[LONG * 3] * 30)
    for kept in range(0, len(data), len(data) // 40):
        try:
            assert "kiln" in read(data[:kept]).text
        except LoadError as error:
            assert error.reason


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_kept(read) -> None:
    def break_second(writer: PdfWriter) -> None:
        broken = {"/Subtype": NameObject("/Type0"), "/DescendantFonts": ArrayObject([NumberObject(3)])}
        font = DictionaryObject({NameObject(name): value for name, value in broken.items()})
        fonts = DictionaryObject({NameObject("/F1"): font})
        writer.pages[1][NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})

    data = placed([(50, 400, "One.")], [(50, 400, "Two.")], [(50, 400, "Three.")])
    document = read(changed(data, break_second))
    assert document.text == "One.\n\nThree."
    assert [(page.start, page.end) for page in document.pages] == [(0, 6), (6, 6), (6, 12)]
    assert document.notices[0] == "1 of 3 pages could not be read: sheet 2"
    with pytest.raises(LoadError) as error:
        read(changed(placed([], [(50, 400, "Two.")]), break_second))
    assert error.value.reason == "damaged PDF, 1 of 2 pages could not be read: sheet 2"


def test_pages_without_text_among_others_are_counted(read) -> None:
    document = read(placed([(50, 400, "One.")], [], [(50, 400, "Three.")], []))
    assert document.notices[0] == "2 of 4 pages without text: sheet 2, 4"
    assert pages(document) == ["One.", "", "Three.", ""]


# Pages


def test_pages_count_from_one_as_sheets_and_carry_their_printed_labels(read) -> None:
    """B09: one odd word a page."""

    def label(writer: PdfWriter) -> None:
        writer.set_page_label(0, 1, style="/r")
        writer.set_page_label(2, 2, style="/D", start=1)

    document = read(changed(placed(*[[(50, 400, word)] for word in ("albedo", "bellows", "calliper")]), label))
    assert [(page.number, page.label) for page in document.pages] == [(1, "i"), (2, "ii"), (3, "1")]
    assert pages(document) == ["albedo", "bellows", "calliper"]
    for chunker in CHUNKERS:
        chunks = chunk(document, Settings(chunker=chunker))
        assert [(one.text, one.page_start, one.page_end, one.page_labels) for one in chunks] == [
            ("albedo", 1, 1, ("i",)),
            ("bellows", 2, 2, ("ii",)),
            ("calliper", 3, 3, ("1",)),
        ]


def test_without_labels_a_page_is_labelled_by_its_number(read) -> None:
    assert [page.label for page in read(placed([(50, 400, "a")], [(50, 400, "b")])).pages] == ["1", "2"]


def test_a_paragraph_that_goes_on_over_a_page_break_is_one_and_on_both_pages(read) -> None:
    first = [
        (50, 70 - 13 * number, line)
        for number, line in enumerate(["The door may be opened", "once the kiln has cooled"])
    ]
    second = [(50, 450, "for a whole night."), (50, 420, "Then unload it.")]
    document = read(placed(first, second))
    assert blocks(document) == ["The door may be opened once the kiln has cooled for a whole night.", "Then unload it."]
    assert pages(document)[1] == "for a whole night.\n\nThen unload it."
    over, after = chunk(document, Settings(chunker="paragraph"))
    assert [(one.page_start, one.page_end) for one in (over, after)] == [(1, 2), (2, 2)]


def test_a_word_hyphenated_over_a_page_break_is_one_word(read) -> None:
    document = read(placed([(50, 50, "Look at the tempera-")], [(50, 450, "ture before you open it.")]))
    assert document.text == "Look at the temperature before you open it."
    assert pages(document) == ["Look at the tempera", "ture before you open it."]


def test_a_sentence_that_ends_with_its_page_ends_its_paragraph(read) -> None:
    document = read(placed([(50, 50, "It has cooled.")], [(50, 450, "Open the door.")]))
    assert blocks(document) == ["It has cooled.", "Open the door."]


# Running headers and footers


def test_headers_footers_and_page_numbers_that_come_back_are_left_out(read) -> None:
    def frame(canvas: Canvas, _: object) -> None:
        canvas.drawString(50, 470, "Kiln manual, edition 7")
        canvas.drawRightString(350, 470 + canvas.getPageNumber() % 2, f"Chapter {canvas.getPageNumber() // 3}")
        canvas.drawCentredString(200, 25, f"- {canvas.getPageNumber()} -")

    # Each paragraph in words of its own, so that none stands at one height of several pages.
    paragraphs = [(f"The {'very ' * number}kiln is hot. " * 5).strip() for number in range(30)]
    document = read(story(*paragraphs, on_page=frame))
    assert len(document.pages) > 4
    assert document.text == "\n\n".join(paragraphs)


def test_headings_of_chapters_beside_growing_page_numbers_are_left_out(read) -> None:
    titles = ["Setup", "Use", "Care", "Repair", "Storage", "Disposal"]
    texts = [f"A text on {title.lower()}, as long as the text of a page is beside its header." for title in titles]
    headers = [f"{title} {17 + number}" for number, title in enumerate(titles)]
    sheets = [[(50, 470, header), (50, 400, text)] for header, text in zip(headers, texts)]
    assert pages(read(placed(*sheets))) == texts


def test_pages_that_are_alike_but_for_their_numbers_keep_their_text(read) -> None:
    sheets = [[(50, 450, f"Chapter {number}", 14), (50, 400, f"Text of page {number}.")] for number in range(1, 6)]
    assert pages(read(placed(*sheets))) == [f"Chapter {number}\n\nText of page {number}." for number in range(1, 6)]


def test_text_that_stands_on_most_pages_but_not_at_their_edge_is_kept(read) -> None:
    lines = [(50, 450 - 30 * number, f"Row {number}.") for number in range(12)]
    assert read(placed(*[lines] * 4)).text.count("Row 5.") == 4


# The whole


@hypothesis_settings(max_examples=40, deadline=None)
@given(
    sheets=st.lists(
        st.lists(
            st.tuples(
                st.integers(20, 360),
                st.integers(20, 480),
                st.sampled_from(["word", "A sentence.", "1.", "- x", "to-", "x | y", "12", "A B", "...... 3", "(a)"]),
                st.sampled_from([7, 10, 10, 16]),
            ),
            max_size=30,
        ),
        min_size=1,
        max_size=5,
    ),
    entries=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["word", "A sentence.", "Else"]), st.integers(0, 500)), max_size=5
    ),
)
def test_words_placed_anywhere_become_a_whole_document(
    tmp_path_factory: pytest.TempPathFactory, sheets: list[list[Words]], entries: list[tuple[int, str, int]]
) -> None:
    usable = [(1, title, page, float(top)) for page, title, top in entries if page < len(sheets)]
    path = tmp_path_factory.getbasetemp() / "any.pdf"
    path.write_bytes(outlined(placed(*sheets), *usable) if usable else placed(*sheets))
    try:
        document = load(path)
    except LoadError as error:
        assert error.reason == "no text found (perhaps a scan)" and not any(sheets)
        return
    assert_is_whole(document)


def test_the_shipped_manual_has_a_section_for_each_bookmark_that_begins_with_its_title() -> None:
    document = load(SAMPLES / "lapwing-owners-manual.pdf")
    assert_is_whole(document)
    assert document.notices == ("sections come from the outline",)
    flat = [PdfReader(SAMPLES / "lapwing-owners-manual.pdf").outline]
    bookmarks = []
    while flat:
        item = flat.pop(0)
        flat, bookmarks = (item + flat, bookmarks) if isinstance(item, list) else (flat, [*bookmarks, item.title])
    titled = [section for section in document.sections if section.path]
    assert [section.path[-1] for section in titled] == bookmarks
    assert all(document.text.startswith(section.path[-1] + "\n", section.start) for section in titled)
