"""One workspace opened for use: its store, its catalogue and its models, which every page and command is handed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from weaviate import WeaviateClient

from rag import chunkers, embedders, indexing, library, plans, reading
from rag.catalogue import Catalogue, IndexRecord
from rag.embedders import Embedder
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError
from rag.reading import View
from rag.reports import Progress, SyncReport
from rag.schema import Chunk, Document
from rag.settings import FUNNEL, OVERRIDE, Settings
from rag.weaviate.records import Records
from rag.weaviate.store import Store
from rag.weaviate.tenants import DEFAULT_WORKSPACE

DOCUMENTS_KEPT = 32
BYTES_A_CHUNK, BYTES_A_NUMBER, BYTES_A_CHARACTER = 2500, 8, 3
T = TypeVar("T")


@dataclass(frozen=True)
class IndexSize:
    """How much an index holds; the megabytes are an estimate."""

    chunks: int
    megabytes: float


@dataclass
class Workspace:
    """Shared by every thread of a process; models are made once each, by their name."""

    environment: Environment
    store: Store
    catalogue: Catalogue
    _embedders: dict[str, Embedder] = field(default_factory=dict)
    _documents: OrderedDict[tuple[str, str], Document | None] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def embedder(self, name: str) -> Embedder:
        """The embedder of that name behind the cache on disk; nothing is loaded before its first use."""
        with self._lock:
            if name not in self._embedders:
                self._embedders[name] = embedders.cached(name, self.environment)
            return self._embedders[name]

    def document(self, document_id: str, revision: str) -> Document | None:
        """The whole document behind a chunk, or None where it is gone; kept in memory for one revision of the index."""
        key = (document_id, revision)
        with self._lock:
            if key in self._documents:
                self._documents.move_to_end(key)
                return self._documents[key]
        document = self.catalogue.document(document_id)
        with self._lock:
            self._documents[key] = document
            while len(self._documents) > DOCUMENTS_KEPT:
                self._documents.popitem(last=False)
        return document

    def chunks(self, document: Document, settings: Settings) -> tuple[Chunk, ...]:
        """How the document is cut under these settings; nothing is written. Raises SettingsError, ProviderError."""
        return chunkers.chunk(document, settings, self.embedder(settings.embedder))

    def settings(self) -> Settings:
        """The FUNNEL preset with the chunkers that documents of this workspace have of their own."""
        overrides = self.catalogue.overrides()
        if not overrides:
            return FUNNEL
        sources = {record.source for record in self.catalogue.documents()}
        kept = {f"{OVERRIDE}{source}": chunker for source, chunker in overrides.items() if source in sources}
        return FUNNEL.changed(kept)

    def index(self, settings: Settings) -> IndexRecord | None:
        """The index that a question under these settings searches; None where the workspace has no documents at all.

        Raises RagError where the index has not been built, IndexMismatchError where that is for want of this embedder.
        """
        record = self.catalogue.index(settings.fingerprint())
        if record is not None:
            return record
        indexing.validate(settings)
        if not self.catalogue.documents():
            return None
        self.check(settings)
        found = plans.nearest((index.plan for index in self.catalogue.indexes()), settings.plan())
        why = f" (the nearest one there is differs: {', '.join(found)})" if found else ""
        raise RagError(
            f"There is no index for these settings yet{why}. "
            "Press Build index on the page, or run `python -m rag index` with the same --set."
        )

    def read(self, settings: Settings, work: Callable[[View], T]) -> T | None:
        """What ``work`` makes of one state of the index of these settings, as a sync may go on meanwhile; None where
        the workspace has no documents at all. Raises as ``index``.
        """

        def current() -> View | None:
            index = self.index(settings)
            return index and reading.view(self.catalogue, index)

        return reading.consistent(current, work)

    def check(self, settings: Settings) -> None:
        """Raises IndexMismatchError where the documents are indexed with other embedders only."""
        indexing.check_embedder(self.catalogue, self.embedder(settings.embedder), settings)

    def add_paths(self, paths: Sequence[Path], progress: Progress = library.quiet) -> SyncReport:
        """Load files and folders; see ``rag.library.add_paths``. PDFs by the loader that the environment names."""
        return library.add_paths(self.catalogue, paths, progress, self.environment.pdf_loader)

    def add_upload(self, path: Path, name: str) -> SyncReport:
        """Load one uploaded file; see ``rag.library.add_upload``."""
        return library.add_upload(self.catalogue, path, name, self.environment.pdf_loader)

    def build(self, settings: Settings, progress: Progress = library.quiet, **options: bool) -> SyncReport:
        """Bring the index of these settings in line with the documents; see ``rag.indexing.build``."""
        embedder = self.embedder(settings.embedder)
        folder = self.environment.data_folder
        return indexing.build(self.store, self.catalogue, embedder, settings, folder, progress, **options)

    def start(self, settings: Settings, progress: Progress = library.quiet) -> SyncReport:
        """On the default workspace's first start add the shipped samples, later bring those that are there up to date;
        then see to it that the index is whole.

        Fast when nothing changed.
        """
        report = SyncReport()
        if self.store.workspace == DEFAULT_WORKSPACE and not self.catalogue.samples():
            report = library.add_paths(self.catalogue, [SAMPLES_FOLDER], progress)
        else:
            report = library.refresh_samples(self.catalogue, progress)
        if not self.catalogue.documents():
            return report
        return report + self.build(settings, progress)

    def drop(self, fingerprint: str, progress: Progress = library.quiet) -> None:
        """Remove an index and all its chunks, once nobody is writing; the documents and the other indexes stay.

        Raises RagError where there is no such index.
        """
        if self.catalogue.index(fingerprint) is None:
            raise RagError(f"There is no index {fingerprint}. `python -m rag indexes` lists those there are.")
        with indexing.alone(self.store, self.catalogue, self.environment.data_folder, progress):
            indexing.drop(self.store, self.catalogue, fingerprint)

    def prune(self, progress: Progress = library.quiet) -> None:
        """Take documents that were removed out of every index, which needs no model."""
        indexing.prune(self.store, self.catalogue, self.environment.data_folder, progress)

    def index_sizes(self) -> dict[str, IndexSize]:
        """By fingerprint, the chunks that are stored (counted by the server) and an estimate of their megabytes.

        Estimated from vector size and the documents' characters, by what indexes measured on disk: the server does not
        tell, and may be far away.
        """
        characters = {record.id: record.characters for record in self.catalogue.documents()}
        sizes = {}
        for index in self.catalogue.indexes():
            chunks = self.store.count(index.fingerprint)
            text = sum(characters.get(name, 0) for name in self.catalogue.indexed(index.fingerprint))
            size = chunks * (BYTES_A_CHUNK + BYTES_A_NUMBER * index.dimensions) + text * BYTES_A_CHARACTER
            sizes[index.fingerprint] = IndexSize(chunks, round(size / 1_000_000, 3))
        return sizes

    def remove(self) -> None:
        """Delete the whole workspace: its chunks, its documents, everything."""
        for index in self.catalogue.indexes():
            self.store.drop_index(index.fingerprint)
        self.catalogue.remove()


def open_workspace(environment: Environment, client: WeaviateClient, name: str = DEFAULT_WORKSPACE) -> Workspace:
    """The workspace of that name over a connected client; made when first written to."""
    return Workspace(environment, Store(client, name), Catalogue(Records(client, name)))
