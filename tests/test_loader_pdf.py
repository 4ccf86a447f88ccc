"""PDF: paragraphs from the gaps between lines, sections from the outline, pages by sheet and label, damage of every kind."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings as hypothesis_settings, strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NullObject, NumberObject, TextStringObject
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from rag.chunkers import chunk
from rag.errors import LoadError
from rag.loaders import load
from rag.loaders.pdf_lines import Line, Segment
from rag.loaders.pdf_pieces import Spelling
from rag.schema import Document
from rag.settings import Settings

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=7)
TIGHT = ParagraphStyle("tight", parent=BODY, spaceAfter=0)
ITEM = ParagraphStyle("item", parent=BODY, leftIndent=16, bulletIndent=3, spaceAfter=4)
LONG = "The kiln must cool for a whole night before anyone opens its door, because the glaze cracks in a draught. "

# (left, height above the bottom, text) and, where they matter, size and font
Words = tuple
Draw = Callable[[Canvas], None]


@pytest.fixture
def read(tmp_path: Path):
    """Load the bytes of a PDF."""

    def loaded(data: bytes, name: str = "a.pdf") -> Document:
        path = tmp_path / name
        path.write_bytes(data)
        document = load(path)
        assert_is_whole(document)
        return document

    return loaded


def placed(*pages: Iterable[Words], draw: Draw | None = None) -> bytes:
    """A PDF with words at given places."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(400, 500), invariant=1)
    for page in pages:
        for left, height, text, *rest in page:
            canvas.setFont(rest[1] if len(rest) > 1 else "Helvetica", rest[0] if rest else 10)
            canvas.drawString(left, height, text)
        if draw:
            draw(canvas)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def story(*flowables: object, on_page: Callable | None = None, size: tuple[float, float] = (400, 500)) -> bytes:
    """A PDF that reportlab sets from paragraphs and tables."""
    target = io.BytesIO()
    template = SimpleDocTemplate(target, pagesize=size, leftMargin=50, rightMargin=50, topMargin=60, bottomMargin=60)
    options = {"onFirstPage": on_page, "onLaterPages": on_page} if on_page else {}
    template.build([Paragraph(one, BODY) if isinstance(one, str) else one for one in flowables], **options)
    return target.getvalue()


