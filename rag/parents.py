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

    A hit joins the family of its own span, or one that already holds it whole; ``none`` gives each hit its own, and
    ``auto`` means the paragraph for chunks that have a window, which those of single sentences have, none for others.
    """
    families: list[Family] = []
    places: dict[str, list[int]] = {}
    for hit in hits:
        chunk = chunks[hit.chunk_id]
        own = kind if kind != "auto" else "paragraph" if chunk.window else "none"
        span = parent_span(chunk, own, limit)
        known = places.setdefault(chunk.document_id, [])
        for place in known if own != "none" else ():
            start, end = families[place].span
            if families[place].span == span or (start <= chunk.start and chunk.end <= end):
                families[place] = replace(families[place], hits=(*families[place].hits, hit))
                break
        else:
            known.append(len(families))
            families.append(Family(span, (hit,)))
    return tuple(families)


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
