"""Sentences are what is found; what is handed over is what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.chunkers.base import Piece, cut, headings_at, small_boundaries, trimmed
from rag.chunkers.recursive import regions
from rag.embedders.base import Embedder
from rag.schema import Block, Document
from rag.sentences import is_row, is_rule, lines, sentence_ends
from rag.settings import Settings
from rag.text import is_blank

# "Yes." or "See below." is no passage that a question finds: so short a sentence is joined to the next.
SHORT_CHARACTERS = 40


class Sentence(NamedTuple):
    """A span of the document that is not cut further, with the column names where it is a table's row."""

    start: int
    end: int
    header: str = ""


class _Part(NamedTuple):
    """A line's sentence before joining; ``row`` stands by itself, and what ``announces`` is joined to the next."""

    start: int
    end: int
    row: bool = False
    announces: bool = False
    header: str = ""


def sentence_window(document: Document, settings: Settings, embedder: Embedder) -> list[Piece]:
    """Each sentence, table row or line of code, with ``window`` sentences before and after it in its section.

    Headings and short sentences are joined to the next; none is longer than ``chunk_size``.
    """
    around = int(settings.parameter("window"))
    pieces: list[Piece] = []
    for section in sentences(document, settings):
        for number, (start, end, header) in enumerate(section):
            first, last = section[max(0, number - around)], section[min(len(section) - 1, number + around)]
            pieces.append(Piece(start, end, header, (first.start, last.end)))
    return pieces


def sentences(document: Document, settings: Settings) -> Iterator[list[Sentence]]:
    """The sentences of each section in order, none blank and none longer than ``chunk_size``."""
    text, size = document.text, settings.chunk_size
    headings = headings_at(document)
    boundaries = small_boundaries(settings.language)
    for stretches in _stretches(document, headings):
        found: list[Sentence] = []
        # The rows of a CSV file are records of their own, however short.
        together = [[stretch] for stretch in stretches] if document.format == "table" else [stretches]
        joined = (one for some in together for one in _joined(_parts(text, some, settings.language), size))
        for start, end, header in joined:
            ends = [end] if end - start <= size else cut(document, headings, (start, end), size, boundaries)
            for left, right in zip([start, *ends], ends):
                left, right = trimmed(text, left, right)
                if not is_blank(text[left:right]):
                    found.append(Sentence(left, right, header if len(header) <= size else ""))
        yield found


def _stretches(document: Document, headings: dict[int, int]) -> Iterator[list[Block]]:
    """Each section in stretches of one kind: its headings, tables and code as their blocks have them, and the rest."""
    special = [block for block in document.blocks if block.kind in ("heading", "table", "code")]
    if document.format == "table":
        special += [Block("", block.start, block.end) for block in document.blocks if block.kind == "paragraph"]
    special.sort(key=lambda block: block.start)
    number = 0
    for start, end in regions(document, headings):
        found: list[Block] = []
        while number < len(special) and special[number].start < end:
            kind, left, right = special[number].kind, max(start, special[number].start), min(end, special[number].end)
            number += 1
            if left < right:
                found += [Block("", start, left), Block(kind, left, right)]
                start = right
        yield [*found, Block("", start, end)]


def _parts(text: str, stretches: list[Block], language: str) -> Iterator[_Part]:
    for kind, left, right in ((stretch.kind, stretch.start, stretch.end) for stretch in stretches):
        passage = text[left:right]
        if kind == "heading":
            yield _Part(left, right, announces=True)
            continue
        spans = [line.span() for line in re.finditer(r"[^\n]+", passage) if line[0].strip()] if kind else lines(passage)
        read = [passage[slice(*span)].strip() for span in spans]
        header = ""
        for (start, end), line, following in zip(spans, read, [*read[1:], ""]):
            start, end = left + start, left + end
            if kind == "code" or not (kind == "table" or is_row(line) or (header and is_rule(line))):
                header = ""
                ends = [] if kind else [start + place for place in sentence_ends(text[start:end], language)]
                yield from (_Part(*span) for span in zip([start, *ends], [*ends, end]))
            elif is_rule(line) or is_rule(following):
                header = header if is_rule(line) else line
                yield _Part(start, end, announces=True)
            else:
                yield _Part(start, end, row=True, header=header)


def _joined(parts: Iterator[_Part], size: int) -> list[Sentence]:
    """Headings, column names and short sentences joined to what follows them, the last to what stands before it."""
    found: list[Sentence] = []
    held: _Part | None = None
    for part in parts:
        if held and (held.announces or part.end - held.start <= size):
            part = part._replace(start=held.start, header="")
        elif held:
            found.append(Sentence(held.start, held.end))
        short = part.end - part.start < SHORT_CHARACTERS and not part.row
        held = part if part.announces or short else None
        if held is None:
            found.append(Sentence(part.start, part.end, part.header))
    if held:
        if found and held.end - found[-1].start <= size:
            found[-1] = found[-1]._replace(end=held.end)
        else:
            found.append(Sentence(held.start, held.end))
    return found
