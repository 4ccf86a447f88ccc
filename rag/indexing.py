"""Documents into an index: delta sync by content hash, one index per plan. What is unchanged costs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag import chunkers
from rag.analysis import analyse
from rag.catalogue import Catalogue, DocumentRecord, IndexedRecord, IndexRecord
from rag.embedders import Embedder
from rag.errors import IndexMismatchError, RagError
from rag.library import Failure, Progress, SyncReport, Tally, quiet
from rag.schema import Chunk, Document
from rag.settings import Settings
from rag.weaviate.entries import Entry, Rejected
from rag.weaviate.store import Store

LOCK_SECONDS = 600


@contextmanager
def _only_one(folder: Path, workspace: str):
    """One writer a workspace and data folder: a second one waits, and both end with a complete index."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"sync-{workspace}.lock", timeout=LOCK_SECONDS)
    try:
        with lock:
            yield
    except Timeout:
        raise RagError(
            "Another process has been indexing this workspace for ten minutes. Try again when it is done."
        ) from None


def validate(settings: Settings) -> None:
    """Raises SettingsError where there is no such language or chunker, before anything is written."""
    analyse("", settings.language)
    chunkers.find(settings.chunker)


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
        _check_size(index, embedder)


def _check_size(index: IndexRecord, embedder: Embedder) -> None:
    if embedder.dimensions and embedder.dimensions != index.dimensions:
        raise IndexMismatchError(
            f"The index was built with {index.embedder} ({index.dimensions} numbers a vector), which now gives "
            f"{embedder.dimensions}. Nothing was written. Run `python -m rag index --rebuild` to build it anew."
        )


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
    written.

    New chunks of a document are complete before its old ones go, and it counts as indexed only then, so a run that is
    broken off is taken up by the next. ``rebuild`` writes every document anew; it and ``other_embedder`` allow an
    embedder that no index of the workspace has yet.
    Raises IndexMismatchError before anything is written.
    """
    validate(settings)
    if not rebuild and not other_embedder:
        check_embedder(catalogue, embedder, settings)
    with _only_one(lock_folder, store.workspace):
        return _build(store, catalogue, embedder, settings, progress, rebuild)


def _build(
    store: Store, catalogue: Catalogue, embedder: Embedder, settings: Settings, progress: Progress, rebuild: bool
) -> SyncReport:
    fingerprint = settings.fingerprint()
    index = catalogue.index(fingerprint)
    if index and rebuild and embedder.dimensions != index.dimensions:
        drop(store, catalogue, fingerprint)
        index = None
    if not store.has_index(fingerprint) and index:
        catalogue.forget_index(fingerprint)
        index = None
    documents = catalogue.documents()
    indexed = catalogue.indexed(fingerprint)
    damaged = _damaged(store, fingerprint, indexed) if index else set()
    tally = Tally()
    present = {record.id for record in documents}
    gone = [record for document_id, record in indexed.items() if document_id not in present]
    stale = [
        record
        for record in documents
        if record.id not in indexed
        or indexed[record.id].content_hash != record.content_hash
        or not indexed[record.id].complete
        or rebuild
        or record.id in damaged
    ]
    differing = {record.id for record in stale}
    tally.lists["kept"] = [record.name for record in documents if record.id not in differing]
    if not stale and not gone:
        return tally.report()
    writer = _Writer(store, catalogue, embedder, settings, index)
    try:
        _write(writer, gone, stale, indexed, tally, progress)
    finally:
        writer.finish()
    tally.lists["notices"] += writer.notices
    return tally.report()


def _damaged(store: Store, fingerprint: str, indexed: Mapping[str, IndexedRecord]) -> set[str]:
    """Documents of which the store holds other than the catalogue says; asked one by one only where the sum is off."""
    if store.count(fingerprint) == sum(record.chunks for record in indexed.values()):
        return set()
    return {
        document_id
        for document_id, record in indexed.items()
        if len(store.chunk_ids(fingerprint, document_id)) != record.chunks
    }


def _write(
    writer: _Writer,
    gone: Sequence[IndexedRecord],
    stale: Sequence[DocumentRecord],
    indexed: Mapping[str, IndexedRecord],
    tally: Tally,
    progress: Progress,
) -> None:
    for record in gone:
        writer.remove(record.document_id)
        tally.lists["removed"].append(record.name)
    total = sum(record.characters for record in stale) or 1
    done = 0
    for record in stale:
        share = record.characters / total
        document = writer.catalogue.document(record.id)
        if document is None:
            continue  # removed by somebody meanwhile
        begun = done
        try:
            chunks, rejected = writer.replace(
                document,
                lambda part, n=record.name, b=begun, s=share: progress(f"Indexing {n}", min(1.0, b + s * part)),
            )
        except IndexMismatchError:
            raise
        except RagError as error:
            tally.lists["failed"].append(Failure(record.name, str(error)))
            continue
        finally:
            done += share
        tally.stored += chunks - len(rejected)
        tally.rejected += len(rejected)
        if rejected:
            reasons = "; ".join(f"chunk {item.chunk.position + 1}: {item.reason}" for item in rejected[:5])
            tally.lists["failed"].append(
                Failure(record.name, f"{len(rejected)} of {chunks} chunks were refused ({reasons})")
            )
        else:
            tally.lists["changed" if record.id in indexed else "added"].append(record.name)


def drop(store: Store, catalogue: Catalogue, fingerprint: str) -> None:
    """Remove an index with everything recorded of it; the documents stay."""
    store.drop_index(fingerprint)
    catalogue.forget_index(fingerprint)


class _Writer:
    """Writes documents into one index, which it creates with the first vectors (only then is their size known)."""

    def __init__(
        self, store: Store, catalogue: Catalogue, embedder: Embedder, settings: Settings, index: IndexRecord | None
    ):
        self.store, self.catalogue, self.embedder, self.settings = store, catalogue, embedder, settings
        self.fingerprint = settings.fingerprint()
        self.index = index
        self.notices: list[str] = []

    def replace(self, document: Document, progress: Callable[[float], None]) -> tuple[int, tuple[Rejected, ...]]:
        """Write the document's chunks, then delete what else is stored of it; chunks in all, and those refused."""
        chunks = chunkers.chunk(document, self.settings, self.embedder)
        texts = chunkers.indexed_texts(document, chunks, self.settings)
        vectors = self.embedder.embed_documents(texts, lambda done, of: progress(0.9 * done / max(of, 1)))
        cut = self.embedder.notices(texts)
        self.notices += [f"{document.name}, chunk {position + 1}: {notice}" for position, notice in sorted(cut.items())]
        self._open(vectors.shape[1])
        entries = [
            Entry(chunk, vector, *search_terms(chunk, self.settings.language))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        rejected = self.store.write(self.fingerprint, entries, self.index.dimensions)
        refused = {item.chunk.id for item in rejected}
        kept = [entry for entry in entries if entry.chunk.id not in refused]
        if kept or not entries:
            stored = self.store.chunk_ids(self.fingerprint, document.id)
            self.store.delete_chunks(self.fingerprint, stored - {entry.chunk.id for entry in kept})
            record = IndexedRecord(document.id, document.name, document.content_hash, len(kept), not rejected)
            self.catalogue.save_indexed(self.fingerprint, record, document_frequencies(kept))
        progress(1.0)
        return len(entries), rejected

    def remove(self, document_id: str) -> None:
        """Delete everything the index holds of the document."""
        if self.store.has_index(self.fingerprint):
            self.store.delete_chunks(self.fingerprint, self.store.chunk_ids(self.fingerprint, document_id))
        self.catalogue.forget_indexed(self.fingerprint, document_id)

    def finish(self) -> None:
        """Give the index a new revision, so that nothing remembered of the old content is used."""
        if self.index:
            self.catalogue.save_index(self.index)

    def _open(self, dimensions: int) -> None:
        if self.index:
            return _check_size(self.index, self.embedder)
        plan = self.settings.plan()
        self.store.prepare_index(self.fingerprint, plan["bm25_k1"], plan["bm25_b"])
        index = IndexRecord(self.fingerprint, plan, dimensions, "")
        self.index = self.catalogue.save_index(index)


def search_terms(chunk: Chunk, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The terms a chunk is found by: those of its text, and those of the headings above it."""
    return analyse(chunk.reading, language), analyse(" ".join(chunk.section), language)


def document_frequencies(entries: Iterable[Entry]) -> Counter[str]:
    """In how many of these chunks each term stands, in the text or in a heading."""
    return Counter(term for entry in entries for term in {*entry.terms, *entry.heading_terms})
