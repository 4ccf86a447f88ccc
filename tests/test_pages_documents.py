"""The Documents page, run in this process on a real server: what is listed, added, refused and removed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pypdf import PdfWriter

from pages.shared import documents
from rag import library, workspace
from rag.catalogue import SAMPLES_REMOVED
from rag.environment import Environment
from rag.errors import StoreError
from rag.settings import BASELINE, FUNNEL
from rag.weaviate import connection
from rag.weaviate.store import Store
from rag.workspace import open_workspace
from tests.page_support import Browser, use
from tests.support import fresh_name
from tests.test_loaders_pdf import pdf_of

SAMPLE = "# Lapwing\n\nThe Lapwing is an electric car with five doors.\n"
FAQ = "question,answer\nHow many doors has it?,It has five doors.\n"


@pytest.fixture
def browser(environment: Environment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Browser:
    """A new session on the Documents page of a new workspace, whose samples are two small files."""
    for name, text in (("lapwing.md", SAMPLE), ("faq.csv", FAQ)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(library, "SAMPLES_FOLDER", tmp_path)
    monkeypatch.setattr(workspace, "SAMPLES_FOLDER", tmp_path)
    use(monkeypatch, environment, fresh_name())
    return Browser().go("pages/4_Documents.py")
