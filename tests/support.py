"""Workspaces of their own on the test server, models that stand in for real ones, and entries made by hand."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from weaviate import WeaviateClient

from rag import chunkers, embedders, library, loaders
from rag.analysis import analyse
from rag.catalogue import Catalogue
from rag.embedders import Embedder
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import ProviderError
from rag.indexing import search_terms
from rag.library import SyncReport
from rag.llms import Completion
from rag.llms.base import LLM
from rag.schema import Chunk, Document
from rag.settings import FUNNEL, Settings
from rag.weaviate import connection
from rag.weaviate.entries import Entry
from rag.weaviate.records import Records
from rag.weaviate.store import Store
from rag.workspace import Workspace

_NUMBERS = itertools.count(1)


class StubEmbedder(Embedder):
    """A hashed bag of words, so that texts which share words lie near each other; counts what it is sent.

    ``fail_from`` is the batch, counted from 1 over all calls, from which on every batch raises.
    """

    def __init__(self, name: str, dimensions: int, batch_texts: int = 16):
        self.name = name
        self.size = self.dimensions = dimensions
        self.batch_texts = batch_texts
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.batches = 0
        self.fail_from: int | None = None

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        for begin in range(0, len(texts), self.batch_texts):
            part = list(texts[begin : begin + self.batch_texts])
            assert all(text.strip() for text in part), "a blank text was sent"
            self.batches += 1
            if self.fail_from is not None and self.batches >= self.fail_from:
                raise ProviderError(f"{self.name} timed out. Try again.")
            self.texts += part
            yield list(range(begin, begin + len(part))), np.stack([self.vector(text) for text in part])

    def _query(self, text: str) -> np.ndarray:
        self.questions.append(text)
        if self.fail_from is not None:
            raise ProviderError(f"{self.name} timed out. Try again.")
        return self.vector(text)[None]

    def vector(self, text: str) -> np.ndarray:
        """The sum of a fixed direction for each word; never all zero."""
        return sum((_direction(word, self.size) for word in analyse(text)), _direction("", self.size) * 0.1)


@lru_cache(maxsize=20_000)
def _direction(word: str, dimensions: int) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=dimensions)


class StubLLM(LLM):
    """Always answers the same text, in pieces of five characters, or raises; remembers the prompts it was given."""

    name = "stub:model"

    def __init__(self, text: str, error: str = "", finish: str = "stop"):
        self.text, self.error, self.finish = text, error, finish
        self.prompts: list[str] = []

    def _stream(self, system: str, prompt: str, max_tokens: int):
        self.prompts.append(prompt)
        if self.error:
            raise ProviderError(self.error)
        for begin in range(0, len(self.text), 5):
            yield self.text[begin : begin + 5]
        return Completion("", self.finish, 100, 7)


def m1() -> StubEmbedder:
    """8 numbers."""
    return StubEmbedder("m1", 8)


def m2() -> StubEmbedder:
    """12 numbers."""
    return StubEmbedder("m2", 12)


def m3() -> StubEmbedder:
    """8 numbers like m1, but another model."""
    return StubEmbedder("m3", 8)


@pytest.fixture(scope="module")
def client(environment: Environment) -> Iterator[WeaviateClient]:
    """A connection to the test server."""
    with connection.connected(environment) as connected:
        yield connected


def fresh_name() -> str:
    """A workspace name nobody had before in this run."""
    return f"test-{next(_NUMBERS)}"


def open_test_workspace(
    client: WeaviateClient, environment: Environment, *embedders: Embedder, name: str | None = None
) -> Workspace:
    """An empty workspace that knows these embedders by their names."""
    name = name or fresh_name()
    store, catalogue = Store(client, name), Catalogue(Records(client, name))
    return Workspace(environment, store, catalogue, {embedder.name: embedder for embedder in embedders})


def settings_for(embedder: str = "m1", **changes: object) -> Settings:
    """The funnel's defaults with a stub embedder."""
    return FUNNEL.changed({"embedder": embedder, **changes})


def a_chunk(position: int, text: str, document: str = "a.md", **changes: object) -> Chunk:
    """A chunk made by hand; its document id is made from the document's name."""
    start = position * 10_000
    values = {"document_id": f"id of {document}", "document": document, "position": position, "start": start}
    return Chunk(**{**values, "end": start + len(text), "text": text, **changes})


def an_entry(chunk: Chunk, embedder: StubEmbedder) -> Entry:
    """The chunk ready to be written, embedded by the stub."""
    return Entry(chunk, embedder.vector(chunk.text).tolist(), *search_terms(chunk, "english"))


def cut(document: Document, settings: Settings) -> tuple[Chunk, ...]:
    """The document's chunks, with the local embedder for the chunkers that ask one."""
    return chunkers.chunk(document, settings, embedders.build("minilm", Environment()))


def sample_chunks(size: int, *names: str) -> list[Chunk]:
    """Chunks of shipped samples."""
    settings = Settings(chunk_size=size, chunk_overlap=0)
    documents = [loaders.load(SAMPLES_FOLDER / name, name, f"samples/{name}") for name in names]
    return [chunk for document in documents for chunk in cut(document, settings)]


def write_files(folder: Path, **texts: str) -> Path:
    """A folder with these files; ``a_md="..."`` becomes a.md."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text, encoding="utf-8")
    return folder


def sync(workspace: Workspace, *paths: Path, settings: Settings | None = None) -> tuple[SyncReport, SyncReport]:
    """What adding the paths did, and what building the index did."""
    added = library.add_paths(workspace.catalogue, paths)
    return added, workspace.build(settings or settings_for())


def stored(workspace: Workspace, settings: Settings | None = None) -> list[tuple[str, str]]:
    """(document, text) of every stored chunk, found without the catalogue's help and checked against it."""
    fingerprint = (settings or settings_for()).fingerprint()
    hits = (
        workspace.store.dense(fingerprint, m1().vector("anything"), 1000)
        if workspace.store.has_index(fingerprint)
        else ()
    )
    chunks = workspace.store.chunks(fingerprint, [hit.chunk_id for hit in hits]).values()
    assert len(chunks) == workspace.store.count(fingerprint)
    assert len(chunks) == sum(record.chunks for record in workspace.catalogue.indexed(fingerprint).values())
    return sorted((chunk.document, chunk.text) for chunk in chunks)
