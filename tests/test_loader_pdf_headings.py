"""PDFs without an outline: headings told by their type or their numbers, and what looks like one and is none."""

from __future__ import annotations

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph

from tests.loader_support import BODY, LONG, blocks, outlined, paths, placed, read, sections, story, table  # noqa: F401

FOUND = "no outline: headings found by their size of type"
NONE = "no outline and no headings found: the document is one section"
TITLE = ParagraphStyle("title", parent=BODY, fontSize=20, leading=24)
LARGE = ParagraphStyle("large", parent=BODY, fontSize=15, leading=18, spaceBefore=10)
MIDDLE = ParagraphStyle("middle", parent=BODY, fontSize=12, leading=15, spaceBefore=8)
BOLD = ParagraphStyle("bold", parent=BODY, fontName="Helvetica-Bold", spaceBefore=8)


def set_in(style: ParagraphStyle, *texts: str) -> list[Paragraph]:
    return [Paragraph(text, style) for text in texts]


def test_levels_follow_the_sizes_of_type_and_then_its_weight(read) -> None:
    document = read(
        story(
            *set_in(TITLE, "Kilns"), LONG, *set_in(LARGE, "Loading"), LONG, *set_in(MIDDLE, "Shelves"), LONG,
            *set_in(BOLD, "Thick shelves"), LONG, *set_in(LARGE, "Firing"), LONG, *set_in(BOLD, "Slowly"), LONG,
        )
    )  # fmt: skip
    assert paths(document) == [
        ("Kilns",),
        ("Kilns", "Loading"),
        ("Kilns", "Loading", "Shelves"),
        ("Kilns", "Loading", "Shelves", "Thick shelves"),
        ("Kilns", "Firing"),
        ("Kilns", "Firing", "Slowly"),
    ]
    assert blocks(document, "heading") == ["Kilns", "Loading", "Shelves", "Thick shelves", "Firing", "Slowly"]
    assert document.notices == (FOUND,)


def test_headings_in_one_style_have_the_levels_of_their_numbers(read) -> None:
    titles = ["1 Setup", "1.1 Power", "1.1.1 Fuses", "1.2 Water", "2 Use", "A Parts", "A.1 Bolts"]
    document = read(story(*[one for title in titles for one in (*set_in(BOLD, title), LONG * 3)]))
    assert paths(document) == [
        ("1 Setup",),
        ("1 Setup", "1.1 Power"),
        ("1 Setup", "1.1 Power", "1.1.1 Fuses"),
        ("1 Setup", "1.2 Water"),
        ("2 Use",),
        ("A Parts",),
        ("A Parts", "A.1 Bolts"),
    ]


def test_a_heading_over_two_lines_and_one_apart_from_its_number_are_whole(read) -> None:
    page = [
        (50, 450, "2", 15), (90, 450, "How a kiln is loaded", 15), (50, 431, "by two people", 15),
        (50, 400, "First the lower shelf."), (50, 387, "Then all of the others."), (50, 374, "Wear gloves."),
    ]  # fmt: skip
    document = read(placed(page))
    assert sections(document) == {
        ("2 How a kiln is loaded by two people",): "2 How a kiln is loaded by two people\n\n"
        "First the lower shelf. Then all of the others. Wear gloves."
    }


def test_numbers_alone_show_headings_where_they_count_on_and_text_lies_between(read) -> None:
    titles = ["1 Setup", "1.1 Power", "1.2 Water", "2 Use"]
    document = read(story(*[one for title in titles for one in (title, LONG * 2)]))
    assert [path[-1] for path in paths(document)] == titles
    assert paths(document)[1] == ("1 Setup", "1.1 Power")


def test_the_items_of_a_numbered_list_are_no_headings(read) -> None:
    document = read(story(LONG, "1 Open the lid", "2 Wait a night", "3 Take out the pots", LONG))
    assert document.sections == () and document.notices == (NONE,)


@pytest.mark.parametrize(
    "text",
    [
        "Figure 3: the kiln from above",
        "Table 2. Firings",
        "--no-cooling",
        "KILN_TEMPERATURE",
        "WARNING",
        "Never open it while it is hot, whatever anyone says.",
        "2.5",
        LONG * 2,
    ],
)
def test_other_bold_lines_are_no_headings(read, text: str) -> None:
    document = read(story(LONG * 2, *set_in(BOLD, text), LONG * 2))
    assert document.sections == () and document.notices == (NONE,)


def test_bold_words_within_and_at_the_start_of_a_paragraph_are_no_headings(read) -> None:
    document = read(story(f"<b>Danger.</b> {LONG}", f"{LONG} <b>Never.</b>", LONG))
    assert document.sections == ()


def test_the_bold_header_of_a_table_is_no_heading(read) -> None:
    rows = [["<b>Part</b>", "<b>Use</b>"], ["bolt", "holds the lid"], ["nut", "holds the bolt"]]
    document = read(story(LONG, table(rows, [80, 120]), LONG))
    assert document.sections == () and len(blocks(document, "table")) == 1


def test_text_that_is_large_throughout_is_no_heading(read) -> None:
    document = read(story(*[LONG] * 6, *set_in(LARGE, *[LONG] * 5)))
    assert document.sections == ()


def test_an_outline_is_kept_to_whatever_the_type_shows(read) -> None:
    page = [(50, 450, "Loading", 15), (50, 420, "Stack it."), (50, 380, "Shelves", 13), (50, 360, "Use three.")]
    document = read(outlined(placed(page), (1, "Loading", 0, 470)))
    assert paths(document) == [("Loading",)]
    assert document.notices == ("sections come from the outline",)


def test_headings_of_two_columns_belong_to_their_own_column(read) -> None:
    page = []
    for number in range(20):
        page += [(40, 430 - 12 * number, f"left line {number:02} fills its column quite well", 8)]
        page += [(215, 430 - 12 * number, f"right line {number:02} fills its column as well", 8)] if number != 9 else []
    page += [(215, 430 - 12 * 9, "Firing", 11)]
    document = read(placed(page))
    (left, right) = sections(document).items()
    assert left[0] == () and "left line 19" in left[1] and "right line 08" in left[1]
    assert right[0] == ("Firing",) and right[1].startswith("Firing\n\nright line 10")


def a_page(number: int, *around: tuple) -> list[tuple]:
    """Nine lines that no other page has, and what stands above and below them."""
    mark = "abcde"[number - 1] * 4
    return [*around, *((50, 400 - 14 * line, f"{mark} is what part {line} of this page is about") for line in range(9))]


@pytest.mark.parametrize("size", [13, 20])
@pytest.mark.parametrize("word", ["Step", "Kapitel", "Lesson no."])
def test_numbered_headings_at_the_top_of_every_page_are_no_running_headers(read, word: str, size: int) -> None:
    numbers = range(1, 6)
    footers = [(50, 20, f"Kiln Works, page {number}", 8) for number in numbers]
    pages = [a_page(number, (50, 450, f"{word} {number}", size), footers[number - 1]) for number in numbers]
    document = read(placed(*pages))
    assert paths(document) == [(f"{word} {number}",) for number in numbers]
    assert "Kiln Works" not in document.text


def test_a_running_header_set_large_goes_with_its_page_number(read) -> None:
    headers = [((50, 470, "Owner's Manual", 15), (340, 470, str(number), 15)) for number in range(1, 6)]
    assert "Owner" not in read(placed(*(a_page(number, *header) for number, header in enumerate(headers, 1)))).text
