"""What the loaders' tests share: files written and loaded, PDFs made for a test, and what holds for every document."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import Fit
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

from rag.loaders import load
from rag.schema import Document

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=7)
TIGHT = ParagraphStyle("tight", parent=BODY, spaceAfter=0)
ITEM = ParagraphStyle("item", parent=BODY, leftIndent=16, bulletIndent=3, spaceAfter=4)
LONG = "The kiln must cool for a whole night before anyone opens its door, because the glaze cracks in a draught. "

# (left, height above the bottom, text) and, where they matter, size and font.
Words = tuple
Draw = Callable[[Canvas], None]


@pytest.fixture
def write(tmp_path: Path):
    """Write a file and load it."""

    def written(name: str, content: str | bytes) -> Document:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return load(path)

    return written


@pytest.fixture
def read(tmp_path: Path):
    """Load the bytes of a PDF."""

    def loaded(data: bytes, name: str = "a.pdf") -> Document:
        path = tmp_path / name
        path.write_bytes(data)
        document = load(path)
        assert_is_whole(document)
        return document

    return loaded


def assert_is_whole(document: Document) -> None:
    """Sections and pages cover the text in order; blocks are in order, typed, and not blank at their ends."""
    for parts in (document.sections, document.pages):
        if parts:
            assert parts[0].start == 0 and parts[-1].end == len(document.text)
            assert all(one.end == other.start for one, other in zip(parts, parts[1:]))
    assert all(section.start < section.end for section in document.sections)
    assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
    assert all(one.end <= other.start for one, other in zip(document.blocks, document.blocks[1:]))
    for block in document.blocks:
        assert block.kind in ["heading", "paragraph", "table", "code", "list", "question-answer", "speaker-turn"]
        assert document.text[block.start : block.end].rstrip() == document.text[block.start : block.end] != ""
    assert not set("\r\x00\ufeff") & set(document.text)
    document.text.encode("utf-8")


def paths(document: Document) -> list[tuple[str, ...]]:
    """The path of each section."""
    return [section.path for section in document.sections]


def sections(document: Document) -> dict[tuple[str, ...], str]:
    """The text of each section by its path."""
    return {section.path: document.text[section.start : section.end].strip() for section in document.sections}


def pages(document: Document) -> list[str]:
    """The text of each page."""
    return [document.text[page.start : page.end].strip() for page in document.pages]


def blocks(document: Document, kind: str | None = None) -> list[str]:
    """The text of each block, of one kind or of all."""
    return [document.text[block.start : block.end] for block in document.blocks if kind in (None, block.kind)]


def kinds(document: Document) -> list[str]:
    """The kind of each block."""
    return [block.kind for block in document.blocks]


def placed(*pages: Iterable[Words], draw: Draw | None = None) -> bytes:
    """A PDF with words at given places."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(400, 500), invariant=1)
    for page in pages:
        for left, height, text, *rest in page:
            canvas.setFont(rest[1] if len(rest) > 1 else "Helvetica", rest[0] if rest else 10)
            canvas.drawString(left, height, text)
        if draw:
            draw(canvas)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def story(*flowables: object, on_page: Callable | None = None, size: tuple[float, float] = (400, 500)) -> bytes:
    """A PDF that reportlab sets from paragraphs and tables."""
    target = io.BytesIO()
    template = SimpleDocTemplate(target, pagesize=size, leftMargin=50, rightMargin=50, topMargin=60, bottomMargin=60)
    options = {"onFirstPage": on_page, "onLaterPages": on_page} if on_page else {}
    template.build([Paragraph(one, BODY) if isinstance(one, str) else one for one in flowables], **options)
    return target.getvalue()


def changed(data: bytes, change: Callable[[PdfWriter], None]) -> bytes:
    """The PDF after ``change`` was made to it."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    change(writer)
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def outlined(data: bytes, *entries: tuple[int, str, int, float | None]) -> bytes:
    """The PDF with an outline of (level, title, page index, height or None)."""

    def add(writer: PdfWriter) -> None:
        parents: list = [None]
        for level, title, page, top in entries:
            fit = Fit.fit() if top is None else Fit.xyz(0, top)
            item = writer.add_outline_item(title=title, page_number=page, parent=parents[level - 1], fit=fit)
            parents[level:] = [item]

    return changed(data, add)


def table(rows: list[list[str]], widths: list[float], *style: tuple, **options: object) -> Table:
    """A table of wrapping cells for ``story``."""
    cells = [[Paragraph(cell, TIGHT) for cell in row] for row in rows]
    return Table(cells, colWidths=widths, style=TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *style]), **options)
