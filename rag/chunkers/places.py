"""What lies around a passage: its paragraph, its section, its lines in a source file, its table's column names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from rag.loaders.base import paragraphs
from rag.schema import Document, Span

# A first row, the rule below it, and the rows below that; a rule is dashes and colons between bars.
_TABLE = re.compile(
    r"^(?P<names>[^\S\n]*\|[^\n]*\n[^\S\n]*\|[^\S\n]*:?-[-:| \t]*)\n(?P<rows>(?:[^\S\n]*\|[^\n]*(?:\n|\Z))+)",
    re.MULTILINE,
)
# Longer names would be most of every passage that repeats them.
MOST_NAMES = 1000


class Places:
    """Looks up the surroundings of spans of one document, whose structure is read once."""

    def __init__(self, document: Document) -> None:
        blocks = sorted((block.start, block.end) for block in document.blocks if block.kind != "heading")
        self._paragraphs = _outermost(blocks) or list(paragraphs(document.text))
        self._sections = [(section.start, section.end) for section in document.sections]
        self._tables = [(match.start("rows"), match.end(), match["names"]) for match in _TABLE.finditer(document.text)]
        self._line_ends: list[int] | None = None
        if document.format.startswith("code"):
            self._line_ends = list(accumulate(len(line) + 1 for line in document.text.split("\n")))

    def around(self, start: int, end: int) -> dict[str, int | Span | None]:
        """``paragraph``, ``whole_section``, ``line_start`` and ``line_end`` of a chunk of that span."""
        found: dict[str, int | Span | None] = {
            "paragraph": _union(self._paragraphs, start, end),
            "whole_section": _union(self._sections, start, end),
        }
        if self._line_ends is not None:
            found["line_start"] = bisect_right(self._line_ends, start) + 1
            found["line_end"] = bisect_right(self._line_ends, end - 1) + 1
        return found

    def column_names(self, start: int) -> str:
        """The first row and the rule of the table among whose rows ``start`` lies; "" where there is none."""
        number = bisect_right(self._tables, start, key=lambda table: table[0]) - 1
        if number < 0 or start >= self._tables[number][1]:
            return ""
        names = self._tables[number][2]
        return names if len(names) <= MOST_NAMES else ""


def _outermost(spans: Iterable[Span]) -> list[Span]:
    """Of sorted spans those that lie in none before them, so that their ends are sorted as well."""
    found: list[Span] = []
    for start, end in spans:
        if not found or end > found[-1][1]:
            found.append((start, end))
    return found


def _union(spans: Sequence[Span], start: int, end: int) -> Span | None:
    """From the first to the last of the sorted spans that share a character with the given one; it lies within."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = first
    while last < len(spans) and spans[last][0] < end:
        last += 1
    if first == last:
        return None
    return min(start, spans[first][0]), max(end, *(span[1] for span in spans[first:last]))
