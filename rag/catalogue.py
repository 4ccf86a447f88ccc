"""What a workspace holds: its documents, the indexes built from them, and what each index knows of each document.

The catalogue lives in Weaviate beside the chunks, so every process and every machine that shares the server shares it.
"""

from __future__ import annotations

import math
import threading
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from rag.schema import Block, Document, Page, Section
from rag.weaviate.records import Record, Records

SAMPLES_PRESENT = "present"
SAMPLES_REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One document as lists show it; ``file_hash`` is of the bytes it was loaded from."""

    id: str
    name: str
    source: str
    content_hash: str
    file_hash: str
    characters: int
    pages: int
    sections: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One index: the plan it was built by, its embedder and vector size, and a revision that every write changes."""

    fingerprint: str
    plan: dict[str, Any]
    dimensions: int
    revision: str

    @property
    def embedder(self) -> str:
        """The name of the embedder whose vectors the index holds."""
        return self.plan["embedder"]


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """What an index holds of one document; ``complete`` is false while some of its chunks are missing."""

    document_id: str
    name: str
    content_hash: str
    chunks: int
    complete: bool


@dataclass(frozen=True)
class Statistics:
    """Of one index: how many chunks it holds, and in how many of them each search term stands."""

    chunks: int
    document_frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)): the weight BM25 gives the term [Robertson and Zaragoza 2009]."""
        frequency = min(self.document_frequencies.get(term, 0), self.chunks)
        return math.log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


class Catalogue:
    """Reads and writes the catalogue of one workspace."""

    def __init__(self, records: Records):
        self._records = records
        self._statistics: dict[tuple[str, str], Statistics] = {}
        self._lock = threading.Lock()

    # ---- the workspace

    def samples(self) -> str:
        """ "" before the first start, then SAMPLES_PRESENT or SAMPLES_REMOVED: once removed they do not come back."""
        record = self._records.get("workspace", "samples")
        return record.summary["state"] if record else ""

    def set_samples(self, state: str) -> None:
        """Remember that the samples are present, or were removed by a person."""
        self._records.put("workspace", "samples", {"state": state})

    def remove(self) -> None:
        """Delete every record of the workspace."""
        self._records.drop()

    # ---- documents

    def documents(self) -> tuple[DocumentRecord, ...]:
        """Every document of the workspace, by name."""
        found = [_document_record(record) for record in self._records.all("document")]
        return tuple(sorted(found, key=lambda item: (item.name.lower(), item.source)))

    def document(self, document_id: str) -> Document | None:
        """The whole document as it was loaded, or None."""
        record = self._records.get("document", document_id)
        return _document(record.body) if record else None

    def save_document(self, document: Document, file_hash: str) -> None:
        """Add the document, or replace the one from the same source."""
        summary = {
            "name": document.name,
            "source": document.source,
            "content_hash": document.content_hash,
            "file_hash": file_hash,
            "characters": len(document.text),
            "pages": len(document.pages),
            "sections": sum(1 for section in document.sections if section.path),
            "notices": list(document.notices),
        }
        self._records.put("document", document.id, summary, asdict(document))

    def remove_document(self, document_id: str) -> None:
        """Forget the document; its chunks go with the next ``rag.indexing.build``."""
        self._records.delete("document", document_id)

    # ---- indexes

    def indexes(self) -> tuple[IndexRecord, ...]:
        """Every index that this workspace has."""
        return tuple(_index_record(record) for record in self._records.all("index"))

    def index(self, fingerprint: str) -> IndexRecord | None:
        """One index, or None where it was never built."""
        record = self._records.get("index", fingerprint)
        return _index_record(record) if record else None

    def save_index(self, index: IndexRecord) -> IndexRecord:
        """Write the index's record under a new revision, and return it."""
        index = replace(index, revision=uuid.uuid4().hex)
        self._records.put(
            "index", index.fingerprint, {name: getattr(index, name) for name in ("plan", "dimensions", "revision")}
        )
        return index

    def forget_index(self, fingerprint: str) -> None:
        """Remove every record of that index."""
        for record in list(self._records.all("indexed", fingerprint)):
            self._records.delete("indexed", record.key, fingerprint)
        self._records.delete("index", fingerprint)

    def indexed(self, fingerprint: str) -> dict[str, IndexedRecord]:
        """What that index holds, by document id."""
        found = self._records.all("indexed", fingerprint)
        return {record.key: IndexedRecord(document_id=record.key, **record.summary) for record in found}

    def save_indexed(self, fingerprint: str, indexed: IndexedRecord, document_frequencies: Mapping[str, int]) -> None:
        """Record what the index now holds of one document, with the number of its chunks that each term stands in."""
        summary = {name: getattr(indexed, name) for name in ("name", "content_hash", "chunks", "complete")}
        self._records.put("indexed", indexed.document_id, summary, dict(document_frequencies), fingerprint)

    def forget_indexed(self, fingerprint: str, document_id: str) -> None:
        """Record that the index holds nothing of that document."""
        self._records.delete("indexed", document_id, fingerprint)

    def statistics(self, index: IndexRecord) -> Statistics:
        """Chunk count and document frequencies of the index; kept in memory until its revision changes."""
        key = (index.fingerprint, index.revision)
        with self._lock:
            if key not in self._statistics:
                frequencies: Counter[str] = Counter()
                chunks = 0
                for record in self._records.all("indexed", index.fingerprint, bodies=True):
                    chunks += record.summary["chunks"]
                    frequencies.update(record.body or {})
                self._statistics = {k: v for k, v in self._statistics.items() if k[0] != index.fingerprint}
                self._statistics[key] = Statistics(chunks, frequencies)
            return self._statistics[key]


def _document_record(record: Record) -> DocumentRecord:
    return DocumentRecord(id=record.key, **{**record.summary, "notices": tuple(record.summary["notices"])})


def _index_record(record: Record) -> IndexRecord:
    return IndexRecord(fingerprint=record.key, **record.summary)


def _document(body: dict[str, Any]) -> Document:
    return Document(
        name=body["name"],
        source=body["source"],
        text=body["text"],
        sections=tuple(Section(**{**section, "path": tuple(section["path"])}) for section in body["sections"]),
        pages=tuple(Page(**page) for page in body["pages"]),
        blocks=tuple(Block(**block) for block in body["blocks"]),
        notices=tuple(body["notices"]),
    )
