"""Found small, handed over large: passages stand for their window, paragraph or section, siblings as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag.chunkers import to_chunks
from rag.chunkers.base import Piece
from rag.schema import Chunk, Document, Hit, Span

# From the smallest to the largest; the names of a chunk's spans, and what ``return_parent`` calls them.
KINDS = {"window": "window", "paragraph": "paragraph", "section": "whole_section"}


@dataclass(frozen=True, slots=True)
class Family:
    """One passage to hand over: the span of its document, and the hits that lie in it, the best of them first."""

    span: Span
    hits: tuple[Hit, ...]


def collapse(hits: Sequence[Hit], chunks: Mapping[str, Chunk], kind: str, limit: int) -> tuple[Family, ...]:
    """The whole ranked list as families, each in the place of its best hit.

    A hit joins the family that already holds it whole; paragraphs and sections that share text, as that of a heading's
    chunk and those below it do, are one family up to ``limit`` characters, and above it none repeats one before it.
    ``none`` gives each hit its own family, and ``auto`` means the paragraph for chunks that have a window, which those
    of single sentences have, none for others.
    """
    families: dict[int, Family] = {}
    places: dict[str, list[int]] = {}
    for number, hit in enumerate(hits):
        chunk = chunks[hit.chunk_id]
        own = kind if kind != "auto" else "paragraph" if chunk.window else "none"
        start, end = parent_span(chunk, own, limit)
        known = places.setdefault(chunk.document_id, [])
        touched = [place for place in known if own != "none" and _shared(families[place].span, (start, end))]
        home = next((place for place in touched if _holds(families[place].span, (chunk.start, chunk.end))), None)
        mates = [home] if home is not None else touched
        # Windows share their edges with those beside them, so that one only takes in what it holds whole.
        if own == "window" and home is None and not all(_holds((start, end), families[one].span) for one in touched):
            mates = []
        spans = [families[place].span for place in mates] + ([(start, end)] if home is None else [])
        whole = min((span[0] for span in spans), default=start), max((span[1] for span in spans), default=end)
        if mates and (home is not None or whole[1] - whole[0] <= max(limit, end - start)):
            joined = sorted((one for place in mates for one in families.pop(place).hits), key=lambda one: one.rank)
            best = min(mates)
            known[:] = [*(place for place in known if place in families), best]
            families[best] = Family(whole, (*joined, hit))
        else:
            known.append(number)
            families[number] = Family(_apart((start, end), chunk, [families[place].span for place in touched]), (hit,))
    return tuple(families[place] for place in sorted(families))


def _shared(span: Span, other: Span) -> bool:
    return span[0] < other[1] and other[0] < span[1]


def _holds(span: Span, inner: Span) -> bool:
    return span[0] <= inner[0] and inner[1] <= span[1]


def _apart(span: Span, chunk: Chunk, others: Sequence[Span]) -> Span:
    """The span without what others hold of it, as far as that is no part of the chunk."""
    start, end = span
    for other_start, other_end in others:
        if other_start <= chunk.start:
            start = max(start, min(other_end, chunk.start))
        if other_end >= chunk.end:
            end = min(end, max(other_start, chunk.end))
    return start, end


def parent_span(chunk: Chunk, kind: str, limit: int) -> Span:
    """The span of that kind around the chunk, or of the next smaller one that is known and has at most ``limit``
    characters; at last the chunk's own."""
    names = list(KINDS.values())
    wanted = names[: list(KINDS).index(kind) + 1] if kind in KINDS else []
    for name in reversed(wanted):
        span = getattr(chunk, name)
        if span and span[1] - span[0] <= limit:
            return span
    return chunk.start, chunk.end


def parent(family: Family, child: Chunk, read: Callable[[str], Document | None]) -> Chunk:
    """The family's passage as a chunk of its document, which ``read`` gives by id.

    It is the child itself where its span is no larger, or where the document is not what it was when it was indexed.
    """
    if family.span == (child.start, child.end):
        return child
    document = read(child.document_id)
    if document is None or document.text[child.start : child.end] != child.text:
        return child
    header = "" if child.header in document.text[slice(*family.span)] else child.header
    whole = next(iter(to_chunks(document, [Piece(*family.span, header)])), child)
    return replace(whole, position=child.position)
