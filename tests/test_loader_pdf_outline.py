"""PDF outlines: each section begins exactly at the heading its bookmark names, whatever is wrong with the bookmark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NullObject,
    NumberObject,
    TextStringObject,
)

from tests.loader_support import blocks, changed, outlined, placed, read, sections  # noqa: F401

OUTLINE = "sections come from the outline"
GUIDE = placed(
    [(50, 450, "Guide", 20), (50, 420, "Welcome.")],
    [(50, 450, "1 Setup", 16), (50, 420, "Unpack it."), (50, 380, "1.1 Power", 13), (50, 360, "Plug it in.")],
    [
        (50, 450, "The lid is heavy."),
        (50, 400, "2 Use", 16),
        (50, 380, "Open the lid."),
        (50, 300, "Power", 13),
        (50, 280, "On."),
    ],
)


def test_sections_begin_exactly_at_the_headings_the_outline_names(read) -> None:
    document = read(
        outlined(GUIDE, (1, "1 Setup", 1, 470), (2, "1.1 Power", 1, 395), (1, "2 Use", 2, 415), (2, "Power", 2, 315))
    )
    assert sections(document) == {
        (): "Guide\n\nWelcome.",
        ("1 Setup",): "1 Setup\n\nUnpack it.",
        ("1 Setup", "1.1 Power"): "1.1 Power\n\nPlug it in.\n\nThe lid is heavy.",
        ("2 Use",): "2 Use\n\nOpen the lid.",
        ("2 Use", "Power"): "Power\n\nOn.",
    }
    assert [(section.page_start, section.page_end) for section in document.sections] == [
        (1, 1),
        (2, 2),
        (2, 3),
        (3, 3),
        (3, 3),
    ]
    assert blocks(document, "heading") == ["1 Setup", "1.1 Power", "2 Use", "Power"]
    assert document.notices == (OUTLINE,)


@pytest.mark.parametrize("title", ["Setup", "Chapter 1: Setup", "1. SETUP", "1Setup"])
def test_a_heading_is_found_however_its_number_case_and_spaces_differ(read, title: str) -> None:
    document = read(outlined(GUIDE, (1, title, 1, None)))
    assert sections(document)[(title,)].startswith("1 Setup\n\nUnpack it.")


def test_a_heading_over_two_lines_is_found_and_read_as_one(read) -> None:
    page = [
        (50, 450, "See below."),
        (50, 400, "Loading the kiln", 16),
        (50, 381, "with shelves", 16),
        (50, 350, "Stack it."),
    ]
    document = read(outlined(placed(page), (1, "Loading the kiln with shelves", 0, 420)))
    assert sections(document)[("Loading the kiln with shelves",)] == "Loading the kiln with shelves\n\nStack it."


def test_of_two_headings_alike_on_a_page_each_entry_takes_the_one_at_its_height(read) -> None:
    page = [(50, 450, "Notes", 14), (50, 430, "First."), (50, 300, "Notes", 14), (50, 280, "Second.")]
    document = read(
        outlined(placed(page), (1, "A", 0, 480), (2, "Notes", 0, 465), (1, "B", 0, 330), (2, "Notes", 0, 315))
    )
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
    """B08: a bookmark without a target above one to page 3, and one to a place that is not there."""

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
    assert document.notices == ("bookmarks that lead nowhere are left out: Lost", OUTLINE)


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
        ArrayObject([NumberObject(-1), NameObject("/Fit")]), DictionaryObject(), TextStringObject(""),
        NameObject("/gone"),
    ],
)  # fmt: skip
def test_a_bookmark_that_points_at_anything_else_is_left_out(read, target: object) -> None:
    document = read(with_bookmarks(FIVE, lambda writer, add: add(bookmark("Odd", Dest=target))))
    assert document.sections == () and len(blocks(document)) == 5
    assert document.notices == (
        "bookmarks that lead nowhere are left out: Odd",
        "no outline and no headings found: the document is one section",
    )


def test_named_places_and_actions_are_followed(read) -> None:
    def build(writer: PdfWriter, add: Callable) -> object:
        writer.add_named_destination(title="there", page_number=3)
        action = DictionaryObject({NameObject("/S"): NameObject("/GoTo"), NameObject("/D"): page_target(writer, 1)})
        named = add(bookmark("Named", Dest=TextStringObject("there")))
        height = ArrayObject(
            [writer.pages[4].indirect_reference, NameObject("/XYZ"), NullObject(), FloatObject(470), NullObject()]
        )
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
