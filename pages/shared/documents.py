"""What the Documents page shows and does: the table, uploads, removals, and the sync that follows each of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import jobs
from rag import library
from rag.catalogue import DocumentRecord
from rag.library import SAMPLES_PREFIX, UPLOADS_PREFIX, SyncReport
from rag.settings import Settings
from rag.workspace import Workspace


@dataclass(frozen=True)
class Upload:
    """One file as the browser sent it."""

    name: str
    data: bytes


def document_rows(workspace: Workspace, settings: Settings) -> list[dict[str, Any]]:
    """One row a document: its size, and what the index of these settings holds of it."""
    indexed = workspace.catalogue.indexed(settings.fingerprint())
    rows = []
    for record in workspace.catalogue.documents():
        held = indexed.get(record.id)
        rows.append(
            {
                "Document": record.name,
                "From": origin(record),
                "Pages": record.pages or None,
                "Sections": record.sections,
                "Characters": record.characters,
                "Chunks": held.chunks if held else 0,
                "Indexed": _state(record, held),
            }
        )
    return rows


def origin(record: DocumentRecord) -> str:
    """Where a document came from, in a word."""
    for prefix, word in ((SAMPLES_PREFIX, "sample"), (UPLOADS_PREFIX, "upload")):
        if record.source.startswith(prefix):
            return word
    return "folder"


def index_rows(workspace: Workspace, settings: Settings) -> list[dict[str, Any]]:
    """One row an index: its plan, its chunks, and how many documents it lags behind."""
    documents = workspace.catalogue.documents()
    rows = []
    for index in workspace.catalogue.indexes():
        indexed = workspace.catalogue.indexed(index.fingerprint)
        behind = sum(1 for record in documents if _state(record, indexed.get(record.id)) != "yes")
        behind += len(set(indexed) - {record.id for record in documents})
        plan = index.plan
        rows.append(
            {
                "Chunker": plan["chunker"],
                "Size": plan["chunk_size"],
                "Overlap": plan["chunk_overlap"],
                "Embedder": plan["embedder"],
                "Language": plan["language"],
                "Chunks": sum(record.chunks for record in indexed.values()),
                "State": "up to date" if not behind else f"{behind} document{'s' if behind > 1 else ''} behind",
                "In use": index.fingerprint == settings.fingerprint(),
            }
        )
    return rows


def begin_upload(workspace: Workspace, settings: Settings, uploads: Sequence[Upload]) -> None:
    """Load the files, then index them; what became of each is shown in the next run."""
    jobs.begin(partial(_upload, workspace, settings, tuple(uploads)), _keep_report)


def begin_removal(workspace: Workspace, settings: Settings, ids: Sequence[str]) -> None:
    """Take documents out, with their chunks."""
    jobs.begin(partial(_remove, workspace, settings, tuple(ids)), _keep_report)


def begin_samples_removal(workspace: Workspace, settings: Settings) -> None:
    """Take the samples out for good."""
    jobs.begin(partial(_remove_samples, workspace, settings), _keep_report)


def report_rows(report: SyncReport) -> list[dict[str, str]]:
    """One row a document that a sync added, changed, removed, or could not read."""
    words = {"added": "added", "changed": "replaced", "kept": "already here, unchanged", "removed": "removed"}
    rows = [{"Document": name, "What happened": word} for kind, word in words.items() for name in getattr(report, kind)]
    rows += [{"Document": failure.name, "What happened": f"not added: {failure.reason}"} for failure in report.failed]
    return rows + [{"Document": "", "What happened": notice} for notice in report.notices]


def _state(record: DocumentRecord, held: Any) -> str:
    if held is None or held.content_hash != record.content_hash:
        return "not yet"
    return "yes" if held.complete else "in part"


def _keep_report(report: SyncReport) -> None:
    st.session_state["documents_report"] = report


def _upload(workspace: Workspace, settings: Settings, uploads: Sequence[Upload], progress: jobs.Progress) -> SyncReport:
    report = SyncReport()
    with tempfile.TemporaryDirectory() as folder:
        for number, upload in enumerate(uploads):
            progress(f"Reading {upload.name}", number / len(uploads))
            # The name a browser sends is shown, but never used as a path.
            path = Path(folder, f"{number}{Path(upload.name).suffix.lower()}")
            path.write_bytes(upload.data)
            report += library.add_upload(workspace.catalogue, path, upload.name)
    return _indexed(workspace, settings, report, progress)


def _remove(workspace: Workspace, settings: Settings, ids: Sequence[str], progress: jobs.Progress) -> SyncReport:
    names = {record.id: record.name for record in workspace.catalogue.documents()}
    for document_id in ids:
        workspace.catalogue.remove_document(document_id)
    report = SyncReport(removed=tuple(names[document_id] for document_id in ids if document_id in names))
    return _indexed(workspace, settings, report, progress)


def _remove_samples(workspace: Workspace, settings: Settings, progress: jobs.Progress) -> SyncReport:
    return _indexed(workspace, settings, library.remove_samples(workspace.catalogue), progress)


def _indexed(workspace: Workspace, settings: Settings, report: SyncReport, progress: jobs.Progress) -> SyncReport:
    """The report of the documents, with what could not be indexed of them."""
    progress("Bringing the index up to date", None)
    built = workspace.build(settings, progress)
    return report + SyncReport(failed=built.failed, notices=built.notices)
