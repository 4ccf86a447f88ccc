"""Columns of running text on PDF pages: told from tables, read one after the other."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, FrameBreak, PageTemplate, Paragraph

from rag.schema import Document
from tests.loader_support import BODY, ITEM, blocks, kinds, pages, paths, placed, read, story, table  # noqa: F401

GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
HEADING = ParagraphStyle("heading", parent=BODY, fontName="Helvetica-Bold", fontSize=13, leading=16)
PEOPLE = ["potter", "glazer", "stoker", "apprentice", "master", "visitor", "neighbour"]
THINGS = ["kiln", "batch of tall jars", "oven door", "clay", "shelf above the burner", "lid"]
WIDTH, HEIGHT, MARGIN = 500, 600, 50


def prose(number: int) -> str:
    """A paragraph like no other: two to four sentences in small letters but for their beginnings."""
    sentences = [
        f"Every {PEOPLE[(number + n) % 7]} in house {number} waits until the {THINGS[(number * n + 1) % 6]} is cold, "
        f"because the {THINGS[(number + 2 * n) % 6]} may crack when somebody moves it too early."
        for n in range(2 + number % 3)
    ]
    return " ".join(sentences)


def in_columns(
    *flowables: Flowable, columns: int = 2, gap: float = 18, top: float = 0, on_page: Callable = print
) -> bytes:
    """A PDF set in columns whose lines end where their words do; ``top`` points of its first page are one column."""
    width = (WIDTH - 2 * MARGIN - gap * (columns - 1)) / columns
    no_padding = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}
    height = HEIGHT - 2 * MARGIN - top
    frames = [Frame(MARGIN + n * (width + gap), MARGIN, width, height, **no_padding) for n in range(columns)]
    if top:
        frames.insert(0, Frame(MARGIN, HEIGHT - MARGIN - top, WIDTH - 2 * MARGIN, top, **no_padding))
    target = io.BytesIO()
    template = BaseDocTemplate(target, pagesize=(WIDTH, HEIGHT))
    template.addPageTemplates(PageTemplate(frames=frames, onPage=on_page if on_page is not print else lambda *_: None))
    template.build(list(flowables))
    return target.getvalue()


def set_in(style: ParagraphStyle, *numbers: int) -> list[Paragraph]:
    return [Paragraph(prose(number), style) for number in numbers]


def assert_in_order(document: Document, *numbers: int) -> None:
    """Every word of the paragraphs stands in order, and none of them in a table."""
    words = " ".join(document.text.split())
    whole = [words.find(prose(number)[:60]) for number in numbers]
    assert -1 not in whole and whole == sorted(whole)
    assert not any("somebody" in block for block in blocks(document, "table"))


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("size", [7, 9, 11])
def test_ragged_columns_are_read_one_after_the_other(read, columns: int, size: int) -> None:
    style = ParagraphStyle("ragged", parent=BODY, fontSize=size, leading=1.2 * size, spaceAfter=size / 2)
    document = read(in_columns(*set_in(style, *range(12)), columns=columns, gap=2 * size))
    assert_in_order(document, *range(12))
    assert "table" not in kinds(document)


@pytest.mark.parametrize("leading", [11, 14, 18])
@pytest.mark.parametrize("space", [0, 6])
def test_columns_are_told_at_every_distance_of_lines_and_paragraphs(read, leading: int, space: int) -> None:
    style = ParagraphStyle("ragged", parent=BODY, leading=leading, spaceAfter=space)
    assert_in_order(read(in_columns(*set_in(style, *range(10)))), *range(10))


@pytest.mark.parametrize("columns", [2, 3])
def test_headings_in_one_column_only_stay_headings(read, columns: int) -> None:
    """They also move the lines below them off those of the other columns."""
    parts = [Paragraph("1 Firing", HEADING), *set_in(BODY, *range(8)), Paragraph("2 Cooling", HEADING)]
    document = read(in_columns(*parts, *set_in(BODY, 8, 9), columns=columns))
    assert paths(document)[:2] == [("1 Firing",), ("2 Cooling",)]
    assert_in_order(document, *range(10))


def test_columns_below_a_page_of_one_column_are_told_as_well(read) -> None:
    """More than half of the first page runs over the gap between the columns."""
    document = read(in_columns(*set_in(BODY, 20, 21, 22, 23), FrameBreak(), *set_in(BODY, *range(6)), top=280))
    assert_in_order(document, 20, 21, 22, 23, *range(6))


def test_a_column_that_ends_early_is_no_row_of_a_table(read) -> None:
    last = "This sentence is the last one of all and stands alone beside the long column."
    document = read(in_columns(*set_in(BODY, *range(3)), FrameBreak(), Paragraph(last, BODY)))
    assert_in_order(document, *range(3))
    assert blocks(document)[-1] == last


def test_short_columns_are_told_as_well(read) -> None:
    document = read(in_columns(*set_in(BODY, 3), FrameBreak(), *set_in(BODY, 6)))
    assert blocks(document) == [prose(3), prose(6)]


def test_a_list_in_a_column_stays_one(read) -> None:
    items = [Paragraph(text, ITEM, bulletText="\u2022") for text in ("Close the lid.", prose(1), "Wait.")]
    document = read(in_columns(*set_in(BODY, *range(2, 6)), *items, *set_in(BODY, *range(6, 10))))
    assert blocks(document, "list") == [f"- Close the lid.\n- {prose(1)}\n- Wait."]
    assert_in_order(document, *range(2, 6), 1, *range(6, 10))


@pytest.mark.parametrize("style", [[GRID], []], ids=["ruled", "plain"])
def test_a_table_inside_a_column_is_the_only_table(read, style: list[tuple]) -> None:
    rows = [["Kiln", "Hours", "Heat"], ["North", "12", "980"], ["South", "9", "1,040"]]
    document = read(in_columns(*set_in(BODY, 0, 1, 2), table(rows, [60, 40, 40], *style), *set_in(BODY, *range(3, 8))))
    assert blocks(document, "table") == [
        "| Kiln | Hours | Heat |\n|---|---|---|\n| North | 12 | 980 |\n| South | 9 | 1,040 |"
    ]
    assert_in_order(document, *range(8))


def test_a_ruled_table_over_both_columns_is_kept_between_them(read) -> None:
    """Its cells leave the gap between the columns free."""
    rows = [["Fault", "Remedy"], *([f"A crack of kind {n}", f"Cool it {n} hours longer"] for n in range(4))]
    parts = [table(rows, [209, 191], GRID), FrameBreak(), *set_in(BODY, *range(7))]
    document = read(in_columns(*parts, top=110))
    assert blocks(document, "table") == [
        "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * 2, *rows[1:]]).replace(
            "| --- | --- |", "|---|---|"
        )
    ]
    assert_in_order(document, *range(7))


@pytest.mark.parametrize(
    "style",
    [[GRID], [("VALIGN", (0, 0), (-1, -1), "TOP")], [("VALIGN", (0, 0), (-1, -1), "MIDDLE")]],
    ids=["ruled", "plain", "middle"],
)
def test_a_table_of_sentences_is_a_table(read, style: list[tuple]) -> None:
    rows = [
        ["Problem", "Remedy"],
        *([prose(2 * n + 1)[: 110 + n], prose(3 * n)[: 60 + 40 * (n % 3)]] for n in range(7)),
    ]
    (only,) = blocks(read(story(table(rows, [150, 150], *style))), "table")
    assert [line.strip("| ").split(" | ") for line in only.split("\n")[2:]] == [
        [c.strip() for c in row] for row in rows[1:]
    ]


def test_cells_of_one_word_are_no_running_text(read) -> None:
    rows = [(f"kiln.settings.heat_{n:02}", f"describes_heat_number_{n:02}") for n in range(14)]
    page = [(left, 450 - 12 * n, text) for n, row in enumerate(rows) for left, text in zip((50, 220), row)]
    assert kinds(read(placed(page))) == ["table"]


def frame(canvas: Canvas, _: object) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, 570, "Journal of Kilns")
    canvas.drawCentredString(WIDTH / 2, 20, str(canvas.getPageNumber()))


def test_the_number_of_a_page_between_its_columns_is_no_line_of_either(read) -> None:
    document = read(in_columns(*set_in(BODY, *range(7)), on_page=frame))
    assert len(document.pages) == 1
    assert blocks(document)[0] == "Journal of Kilns" and blocks(document)[-1] == "1"


def test_two_pages_lose_what_stands_at_the_same_place_in_their_margins(read) -> None:
    document = read(in_columns(*set_in(BODY, *range(12)), on_page=frame))
    assert len(document.pages) == 2
    assert "Journal" not in document.text
    assert not {"1", "2"} & set(document.text.split("\n"))
    assert_in_order(document, *range(12))


def test_two_pages_keep_their_headings_and_what_is_close_to_their_text(read) -> None:
    def sheet(number: int) -> list[tuple]:
        lines = [(50, 400 - 14 * n, f"{'ab'[number - 1] * 5} is what part {n} of this page says") for n in range(12)]
        return [(50, 450, f"Chapter {number}"), (50, 414, "This is the same."), *lines, (50, 30, f"Page {number} of 2")]

    document = read(placed(sheet(1), sheet(2)))
    assert [page.split("\n")[0] for page in pages(document)] == ["Chapter 1", "Chapter 2"]
    assert document.text.count("This is the same.") == 2
    assert "of 2" not in document.text


def test_a_span_of_figures_at_a_line_end_stays_whole(read) -> None:
    lines = ["The season of 2020-", "2021 was cold, see pages 12\u2013", "15 of the book."]
    text = read(placed([(50, 400 - 13 * number, line) for number, line in enumerate(lines)])).text
    assert text == "The season of 2020-2021 was cold, see pages 12\u201315 of the book."
