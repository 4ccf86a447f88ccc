"""What a chunker is, and the family's door that turns its spans into chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rag.chunkers.places import Places
from rag.embedders.base import Embedder
from rag.schema import Chunk, Document, Page, Section, Span
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

BLANK_LINES = r"\n[^\S\n]*\n\s*"
LINE_OF_ITS_OWN = r"\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])[^\S\n]?)"
# A full stop before a lower-case letter is an abbreviation; marks of scripts without spaces end a sentence at once,
# together with the quote or bracket that closes it.
SENTENCE_END = (
    r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]»]))\s+(?![a-z])"
    r"|(?<=[。！？؟।॥｡])(?![。！？؟।॥｡”’」』）》】\"'])\s*"
    r"|(?<=[。！？؟।॥｡][”’」』）》】\"'])\s*"
)
WORD_END = r"\s+"
# The end of a character with everything that combines with it (accents, emoji sequences).
CHARACTER_END = r"(?<=\S)(?![\u0300-\u036f\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff])(?<!\u200d)"

SMALL_BOUNDARIES = (LINE_OF_ITS_OWN, SENTENCE_END, r"\n", WORD_END, CHARACTER_END, "")


def split(text: str, size: int, boundaries: Sequence[str], first_size: int | None = None) -> list[int]:
    """Where to cut ``text`` so that no piece is longer than ``size`` characters: the ends of the pieces, in order.

    ``boundaries`` are regular expressions from the largest unit to the smallest; the largest that suffices is used, and
    neighbouring pieces are packed together up to the size (the first up to ``first_size``, where that is given).
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    # Without overlap and stripping, and with separators kept, the pieces joined are the text: so their lengths are
    # exact places, which searching for a piece (the library's add_start_index) is not where a text repeats itself.
    splitter = RecursiveCharacterTextSplitter(
        list(boundaries),
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=size,
        chunk_overlap=0,
        strip_whitespace=False,
    )
    ends: list[int] = []
    start = position = 0
    for piece in splitter.split_text(text):
        limit = size if start or first_size is None else first_size
        if ends and position + len(piece) - start <= limit:
            ends.pop()
        else:
            start = position
        position += len(piece)
        ends.append(position)
    return ends


def to_chunks(document: Document, pieces: Iterable[Piece | Span]) -> tuple[Chunk, ...]:
    """A chunk for every piece that is not blank, trimmed, with section path, pages, lines and position from 0."""
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
            header=header,
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
        start += len(document.text[start:end]) - len(document.text[start:end].lstrip())
        if start not in headings:
            break
        start = headings[start]
    return min(start, end)


def cut(
    document: Document,
    headings: dict[int, int],
    span: Span,
    size: int,
    boundaries: Sequence[str],
    first_size: int | None = None,
) -> list[int]:
    """``split`` for a span of the document that may begin with headings: the first piece is never a heading alone."""
    start, end = span
    body = after_headings(document, headings, start, end)
    # Pieces are shorter by the headings' length, so that the first has room for them.
    first = body if body - start <= size // 2 else start
    used = first - start
    ends = split(document.text[first:end], size - used, boundaries, (first_size or size) - used)
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
    return max(found, key=held).path if found else ()


def _pages(document: Document, starts: list[int], start: int, end: int) -> list[Page]:
    found = [document.pages[number] for number in _overlapping(starts, start, end)] if starts else []
    return [page for page in found if document.text[max(start, page.start) : min(end, page.end)].strip()]
