"""Pairs, tickets and exchanges of speakers: each a chunk of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.chunkers.base import BLANK_LINES, Boundary, Piece, after_headings, cut, headings_at, small_boundaries, trimmed
from rag.chunkers.exchanges import Exchange, exchanges
from rag.chunkers.layout import laid_out
from rag.chunkers.recursive import regions
from rag.embedders.base import Embedder
from rag.schema import Document, Span
from rag.settings import Settings

MAX_QUESTION = 300


def qa(document: Document, settings: Settings, embedder: Embedder) -> list[Piece]:
    """One question-answer pair, ticket or exchange a chunk, with the headings before it, up to ``chunk_size``.

    A longer one is cut between turns, then as prose, and its later pieces carry the question as their header. Other
    text is cut as ``layout`` does it, nothing above the size.
    """
    headings = headings_at(document)
    size, boundaries = settings.chunk_size, (BLANK_LINES, *small_boundaries(settings.language))
    pieces: list[Piece] = []
    others: list[Span] = []
    position = 0
    for one in exchanges(document):
        start, end = trimmed(document.text, position, one.start)
        bare = start < end == after_headings(document, headings, start, end)
        if not bare or end - start > size // 2:
            others.append((position, one.start))
            start = one.start
        pieces += _pieces(document, headings, one, start, size, boundaries)
        position = one.end
    others.append((position, len(document.text)))
    pieces += laid_out(document, settings, 0, 0, list(_shared(regions(document, headings), others)))
    return sorted(pieces, key=lambda piece: piece.start)


def _pieces(
    document: Document, headings: dict[int, int], one: Exchange, start: int, size: int, boundaries: Sequence[Boundary]
) -> Iterator[Piece]:
    if one.end - start <= size:
        yield Piece(start, one.end)
        return
    question = document.text[slice(*one.question)].strip()
    header = question if len(question) <= min(MAX_QUESTION, size // 2) else ""
    room = size - len(header) - 1 if header else size
    begin = end = start
    for left, right in zip([start, *one.starts[1:]], [*one.starts[1:], one.end]):
        limit = size if begin == start else room
        if right - begin > limit and begin < end:
            yield Piece(begin, end, header if begin > start else "")
            begin = end = left
            limit = room
        if right - left > limit:
            ends = cut(document, headings, (left, right), room, boundaries, limit)
            for piece_start, piece_end in zip([left, *ends], ends[:-1]):
                yield Piece(piece_start, piece_end, header if piece_start > start else "")
            begin = ([left, *ends])[-2]
        end = right
    yield Piece(begin, end, header if begin > start else "")


def _shared(parts: Sequence[Span], others: Sequence[Span]) -> Iterator[Span]:
    """What the sorted spans of both have in common."""
    number = 0
    for start, end in others:
        while number < len(parts) and parts[number][0] < end:
            left, right = max(start, parts[number][0]), min(end, parts[number][1])
            if left < right:
                yield left, right
            if parts[number][1] > end:
                break
            number += 1
