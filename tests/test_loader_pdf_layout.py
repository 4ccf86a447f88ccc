"""PDF pages: lines become paragraphs, lists and tables, in the order in which they are read."""

from __future__ import annotations

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, Spacer

from rag.loaders.pdf_fonts import LIGATURES, _of_glyph
from rag.loaders.pdf_lines import Line, Segment
from rag.loaders.pdf_pieces import Spelling
from tests.loader_support import BODY, ITEM, LONG, TIGHT, blocks, placed, read, story, table  # noqa: F401

# Paragraphs and lists


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


def test_a_word_cut_at_the_end_of_a_short_line_is_whole(read) -> None:
    lines = [
        "The temper-",
        "ature of a kiln rises slowly, and so does the pres-",
        "sure; die Haus-",
        "tür bleibt zu.",
    ]
    text = read(placed([(40, 400 - 14 * number, line) for number, line in enumerate(lines)])).text
    assert {"temperature", "pressure;", "Haustür"} <= set(text.split())


def test_other_line_ends_are_joined_by_what_they_show() -> None:
    spelling = Spelling([])
    assert spelling.join("Alle Vor-", "und Nachteile") == "Alle Vor- und Nachteile"
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
    lines = [
        "The plan of the whole house is found in chapter",
        "4. It shows every room and, what is more, each",
        "door.",
    ]
    document = read(placed([(50, 400 - 13 * number, line) for number, line in enumerate(lines)]))
    assert document.text == " ".join(lines)


ROWS = [["Axle", "Pressure", "Remark"], ["Front", "2.4 bar", LONG.strip()], ["Rear", "2.6 bar", "None"]]


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
        for words in (
            (50, 400 - 13 * number, title),
            (120, 400 - 13 * number, ". " * 50),
            (330, 400 - 13 * number, sheet),
        )
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
    assert "o\ufb03ce \ufb01re".translate(LIGATURES) == "office fire"


@pytest.mark.parametrize(("letters", "accent", "at"), [("Sohne", "\u00a8", 6.7), ("Jose", "\u00b4", 17.5)])
def test_an_accent_painted_over_its_letter_is_one_letter_with_it(read, letters: str, accent: str, at: float) -> None:
    painted = [(50, 400, letters), (50 + at, 400, accent), (50 + stringWidth(letters, "Helvetica", 10), 400, "ns it")]
    assert read(placed(painted)).text == {"Sohne": "S\u00f6hnens it", "Jose": "Jos\u00e9ns it"}[letters]


def test_a_space_between_the_letters_of_two_words_parts_them(read) -> None:
    def spaced(canvas: Canvas) -> None:
        text = canvas.beginText(50, 400)
        text.setFont("Helvetica", 10)
        text.textOut("befor")
        text.setCharSpace(2.5)
        text.textOut("ee")
        text.setCharSpace(0)
        text.setTextOrigin(50 + canvas.stringWidth("beforee", "Helvetica", 10) + 2.5, 400)
        text.textOut("very night")
        canvas.drawText(text)

    assert read(placed([], draw=spaced)).text == "before every night"


def test_three_columns_under_a_title_are_read_one_after_the_other(read) -> None:
    columns = [
        [f"{name} line {number:02} of its column" for number in range(20)] for name in ("first", "other", "third")
    ]
    page = [(20, 460, "A title that goes over all three of the columns", 14)]
    for number in range(20):
        for column, left in zip(columns, (20, 145, 270)):
            page.append((left, 430 - 10 * number, column[number], 8))
    text = read(placed(page)).text
    assert [text.index(line) for column in columns for line in column] == sorted(
        text.index(line) for column in columns for line in column
    )
    assert all(" ".join(column) in text for column in columns)


def test_lines_of_two_columns_whose_baselines_differ_are_kept_apart(read) -> None:
    left = [f"left line {number:02} fills its column quite well" for number in range(20)]
    right = [f"right line {number:02} fills its column as well" for number in range(18)]
    page = [(40, 430 - 11 * number, line, 8) for number, line in enumerate(left)]
    page += [(215, 427 - 12 * number, line, 8) for number, line in enumerate(right)]
    assert read(placed(page)).text == " ".join(left) + "\n\n" + " ".join(right)


@pytest.mark.parametrize(
    ("name", "code", "read_as"),
    [("a.sc", "z", "a"), ("f_i", "z", "fi"), ("uni00E4", "z", "\u00e4"), ("u1F600", "z", "\U0001f600"),
     ("g65", "A", "A"), ("noteheads.s2", "z", ""), ("odd", "z", "")],
)  # fmt: skip
def test_glyphs_are_read_by_their_names_where_those_name_characters(name: str, code: str, read_as: str) -> None:
    assert _of_glyph(name, code) == read_as
