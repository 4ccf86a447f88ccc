"""Documents into an index: delta sync by content hash, one index per plan. What is unchanged costs nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rag import chunkers
from rag.analysis import analyse
from rag.catalogue import Catalogue, DocumentRecord, IndexedRecord, IndexRecord
from rag.embedders import Embedder
from rag.errors import IndexMismatchError, RagError
from rag.leases import holder_of, leased
from rag.plans import differences, nearest
from rag.reconciling import clear_away, drop, reconcile
from rag.reports import Progress, SyncReport, Tally, quiet
from rag.settings import Settings
from rag.weaviate.store import Store
from rag.writing import Task, Writer, check_size, document_frequencies, remove, search_terms

__all__ = [
    "build",
    "check_embedder",
    "differences",
    "document_frequencies",
    "drop",
    "prune",
    "search_terms",
    "validate",
]
LOCK_SECONDS, LOOK_SECONDS = 600, 0.5


@contextmanager
def only_one(folder: Path, workspace: str, progress: Progress = quiet) -> Iterator[None]:
    """One writer a workspace and data folder: a second one waits, saying so, and both end with a complete index."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"sync-{workspace}.lock", timeout=LOOK_SECONDS)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        with suppress(Timeout):
            lock.acquire()
            break
        if time.monotonic() > deadline:
            raise RagError(
                "Another process has been indexing this workspace for ten minutes. Try again when it is done."
            )
        progress("Waiting for another sync of these documents", None)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def alone(store: Store, catalogue: Catalogue, folder: Path, progress: Progress = quiet) -> Iterator[None]:
    """The one writer of the workspace, on this machine and among those that share its server."""
    with only_one(folder, store.workspace, progress), leased(catalogue, holder_of(folder), progress):
        yield


def validate(settings: Settings) -> None:
    """Raises SettingsError where there is no such language or chunker, before anything is written."""
    analyse("", settings.language)
    for chunker in (settings.chunker, *(chunker for _, chunker in settings.overrides)):
        chunkers.find(chunker)


def check_embedder(catalogue: Catalogue, embedder: Embedder, settings: Settings) -> None:
    """Raises IndexMismatchError where the workspace is indexed, but not with this embedder at this size."""
    indexes = catalogue.indexes()
    same = [index for index in indexes if index.embedder == settings.embedder]
    if indexes and not same:
        built = indexes[0]
        raise IndexMismatchError(
            f"The documents are indexed with {built.embedder} ({built.dimensions} numbers a vector); "
            f"{settings.embedder} ({embedder.dimensions or 'unknown'} numbers) needs an index of its own. "
            "Nothing was written. "
            f"Press Build index on the page, or run `python -m rag index --rebuild --set embedder={settings.embedder}`."
        )
    for index in same:
        check_size(index, embedder)


def build(
    store: Store,
    catalogue: Catalogue,
    embedder: Embedder,
    settings: Settings,
    lock_folder: Path,
    progress: Progress = quiet,
    rebuild: bool = False,
    other_embedder: bool = False,
) -> SyncReport:
    """Bring the index of ``settings.plan()`` in line with the workspace's documents: only what differs is chunked and
    written, and what an earlier run left unfinished is put right first.

    Readers see each document as it was or as it is. A run that is broken off, by an error, by Cancelled from
    ``progress`` or by the end of the process, leaves the index whole; the next one goes on. ``rebuild`` writes every
    document anew; it and ``other_embedder`` allow an embedder that no index of the workspace has yet. Documents that
    were removed leave every index of the workspace. Raises IndexMismatchError before anything is written.
    """
    validate(settings)
    if not rebuild and not other_embedder:
        check_embedder(catalogue, embedder, settings)
    with alone(store, catalogue, lock_folder, progress):
        return _build(store, catalogue, embedder, settings, progress, rebuild)


def prune(store: Store, catalogue: Catalogue, lock_folder: Path, progress: Progress = quiet) -> None:
    """Take documents that were removed out of every index of the workspace, which needs no model."""
    with alone(store, catalogue, lock_folder, progress):
        clear_away(store, catalogue)
        _remove_gone(store, catalogue, catalogue.indexes(), catalogue.documents())


def _build(
    store: Store, catalogue: Catalogue, embedder: Embedder, settings: Settings, progress: Progress, rebuild: bool
) -> SyncReport:
    clear_away(store, catalogue)
    fingerprint = settings.fingerprint()
    index = catalogue.index(fingerprint)
    if index and rebuild and embedder.dimensions != index.dimensions:
        drop(store, catalogue, fingerprint)
        index = None
    tally = Tally()
    damaged: set[str] = set()
    if index:
        index, damaged = reconcile(store, catalogue, index)
    else:
        catalogue.forget_index(fingerprint)
        if store.count(fingerprint):
            store.drop_index(fingerprint)  # nothing is known of it: a server that lost its catalogue
        tally.lists["differences"] += nearest((other.plan for other in catalogue.indexes()), settings.plan())
    documents = catalogue.documents()
    indexed = catalogue.indexed(fingerprint)
    others = [other for other in catalogue.indexes() if other.fingerprint != fingerprint]
    _remove_gone(store, catalogue, others, documents)
    tasks = [
        Task(record, indexed.get(record.id), anew=rebuild or record.id in damaged)
        for record in documents
        if rebuild or record.id in damaged or _is_stale(record, indexed.get(record.id))
    ]
    differing = {task.record.id for task in tasks}
    tally.lists["kept"] = [record.name for record in documents if record.id not in differing]
    gone = [record for name, record in indexed.items() if name not in {record.id for record in documents}]
    tasks, gone = _renamed(tasks, gone)
    writer = Writer(store, catalogue, embedder, settings, index, tally, progress)
    try:
        writer.remove(gone)
        writer.write(tasks)
    finally:
        writer.finish()
    return tally.report()


def _is_stale(record: DocumentRecord, indexed: IndexedRecord | None) -> bool:
    return indexed is None or indexed.content_hash != record.content_hash or not indexed.complete


def _renamed(tasks: Sequence[Task], gone: Sequence[IndexedRecord]) -> tuple[list[Task], list[IndexedRecord]]:
    """The tasks, where a document is a gone one of the same bytes with that one in hand; and what is gone besides."""
    leaving: dict[str, list[IndexedRecord]] = {}
    for record in gone:
        if record.bytes_hash:
            leaving.setdefault(record.bytes_hash, []).append(record)
    paired = []
    for task in tasks:
        same = leaving.get(task.record.bytes_hash) if task.indexed is None else None
        paired.append(Task(task.record, None, same.pop(0), task.anew) if same else task)
    taken = {task.before.document_id for task in paired if task.before}
    return paired, [record for record in gone if record.document_id not in taken]


def _remove_gone(
    store: Store, catalogue: Catalogue, indexes: Iterable[IndexRecord], documents: Sequence[DocumentRecord]
) -> None:
    """Take documents that were removed out of these indexes, and end what was broken off there."""
    present = {record.id for record in documents}
    for index in indexes:
        if index.writing:
            index, _ = reconcile(store, catalogue, index)
        gone = [record for name, record in catalogue.indexed(index.fingerprint).items() if name not in present]
        if gone:
            remove(store, catalogue, index, gone)
