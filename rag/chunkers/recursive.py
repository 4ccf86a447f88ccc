"""Inside each section: cut at the largest boundary that suffices, pack up to the size, overlap whole sentences."""

from __future__ import annotations

import re

from rag.chunkers.base import (
    BLANK_LINES,
    CHARACTER_END,
    SENTENCE_END,
    SMALL_BOUNDARIES,
    WORD_END,
    after_headings,
    cut,
    headings_at,
    trimmed,
)
from rag.embedders.base import Embedder
from rag.schema import Document, Span
from rag.settings import Settings

HEADING_NEXT = r"\n(?=#{1,6} )"
BOUNDARIES = (HEADING_NEXT, BLANK_LINES, *SMALL_BOUNDARIES)
OVERLAP_STARTS = tuple(map(re.compile, (f"{SENTENCE_END}|\n", WORD_END, CHARACTER_END)))


def recursive(document: Document, settings: Settings, embedder: Embedder) -> list[Span]:
    """Chunks of at most ``chunk_size`` characters that keep to one section each and share up to ``chunk_overlap``.

    Where a document has no sections, they keep to one page, unless a paragraph goes on over its end. A section that is
    nothing but its heading goes with the section after it, so that no chunk is only a heading.
    """
    text = document.text
    headings = headings_at(document)
    # The overlap is added in front of pieces that leave room for it, so that no chunk passes the size.
    size = settings.chunk_size - settings.chunk_overlap
    spans: list[Span] = []
    for region in _regions(document, headings):
        begin, high = start, _ = trimmed(text, *region)
        ends = [high]
        if high - start > settings.chunk_size:
            ends = cut(document, headings, (start, high), size, BOUNDARIES, settings.chunk_size)
        for number, end in enumerate(ends):
            if text[start:end].strip():
                begin = begin if number == 0 else _overlap_start(text, begin, start, settings.chunk_overlap)
                spans.append((begin, end))
                start = end
    return spans


def _regions(document: Document, headings: dict[int, int]) -> list[Span]:
    """The sections' spans, each bare heading joined to the section after it (the last ones to the section before)."""
    regions: list[Span] = []
    start = 0
    for section_start, end in _sections(document):
        if after_headings(document, headings, section_start, end) < end:
            regions.append((start, end))
            start = end
    if start < len(document.text):
        first = regions.pop()[0] if regions else start
        regions.append((first, len(document.text)))
    return regions


def _sections(document: Document) -> list[Span]:
    """The sections' spans; without any, those of the pages that begin with a paragraph of their own.

    Pages are then the only parts that are known, and a chunk that keeps to one is cited exactly.
    """
    if document.sections:
        return [(section.start, section.end) for section in document.sections]
    blocks = {block.start for block in document.blocks}
    starts = sorted({page.start for page in document.pages} & blocks - {0})
    return list(zip([0, *starts], [*starts, len(document.text)]))


def _overlap_start(text: str, previous: int, start: int, overlap: int) -> int:
    """Where a chunk whose own text begins at ``start`` begins with its overlap: at a sentence, a word, or a character.

    That is after ``previous``, where the chunk before it begins, so that no chunk holds another whole.
    """
    earliest = max(previous + 1, start - overlap)
    for boundary in OVERLAP_STARTS if overlap else ():
        for match in boundary.finditer(text, earliest, start):
            if text[match.end() : start].strip():
                return match.end()
    return start
