"""PDF: paragraphs from the gaps between lines, sections from the outline or from the headings' type, pages by sheet
number and printed label."""

from __future__ import annotations

import io
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from pypdf import PdfReader
from pypdf.errors import DependencyError, LimitReachedError

from rag.errors import LoadError
from rag.loaders.base import Assembly, Content, sections_from
from rag.loaders.pdf_columns import in_columns
from rag.loaders.pdf_fragments import FragmentReader
from rag.loaders.pdf_headings import find_headings
from rag.loaders.pdf_lines import Line, lines_of
from rag.loaders.pdf_outline import Place, locate, read_outline
from rag.loaders.pdf_pieces import Piece, Spacing, Spelling, continues, follows_closely, is_caption, pieces_of
from rag.loaders.pdf_running import without_running_lines
from rag.loaders.pdf_tables import markdown_rows, markdown_table, with_rules
from rag.schema import Page, Section

UNREAD = "could not be read"
SCAN = "no text found (perhaps a scan)"
OUTLINE = "sections come from the outline"
HEADINGS_FOUND = "no outline: headings found by their size of type"
NO_HEADINGS = "no outline and no headings found: the document is one section"
MAX_NAMED = 10
MAX_MOVED = 5

# What pypdf mends on the way is of no use to a reader; what it cannot mend becomes a notice or a LoadError.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def load_pdf(data: bytes, name: str) -> Content:
    """The text of every page that can be read; what could not be, and a missing outline, stand in the notices."""
    reader = open_pdf(data, name)
    pages, notices = _lines(reader)
    if not any(pages):
        raise LoadError(name, f"damaged PDF, {notices[0]}" if UNREAD in notices[0] else SCAN)
    pages = without_running_lines(pages)
    places, outline_notices = _places(reader, pages)
    writer = _Writer(pages, places)
    writer.write()
    text = writer.assembly.text
    spans = page_spans(writer.starts, labels_of(reader, len(pages)), len(text))
    sections = tuple(with_pages(section, spans, text) for section in sections_from(text, writer.marks))
    return Content(text, sections, spans, tuple(writer.assembly.blocks), (*notices, *outline_notices), "pdf")


def open_pdf(data: bytes, name: str) -> PdfReader:
    """The PDF, decrypted where that needs no password. Raises LoadError where it cannot be read at all."""
    if b"%PDF-" not in data[:1024]:
        raise LoadError(name, "not a PDF file")
    try:
        reader = PdfReader(io.BytesIO(data))
        # An owner's password only guards against editing: such files open with an empty one.
        if reader.is_encrypted and not reader.decrypt(""):
            raise LoadError(name, "needs a password")
        count = len(reader.pages)
    except LoadError:
        raise
    except DependencyError:
        raise LoadError(name, "encrypted; install the cryptography package to read it") from None
    except LimitReachedError:
        raise LoadError(name, "too many or too deeply nested parts to be read safely; split the PDF") from None
    except Exception as error:
        raise LoadError(name, f"damaged PDF, cannot be opened ({type(error).__name__})") from error
    if not count:
        raise LoadError(name, "damaged PDF, it has no pages")
    return reader


def _lines(reader: PdfReader) -> tuple[list[list[Line]], list[str]]:
    """Each page's lines, and notices on the pages that have none."""
    fragments = FragmentReader()
    pages: list[list[Line]] = []
    failed: list[int] = []
    for number in range(len(reader.pages)):
        try:
            found, rules = fragments.read(reader.pages[number], reader)
            pages.append(with_rules(in_columns(lines_of(found), rules), rules))
        except Exception:
            pages.append([])
            failed.append(number + 1)
    empty = [number for number, lines in enumerate(pages, start=1) if not lines and number not in failed]
    notices = []
    if failed:
        notices.append(f"{len(failed)} of {len(pages)} pages {UNREAD}: sheet {_some(failed)}")
    if empty:
        notices.append(f"{len(empty)} of {len(pages)} pages without text: sheet {_some(empty)}")
    return pages, notices


def _places(reader: PdfReader, pages: Sequence[Sequence[Line]]) -> tuple[dict[int, list[Place]], list[str]]:
    """Where the headings stand on each page: the outline's, else those found by their type; and notices on them."""
    notices = []
    try:
        entries, lost = read_outline(reader)
    except Exception as error:
        entries, lost = [], []
        notices.append(f"the outline could not be read ({type(error).__name__})")
    if lost:
        notices.append(f"bookmarks that lead nowhere are left out: {_some(lost)}")
    if not entries:
        found = find_headings(pages)
        return found, [*notices, HEADINGS_FOUND if found else NO_HEADINGS]
    places: dict[int, list[Place]] = defaultdict(list)
    taken: dict[int, set[int]] = defaultdict(set)
    for entry in entries:
        page = entry.page
        place = locate(entry, pages[page], taken[page])
        if not place.count and place.line == len(pages[page]) and page + 1 < len(pages):
            # Set at the very end of its page, a heading was moved to the next one after its bookmark was made.
            moved = locate(replace(entry, top=None), pages[page + 1][:MAX_MOVED], taken[page + 1])
            page, place = (page + 1, moved) if moved.count else (page, place)
        taken[page].update(range(place.line, place.line + place.count))
        places[page].append(place)
    return places, [*notices, OUTLINE]


