"""What a workspace holds: its documents, the indexes built from them, and what each index knows of each document.

The catalogue lives in Weaviate beside the chunks, so every process and every machine that shares the server shares it.
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from rag.holdings import (
    DocumentRecord,
    FileFailure,
    IndexedRecord,
    IndexRecord,
    Statistics,
    Switch,
    WatchedFolder,
    contents,
    document_record,
    index_record,
    indexed_record,
    is_dropped,
    read,
    whole_document,
)
from rag.schema import Document, source_id
from rag.weaviate.records import Record, Records

__all__ = [
    "Catalogue",
    "DocumentRecord",
    "FileFailure",
    "IndexRecord",
    "IndexedRecord",
    "Statistics",
    "Switch",
    "WatchedFolder",
]
SAMPLES_PRESENT = "present"
SAMPLES_REMOVED = "removed"
VISIBLE_KEPT = 256


class Catalogue:
    """Reads and writes the catalogue of one workspace."""

    def __init__(self, records: Records):
        self._records = records
        self._statistics: dict[tuple[str, str], Statistics] = {}
        self._visible: dict[tuple[str, str, str], frozenset[str]] = {}
        self._lock = threading.Lock()
        self.adding = threading.RLock()  # held by who looks whether a file is there and then adds it

    # ---- the workspace

    def samples(self) -> str:
        """ "" before the first start, then SAMPLES_PRESENT or SAMPLES_REMOVED: once removed they do not come back."""
        record = self._records.get("workspace", "samples")
        return record.summary["state"] if record else ""

    def set_samples(self, state: str) -> None:
        """Remember that the samples are present, or were removed by a person."""
        self._records.put("workspace", "samples", {"state": state})

    def writer(self) -> tuple[str, float]:
        """Who is writing, or did so last ("" for nobody), and until when others wait, in seconds since 1970."""
        record = self._records.get("workspace", "writer")
        return (record.summary["holder"], record.summary["until"]) if record else ("", 0.0)

    def set_writer(self, holder: str, until: float) -> None:
        """Let others wait until then."""
        self._records.put("workspace", "writer", {"holder": holder, "until": until})

    def overrides(self) -> dict[str, str]:
        """By source, the chunker of each document that has one of its own, kept for everybody."""
        found = [record.summary for record in self._records.all("override")]
        return {summary["source"]: summary["chunker"] for summary in sorted(found, key=lambda item: item["source"])}

    def set_override(self, source: str, chunker: str) -> None:
        """Let the document from ``source`` have a chunker of its own; "" takes that back."""
        if chunker:
            self._records.put("override", source_id(source), {"source": source, "chunker": chunker})
        else:
            self._records.delete("override", source_id(source))

    def folders(self) -> tuple[WatchedFolder, ...]:
        """The folders that are synced on a schedule, by path."""
        found = [read(WatchedFolder, record.summary) for record in self._records.all("folder")]
        return tuple(sorted(found, key=lambda folder: folder.path))

    def save_folder(self, folder: WatchedFolder) -> None:
        """Watch the folder, or change how it is watched."""
        self._records.put("folder", source_id(folder.path), asdict(folder))

    def forget_folder(self, path: str) -> None:
        """Watch the folder no longer; its documents stay."""
        self._records.delete("folder", source_id(path))

    def remove(self) -> None:
        """Delete every record of the workspace."""
        self._records.drop()

    # ---- documents

    def documents(self) -> tuple[DocumentRecord, ...]:
        """Every document of the workspace, by name."""
        found = [document_record(record) for record in self._records.all("document")]
        return tuple(sorted(found, key=lambda item: (item.name.lower(), item.source)))

    def document(self, document_id: str) -> Document | None:
        """The whole document as it was loaded, or None."""
        record = self._records.get("document", document_id)
        return whole_document(record.body) if record else None

    def recorded(self, document_id: str) -> tuple[DocumentRecord, Document] | None:
        """The document with its record, both of one moment, or None."""
        record = self._records.get("document", document_id)
        return (document_record(record), whole_document(record.body)) if record else None

    def save_document(self, document: Document, file_hash: str, bytes_hash: str = "") -> None:
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
            "bytes_hash": bytes_hash,
            "format": document.format,
        }
        self._records.put("document", document.id, summary, asdict(document))

    def remove_document(self, document_id: str) -> None:
        """Forget the document, and that its file failed; its chunks go with the next ``rag.indexing.build``."""
        self._records.delete("document", document_id)
        self._records.delete("failure", document_id)

    def failures(self) -> tuple[FileFailure, ...]:
        """The files that could not be loaded when they were last tried, by name; none of them is indexed anew."""
        found = [read(FileFailure, record.summary) for record in self._records.all("failure")]
        return tuple(sorted(found, key=lambda item: (item.name.lower(), item.source)))

    def save_failure(self, failure: FileFailure) -> None:
        """Remember that the file could not be loaded."""
        self._records.put("failure", source_id(failure.source), asdict(failure))

    def forget_failure(self, source: str) -> None:
        """Dismiss what is remembered of a file that could not be loaded."""
        self._records.delete("failure", source_id(source))

    # ---- indexes

    def indexes(self) -> tuple[IndexRecord, ...]:
        """Every index that this workspace has."""
        return tuple(index_record(record) for record in self._records.all("index") if not is_dropped(record))

    def index(self, fingerprint: str) -> IndexRecord | None:
        """One index, or None where it was never built."""
        record = self._records.get("index", fingerprint)
        return index_record(record) if record and not is_dropped(record) else None

    def save_index(self, index: IndexRecord) -> IndexRecord:
        """Write the index's record under a new revision, and return it."""
        index = replace(index, revision=uuid.uuid4().hex)
        names = ("plan", "dimensions", "revision", "writing")
        self._records.put("index", index.fingerprint, {name: getattr(index, name) for name in names})
        return index

    def drop_index(self, fingerprint: str) -> None:
        """Mark the index as dropped: nobody is told of it from now on, until its records are forgotten too."""
        record = self._records.get("index", fingerprint)
        if record:
            self._records.put("index", fingerprint, {**record.summary, "dropped": True})

    def dropped(self) -> tuple[str, ...]:
        """The fingerprints of the indexes that are marked as dropped and not yet forgotten."""
        return tuple(record.key for record in self._records.all("index") if is_dropped(record))

    def forget_index(self, fingerprint: str) -> None:
        """Remove every record of that index."""
        self._records.delete_many("indexed", [record.key for record in self._indexed(fingerprint)], fingerprint)
        self._records.delete("index", fingerprint)

    def indexed(self, fingerprint: str, ids: Sequence[str] | None = None) -> dict[str, IndexedRecord]:
        """What that index holds, by document id: of all documents, or of these."""
        found = self._indexed(fingerprint) if ids is None else self._records.some("indexed", ids, fingerprint)
        return {record.key: indexed_record(record) for record in found}

    def visible(self, fingerprint: str, indexed: Iterable[IndexedRecord]) -> dict[str, frozenset[str]]:
        """By document id, the ids of the chunks that those records make visible; a document that was switched
        meanwhile is left out.
        """
        keys = {record.document_id: (fingerprint, record.document_id, record.revision) for record in indexed}
        with self._lock:
            known = {name: self._visible[key] for name, key in keys.items() if key in self._visible}
        missing = [name for name in keys if name not in known]
        for record in self._records.some("indexed", missing, fingerprint, bodies=True):
            if record.summary.get("revision", "") == keys[record.key][2]:
                known[record.key] = frozenset(contents(record)[0])
        with self._lock:
            self._visible.update((keys[name], known[name]) for name in missing if name in known)
            while len(self._visible) > VISIBLE_KEPT:
                del self._visible[next(iter(self._visible))]
        return known

    def save_indexed(
        self,
        fingerprint: str,
        indexed: IndexedRecord,
        document_frequencies: Mapping[str, int],
        chunk_ids: Collection[str] = (),
    ) -> None:
        """Record what the index now holds of one document; see ``switch``."""
        self.switch(fingerprint, [Switch(indexed, chunk_ids, document_frequencies)])

    def switch(self, fingerprint: str, switches: Iterable[Switch]) -> None:
        """Record what the index now holds of some documents, each at one stroke: from then on readers see those chunks
        of it and no others.
        """
        names = ("name", "content_hash", "chunks", "complete", "bytes_hash")
        self._records.put_many(
            "indexed",
            [
                Record(
                    one.record.document_id,
                    {**{name: getattr(one.record, name) for name in names}, "revision": uuid.uuid4().hex},
                    {"chunks": sorted(one.chunk_ids), "frequencies": dict(one.document_frequencies)},
                )
                for one in switches
            ],
            fingerprint,
        )

    def forget_indexed(self, fingerprint: str, *document_ids: str) -> None:
        """Record that the index holds nothing of those documents: readers see no chunk of them any more."""
        self._records.delete_many("indexed", document_ids, fingerprint)

    def statistics(self, index: IndexRecord) -> Statistics:
        """Chunk count and document frequencies of the index; kept in memory until its revision changes."""
        key = (index.fingerprint, index.revision)
        with self._lock:
            if key not in self._statistics:
                frequencies: Counter[str] = Counter()
                chunks = 0
                for record in self._records.all("indexed", index.fingerprint, bodies=True):
                    chunks += record.summary["chunks"]
                    frequencies.update(contents(record)[1])
                self._statistics = {k: v for k, v in self._statistics.items() if k[0] != index.fingerprint}
                self._statistics[key] = Statistics(chunks, frequencies)
            return self._statistics[key]

    def _indexed(self, fingerprint: str) -> Iterable[Record]:
        return list(self._records.all("indexed", fingerprint))
