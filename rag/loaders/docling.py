"""PDF by Docling, for hard layouts: an optional package with models of its own, imported only where it is chosen."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rag.errors import LoadError
from rag.loaders.base import Assembly, Content, clean, heading_paths, sections_from
from rag.loaders.pdf import SCAN, labels_of, open_pdf, page_spans, with_pages
from rag.loaders.pdf_tables import markdown_table

MISSING = "reading PDFs by Docling needs its package: run `pip install docling`, or choose the loader `pdf`"
HEADINGS = "sections come from the headings that Docling found"
NO_HEADINGS = "Docling found no headings: the document is one section"
# Docling's labels of what is words, and the kinds of block they become.
KINDS = {
    "title": "heading",
    "section_header": "heading",
    "list_item": "list",
    "code": "code",
    "table": "table",
    "document_index": "table",
}
LEFT_OUT = ("picture", "chart", "page_header", "page_footer", "empty_value")


def load_docling(data: bytes, name: str) -> Content:
    """The text of a PDF as Docling reads it: headings, lists, code, and tables as Markdown. Raises LoadError."""
    reader = open_pdf(data, name)
    document, notices = _convert(data, name)
    count = len(reader.pages)
    assembly = Assembly()
    headings: list[tuple[int, int, str]] = []
    starts: list[int | None] = [None] * count
    for item in _items(document):
        kind = KINDS.get(_label(item), "paragraph")
        text = _table(item) if kind == "table" else _words(item, kind)
        if not text:
            continue
        last = assembly.blocks[-1].kind if assembly.blocks else None
        block = assembly.add(kind, text, "\n" if kind == last == "list" else "\n\n")
        if kind == "heading":
            level = 0 if _label(item) == "title" else int(getattr(item, "level", 1) or 1)
            headings.append((block.start, level, text))
        for page, start in _pages_of(item, block.start, block.end, kind):
            if page < count and starts[page] is None:
                starts[page] = start
    if not assembly.blocks:
        raise LoadError(name, SCAN)
    text = assembly.text
    spans = page_spans(_in_order(starts), labels_of(reader, count), len(text))
    sections = tuple(with_pages(section, spans, text) for section in sections_from(text, heading_paths(headings)))
    notices.append(HEADINGS if headings else NO_HEADINGS)
    return Content(text, sections, spans, tuple(assembly.blocks), tuple(notices), "pdf")


def _convert(data: bytes, name: str) -> tuple[Any, list[str]]:
    """Docling's document, and notices on what it could not read."""
    try:
        from docling.datamodel.base_models import DocumentStream
        from docling.document_converter import DocumentConverter
    except ImportError:
        raise LoadError(name, MISSING) from None
    stream = DocumentStream(name=name if name.lower().endswith(".pdf") else f"{name}.pdf", stream=io.BytesIO(data))
    try:
        result = DocumentConverter().convert(stream, raises_on_error=False)
    except Exception as error:
        raise LoadError(name, f"Docling could not read it ({type(error).__name__}); choose the loader `pdf`") from error
    # Its states are strings that are also members of an enumeration.
    status = str(getattr(result.status, "value", result.status))
    problems = [str(getattr(error, "error_message", error)) for error in result.errors or ()]
    if status not in ("success", "partial_success"):
        told = problems[0] if problems else status
        raise LoadError(name, f"Docling could not read it ({told}); choose the loader `pdf`")
    return result.document, [f"Docling read it in part: {problem}" for problem in problems]


def _items(document: Any) -> Iterator[Any]:
    """The document's items in reading order, a table's captions before it."""
    told: set[str] = set()
    for item, _ in document.iterate_items():
        if item.self_ref in told or _label(item) in LEFT_OUT:
            continue
        if KINDS.get(_label(item)) == "table":
            for reference in item.captions:
                caption = reference.resolve(document)
                if caption.self_ref not in told:
                    told.add(caption.self_ref)
                    yield caption
        told.add(item.self_ref)
        yield item


def _label(item: Any) -> str:
    return str(getattr(item.label, "value", item.label))


def _words(item: Any, kind: str) -> str:
    text = clean(getattr(item, "text", "") or "")
    if kind == "code":
        return text.strip("\n").rstrip()
    text = " ".join(text.split())
    if kind == "list" and text:
        marker = getattr(item, "marker", "") or "-"
        return f"{marker if getattr(item, 'enumerated', False) else '-'} {text}"
    return text


def _table(item: Any) -> str:
    """A table as Markdown; a cell over several rows or columns stands in the first of them."""
    rows = [
        [
            " ".join(clean(cell.text).split())
            if (cell.start_row_offset_idx, cell.start_col_offset_idx) == (number, column)
            else ""
            for column, cell in enumerate(row)
        ]
        for number, row in enumerate(item.data.grid)
    ]
    return markdown_table(rows) if any(any(row) for row in rows) else ""


def _pages_of(item: Any, start: int, end: int, kind: str) -> Iterator[tuple[int, int]]:
    """(page index from 0, where its text begins) for each page that the item stands on."""
    for number, place in enumerate(item.prov):
        # Docling counts characters of the item's own text, which is the block's where nothing was put before it.
        within = place.charspan[0] if number and kind == "paragraph" else 0
        yield max(0, place.page_no - 1), min(start + within, end)


def _in_order(starts: list[int | None]) -> list[int | None]:
    """The pages' starts, none before that of the page above it."""
    highest = 0
    ordered: list[int | None] = []
    for start in starts:
        highest = max(highest, start or 0)
        ordered.append(None if start is None else highest)
    return ordered
