"""The PDF loader that the environment names: for PDFs alone, not for the samples, and another one reads anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag import environment, library, loaders
from rag.catalogue import Catalogue
from rag.environment import SAMPLES_FOLDER
from rag.errors import SettingsError
from rag.loaders.base import Content
from rag.weaviate.records import Records
from tests.support import client, fresh_name, write_files

__all__ = ["client"]


@pytest.fixture
def read_by_docling(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that the stand-in for Docling read."""
    names: list[str] = []

    def load(data: bytes, name: str) -> Content:
        names.append(name)
        return Content("Read by Docling.", format="pdf")

    monkeypatch.setitem(loaders.PDF_LOADERS, "pdf:docling", load)
    return names


def test_only_pdfs_outside_the_samples_are_read_by_it_and_a_change_of_loader_reads_them_anew(
    client, tmp_path: Path, read_by_docling: list[str]
) -> None:
    catalogue = Catalogue(Records(client, fresh_name()))
    write_files(tmp_path, note_md="# Note")
    (tmp_path / "manual.pdf").write_bytes((SAMPLES_FOLDER / "lapwing-owners-manual.pdf").read_bytes())
    library.add_paths(catalogue, [tmp_path])
    assert read_by_docling == []
    report = library.add_paths(catalogue, [tmp_path], pdf_loader="pdf:docling")
    assert (report.changed, report.kept, read_by_docling) == (("manual.pdf",), ("note.md",), ["manual.pdf"])
    assert library.add_paths(catalogue, [tmp_path], pdf_loader="pdf:docling").kept == ("manual.pdf", "note.md")
    library.add_paths(catalogue, [SAMPLES_FOLDER / "lapwing-owners-manual.pdf"], pdf_loader="pdf:docling")
    assert read_by_docling == ["manual.pdf"]


def test_the_environment_names_it_and_an_unknown_one_is_answered_with_the_choices(client, tmp_path: Path) -> None:
    assert environment.read({}, tmp_path / "none").pdf_loader == loaders.PDF
    assert environment.read({"RAG_PDF_LOADER": "pdf:docling"}, tmp_path / "none").pdf_loader == "pdf:docling"
    (tmp_path / "manual.pdf").write_bytes((SAMPLES_FOLDER / "lapwing-owners-manual.pdf").read_bytes())
    with pytest.raises(SettingsError, match="There is no PDF loader called 'ocr'. Choose one of: pdf, pdf:docling."):
        library.add_paths(Catalogue(Records(client, fresh_name())), [tmp_path], pdf_loader="ocr")
