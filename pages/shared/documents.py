"""What the Documents page tells of documents and does with them: states, uploads, removals, chunkers of their own, and
the sync of the index that follows each of these in the background."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from pages.shared import indexes, jobs, session
from pages.shared.indexes import is_current
from pages.shared.names import place
from rag import chunkers, library, listing
from rag.catalogue import DocumentRecord, IndexedRecord, WatchedFolder
from rag.chunkers.recommend import Recommendation, recommend
from rag.library import UPLOADS_PREFIX, SyncReport
from rag.settings import OVERRIDE, Settings
from rag.watching import sync_folders
from rag.workspace import Workspace

# A recommendation needs the whole document: for more than these it is made only of the one that is looked at.
RECOMMENDED_AT_ONCE = 40
RECOMMENDATIONS_KEPT = 2000
HAPPENED = {
    "added": "added",
    "changed": "replaced",
    "renamed": "renamed",
    "kept": "already here, unchanged",
    "removed": "removed",
}


@dataclass(frozen=True)
class Upload:
    """One file as the browser sent it."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Outcome:
    """What became of the last piece of work: what it did to the documents, or ``words`` on what else it did."""

    report: SyncReport
    words: str = ""


@dataclass(frozen=True)
class DocumentRow:
    """One document as it is listed: what the index in use holds of it, and what is to be known of it.

    ``chunker`` is the one it is cut by. A file that is only on its way has an empty ``id``.
    """

    id: str
    source: str
    name: str
    state: str
    chunker: str = ""
    origin: str = ""
    kind: str = ""
    pages: int = 0
    sections: int = 0
    characters: int = 0
    chunks: int = 0
    notices: tuple[str, ...] = ()


def rows(workspace: Workspace, settings: Settings) -> list[DocumentRow]:
    """Every document with its state, after the files that are on their way."""
    fingerprint = settings.fingerprint()
    records = workspace.catalogue.documents()
    indexed = workspace.catalogue.indexed(fingerprint)
    has_index = workspace.catalogue.index(fingerprint) is not None
    pending = jobs.lane(workspace).jobs()
    builds = [job for job in pending if job.fingerprint == fingerprint]
    building = "" if not builds else "waits to be indexed" if builds[0].waits else "being indexed"
    found = []
    for record in records:
        held = indexed.get(record.id)
        row = DocumentRow(
            record.id,
            record.source,
            record.name,
            _state(record, held, has_index, building),
            settings.for_document(record.source).chunker,
            place(record.source, record.name),
            record.format,
            record.pages,
            record.sections,
            record.characters,
            held.chunks if held else 0,
            record.notices,
        )
        found.append(row)
    there = {record.source for record in records}
    coming = [name for job in pending for name in job.files if UPLOADS_PREFIX + name not in there]
    return [DocumentRow("", "", name, "being added") for name in dict.fromkeys(coming)] + found


def _state(record: DocumentRecord, held: IndexedRecord | None, has_index: bool, building: str) -> str:
    if is_current(record, held):
        return "indexed"
    if building:
        return building
    if held is None:
        return "not in this index yet" if has_index else "these settings have no index yet"
    if held.content_hash != record.content_hash:
        return "needs a rebuild: changed since it was indexed"
    return "indexed in part: some chunks were refused"


def report_rows(report: SyncReport, shown: Collection[str] = (), verb: str = "added") -> list[dict[str, str]]:
    """One row a document that a sync added, changed, removed, or could not read, save those failures that are shown
    elsewhere."""
    found = [{"Document": name, "What happened": HAPPENED[kind]} for kind in HAPPENED for name in getattr(report, kind)]
    failed = [failure for failure in report.failed if failure.name not in shown]
    found += [{"Document": failure.name, "What happened": f"not {verb}: {failure.reason}"} for failure in failed]
    return found + [{"Document": "", "What happened": notice} for notice in report.notices]


@st.cache_resource(show_spinner=False, max_entries=RECOMMENDATIONS_KEPT)
def _recommended(document_id: str, content_hash: str, _workspace: Workspace) -> Recommendation | None:
    document = _workspace.catalogue.document(document_id)
    return recommend(document) if document else None


def recommendation(workspace: Workspace, document_id: str) -> Recommendation | None:
    """The chunker that suits the document and why; None where it is gone. Kept until the document changes."""
    record = next((record for record in workspace.catalogue.documents() if record.id == document_id), None)
    return _recommended(record.id, record.content_hash, workspace) if record else None


def recommendations(workspace: Workspace, ids: Sequence[str]) -> dict[str, str]:
    """By document id, the recommended chunker of these documents; nothing where they are many."""
    if len(ids) > RECOMMENDED_AT_ONCE:
        return {}
    hashes = {record.id: record.content_hash for record in workspace.catalogue.documents()}
    found = {one: _recommended(one, hashes[one], workspace) for one in ids if one in hashes}
    return {one: made.chunker for one, made in found.items() if made}


