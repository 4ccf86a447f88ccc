"""PDF by Docling: its document, of the real types, as one text with sections, pages and blocks.

Only the converter, which needs models of its own, is a stand-in.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from docling_core.types.doc import (
    BoundingBox,
    DocItemLabel,
    DoclingDocument,
    ProvenanceItem,
    TableCell,
    TableData,
)
from docling_core.types.doc.common.content_layer import ContentLayer
from docling_core.types.io import DocumentStream

from rag.errors import LoadError, SettingsError
from rag.loaders import PDF_LOADERS, load
from rag.schema import Document
from tests.loader_support import assert_is_whole, blocks, changed, pages, placed, sections

THREE = placed([(50, 400, "One.")], [(50, 400, "Two.")], [(50, 400, "Three.")])


def at(page: int, start: int = 0, end: int = 1) -> ProvenanceItem:
    return ProvenanceItem(page_no=page, bbox=BoundingBox(l=0, t=1, r=1, b=0), charspan=(start, end))


def cell(text: str, row: int, column: int, rows: int = 1, columns: int = 1) -> TableCell:
    return TableCell(
        text=text,
        start_row_offset_idx=row,
        end_row_offset_idx=row + rows,
        start_col_offset_idx=column,
        end_col_offset_idx=column + columns,
        row_span=rows,
        col_span=columns,
    )


def guide() -> DoclingDocument:
    """A document of three pages such as Docling makes."""
    document = DoclingDocument(name="guide")
    document.add_text(DocItemLabel.PAGE_HEADER, "Guide, edition 7", prov=at(1), content_layer=ContentLayer.FURNITURE)
    document.add_title("Kiln guide", prov=at(1))
    document.add_heading("Loading", level=1, prov=at(1))
    long = document.add_text(DocItemLabel.TEXT, "Stack the shelves\nand leave room.", prov=at(1, 0, 17))
    long.prov.append(at(2, 18, 33))
    group = document.add_list_group()
    document.add_list_item("gloves", parent=group, prov=at(2))
    document.add_list_item("cones", enumerated=True, marker="2.", parent=group, prov=at(2))
    document.add_heading("Temperatures", level=2, prov=at(3))
    caption = document.add_text(DocItemLabel.CAPTION, "Table 1", prov=at(3))
    cells = [
        cell("Firing", 0, 0),
        cell("Heat", 0, 1, columns=2),
        cell("Bisque", 1, 0),
        cell("960", 1, 1),
        cell("°C", 1, 2),
    ]
    document.add_table(TableData(table_cells=cells, num_rows=2, num_cols=3), caption=caption, prov=at(3))
    document.add_code("if hot:\n    stop()\n", prov=at(3))
    document.add_picture(prov=at(3))
    return document


@pytest.fixture
def docling(monkeypatch: pytest.MonkeyPatch):
    """Put a stand-in for the package in place, whose converter gives what it is told to."""

    def installed(
        document: DoclingDocument | None, status: str = "success", *errors: str, raises: Exception | None = None
    ):
        class Converter:
            def convert(self, source: DocumentStream, raises_on_error: bool) -> SimpleNamespace:
                assert isinstance(source, DocumentStream) and source.stream.read().startswith(b"%PDF-")
                assert source.name.endswith(".pdf") and raises_on_error is False
                if raises:
                    raise raises
                told = [SimpleNamespace(error_message=error) for error in errors]
                return SimpleNamespace(document=document, status=SimpleNamespace(value=status), errors=told)

        modules = {name: ModuleType(name) for name in ("docling", "docling.datamodel")}
        modules["docling.datamodel.base_models"] = ModuleType("base_models")
        modules["docling.datamodel.base_models"].DocumentStream = DocumentStream
        modules["docling.document_converter"] = ModuleType("document_converter")
        modules["docling.document_converter"].DocumentConverter = Converter
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    return installed


@pytest.fixture
def read(tmp_path: Path):
    """Load the bytes of a PDF by Docling."""

    def loaded(data: bytes = THREE) -> Document:
        path = tmp_path / "guide.pdf"
        path.write_bytes(data)
        document = load(path, pdf_loader="pdf:docling")
        assert_is_whole(document)
        return document

    return loaded


def test_a_document_of_docling_s_becomes_one_text_with_typed_blocks(docling, read) -> None:
    docling(guide())
    document = read()
    assert [(block.kind, text) for block, text in zip(document.blocks, blocks(document))] == [
        ("heading", "Kiln guide"),
        ("heading", "Loading"),
        ("paragraph", "Stack the shelves and leave room."),
        ("list", "- gloves"),
        ("list", "2. cones"),
        ("heading", "Temperatures"),
        ("paragraph", "Table 1"),
        ("table", "| Firing | Heat |  |\n|---|---|---|\n| Bisque | 960 | °C |"),
        ("code", "if hot:\n    stop()"),
    ]
    assert document.format == "pdf"
    assert document.notices == ("sections come from the headings that Docling found",)


def test_its_headings_bound_sections_with_their_pages(docling, read) -> None:
    docling(guide())
    document = read()
    assert list(sections(document)) == [
        ("Kiln guide",),
        ("Kiln guide", "Loading"),
        ("Kiln guide", "Loading", "Temperatures"),
    ]
    assert [(section.page_start, section.page_end) for section in document.sections] == [(1, 1), (1, 2), (3, 3)]
    assert [page.label for page in document.pages] == ["1", "2", "3"]
    assert pages(document)[1] == "and leave room.\n\n- gloves\n2. cones"


def test_pages_without_text_and_without_headings_are_told(docling, read) -> None:
    document = DoclingDocument(name="plain")
    document.add_text(DocItemLabel.TEXT, "Only words.", prov=at(2))
    docling(document, "partial_success", "page 3 could not be read")
    document = read()
    assert document.sections == () and pages(document) == ["", "Only words.", ""]
    assert document.notices == (
        "Docling read it in part: page 3 could not be read",
        "Docling found no headings: the document is one section",
    )


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ({"document": DoclingDocument(name="empty")}, "no text found (perhaps a scan)"),
        ({"document": None, "status": "failure"}, "Docling could not read it (failure); choose the loader `pdf`"),
        (
            {"document": None, "raises": ValueError("no models")},
            "Docling could not read it (ValueError); choose the loader `pdf`",
        ),
    ],
)
def test_what_docling_cannot_read_is_told_in_a_sentence(docling, read, made: dict, reason: str) -> None:
    docling(**made)
    with pytest.raises(LoadError) as error:
        read()
    assert error.value.reason == reason


def test_without_the_package_the_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch, read) -> None:
    monkeypatch.setitem(sys.modules, "docling", None)
    monkeypatch.setitem(sys.modules, "docling.datamodel.base_models", None)
    with pytest.raises(LoadError) as error:
        read()
    assert str(error.value) == (
        "guide.pdf: reading PDFs by Docling needs its package: run `pip install docling`, or choose the loader `pdf`"
    )


def test_a_password_is_asked_for_before_docling_is(read) -> None:
    with pytest.raises(LoadError, match="needs a password"):
        read(changed(THREE, lambda writer: writer.encrypt("x")))


def test_the_package_is_imported_only_where_it_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(THREE)
    assert load(tmp_path / "a.pdf").text == "One.\n\nTwo.\n\nThree."
    assert "docling" not in sys.modules
    assert list(PDF_LOADERS) == ["pdf", "pdf:docling"]
    with pytest.raises(SettingsError) as error:
        load(tmp_path / "a.pdf", pdf_loader="pdf:word")
    assert str(error.value) == "There is no PDF loader called 'pdf:word'. Choose one of: pdf, pdf:docling."
