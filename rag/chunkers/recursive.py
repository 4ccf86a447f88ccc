"""Inside each section: cut at the largest boundary that suffices, pack up to the size, overlap whole sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.chunkers.base import (
    BLANK_LINES,
    CHARACTER_END,
    WORD_END,
    Boundary,
    after_headings,
    cut,
    headings_at,
    places,
    small_boundaries,
    trimmed,
)
from rag.chunkers.measures import Measure, Tokens, characters, reach
from rag.embedders.base import Embedder
from rag.schema import Document, Span
from rag.sentences import sentence_ends
from rag.settings import Settings
from rag.text import is_blank

HEADING_NEXT = r"\n(?=#{1,6} )"


def recursive(document: Document, settings: Settings, embedder: Embedder) -> list[Span]:
    """Chunks of at most ``chunk_size`` characters or tokens that keep to one section and share up to ``chunk_overlap``.

    Where a document has no sections, they keep to one page, unless a paragraph goes on over its end. A section that is
    nothing but its heading goes with the section after it, so that no chunk is only a heading.
    """
    by_tokens = settings.chunker == "recursive" and settings.parameter("unit") == "tokens"
    measure = Tokens(embedder.token_spans(document.text)) if by_tokens else characters
    boundaries = (HEADING_NEXT, BLANK_LINES, *small_boundaries(settings.language))
    return packed(document, boundaries, settings.chunk_size, settings.chunk_overlap, settings.language, measure)


def packed(
    document: Document, boundaries: Sequence[Boundary], size: int, overlap: int, language: str, measure: Measure
) -> list[Span]:
    """The same for any boundaries and any measure of ``size`` and ``overlap``."""
    text = document.text
    headings = headings_at(document)
    spans: list[Span] = []
    for region in regions(document, headings):
        start, high = trimmed(text, *region)
        ends = [high]
        if measure(start, high) > size:
            # The overlap is added in front of pieces that leave room for it, so that no chunk passes the size.
            ends = cut(document, headings, (start, high), size - overlap, boundaries, size, measure)
        begin = None
        for end in ends:
            start, stop = trimmed(text, start, end)
            if not is_blank(text[start:stop]):
                shared = reach(measure, start, overlap)
                begin = start if begin is None else overlap_start(text, begin, start, shared, language)
                spans.append((begin, stop))
            start = end
    return spans


def regions(document: Document, headings: dict[int, int]) -> list[Span]:
    """The sections' spans, each bare heading joined to the section after it (the last ones to the section before)."""
    found: list[Span] = []
    start = 0
    for section_start, end in _sections(document):
        if after_headings(document, headings, section_start, end) < end:
            found.append((start, end))
            start = end
    if start < len(document.text):
        first = found.pop()[0] if found else start
        found.append((first, len(document.text)))
    return found


def _sections(document: Document) -> list[Span]:
    """The sections' spans; without any, those of the pages that begin with a paragraph of their own.

    Pages are then the only parts that are known, and a chunk that keeps to one is cited exactly.
    """
    if document.sections:
        return [(section.start, section.end) for section in document.sections]
    blocks = {block.start for block in document.blocks}
    starts = sorted({page.start for page in document.pages} & blocks - {0})
    return list(zip([0, *starts], [*starts, len(document.text)]))


def overlap_start(text: str, previous: int, start: int, overlap: int, language: str = "english") -> int:
    """Where a chunk whose own text begins at ``start`` begins with its overlap: at a sentence, a word, or a character.

    That is after ``previous``, where the chunk before it begins, so that no chunk holds another whole. ``overlap`` is
    in characters.
    """

    def sentences(part: str) -> list[int]:
        return sorted({*sentence_ends(part, language), *(match.end() for match in re.finditer("\n", part))})

    earliest = max(previous + 1, start - overlap)
    for boundary in (sentences, WORD_END, CHARACTER_END) if overlap else ():
        # Sought from the chunk's beginning, which is no place in the middle of a sentence or a character.
        for place in places(text, previous, start, boundary):
            first, end = trimmed(text, place, start) if place >= earliest else (start, start)
            if first < end:
                return first
    return start
