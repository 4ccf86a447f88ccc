"""Tables of PDFs: rows and columns from rules, from gaps, or from first cells; and code."""

from __future__ import annotations

import pytest
from reportlab.lib import colors
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Spacer

from tests.loader_support import LONG, blocks, placed, read, story, table  # noqa: F401

GRID = ("GRID", (0, 0), (-1, -1), 0.5, colors.black)
MIDDLE = ("VALIGN", (0, 0), (-1, -1), "MIDDLE")
WRAPPING = [
    ["A long header one here", "A long header two here"],
    ["first cell that wraps over lines", "second cell that wraps over lines"],
    ["third cell that also wraps here", "fourth cell that wraps over lines"],
]


def markdown(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


@pytest.mark.parametrize("style", [[GRID], []], ids=["ruled", "plain"])
def test_a_row_whose_every_cell_wraps_is_one_row(read, style: list[tuple]) -> None:
    document = read(story(LONG, table(WRAPPING, [80, 80], *style), LONG))
    assert blocks(document, "table") == [markdown(WRAPPING)]


def test_cells_set_in_the_middle_of_tall_rows_are_told_apart_by_rules(read) -> None:
    """The distance from line to line is that from row to row."""
    page = [(50, 400, "Firing"), (130, 400, "Remark"), (130, 380, "very slowly and"), (50, 370, "Bisque")]
    page += [
        (130, 360, "with an open lid"),
        (50, 340, "Glaze"),
        (130, 340, "Fast"),
        (50, 320, "Raku"),
        (130, 320, "No"),
    ]

    def rules(canvas: Canvas) -> None:
        for y in (412, 392, 352, 332, 312):
            canvas.line(45, y, 300, y)

    assert read(placed(page, draw=rules)).text == markdown(
        [["Firing", "Remark"], ["Bisque", "very slowly and with an open lid"], ["Glaze", "Fast"], ["Raku", "No"]]
    )


def test_a_cell_over_several_columns_stands_in_the_first_and_keeps_the_others_apart(read) -> None:
    rows = [["Model", "Range by place", ""], ["", "city", "road"], ["A", "100 km", "80 km"], ["B", "120 km", "90 km"]]
    style = [GRID, ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1))]
    document = read(story(table(rows, [80, 60, 60], *style)))
    assert blocks(document, "table") == [markdown(rows)]


def test_a_cell_over_several_rows_stands_in_the_first(read) -> None:
    rows = [
        ["Group", "Part", "Price"],
        ["Wheels", "rim", "40"],
        ["", "tyre", "60"],
        ["Body", "lid", "20"],
        ["", "floor", "30"],
    ]
    style = [GRID, MIDDLE, ("SPAN", (0, 1), (0, 2)), ("SPAN", (0, 3), (0, 4))]
    document = read(story(table(rows, [80, 60, 60], *style)))
    assert blocks(document, "table") == [markdown(rows)]


def test_a_row_that_only_names_a_group_stays_in_its_table(read) -> None:
    rows = [
        ["Part", "Use", "Nm"],
        ["Front axle", "", ""],
        ["bolt", "lid", "12"],
        ["Rear axle", "", ""],
        ["nut", "floor", "14"],
    ]
    style = [GRID, ("SPAN", (0, 1), (2, 1)), ("SPAN", (0, 3), (2, 3))]
    document = read(story(table(rows, [80, 60, 60], *style)))
    assert blocks(document, "table") == [markdown(rows)]


def test_empty_cells_keep_their_place(read) -> None:
    rows = [["Year", "Sold", "Returned"], ["2019", "1,200", "12"], ["2020", "", "9"], ["2021", "1,500", ""]]
    document = read(story(table(rows, [60, 60, 60])))
    assert blocks(document, "table") == [markdown(rows)]


def test_a_title_beside_its_numbers_is_one_column_with_them(read) -> None:
    rows = [("Model", "Price"), ("A", "9"), ("B", "8")]
    lefts = [(50, 190), (50, 160), (50, 160)]
    page = [(left, 400 - 14 * n, text) for n, row in enumerate(rows) for left, text in zip(lefts[n], row)]
    assert read(placed(page)).text == markdown([list(row) for row in rows])


def test_tables_one_below_the_other_and_the_lines_between_are_told_apart(read) -> None:
    small = [["a", "b"], ["c", "d"]]
    parts = ["First table", table(small, [60, 60], GRID), Spacer(1, 9), "Second table", table(small, [60, 60], GRID)]
    document = read(story(*parts))
    assert blocks(document, "table") == [markdown(small)] * 2
    assert blocks(document, "paragraph") == ["First table", "Second table"]


def test_underlined_words_are_no_rows_of_their_own(read) -> None:
    rows = [["Part", "Use"], ["bolt", "see the <u>list of all bolts</u> and the list of nuts"], ["nut", "none"]]
    document = read(story(table(rows, [60, 90])))
    plain = [[cell.replace("<u>", "").replace("</u>", "") for cell in row] for row in rows]
    assert blocks(document, "table") == [markdown(plain)]


# Code


def test_lines_of_letters_as_wide_as_each_other_are_code_with_its_indents(read) -> None:
    lines = ["if hot {", "    wait(10)", "}"]
    page = [(50, 460, LONG[:60])] + [(50, 430 - 12 * n, line, 10, "Courier") for n, line in enumerate(lines)]
    document = read(placed([*page, (50, 370, LONG[:60])]))
    assert blocks(document, "code") == ["\n".join(lines)]
    assert len(blocks(document, "paragraph")) == 2


def test_code_goes_on_over_a_page_break(read) -> None:
    page = [(50, 460, LONG), (50, 447, LONG), (50, 60, "first();", 10, "Courier"), (50, 48, "second();", 10, "Courier")]
    document = read(placed(page, [(50, 460, "third();", 10, "Courier"), (50, 420, LONG)]))
    assert blocks(document, "code") == ["first();\nsecond();\nthird();"]


def test_a_document_set_by_typewriter_is_no_code(read) -> None:
    lines = ["The kiln must cool for a whole night", "before anyone opens its heavy door."]
    document = read(placed([(50, 450 - 12 * n, line, 10, "Courier") for n, line in enumerate(lines)]))
    assert document.text == " ".join(lines)
