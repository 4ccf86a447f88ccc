"""Source files by function and class: each a chunk of its own where it fits, small ones of a class together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rag.chunkers.base import BLANK_LINES, CHARACTER_END, WORD_END, Boundary, Piece, split
from rag.chunkers.recursive import recursive
from rag.embedders.base import Embedder
from rag.loaders.code import says_nothing
from rag.loaders.code_outline import Definition, outline
from rag.schema import Document, Span
from rag.settings import Settings

FORMAT = "code:"
# Shorter than this share of the size, code outside of classes goes with its neighbour.
SMALL_SHARE = 0.2
MAX_HEADER = 300


class _Header(NamedTuple):
    """The first line of a class or function, and where in the document it ends; all after it may carry it."""

    text: str = ""
    end: int = 0


class _Unit(NamedTuple):
    """Code that stays together; ``group`` is the class that was opened for it, 0 outside of any."""

    start: int
    end: int
    header: str
    group: int


def code(document: Document, settings: Settings, embedder: Embedder) -> list[Piece] | list[Span]:
    """Functions and classes with their comments and decorators, up to ``chunk_size`` characters.

    A class above it is cut into its methods, which carry the class's line as header, small ones packed together; a
    function above it is cut at blank lines, then at statements, and its later pieces carry its first line. Documents
    that are no source files are cut as ``recursive`` does it, without overlap.
    """
    if not document.format.startswith(FORMAT):
        plain = replace(settings, chunker="recursive", chunk_overlap=0, chunker_parameters=())
        return recursive(document, plain, embedder)
    definitions = outline(document.text, document.format.removeprefix(FORMAT))
    units = _units(document.text, definitions, (0, len(document.text)), settings.chunk_size)
    return _packed(units, settings.chunk_size)


def _units(
    text: str,
    definitions: Sequence[Definition],
    span: Span,
    size: int,
    header: _Header = _Header(),
    opening: _Header = _Header(),
    group: int = 0,
) -> Iterator[_Unit]:
    """``opening`` is the header of what begins the span, which holds the line that is the header of all the rest."""
    for start, end, one in _tiles(text, definitions, span):
        own = opening if start == span[0] else header
        later = _line(text, one, size) if one else header
        if end - start <= _room(size, own.text):
            yield _Unit(start, end, own.text, group)
        elif one and one.parts:
            yield from _units(text, one.parts, (start, end), size, later, own, one.start + 1)
        else:
            room = _room(size, own.text)
            pieces = split(text[start:end], min(room, _room(size, later.text)), _boundaries(text[start:end]), room)
            for left, right in zip([0, *pieces], pieces):
                # Decorators may fill a piece before the first line comes.
                told = later if left and start + left >= later.end else own
                yield _Unit(start + left, start + right, told.text, group)


def _tiles(text: str, definitions: Sequence[Definition], span: Span) -> Iterator[tuple[int, int, Definition | None]]:
    """The span in order as definitions and the code between them; closing brackets stay with what they close."""
    low, high = span
    tiles: list[tuple[int, int, Definition | None]] = []
    for one in [*definitions, None]:
        start = one.start if one else high
        if tiles and says_nothing(text[low:start]):
            tiles[-1] = (tiles[-1][0], start, tiles[-1][2])
        elif text[low:start].strip():
            tiles.append((low, start, None))
        if one:
            tiles.append((start, one.end, one))
            low = one.end
    yield from tiles


def _packed(units: Iterator[_Unit], size: int) -> list[Piece]:
    packed: list[_Unit] = []
    for unit in units:
        if packed and _go_together(packed[-1], unit, size):
            packed[-1] = packed[-1]._replace(end=unit.end, group=unit.group)
        else:
            packed.append(unit)
    return [Piece(unit.start, unit.end, unit.header) for unit in packed]


def _go_together(one: _Unit, other: _Unit, size: int) -> bool:
    opens_class = not one.header and one.group == other.group
    if other.end - one.start > _room(size, one.header) or not (other.header in ("", one.header) or opens_class):
        return False
    small = min(one.end - one.start, other.end - other.start) < SMALL_SHARE * size
    return small or one.group == other.group > 0


def _room(size: int, header: str) -> int:
    return size - len(header) - 1 if header else size


def _line(text: str, one: Definition, size: int) -> _Header:
    """The definition's first line as a header, which takes no more than half of a chunk."""
    start, end = one.signature
    return _Header(text[start : min(end, start + min(MAX_HEADER, size // 2))].rstrip(), end)


def _boundaries(code: str) -> tuple[Boundary, ...]:
    """Blank lines and statements of the outermost body, then any, then words and characters."""
    indents = [len(match.group()) for match in re.finditer(r"(?<=\n)[^\S\n]*(?=[^\s)}\]])", code)]
    body = f"(?=[^\\S\\n]{{0,{min(indents, default=0)}}}[^\\s)}}\\]])"
    return (rf"\n[^\S\n]*\n{body}", BLANK_LINES, rf"\n{body}", "\n", WORD_END, CHARACTER_END, "")
