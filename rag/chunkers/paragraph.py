"""The baseline: one chunk for each paragraph, as blank lines show them."""

from __future__ import annotations

import re

from rag.chunkers.base import BLANK_LINES, after_headings, cut, headings_at, small_boundaries, trimmed
from rag.embedders.base import Embedder
from rag.schema import Document, Span
from rag.settings import Settings


def paragraph(document: Document, settings: Settings, embedder: Embedder) -> list[Span]:
    """Each blank-line paragraph, with the headings directly before it; above ``chunk_size`` it is cut at sentence ends.

    A heading belongs to the paragraph it announces: alone it would be a chunk that says nothing, and a baseline made of
    such chunks would not be a fair one.
    """
    text = document.text
    headings = headings_at(document)
    spans: list[Span] = []
    position = 0
    for blank in [*(match.start() for match in re.finditer(BLANK_LINES, text)), len(text)]:
        start, end = trimmed(text, position, blank)
        if blank < len(text) and after_headings(document, headings, start, end) == end:
            continue
        position = blank
        if end - start <= settings.chunk_size:
            spans.append((start, end))
            continue
        ends = cut(document, headings, (start, end), settings.chunk_size, small_boundaries(settings.language))
        spans += zip([start, *ends], ends)
    return spans
