"""What lies around a passage: its paragraph, its section, and its lines in a source file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from rag.loaders.base import paragraphs
from rag.schema import Document, Span


class Places:
    """Looks up the surroundings of spans of one document, whose structure is read once."""

    def __init__(self, document: Document) -> None:
        blocks = sorted((block.start, block.end) for block in document.blocks if block.kind != "heading")
        self._paragraphs = _outermost(blocks) or list(paragraphs(document.text))
        self._sections = [(section.start, section.end) for section in document.sections]
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
