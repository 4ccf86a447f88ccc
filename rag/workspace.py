"""One workspace opened for use: its store, its catalogue and its models, which every page and command is handed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from weaviate import WeaviateClient

from rag import chunkers, embedders, indexing, library
from rag.catalogue import Catalogue, IndexRecord
from rag.embedders import Embedder
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError
from rag.library import SyncReport
from rag.schema import Chunk, Document
from rag.settings import Settings
from rag.weaviate.records import Records
from rag.weaviate.store import Store
from rag.weaviate.tenants import DEFAULT_WORKSPACE

DOCUMENTS_KEPT = 32
Progress = Callable[[str, float | None], None]


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
        raise RagError(
            "There is no index for these settings yet (chunker, size, overlap, embedder and language are part of it). "
            "Press Build index on the page, or run `python -m rag index` with the same --set."
        )

    def check(self, settings: Settings) -> None:
        """Raises IndexMismatchError where the documents are indexed with other embedders only."""
        indexing.check_embedder(self.catalogue, self.embedder(settings.embedder), settings)

    def build(self, settings: Settings, progress: Progress = library.quiet, **options: bool) -> SyncReport:
        """Bring the index of these settings in line with the documents; see ``rag.indexing.build``."""
        embedder = self.embedder(settings.embedder)
        folder = self.environment.data_folder
        return indexing.build(self.store, self.catalogue, embedder, settings, folder, progress, **options)

    def start(self, settings: Settings, progress: Progress = library.quiet) -> SyncReport:
        """On the default workspace's first start add the shipped samples; then see to it that the index is whole.

        Fast when nothing changed.
        """
        report = SyncReport()
        if self.store.workspace == DEFAULT_WORKSPACE and not self.catalogue.samples():
            report = library.add_paths(self.catalogue, [SAMPLES_FOLDER], progress)
        if not self.catalogue.documents():
            return report
        return report + self.build(settings, progress)

    def remove(self) -> None:
        """Delete the whole workspace: its chunks, its documents, everything."""
        for index in self.catalogue.indexes():
            self.store.drop_index(index.fingerprint)
        self.catalogue.remove()


def open_workspace(environment: Environment, client: WeaviateClient, name: str = DEFAULT_WORKSPACE) -> Workspace:
    """The workspace of that name over a connected client; made when first written to."""
    return Workspace(environment, Store(client, name), Catalogue(Records(client, name)))