def _some(items: Sequence[object]) -> str:
    more = len(items) - MAX_NAMED
    return ", ".join(map(str, items[:MAX_NAMED])) + (f" and {more} more" if more > 0 else "")


class _Writer:
    """Puts the pages together to one text, and keeps where each page and each section begins."""

    def __init__(self, pages: Sequence[Sequence[Line]], places: dict[int, list[Place]]) -> None:
        self.assembly = Assembly()
        # None for a page without text.
        self.starts: list[int | None] = []
        self.marks: list[tuple[int, tuple[str, ...]]] = []
        self._pages = pages
        self._places = places
        self._spacing = Spacing(pages)
        self._spelling = Spelling(line for lines in pages for line in lines)
        self._waiting: list[tuple[str, ...]] = []
        self._last: Piece | None = None
        self._page_is_new = True

    def write(self) -> None:
        """Write every page."""
        for number, lines in enumerate(self._pages):
            self._page_is_new = True
            start = 0
            for place in sorted(self._places.get(number, ()), key=lambda place: place.line):
                self._prose(lines[start : place.line])
                start = max(start, place.line)
                self._waiting.append(place.path)
                if place.count and place.line >= start:
                    start = place.line + place.count
                    self._heading(lines[place.line : start])
            self._prose(lines[start:])
            if self._page_is_new:
                self.starts.append(None)

    def _prose(self, lines: Sequence[Line]) -> None:
        for piece in pieces_of(lines, self._spacing, self._spelling):
            self._write(piece)

    def _heading(self, lines: Sequence[Line]) -> None:
        text = lines[0].text
        for line in lines[1:]:
            text = self._spelling.join(text, line.text)
        self._write(Piece("heading", text, lines[0], lines[-1], 0.0))

    def _write(self, piece: Piece) -> None:
        last = self._last
        goes_on = last is not None and not self._waiting and "heading" not in (piece.kind, last.kind)
        if goes_on and self._extend(last, piece):
            return
        text = markdown_table(piece.rows) if piece.kind == "table" else piece.text
        block = self.assembly.add(piece.kind, text, "\n" if last is not None and is_caption(last, piece) else "\n\n")
        self._begin_page(block.start)
        self.marks += [(block.start, path) for path in self._waiting]
        self._waiting = []
        self._last = piece

    def _extend(self, last: Piece, piece: Piece) -> bool:
        """Write the piece as more of the last block, where it is that; False where it is a block of its own."""
        if self._page_is_new and continues(last, piece, self._spacing):
            joined = self._spelling.join(last.text, piece.text)
            dropped = last.text.endswith(("-", "\u00ad", "\u2010")) and not joined.startswith(last.text)
            joiner = joined[len(last.text) - dropped : len(joined) - len(piece.text)]
            self._append(joiner, piece.text, dropping=int(dropped))
            self._last = replace(piece, kind=last.kind, text=joined)
        elif piece.kind == last.kind == "code" and self._page_is_new:
            self._append("\n", piece.text)
            self._last = piece
        elif piece.kind == last.kind == "table" and len(piece.rows[0]) == len(last.rows[0]) and self._page_is_new:
            rows = piece.rows[1:] if piece.rows[0] == last.rows[0] else piece.rows
            self._append("\n" if rows else "", "\n".join(markdown_rows(rows)))
            self._last = replace(piece, rows=(last.rows[0], *rows))
        elif piece.kind == last.kind and (piece.kind == "list" or follows_closely(last, piece)):
            self._append("\n", piece.text)
            self._last = replace(piece, text=f"{last.text}\n{piece.text}")
        else:
            return False
        return True

    def _append(self, joiner: str, text: str, dropping: int = 0) -> None:
        self.assembly.extend_last(joiner, dropping)
        self._begin_page(self.assembly.length)
        self.assembly.extend_last(text)

    def _begin_page(self, start: int) -> None:
        if self._page_is_new:
            self.starts.append(start)
            self._page_is_new = False


def labels_of(reader: PdfReader, count: int) -> list[str]:
    """The labels printed on the pages; their numbers from 1 where the file gives none."""
    try:
        labels = [str(label) for label in reader.page_labels]
    except Exception:
        labels = []
    return labels if len(labels) == count else [str(number) for number in range(1, count + 1)]


def page_spans(starts: Sequence[int | None], labels: Sequence[str], length: int) -> tuple[Page, ...]:
    """The pages' spans, one after the other over the whole text; that of a page without text is empty."""
    pages: list[Page] = []
    end = length
    for number in range(len(starts), 0, -1):
        start = starts[number - 1] if starts[number - 1] is not None else end
        start = 0 if number == 1 else start
        pages.append(Page(number, labels[number - 1], start, end))
        end = start
    return tuple(reversed(pages))


def with_pages(section: Section, pages: Sequence[Page], text: str) -> Section:
    """The section with the first and last page that hold text of it."""
    held = [page.number for page in pages if text[max(page.start, section.start) : min(page.end, section.end)].strip()]
    return replace(section, page_start=held[0], page_end=held[-1]) if held else section
