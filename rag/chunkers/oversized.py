"""Tables, lists, code and warnings too large to stay whole: cut where they part, each later piece with its header."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from rag.chunkers.base import (
    BLANK_LINES,
    CHARACTER_END,
    SENTENCE_END,
    WORD_END,
    Boundary,
    Piece,
    cut,
    small_boundaries,
    split,
)
from rag.chunkers.elements import ITEM, WARNING, Element, is_rule
from rag.schema import Document, Span

CELL_END = r"(?<=[^\\]\|)(?=[^\S\n])"
CELLS = (CELL_END, SENTENCE_END, WORD_END, CHARACTER_END, "")
LINES = (BLANK_LINES, r"\n", WORD_END, CHARACTER_END, "")
# Column names stand in the first lines of a table.
LINES_OF_HEADER = 6
MAX_PARENT = 120


def parts(
    document: Document,
    headings: dict[int, int],
    element: Element,
    start: int,
    lead: Span | None,
    size: int,
    language: str,
) -> Iterator[Piece]:
    """Pieces of at most ``size`` characters from ``start``, where the headings and lead-in begin, to the element's end.

    Later pieces carry the lead-in sentence and, of a table, the rows of its column names as their header.
    """
    if element.kind == "table":
        yield from _table_parts(document.text, element, start, lead, size)
        return
    text = document.text
    told = text[slice(*lead)] if lead else ""
    if element.kind == "warning" and (label := WARNING.match(text, element.start, element.end)):
        told = label.group().strip()
    told = told if len(told) <= size // 2 else ""
    boundaries: tuple[Boundary, ...] = LINES if element.kind == "code" else small_boundaries(language)
    items = _Items(text, element) if element.kind == "list" else None
    if items:
        boundaries = (rf"\n(?=[^\S\n]{{0,{items.indent}}}[^\s])", rf"\n(?={ITEM.pattern})", *boundaries)
    room = size - max(len(told) + 1 if told else 0, min(MAX_PARENT, size // 4) if items and items.nested else 0)
    ends = cut(document, headings, (start, element.end), room, boundaries, size)
    for number, (left, right) in enumerate(zip([start, *ends], ends)):
        header = (items.header(left, told, size // 4) if items else told) if number else ""
        yield Piece(left, right, header if lead is None or left >= lead[1] or header != told else "")


class _Items:
    """Where the items of a list begin that lie in no other."""

    def __init__(self, text: str, element: Element) -> None:
        self.text = text
        marks = [match for match in re.finditer(rf"^{ITEM.pattern}", text[element.start : element.end], re.M)]
        depths = [len(match.group()) - len(match.group().lstrip()) for match in marks]
        self.indent = min(depths, default=0)
        self.nested = any(depth > self.indent for depth in depths)
        self.starts = [element.start + match.start() for match, depth in zip(marks, depths) if depth == self.indent]

    def header(self, place: int, lead: str, most: int) -> str:
        """The lead-in for a piece that begins with an item; within one, the line that begins that item."""
        number = bisect_right(self.starts, place) - 1
        if number < 0 or self.starts[number] == place or not self.text[self.starts[number] : place].strip():
            return lead
        line_end = self.text.find("\n", self.starts[number], place)
        line = self.text[self.starts[number] : place if line_end < 0 else line_end]
        return line.strip()[: min(MAX_PARENT, most)].rstrip()


def _table_parts(text: str, element: Element, start: int, lead: Span | None, size: int) -> Iterator[Piece]:
    rows = [
        (element.start + match.start(), element.start + match.end())
        for match in re.finditer(r"[^\n]+", text[element.start : element.end])
    ]
    names = _names(text, rows)
    told = text[slice(*lead)] if lead and lead[1] - lead[0] <= size // 2 else ""
    header = ""
    if names:
        with_lead = text[lead[0] if lead else element.start : names[-1][1]]
        alone = text[element.start : names[-1][1]]
        header = with_lead if len(with_lead) <= size // 2 else alone
        # Repeating still longer names would fill the index with nothing else.
        header = header if len(header) <= 2 * size else ""
    else:
        header = told
    room = max(size - len(header) - 1, size // 2)
    first_names = text[slice(*names[0])].strip() if names else None
    begin, end, own = start, names[-1][1] if names else element.start, ""
    if end - begin > size:
        yield from _by_cells(text, begin, end, size, "")
        begin = end = rows[len(names)][0] if len(rows) > len(names) else end
        own = header
    for left, right in rows[len(names) :]:
        if right - begin <= (room if own else size):
            end = right
            continue
        cells: list[Piece] = []
        if right - left > room:
            # Column names without a row take the first cells along where these fit.
            alone = end <= element.start or bool(names) and end == names[-1][1]
            cells = list(_by_cells(text, left, right, room, header, size - (left - begin) if alone else room))
            if alone and cells[0].end - begin <= size:
                end = cells.pop(0).end
        if text[begin:end].strip():
            yield Piece(begin, end, own)
        # Where the source repeats its column names, the lead-in is all that is missing.
        repeats = first_names and text[left:right].strip() == first_names
        begin, end, own = left, right, told if repeats else header
        if right - left > room:
            yield from cells
            begin = end = right
    if text[begin:end].strip():
        yield Piece(begin, end, own)


def _by_cells(
    text: str, start: int, end: int, size: int, header: str, first_size: int | None = None
) -> Iterator[Piece]:
    ends = split(text[start:end], size, CELLS, first_size)
    for left, right in zip([0, *ends], ends):
        yield Piece(start + left, start + right, header)


def _names(text: str, rows: list[Span]) -> list[Span]:
    """The rows of the column names with the rule below them; the first row where numbers stand only below it."""
    told = [text[slice(*row)] for row in rows[: LINES_OF_HEADER * 2]]
    rules = [number for number, line in enumerate(told[:LINES_OF_HEADER]) if is_rule(line)]
    below = [number for number in rules if number > 0]
    if below:
        return rows[: below[0] + 1]
    if rules or len(told) < 2:
        return []
    return rows[:1] if not re.search(r"\d", told[0]) and all(re.search(r"\d", line) for line in told[1:]) else []