def changed(data: bytes, change: Callable[[PdfWriter], None]) -> bytes:
    """The PDF after ``change`` was made to it."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    change(writer)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def outlined(data: bytes, *entries: tuple[int, str, int, float | None]) -> bytes:
    """The PDF with an outline of (level, title, page index, height or None)."""

    def add(writer: PdfWriter) -> None:
        from pypdf.generic import Fit

        parents: list = [None]
        for level, title, page, top in entries:
            fit = Fit.fit() if top is None else Fit.xyz(0, top)
            item = writer.add_outline_item(title=title, page_number=page, parent=parents[level - 1], fit=fit)
            parents[level:] = [item]

    return changed(data, add)


def assert_is_whole(document: Document) -> None:
    """Sections and pages cover the text in order; blocks are in order and not blank at their edges."""
    for parts in (document.sections, document.pages):
        if parts:
            assert parts[0].start == 0 and parts[-1].end == len(document.text)
            assert all(one.end == other.start for one, other in zip(parts, parts[1:]))
    assert all(section.start < section.end for section in document.sections)
    assert all(section.page_start >= 1 for section in document.sections)
    assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
    assert all(one.end <= other.start for one, other in zip(document.blocks, document.blocks[1:]))
    blocks = [document.text[block.start : block.end] for block in document.blocks]
    assert all(block == block.strip() != "" for block in blocks)


def blocks(document: Document, kind: str | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]


def pages(document: Document) -> list[str]:
    return [document.text[page.start : page.end].strip() for page in document.pages]


def sections(document: Document) -> dict[tuple[str, ...], str]:
    return {section.path: document.text[section.start : section.end].strip() for section in document.sections}


# What cannot be loaded


def test_pages_without_text_are_named_as_a_scan(read) -> None:
    with pytest.raises(LoadError) as error:
        read(placed([], []))
    assert str(error.value) == "a.pdf: no text found (perhaps a scan)"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_file_guarded_only_against_editing_opens(read, algorithm: str) -> None:
    data = placed([(50, 400, "Free to read.")])
    guarded = changed(data, lambda writer: writer.encrypt("", "s3", algorithm=algorithm))
    assert PdfReader(io.BytesIO(guarded)).is_encrypted
    assert read(guarded).text == "Free to read."


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_file_that_needs_a_password_says_so(read, algorithm: str) -> None:
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


def test_pages_without_text_among_others_are_counted(read) -> None:
    document = read(placed([(50, 400, "One.")], [], [(50, 400, "Three.")], []))
    assert document.notices[0] == "2 of 4 pages without text: sheet 2, 4"
    assert pages(document) == ["One.", "", "Three.", ""]


# Pages


def test_pages_count_from_one_as_sheets_and_carry_their_printed_labels(read) -> None:
    def label(writer: PdfWriter) -> None:
        writer.set_page_label(0, 1, style="/r")
        writer.set_page_label(2, 2, style="/D", start=1)

    document = read(changed(placed(*[[(50, 400, word)] for word in ("albedo", "bellows", "calliper")]), label))
    assert [(page.number, page.label) for page in document.pages] == [(1, "i"), (2, "ii"), (3, "1")]
    assert pages(document) == ["albedo", "bellows", "calliper"]
    chunks = chunk(document, Settings(chunker="paragraph"))
    assert [(one.text, one.page_start, one.page_end, one.page_labels) for one in chunks] == [
        ("albedo", 1, 1, ("i",)),
        ("bellows", 2, 2, ("ii",)),
        ("calliper", 3, 3, ("1",)),
    ]


def test_without_labels_a_page_is_labelled_by_its_number(read) -> None:
    assert [page.label for page in read(placed([(50, 400, "a")], [(50, 400, "b")])).pages] == ["1", "2"]


def test_a_paragraph_that_goes_on_over_a_page_break_is_one_and_on_both_pages(read) -> None:
    first = [(50, 70 - 13 * number, line) for number, line in enumerate(["The door may be opened", "once the kiln has cooled"])]
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


# Paragraphs, lists and tables


def test_wrapped_lines_become_one_line_and_gaps_become_blank_lines(read) -> None:
    document = read(story(LONG * 3, LONG * 2, "Short."))
    assert document.text == "\n\n".join([(LONG * 3).strip(), (LONG * 2).strip(), "Short."])
    assert {block.kind for block in document.blocks} == {"paragraph"}


def test_justified_text_is_read_like_any_other(read) -> None:
    justified = ParagraphStyle("justified", parent=BODY, alignment=4)
    assert blocks(read(story(Paragraph(LONG * 3, justified), Paragraph(LONG * 2, justified)))) == [
        (LONG * 3).strip(),
        (LONG * 2).strip(),
    ]


def test_paragraphs_known_only_by_their_indented_first_line_are_parted(read) -> None:
    indented = ParagraphStyle("indented", parent=TIGHT, firstLineIndent=14)
    assert blocks(read(story(*[Paragraph(LONG * 2, indented)] * 3))) == [(LONG * 2).strip()] * 3


def test_paragraphs_known_only_by_their_short_last_line_are_parted(read) -> None:
    first = LONG * 2 + "It cracks."
    assert blocks(read(story(Paragraph(first, TIGHT), Paragraph(LONG * 2, TIGHT)))) == [first, (LONG * 2).strip()]


def test_a_label_above_its_paragraph_keeps_a_line_of_its_own(read) -> None:
    bold = ParagraphStyle("label", parent=TIGHT, fontName="Helvetica-Bold")
    assert read(story(Paragraph("WARNING", bold), LONG * 2)).text == "WARNING\n" + (LONG * 2).strip()


def test_inline_bold_and_raised_type_stay_in_their_line(read) -> None:
    text = "An area of <b>4 m<super>2</super></b> is <i>enough</i>, even for two."
    assert read(story(text)).text == "An area of 4 m2 is enough, even for two."


@pytest.mark.parametrize(
    ("elsewhere", "joined"),
    [("", "maintenance"), ("The maintenance plan.", "maintenance"), ("A main-tenance plan.", "main-tenance")],
)
def test_a_hyphen_at_a_line_end_goes_unless_the_word_has_it_elsewhere(elsewhere: str, joined: str) -> None:
    spelling = Spelling([Line((Segment(elsewhere, 0, 9),), 0, 10, False)])
    assert spelling.join("Regular main-", "tenance helps") == f"Regular {joined} helps"


def test_other_line_ends_are_joined_by_what_they_show() -> None:
    spelling = Spelling([])
    assert spelling.join("One line", "and the next") == "One line and the next"
    assert spelling.join("Use a USB-", "C cable") == "Use a USB-C cable"
    assert spelling.join("Soft\u00ad", "ware") == "Software"
    assert spelling.join("Ten -", "no, nine") == "Ten - no, nine"


def test_list_items_stand_on_lines_of_their_own(read) -> None:
    items = [Paragraph(LONG, ITEM, bulletText="\u2022"), Paragraph("Short.", ITEM, bulletText="\u2022")]
    steps = [Paragraph(LONG, ITEM, bulletText=f"{number}.") for number in (9, 10)]
    document = read(story("Before:", *items, Spacer(1, 9), "After:", *steps))
    assert document.text == (
        f"Before:\n\n- {LONG.strip()}\n- Short.\n\nAfter:\n\n9. {LONG.strip()}\n10. {LONG.strip()}"
    )
    assert [block.kind for block in document.blocks] == ["paragraph", "list", "paragraph", "list"]


def test_a_number_that_happens_to_begin_a_line_opens_no_list(read) -> None:
    lines = ["The plan of the whole house is found in chapter", "4. It shows every room and, what is more, each", "door."]
    document = read(placed([(50, 400 - 13 * number, line) for number, line in enumerate(lines)]))
    assert document.text == " ".join(lines)


ROWS = [["Axle", "Pressure", "Remark"], ["Front", "2.4 bar", LONG.strip()], ["Rear", "2.6 bar", "None"]]


def table(rows: list[list[str]], widths: list[float], *style: tuple, **options: object) -> Table:
    cells = [[Paragraph(cell, TIGHT) for cell in row] for row in rows]
    return Table(cells, colWidths=widths, style=TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *style]), **options)


@pytest.mark.parametrize("alignment", ["TOP", "MIDDLE"])
def test_a_table_becomes_a_markdown_table(read, alignment: str) -> None:
    document = read(story("Pressures:", table(ROWS, [60, 70, 170], ("VALIGN", (0, 0), (-1, -1), alignment)), "After."))
    assert blocks(document, "table") == [
        f"| Axle | Pressure | Remark |\n|---|---|---|\n| Front | 2.4 bar | {LONG.strip()} |\n| Rear | 2.6 bar | None |"
    ]
    assert document.text.startswith("Pressures:") and document.text.endswith("After.")


def test_rows_set_as_close_as_lines_are_told_by_their_first_cell(read) -> None:
    rows = [("Part", "Use"), ("bolt", "holds the lid down"), ("", "and the floor"), ("nut", "holds the bolt")]
    page = [(left, 400 - 12 * number, text) for number, row in enumerate(rows) for left, text in zip((50, 120), row)]
    assert read(placed(page)).text == (
        "| Part | Use |\n|---|---|\n| bolt | holds the lid down and the floor |\n| nut | holds the bolt |"
    )


def test_a_table_over_a_page_break_is_one_and_its_repeated_header_stands_once(read) -> None:
    rows = [["Code", "Meaning"], *([f"E-{number}", f"Fault {number}"] for number in range(40))]
    document = read(story(table(rows, [80, 200], repeatRows=1)))
    assert len(document.pages) > 1
    (only,) = blocks(document, "table")
    assert only.split("\n")[2:] == [f"| E-{number} | Fault {number} |" for number in range(40)]
    assert only.count("Meaning") == 1


def test_the_title_of_a_table_stays_with_it(read) -> None:
    bold = ParagraphStyle("caption", parent=BODY, fontName="Helvetica-Bold")
    document = read(story(LONG * 2, Paragraph("Tyre pressures", bold), table(ROWS, [60, 70, 170])))
    assert "Tyre pressures\n| Axle | Pressure | Remark |" in document.text


def test_a_line_of_contents_is_its_title_and_its_page(read) -> None:
    entries = [("1 Setup", "3"), ("2 Use", "12")]
    page = [
        words
        for number, (title, sheet) in enumerate(entries)
        for words in ((50, 400 - 13 * number, title), (120, 400 - 13 * number, ". " * 50), (330, 400 - 13 * number, sheet))
    ]
    assert read(placed(page)).text == "1 Setup ... 3\n2 Use ... 12"


# Reading order


def test_two_columns_are_read_one_after_the_other(read) -> None:
    left = [f"left line {number:02} fills its column quite well" for number in range(20)]
    right = [f"right line {number:02} fills its column as well" for number in range(20)]
    page = [(40, 460, "A title that goes over both of the columns, being long", 12)]
    for number, (one, other) in enumerate(zip(left, right)):
        page += [(40, 430 - 12 * number, one, 8), (215, 430 - 12 * number, other, 8)]
    text = read(placed(page)).text
    assert text.startswith("A title that goes over both")
    assert " ".join(left) in text and " ".join(right) in text
    assert text.index("left line 19") < text.index("right line 00")


def test_a_page_painted_sideways_is_read_as_its_reader_turns_it(read) -> None:
    def sideways(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.rotate(90)
        canvas.drawString(50, -100, "One line of it")
        canvas.drawString(50, -113, "and the next.")

    assert read(placed([], draw=sideways)).text == "One line of it and the next."


def test_text_inside_a_form_is_read(read) -> None:
    def form(canvas: Canvas) -> None:
        if not canvas.hasForm("stamp"):
            canvas.beginForm("stamp")
            canvas.setFont("Helvetica", 10)
            canvas.drawString(0, 0, "Approved.")
            canvas.endForm()
        canvas.translate(50, 300)
        canvas.doForm("stamp")

    assert read(placed([(50, 400, "Page.")], draw=form)).text == "Page.\n\nApproved."


def test_words_painted_letter_by_letter_keep_their_spaces(read) -> None:
    def letters(canvas: Canvas) -> None:
        text = canvas.beginText(50, 400)
        text.setFont("Courier", 10)
        for letter in "Close it well":
            text.textOut(letter)
        canvas.drawText(text)

    assert read(placed([], draw=letters)).text == "Close it well"


def test_a_word_painted_twice_to_look_bold_is_read_once(read) -> None:
    assert read(placed([(50, 400, "Danger"), (50.3, 400, "Danger"), (95, 400, "here")])).text == "Danger here"


def test_ligatures_are_read_as_their_letters() -> None:
    from rag.loaders.pdf_fragments import LIGATURES

    assert "o\ufb03ce \ufb01re".translate(LIGATURES) == "office fire"


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
    page = [[(50, 470, f"{title} {17 + number}"), (50, 400, f"Text on {title}.")] for number, title in enumerate(titles)]
    assert pages(read(placed(*page))) == [f"Text on {title}." for title in titles]


def test_text_that_stands_on_most_pages_but_not_at_their_edge_is_kept(read) -> None:
    lines = [(50, 450 - 30 * number, f"Row {number}.") for number in range(12)]
    assert read(placed(*[lines] * 4)).text.count("Row 5.") == 4


# Sections from the outline


GUIDE = placed(
    [(50, 450, "Guide", 20), (50, 420, "Welcome.")],
    [(50, 450, "1 Setup", 16), (50, 420, "Unpack it."), (50, 380, "1.1 Power", 13), (50, 360, "Plug it in.")],
    [(50, 450, "The lid is heavy."), (50, 400, "2 Use", 16), (50, 380, "Open the lid."), (50, 300, "Power", 13), (50, 280, "On.")],
)


def test_sections_begin_exactly_at_the_headings_the_outline_names(read) -> None:
    document = read(outlined(GUIDE, (1, "1 Setup", 1, 470), (2, "1.1 Power", 1, 395), (1, "2 Use", 2, 415), (2, "Power", 2, 315)))
    assert sections(document) == {
        (): "Guide\n\nWelcome.",
        ("1 Setup",): "1 Setup\n\nUnpack it.",
        ("1 Setup", "1.1 Power"): "1.1 Power\n\nPlug it in.\n\nThe lid is heavy.",
        ("2 Use",): "2 Use\n\nOpen the lid.",
        ("2 Use", "Power"): "Power\n\nOn.",
    }
    assert [(section.page_start, section.page_end) for section in document.sections] == [(1, 1), (2, 2), (2, 3), (3, 3), (3, 3)]
    assert blocks(document, "heading") == ["1 Setup", "1.1 Power", "2 Use", "Power"]
    assert document.notices == ()


@pytest.mark.parametrize("title", ["Setup", "Chapter 1: Setup", "1. SETUP", "1Setup"])
def test_a_heading_is_found_however_its_number_case_and_spaces_differ(read, title: str) -> None:
    document = read(outlined(GUIDE, (1, title, 1, None)))
    assert sections(document)[(title,)].startswith("1 Setup\n\nUnpack it.")


def test_a_heading_over_two_lines_is_found_and_read_as_one(read) -> None:
    page = [(50, 450, "See below."), (50, 400, "Loading the kiln", 16), (50, 381, "with shelves", 16), (50, 350, "Stack it.")]
    document = read(outlined(placed(page), (1, "Loading the kiln with shelves", 0, 420)))
    assert sections(document)[("Loading the kiln with shelves",)] == "Loading the kiln with shelves\n\nStack it."


def test_of_two_headings_alike_on_a_page_each_entry_takes_the_one_at_its_height(read) -> None:
    page = [(50, 450, "Notes", 14), (50, 430, "First."), (50, 300, "Notes", 14), (50, 280, "Second.")]
    document = read(outlined(placed(page), (1, "A", 0, 480), (2, "Notes", 0, 465), (1, "B", 0, 330), (2, "Notes", 0, 315)))
    assert sections(document) == {("A", "Notes"): "Notes\n\nFirst.", ("B", "Notes"): "Notes\n\nSecond."}


def test_a_reference_that_ends_in_a_number_is_no_part_of_the_heading_below_it(read) -> None:
    page = [(50, 450, "For more of this see"), (50, 437, "11.6.2."), (50, 400, "8.5 Speed", 14), (50, 380, "Slow.")]
    document = read(outlined(placed(page), (1, "8.5 Speed", 0, 418)))
    assert sections(document) == {(): "For more of this see 11.6.2.", ("8.5 Speed",): "8.5 Speed\n\nSlow."}


def test_a_title_that_is_not_on_its_page_begins_at_its_height_else_at_the_top(read) -> None:
    document = read(outlined(GUIDE, (1, "Installation", 1, 385), (1, "Operation", 2, None)))
    assert sections(document)[("Installation",)] == "1.1 Power\n\nPlug it in."
    assert sections(document)[("Operation",)].startswith("The lid is heavy.")


def test_entries_out_of_order_keep_their_own_paths(read) -> None:
    document = read(outlined(GUIDE, (1, "2 Use", 2, 415), (1, "Tasks", 1, 470), (2, "1.1 Power", 1, 395)))
    assert list(sections(document)) == [(), ("Tasks",), ("Tasks", "1.1 Power"), ("2 Use",)]


def test_without_an_outline_the_document_is_one_section_and_says_so(read) -> None:
    document = read(GUIDE)
    assert document.sections == ()
    assert document.notices == ("no outline: the document is one section",)


def bookmark(title: str, **entries: object) -> DictionaryObject:
    named = {NameObject(f"/{name}"): value for name, value in entries.items()}
    return DictionaryObject({NameObject("/Title"): TextStringObject(title), **named})


def with_bookmarks(data: bytes, build: Callable[[PdfWriter, Callable], object]) -> bytes:
    """The PDF with the outline that ``build(writer, add)`` makes; it gives back the first bookmark."""

    def add(writer: PdfWriter) -> None:
        first = build(writer, writer._add_object)
        outlines = DictionaryObject({NameObject("/Type"): NameObject("/Outlines"), NameObject("/First"): first})
        writer.root_object[NameObject("/Outlines")] = writer._add_object(outlines)

    return changed(data, add)


def page_target(writer: PdfWriter, number: int) -> ArrayObject:
    return ArrayObject([writer.pages[number].indirect_reference, NameObject("/Fit")])


FIVE = placed(*[[(50, 450, f"Page {word}.")] for word in ("one", "two", "three", "four", "five")])


def test_a_group_begins_at_its_first_child_and_a_lost_bookmark_is_left_out(read) -> None:
    def build(writer: PdfWriter, add: Callable) -> object:
        chapter = add(bookmark("Chapter", Dest=page_target(writer, 2)))
        lost = add(bookmark("Lost", Dest=TextStringObject("nowhere")))
        return add(bookmark("Part one", First=chapter, Next=lost))

    document = read(with_bookmarks(FIVE, build))
    assert sections(document) == {
        (): "Page one.\n\nPage two.",
        ("Part one", "Chapter"): "Page three.\n\nPage four.\n\nPage five.",
    }
    assert [section.page_start for section in document.sections] == [1, 3]
    assert document.notices == ("1 bookmarks lead nowhere and are left out: Lost",)


def test_an_outline_that_leads_in_circles_is_followed_once(read) -> None:
    def build(writer: PdfWriter, add: Callable) -> object:
        one, two = bookmark("One", Dest=page_target(writer, 0)), bookmark("Two", Dest=page_target(writer, 1))
        first, second = add(one), add(two)
        one[NameObject("/Next")], two[NameObject("/Next")] = second, first
        two[NameObject("/First")] = second
        return first

    assert list(sections(read(with_bookmarks(FIVE, build)))) == [("One",), ("Two",)]


@pytest.mark.parametrize(
    "target",
    [
        NullObject(), NumberObject(7), ArrayObject([]), ArrayObject([NullObject()]), ArrayObject([NumberObject(99)]),
        ArrayObject([NumberObject(-1), NameObject("/Fit")]), DictionaryObject(), TextStringObject(""), NameObject("/gone"),
    ],
)  # fmt: skip
def test_a_bookmark_that_points_at_anything_else_is_left_out(read, target: object) -> None:
    document = read(with_bookmarks(FIVE, lambda writer, add: add(bookmark("Odd", Dest=target))))
    assert document.sections == () and len(blocks(document)) == 5
    assert document.notices == (
        "1 bookmarks lead nowhere and are left out: Odd",
        "no outline: the document is one section",
    )


def test_named_places_and_actions_are_followed(read) -> None:
    def build(writer: PdfWriter, add: Callable) -> object:
        writer.add_named_destination(title="there", page_number=3)
        action = DictionaryObject({NameObject("/S"): NameObject("/GoTo"), NameObject("/D"): page_target(writer, 1)})
        named = add(bookmark("Named", Dest=TextStringObject("there")))
        height = ArrayObject([writer.pages[4].indirect_reference, NameObject("/XYZ"), NullObject(), FloatObject(470), NullObject()])
        last = add(bookmark("Last", Dest=height))
        named.get_object()[NameObject("/Next")] = last
        return add(bookmark("Action", A=action, Next=named))

    document = read(with_bookmarks(FIVE, build))
    assert [(section.path, section.page_start) for section in document.sections] == [
        ((), 1),
        (("Action",), 2),
        (("Named",), 4),
        (("Last",), 5),
    ]


def test_a_huge_outline_is_read_up_to_its_limit(read, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag.loaders import pdf_outline

    monkeypatch.setattr(pdf_outline, "MAX_ENTRIES", 50)

    def build(writer: PdfWriter, add: Callable) -> object:
        following = None
        for number in range(400, 0, -1):
            more = {"Next": following} if following is not None else {}
            following = add(bookmark(f"Entry {number}", Dest=page_target(writer, min(4, number // 20)), **more))
        return following

    assert read(with_bookmarks(FIVE, build)).sections[-1].path == ("Entry 50",)


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
    entries=st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["word", "A sentence.", "Else"]), st.integers(0, 500)), max_size=5),
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
    assert document.notices == ()
    flat = [PdfReader(SAMPLES / "lapwing-owners-manual.pdf").outline]
    bookmarks = []
    while flat:
        item = flat.pop(0)
        flat, bookmarks = (item + flat, bookmarks) if isinstance(item, list) else (flat, [*bookmarks, item.title])
    titled = [section for section in document.sections if section.path]
    assert [section.path[-1] for section in titled] == bookmarks
    assert all(document.text.startswith(section.path[-1] + "\n", section.start) for section in titled)
