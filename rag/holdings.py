"""What a catalogue tells of a workspace, as plain records, and how they are read from what is stored."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rag.schema import Block, Document, Page, Section
from rag.weaviate.records import Record


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One document as lists show it; ``file_hash`` is of the bytes it was loaded from, the loaders and its name,
    ``bytes_hash`` of the bytes alone.
    """

    id: str
    name: str
    source: str
    content_hash: str
    file_hash: str
    characters: int
    pages: int
    sections: int
    notices: tuple[str, ...] = ()
    bytes_hash: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A file that could not be loaded when it was last tried, and why."""

    source: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder that is synced every so many ``seconds`` while ``on``.

    ``last`` is when that was last done, in seconds since 1970 (0: never), ``outcome`` what came of it, in a sentence.
    """

    path: str
    seconds: int = 300
    on: bool = True
    last: float = 0.0
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """One index: the plan it was built by, its embedder and vector size, and a revision that every write changes.

    ``writing`` are the ids of the documents that are being written: of those, readers take only the visible chunks.
    """

    fingerprint: str
    plan: dict[str, Any]
    dimensions: int
    revision: str
    writing: tuple[str, ...] = ()

    @property
    def embedder(self) -> str:
        """The name of the embedder whose vectors the index holds."""
        return self.plan["embedder"]


@dataclass(frozen=True, slots=True)
class IndexedRecord:
    """What an index holds of one document; ``complete`` is false while some of its chunks are missing.

    ``revision`` changes with every switch of the document to other chunks.
    """

    document_id: str
    name: str
    content_hash: str
    chunks: int
    complete: bool
    bytes_hash: str = field(default="", compare=False)
    revision: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Switch:
    """What an index is to hold of one document from now on: its record, the ids of its chunks, and in how many of them
    each search term stands.
    """

    record: IndexedRecord
    chunk_ids: Collection[str]
    document_frequencies: Mapping[str, int]


@dataclass(frozen=True)
class Statistics:
    """Of one index: how many chunks it holds, and in how many of them each search term stands."""

    chunks: int
    document_frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)): the weight BM25 gives the term [Robertson and Zaragoza 2009]."""
        frequency = min(self.document_frequencies.get(term, 0), self.chunks)
        return math.log(1 + (self.chunks - frequency + 0.5) / (frequency + 0.5))


def read(kind: type, summary: Mapping[str, Any], **more: Any) -> Any:
    """The record of that kind, with what an older version did not write at its default."""
    values = {item.name: summary[item.name] for item in fields(kind) if item.name in summary}
    return kind(**{**values, **more})


def document_record(record: Record) -> DocumentRecord:
    """What lists show of a stored document."""
    return read(DocumentRecord, record.summary, id=record.key, notices=tuple(record.summary["notices"]))


def index_record(record: Record) -> IndexRecord:
    """One index from what is stored of it."""
    writing = tuple(record.summary.get("writing", ()))
    return read(IndexRecord, record.summary, fingerprint=record.key, writing=writing)


def indexed_record(record: Record) -> IndexedRecord:
    """What an index holds of one document, from what is stored."""
    return read(IndexedRecord, record.summary, document_id=record.key)


def is_dropped(record: Record) -> bool:
    """Whether the stored index is about to be removed."""
    return bool(record.summary.get("dropped"))


def contents(record: Record) -> tuple[list[str], dict[str, int]]:
    """The ids of the visible chunks and the document frequencies; an older version wrote the frequencies alone."""
    body = record.body or {}
    if isinstance(body.get("chunks"), list):
        return body["chunks"], body["frequencies"]
    return [], body


def whole_document(body: dict[str, Any]) -> Document:
    """The document from its stored JSON."""
    return Document(
        name=body["name"],
        source=body["source"],
        text=body["text"],
        sections=tuple(Section(**{**section, "path": tuple(section["path"])}) for section in body["sections"]),
        pages=tuple(Page(**page) for page in body["pages"]),
        blocks=tuple(Block(**block) for block in body["blocks"]),
        notices=tuple(body["notices"]),
        format=body.get("format", ""),
    )
