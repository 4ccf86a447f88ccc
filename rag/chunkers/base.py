"""What a chunker is, and the family's door that turns its spans into chunks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os.path import commonprefix
from typing import NamedTuple

from rag.chunkers.characters import character_ends, continues
from rag.chunkers.measures import Measure, characters
from rag.chunkers.places import Places
from rag.embedders.base import Embedder
from rag.schema import Chunk, Document, Page, Section, Span
from rag.sentences import sentence_ends
from rag.settings import Settings
from rag.text import is_blank


class Piece(NamedTuple):
    """A span of ``document.text`` that is to be a chunk, with the header and the window that ``Chunk`` tells of."""

    start: int
    end: int
    header: str = ""
    window: Span | None = None


# A chunker gives pieces (or bare spans) in order; the door trims them, drops blank ones and fills in where they lie.
# The embedder is for those that cut by its tokens or by its vectors; settings are those of this very document.
Chunker = Callable[[Document, Settings, Embedder], Sequence[Piece | Span]]

# Where a text may be cut: a regular expression, after whose matches, or a function that gives the places.
Boundary = str | Callable[[str], Sequence[int]]

BLANK_LINES = r"\n[^\S\n]*\n\s*"
LINE_OF_ITS_OWN = r"\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])[^\S\n]?)"
# Plainer than ``sentence_ends``: it also parts the sentences of a quotation, which that keeps together.
SENTENCE_END = (
    r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]»]))\s+(?![\sa-z])"
    r"|(?<=[。！？؟।॥｡])(?![。！？؟।॥｡”’」』）》】\"'])\s*"
    r"|(?<=[。！？؟।॥｡][”’」』）》】\"'])\s*"
)
WORD_END = r"\s+"
CHARACTER_END = character_ends
MAIN_SHARE = 2 / 3
_VISIBLE = re.compile(r"\S")


def small_boundaries(language: str) -> tuple[Boundary, ...]:
    """The boundaries inside a paragraph, from the largest unit to the smallest."""
    sentences = partial(sentence_ends, language=language)
    return (LINE_OF_ITS_OWN, sentences, SENTENCE_END, r"\n", WORD_END, CHARACTER_END, "")


SMALL_BOUNDARIES = small_boundaries("english")


def split(
    text: str,
    size: int,
    boundaries: Sequence[Boundary],
    first_size: int | None = None,
    measure: Measure = characters,
) -> list[int]:
    """Where to cut ``text`` so that no piece measures more than ``size`` (characters): the pieces' ends, in order.

    ``boundaries`` go from the largest unit to the smallest; the largest that suffices is used, and neighbouring pieces
    are packed together up to the size (the first up to ``first_size``, where that is given).
    """
    ends: list[int] = []
    start = position = 0
    for end in _ends(text, 0, len(text), size, boundaries, measure):
        limit = size if start or first_size is None else first_size
        if ends and measure(start, end) <= limit:
            ends.pop()
        else:
            start = position
        position = end
        ends.append(end)
    return ends


def _ends(
    text: str, start: int, end: int, size: int, boundaries: Sequence[Boundary], measure: Measure
) -> Iterable[int]:
    if not boundaries or measure(start, end) <= size:
        yield end
        return
    candidates = [*places(text, start, end, boundaries[0]), end]
    number = 0
    while number < len(candidates):
        position = start
        fitting = bisect_right(candidates, size, number, key=lambda place: measure(position, place))
        if fitting > number:
            start, number = candidates[fitting - 1], fitting
            yield start
        else:
            yield from _ends(text, start, candidates[number], size, boundaries[1:], measure)
            start, number = candidates[number], number + 1


def places(text: str, start: int, end: int, boundary: Boundary) -> Sequence[int]:
    """Where the boundary lies strictly inside of ``text[start:end]``, and not before what combines with a character."""
    if boundary == "":
        return range(start + 1, end)
    part = text[start:end]
    found = (match.end() for match in re.finditer(boundary, part)) if isinstance(boundary, str) else boundary(part)
    return [start + place for place in found if 0 < place < len(part) and not continues(part, place)]


def to_chunks(document: Document, pieces: Iterable[Piece | Span]) -> tuple[Chunk, ...]:
    """A chunk for every piece that is not blank, trimmed, with section path, pages, lines and position from 0.

    One that begins among a table's rows has the table's column names as its header, whichever chunker cut it.
    """
    text = document.text
    headings = headings_at(document)
    section_starts = [section.start for section in document.sections]
    page_starts = [page.start for page in document.pages]
    places = Places(document)
    chunks: list[Chunk] = []
    for piece in pieces:
        start, end, header, window = Piece(*piece)
        start, end = trimmed(text, start, end)
        if is_blank(text[start:end]):
            continue
        pages = _pages(document, page_starts, start, end)
        chunk = Chunk(
            document_id=document.id,
            document=document.name,
            position=len(chunks),
            start=start,
            end=end,
            text=text[start:end],
            section=_section_path(document, headings, section_starts, start, end),
            page_start=pages[0].number if pages else None,
            page_end=pages[-1].number if pages else None,
            page_labels=tuple(page.label for page in pages),
            header=header or places.column_names(start),
            window=window,
            **places.around(start, end),
        )
        chunks.append(chunk)
    return tuple(chunks)


def headings_at(document: Document) -> dict[int, int]:
    """Where each heading's line starts, and where it ends."""
    return {block.start: block.end for block in document.blocks if block.kind == "heading"}


