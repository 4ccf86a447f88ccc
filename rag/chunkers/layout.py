"""By sections first, then by what stands in them: tables, lists, code and warnings whole, prose cut as it reads."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag.chunkers.base import Piece, cut, headings_at, small_boundaries, trimmed
from rag.chunkers.elements import WHOLE, Element, elements, lead_in
from rag.chunkers.oversized import parts
from rag.chunkers.recursive import overlap_start, regions
from rag.embedders.base import Embedder
from rag.schema import Document, Span
from rag.settings import Settings

# What a sentence may lead into.
LED = ("table", "list", "code")
# A paragraph up to so many characters goes whole with the table or list that its last sentence leads into.
SHORT_PARAGRAPH = 300


class _Atom(NamedTuple):
    """What is not cut further. ``prose`` may share its end with the next chunk; a part of a table stands alone."""

    start: int
    end: int
    prose: bool = False
    alone: bool = False
    header: str = ""


def layout(document: Document, settings: Settings, embedder: Embedder) -> list[Piece]:
    """Chunks of one section each, up to ``chunk_size`` characters, small neighbours packed together.

    Tables, lists, code and warnings stay whole up to ``whole_limit`` characters (0: never above the size), with the
    sentence that leads into them. Above it they are cut between rows, items and lines, and the later pieces carry that
    sentence and a table's column names as their header. Only prose overlaps.
    """
    return laid_out(document, settings, settings.chunk_overlap, int(settings.parameter("whole_limit")))


def laid_out(
    document: Document, settings: Settings, overlap: int, whole_limit: int, within: Sequence[Span] | None = None
) -> list[Piece]:
    """``layout`` by the settings' ``chunk_size``; ``within`` are the stretches to be cut, where that is not all."""
    size = settings.chunk_size
    headings = headings_at(document)
    everything = elements(document)
    pieces: list[Piece] = []
    position = 0
    for start, end in regions(document, headings) if within is None else within:
        start, end = trimmed(document.text, start, end)
        held: list[Element] = []
        while position < len(everything) and everything[position].start < end:
            element = everything[position]
            left, right = max(element.start, start), min(element.end, end)
            if left < right:
                held.append(Element(element.kind, left, right))
            if element.end > end:
                break
            position += 1
        if end - start <= size:
            pieces.append(Piece(start, end))
        else:
            cutter = _Cutter(document, headings, settings, overlap, whole_limit)
            pieces += _packed(document.text, headings, cutter.atoms(held), size, overlap, settings.language)
    return pieces


class _Cutter:
    """Makes atoms of the elements of one section."""

    def __init__(
        self, document: Document, headings: dict[int, int], settings: Settings, overlap: int, whole_limit: int
    ) -> None:
        self.document, self.text, self.headings = document, document.text, headings
        self.size, self.overlap, self.language = settings.chunk_size, overlap, settings.language
        self.whole_limit = max(settings.chunk_size, whole_limit)

    def atoms(self, held: Sequence[Element]) -> Iterator[_Atom]:
        """Atoms in order that hold all of the elements; headings begin the atom of what follows them."""
        begin: int | None = None
        lead: Span | None = None
        for element, following in pairwise([*held, Element("", 0, 0)]):
            start = element.start if begin is None else begin
            begin = None
            if element.kind == "heading" and following.kind:
                begin, lead = start, None
            elif element.kind in WHOLE:
                yield from self._whole(element, start, lead)
                # A whole table does not need the warning above it, which says what it says in a chunk of its own.
                cut_later = following.kind == "table" and following.end - following.start > self.whole_limit
                lead = lead_in(self.text, element, self.language) if cut_later else None
            else:
                lead = lead_in(self.text, element, self.language) if following.kind in LED else None
                end = element.end
                if lead and (glued := self._glued(start, element, lead, following)) is not None:
                    begin = end = glued
                yield from self._prose(start, end)

    def _glued(self, start: int, element: Element, lead: Span, following: Element) -> int | None:
        """Where what goes in front of a table or list begins; None where that stays whole only without it."""
        if element.end - start <= SHORT_PARAGRAPH and following.end - start <= self.size:
            return start
        stays_whole = following.end - following.start <= self.whole_limit
        begin = start if lead[0] <= element.start else lead[0]
        return None if stays_whole and following.end - begin > self.whole_limit else begin

    def _prose(self, start: int, end: int) -> Iterator[_Atom]:
        ends = [end] if start < end else []
        if end - start > self.size:
            ends = cut(
                self.document, self.headings, (start, end), self.size - self.overlap, small_boundaries(self.language)
            )
        for left, right in zip([start, *ends], ends):
            yield _Atom(left, right, prose=True)

    def _whole(self, element: Element, start: int, lead: Span | None) -> Iterator[_Atom]:
        """``start`` is where the headings and the lead-in begin that go with the element."""
        if element.end - start <= self.whole_limit:
            yield _Atom(start, element.end, header=self.text[slice(*lead)] if lead and lead[0] < start else "")
            return
        if element.start - start > self.size // 2:
            yield from self._prose(start, element.start)
            start = element.start
        for piece in parts(self.document, self.headings, element, start, lead, self.size, self.language):
            yield _Atom(piece.start, piece.end, alone=True, header=piece.header)


def _packed(
    text: str,
    headings: Container[int],
    atoms: Iterable[_Atom],
    size: int,
    overlap: int,
    language: str,
) -> Iterator[Piece]:
    """Neighbours together up to the size; a chunk of prose after prose begins with the end of the one before."""
    begin = prose_from = 0
    last: _Atom | None = None
    for atom in atoms:
        if last and not (last.alone or atom.alone) and atom.end - begin <= size:
            last = atom._replace(header=last.header)
            prose_from = prose_from if atom.prose else atom.end
            continue
        if last:
            yield Piece(begin, last.end, last.header)
        begin = atom.start
        if last and last.prose and atom.prose and atom.start not in headings:
            shared = min(overlap, size - (atom.end - atom.start))
            begin = overlap_start(text, prose_from, atom.start, shared, language)
        prose_from = begin if atom.prose else atom.end
        last = atom
    if last:
        yield Piece(begin, last.end, last.header)
