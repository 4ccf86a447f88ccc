"""A document's cuts as HTML: its text as text, each chunk in one of two colours, overlaps shaded, headers marked."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rag.citations import pages
from rag.schema import Chunk, Document, Section
from rag.text import shortened

# So much text is drawn at a time, that a browser stays quick with a book.
PART_CHARACTERS = 12_000
TITLE_CHARACTERS = 60


@dataclass(frozen=True)
class Part:
    """A span of a document that is drawn at a time, and what it is called in a list."""

    start: int
    end: int
    label: str


def figures_html(sizes: Sequence[int], tokens: Sequence[int]) -> str:
    """How many chunks there are, and the median, smallest and largest of them, in characters and in tokens."""
    words = [f"<b>{len(sizes):,}</b> chunk{'' if len(sizes) == 1 else 's'}"]
    for numbers, unit in ((sizes, "characters"), (tokens, "tokens")):
        if numbers:
            middle, most, least = round(statistics.median(numbers)), max(numbers), min(numbers)
            words.append(f"{unit}: median <b>{middle:,}</b>, {least:,} to {most:,}")
    return f'<p class="rf-figures">{" · ".join(words)}</p>'


def parts(document: Document) -> tuple[Part, ...]:
    """The document in spans of about PART_CHARACTERS, which begin with a section where they can and cover it all."""
    length = len(document.text)
    starts = [section.start for section in document.sections if section.start]
    cuts = [0]
    while length - cuts[-1] > PART_CHARACTERS:
        cuts.append(_next_cut(document.text, starts, cuts[-1]))
    spans = list(zip(cuts, [*cuts[1:], length]))
    return tuple(
        Part(start, end, f"{number} of {len(spans)}{_title(document, start)}")
        for number, (start, end) in enumerate(spans, 1)
    )


def _next_cut(text: str, starts: Sequence[int], start: int) -> int:
    """Where the part from ``start`` ends: before the last section that begins in reach, else after a line or a word."""
    least, most = start + PART_CHARACTERS // 3, start + PART_CHARACTERS
    last = bisect_right(starts, most) - 1
    if last >= 0 and starts[last] > least:
        return starts[last]
    for mark in ("\n", " "):
        found = text.rfind(mark, least, most)
        if found >= 0:
            return found + 1
    return most


def _title(document: Document, start: int) -> str:
    section = document.section_at(start)
    title = shortened(section.path[-1], TITLE_CHARACTERS) if section and section.path else ""
    page = next((page for page in document.pages if page.start <= start < page.end), None)
    return "".join(f" · {words}" for words in (title, f"p. {page.label}" if page else "") if words)


def cuts_html(chunks: Sequence[Chunk], document: Document, part: Part) -> str:
    """The part's text with its chunks; nothing of it is read as HTML or Markdown."""
    seen = [chunk for chunk in chunks if chunk.start < part.end and chunk.end > part.start]
    edges = {part.start, part.end}
    edges |= {edge for chunk in seen for edge in (chunk.start, chunk.end) if part.start < edge < part.end}
    marks = sorted(edges)
    begun = {max(chunk.start, part.start): [] for chunk in seen}
    for chunk in seen:
        begun[max(chunk.start, part.start)].append(chunk)
    pieces, covering = [], []
    for start, end in zip(marks, marks[1:]):
        covering = [chunk for chunk in covering if chunk.end > start] + begun.get(start, [])
        pieces += [_label_html(chunk, part) for chunk in begun.get(start, [])]
        pieces.append(_span_html(document.text[start:end], covering))
    return f'<div class="rf-cuts" tabindex="0">{"".join(pieces)}</div>'


def _span_html(text: str, covering: Sequence[Chunk]) -> str:
    if not covering:
        kind = "rf-uncut" if text.strip() else "rf-blank"
        return f'<span class="{kind}">{escape(text)}</span>'
    title = escape("\n".join(described(chunk) for chunk in covering))
    kind = "rf-overlap" if len(covering) > 1 else f"rf-cut-{covering[0].position % 2}"
    return f'<span class="rf-cut {kind}" title="{title}">{escape(text)}</span>'


def _label_html(chunk: Chunk, part: Part) -> str:
    """The chunk's number and size before its first character, and the header that it repeats."""
    more = "… " if chunk.start < part.start else ""
    number = (
        f'<b class="rf-number rf-cut-{chunk.position % 2}" data-chunk="{chunk.position + 1}" '
        f'title="{escape(described(chunk))}">{more}{chunk.position + 1}<small> · {len(chunk.text):,}</small></b>'
    )
    if not chunk.header or more:
        return number
    header = f'<span class="rf-repeated" title="The header that this chunk repeats">↻ {escape(chunk.header)}\n</span>'
    return number + header


def described(chunk: Chunk) -> str:
    """Number, size, section and pages or lines of a chunk, in one line."""
    words = [f"Chunk {chunk.position + 1}", f"{len(chunk.text):,} characters"]
    words += [" > ".join(chunk.section)] if chunk.section else []
    words += [pages(chunk)] if chunk.page_start is not None else []
    words += [f"lines {chunk.line_start}-{chunk.line_end}"] if chunk.line_start is not None else []
    words += ["with a repeated header"] if chunk.header else []
    return " · ".join(words)


def tree_html(document: Document) -> str:
    """The document's sections as an indented list with their pages; "" where it has none."""
    labels = {page.number: page.label for page in document.pages}
    rows = "".join(_section_html(section, labels) for section in document.sections if section.path)
    return f'<div class="rf-tree" tabindex="0">{rows}</div>' if rows else ""


def _section_html(section: Section, labels: dict[int, str]) -> str:
    place = ""
    if section.page_start is not None:
        sheets = tuple(range(section.page_start, (section.page_end or section.page_start) + 1))
        chunk = Chunk("", "", 0, 0, 0, "", (), sheets[0], sheets[-1], tuple(labels.get(s, str(s)) for s in sheets))
        place = f"<small>{escape(pages(chunk))}</small>"
    indent = f"padding-inline-start:{(section.level - 1) * 1.2:.1f}rem"
    size = f"<small>{section.end - section.start:,} characters</small>"
    return f'<div dir="auto" style="{indent}"><span>{escape(section.path[-1])}</span> {place} {size}</div>'