def after_headings(document: Document, headings: dict[int, int], start: int, end: int) -> int:
    """The first character of the span that belongs to no heading at its front; ``end`` where there is nothing else."""
    while start < end:
        visible = _VISIBLE.search(document.text, start, end)
        start = visible.start() if visible else end
        if start not in headings:
            break
        start = headings[start]
    return min(start, end)


def cut(
    document: Document,
    headings: dict[int, int],
    span: Span,
    size: int,
    boundaries: Sequence[Boundary],
    first_size: int | None = None,
    measure: Measure = characters,
) -> list[int]:
    """``split`` for a span of the document that may begin with headings: the first piece is never a heading alone.

    ``measure`` takes places in the document's text.
    """
    start, end = span
    body = after_headings(document, headings, start, end)
    # Pieces are shorter by the headings' length, so that the first has room for them.
    first = body if measure(start, body) <= size // 2 else start
    used = measure(start, first)

    def measured(left: int, right: int) -> int:
        return measure(first + left, first + right)

    ends = split(document.text[first:end], size - used, boundaries, (first_size or size) - used, measured)
    return [first + piece_end for piece_end in ends]


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the blank space at its edges; empty where there is nothing else."""
    passage = text[start:end]
    start += len(passage) - len(passage.lstrip())
    return start, start + len(passage.strip())


def _overlapping(starts: list[int], start: int, end: int) -> range:
    return range(max(0, bisect_right(starts, start) - 1), bisect_right(starts, end - 1))


def _section_path(
    document: Document, headings: dict[int, int], starts: list[int], start: int, end: int
) -> tuple[str, ...]:
    """The path of the section that holds most of the span besides headings, the first of equals."""

    def held(section: Section) -> tuple[int, int]:
        body = after_headings(document, headings, section.start, section.end)
        parts = (document.text[max(start, first) : min(end, section.end)] for first in (body, section.start))
        body_length, length = (len("".join(part.split())) for part in parts)
        return body_length, length

    found = [document.sections[number] for number in _overlapping(starts, start, end)] if starts else []
    if document.format.startswith("code"):
        # Methods of one class packed together are cited as the class.
        named = [section for section in found if section.path and held(section)[1]]
        shared = commonprefix([section.path for section in named])
        # Of several functions packed together none gives its name to all, unless it is nearly all of them.
        if shared or len(named) > 1 and max(map(held, named))[1] < MAIN_SHARE * sum(held(one)[1] for one in named):
            return tuple(shared)
    return max(found, key=held).path if found else ()


def _pages(document: Document, starts: list[int], start: int, end: int) -> list[Page]:
    found = [document.pages[number] for number in _overlapping(starts, start, end)] if starts else []
    return [page for page in found if document.text[max(start, page.start) : min(end, page.end)].strip()]