# ---- what is done in the background


def begin_upload(workspace: Workspace, settings: Settings, uploads: Sequence[Upload]) -> None:
    """Load the files, then index them; what became of each is told on the Documents page."""
    label = f"Adding {_counted([upload.name for upload in uploads], 'file')}"
    work = partial(_upload, workspace, settings, tuple(uploads))
    _begin(workspace, settings, label, work, tuple(upload.name for upload in uploads))


def begin_paths(workspace: Workspace, settings: Settings, path: Path) -> None:
    """Bring the documents in line with a folder or a file on this machine, then index them."""

    def work(progress: jobs.Progress) -> SyncReport:
        report = workspace.add_paths([path], progress)
        return _indexed(workspace, settings, report, progress)

    _begin(workspace, settings, f"Reading {path}", work)


def begin_folder_sync(workspace: Workspace, settings: Settings, folder: WatchedFolder) -> None:
    """Sync one watched folder now."""

    def work(progress: jobs.Progress) -> SyncReport:
        return sync_folders(workspace, settings, progress, [folder])

    _begin(workspace, settings, f"Reading {folder.path}", work)


def begin_removal(workspace: Workspace, settings: Settings, sources: Sequence[str]) -> None:
    """Take documents out, with their chunks."""
    label = f"Removing {len(sources)} document{'s' if len(sources) > 1 else ''}"
    _begin(workspace, settings, label, partial(_remove, workspace, settings, tuple(sources)))


def begin_samples_removal(workspace: Workspace, settings: Settings) -> None:
    """Take the samples out for good."""

    def work(progress: jobs.Progress) -> SyncReport:
        return _indexed(workspace, settings, library.remove_samples(workspace.catalogue), progress)

    _begin(workspace, settings, "Removing the samples", work)


def begin_override(workspace: Workspace, source: str, name: str, chunker: str) -> None:
    """Let one document be cut by a chunker of its own ("" takes that back), for everybody: once its index is built."""

    def change() -> Settings:
        return session.settings().changed({f"{OVERRIDE}{source}": chunker})

    wanted = change()
    label = f"Cutting {name} by {chunker or wanted.chunker}"

    def work(progress: jobs.Progress) -> SyncReport:
        # Only what this session needs; a new session has the index that it begins with built if it is not there.
        report = _indexed(workspace, wanted, SyncReport(), progress)
        workspace.catalogue.set_override(source, chunker)
        return report

    def then(report: SyncReport) -> None:
        indexes.adopt(workspace, label, change, wanted.fingerprint())
        as_others = "" if chunker else " again, as the index is"
        _tell(report, f"{name} is now cut by {chunker or session.settings().chunker}{as_others}.")

    chunkers.find(chunker or wanted.chunker)
    jobs.begin(workspace, label, work, then, builds=wanted.fingerprint())


def _begin(
    workspace: Workspace,
    settings: Settings,
    label: str,
    work: Callable[[jobs.Progress], SyncReport],
    files: tuple[str, ...] = (),
) -> None:
    jobs.begin(workspace, label, work, _tell, builds=settings.fingerprint(), files=files, changes=True)


def _tell(report: SyncReport, words: str = "") -> None:
    st.session_state["outcome"] = Outcome(report, words)


def _counted(names: Sequence[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} {word}s"


def _upload(workspace: Workspace, settings: Settings, uploads: Sequence[Upload], progress: jobs.Progress) -> SyncReport:
    report = SyncReport()
    with tempfile.TemporaryDirectory() as folder:
        for number, upload in enumerate(uploads):
            progress(f"Reading {upload.name}", number / len(uploads))
            # The name a browser sends is shown, but never used as a path.
            path = Path(folder, f"{number}{Path(upload.name).suffix.lower()}")
            path.write_bytes(upload.data)
            report += workspace.add_upload(path, upload.name)
            path.unlink()
    return _indexed(workspace, settings, report, progress)


def _remove(workspace: Workspace, settings: Settings, sources: Sequence[str], progress: jobs.Progress) -> SyncReport:
    there = {record.source for record in workspace.catalogue.documents()}
    report = listing.remove(workspace.catalogue, [source for source in sources if source in there])
    return _indexed(workspace, settings, report, progress)


def _indexed(workspace: Workspace, settings: Settings, report: SyncReport, progress: jobs.Progress) -> SyncReport:
    """The report of the documents, with what could not be indexed of them."""
    progress("Bringing the index up to date", None)
    built = workspace.build(settings, progress)
    return report + SyncReport(failed=built.failed, notices=built.notices)
