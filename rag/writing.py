"""Documents into one index, a group at a time, so that a reader sees each as it was or as it is, never in between.

A group is written in five steps: its ids into the index's record (from then on readers take only the visible chunks of
these documents), the new chunks, the switch of each document, the deletion of what is no longer visible, and the next
group's ids or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag import chunkers
from rag.analysis import analyse
from rag.catalogue import Catalogue, DocumentRecord, IndexedRecord, IndexRecord, Switch
from rag.embedders import Embedder
from rag.errors import Cancelled, IndexMismatchError, RagError, SettingsError
from rag.pace import Pace
from rag.reports import Failure, Progress, Tally
from rag.schema import Chunk, Document
from rag.settings import Settings
from rag.weaviate.entries import Entry, Rejected
from rag.weaviate.store import Store

GROUP_CHUNKS = 500
GROUP_DOCUMENTS = 64
REASONS_SHOWN = 5


@dataclass(frozen=True)
class Task:
    """A document to be written: its record, what the index holds of it, and of the one it was before it was renamed.

    ``anew`` says that its chunks are to be written even where they should be there.
    """

    record: DocumentRecord
    indexed: IndexedRecord | None = None
    before: IndexedRecord | None = None
    anew: bool = False


@dataclass(frozen=True)
class _Cut:
    """A document that was cut, ready to be embedded."""

    task: Task
    document: Document
    chunks: tuple[Chunk, ...]
    texts: list[str]


class Writer:
    """Writes into one index, which it creates with the first vectors (only then is their size known)."""

    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        embedder: Embedder,
        settings: Settings,
        index: IndexRecord | None,
        tally: Tally,
        progress: Progress,
    ):
        self.store, self.catalogue, self.embedder, self.settings = store, catalogue, embedder, settings
        self.fingerprint = settings.fingerprint()
        self.index, self.tally, self.progress = index, tally, progress
        self._is_between_groups = True
        self._done = 0
        self._pace = Pace(0)

    def remove(self, records: Sequence[IndexedRecord]) -> None:
        """Let the index hold nothing of these documents."""
        if self.index and records:
            self.index = remove(self.store, self.catalogue, self.index, records)
        self.tally.lists["removed"] += [record.name for record in records]

    def write(self, tasks: Sequence[Task]) -> None:
        """Write these documents; one that fails is named in the report and stays as it was."""
        self._pace = Pace(sum(task.record.characters for task in tasks))
        group: list[_Cut] = []
        for task in tasks:
            self.progress(self._pace.message(task.record.name, self._done), self._pace.share(self._done))
            cut = self._cut(task)
            if cut:
                group.append(cut)
            if sum(len(one.chunks) for one in group) >= GROUP_CHUNKS or len(group) >= GROUP_DOCUMENTS:
                self._write_group(group)
                group = []
        if group:
            self._write_group(group)

    def finish(self) -> None:
        """Say that nothing is being written any more; not where a group was broken off, which reconciliation ends."""
        if self.index and self.index.writing and self._is_between_groups:
            self.index = self.catalogue.save_index(replace(self.index, writing=()))

    # ---- a group

    def _cut(self, task: Task) -> _Cut | None:
        found = self.catalogue.recorded(task.record.id)
        if found is None:
            return None  # removed by somebody meanwhile
        record, document = found
        task = replace(task, record=record)  # of this very text: it may have been loaded anew since it was listed
        try:
            chunks = chunkers.chunk(document, self.settings, self.embedder)
        except (Cancelled, IndexMismatchError, SettingsError):
            raise  # no fault of this document
        except RagError as error:
            self._fail(task, error)
            chunks = None
        self._pace.cut(task.record.characters, len(chunks or ()))
        if chunks is None:
            return None
        return _Cut(task, document, chunks, chunkers.indexed_texts(document, chunks, self.settings))

    def _write_group(self, group: Sequence[_Cut]) -> None:
        """Embed the group at once, and where that fails one by one, so that only the guilty document fails."""
        try:
            vectors = self._embed(group)
        except (Cancelled, IndexMismatchError):
            raise
        except RagError as error:
            if len(group) > 1:
                for one in group:
                    self._write_group([one])
                return
            self._fail(group[0].task, error)
        else:
            self._store(group, vectors)
        self._done += sum(len(one.chunks) for one in group)

    def _embed(self, group: Sequence[_Cut]) -> np.ndarray:
        """[n, d] for all texts of the group, with what is told of them on the way."""
        ends = np.cumsum([len(one.texts) for one in group])

        def told(done: int, total: int) -> None:
            name = group[min(int(np.searchsorted(ends, done, "right")), len(group) - 1)].document.name
            self.progress(self._pace.message(name, self._done + done), self._pace.share(self._done + done))

        vectors = self.embedder.embed_documents([text for one in group for text in one.texts], told)
        for one in group:
            for position, notice in sorted(self.embedder.notices(one.texts).items()):
                self.tally.lists["notices"].append(f"{one.document.name}, chunk {position + 1}: {notice}")
        return vectors

    def _store(self, group: Sequence[_Cut], vectors: np.ndarray) -> None:
        if self.index:
            check_size(self.index, self.embedder)
        befores = [one.task.before for one in group if one.task.before]
        entries = self._entries(group, vectors)
        self._begin(
            [*(one.document.id for one in group), *(record.document_id for record in befores)], vectors.shape[1]
        )
        held = self.catalogue.visible(self.fingerprint, [one.task.indexed for one in group if one.task.indexed])
        new = [
            entry
            for one, own in zip(group, entries, strict=True)
            for name, entry in own.items()
            if one.task.anew or name not in held.get(one.document.id, ())
        ]
        rejected = self.store.write(self.fingerprint, new, self.index.dimensions)
        refused = {item.chunk.id for item in rejected}
        kept = [{name: entry for name, entry in own.items() if name not in refused} for own in entries]
        # Where all is refused, the old version stays as it is.
        switched = [(one, own) for one, own in zip(group, kept, strict=True) if own or not one.chunks]
        self.catalogue.switch(self.fingerprint, [_switch(one, own) for one, own in switched])
        _forget(self.store, self.catalogue, self.fingerprint, befores)
        gone = [name for one, own in switched for name in held.get(one.document.id, frozenset()).difference(own)]
        self.store.delete_chunks(self.fingerprint, gone)
        self._is_between_groups = True
        self._report(group, entries, rejected)

    def _entries(self, group: Sequence[_Cut], vectors: np.ndarray) -> list[dict[str, Entry]]:
        """By chunk id, what is to be stored of each document of the group."""
        rows = iter(vectors)
        return [
            {
                chunk.id: Entry(chunk, vector, *search_terms(chunk, self.settings.language))
                for chunk, vector in zip(one.chunks, rows)
            }
            for one in group
        ]

    def _begin(self, writing: Sequence[str], dimensions: int) -> None:
        """Say which documents are being written from now on; makes the index where it is not there yet."""
        if self.index is None:
            plan = self.settings.plan()
            self.store.prepare_index(self.fingerprint, plan["bm25_k1"], plan["bm25_b"])
            self.index = IndexRecord(self.fingerprint, plan, dimensions, "")
        self._is_between_groups = False
        self.index = self.catalogue.save_index(replace(self.index, writing=tuple(writing)))

    # ---- the report

    def _fail(self, task: Task, error: RagError) -> None:
        self.tally.lists["failed"].append(Failure(task.record.name, str(error)))

    def _report(self, group: Sequence[_Cut], entries: Sequence[dict[str, Entry]], rejected: Sequence[Rejected]) -> None:
        for one, own in zip(group, entries, strict=True):
            task, name = one.task, one.task.record.name
            refused = [item for item in rejected if item.chunk.document_id == one.document.id]
            self.tally.stored += len(own) - len(refused)
            self.tally.rejected += len(refused)
            if refused:
                reasons = "; ".join(f"chunk {i.chunk.position + 1}: {i.reason}" for i in refused[:REASONS_SHOWN])
                reason = f"{len(refused)} of {len(own)} chunks were refused ({reasons})"
                self.tally.lists["failed"].append(Failure(name, reason))
            elif task.before:
                new = task.record.source if task.before.name == name else name
                self.tally.lists["renamed"].append(f"{task.before.name} → {new}")
            else:
                self.tally.lists["changed" if task.indexed else "added"].append(name)


def remove(store: Store, catalogue: Catalogue, index: IndexRecord, records: Sequence[IndexedRecord]) -> IndexRecord:
    """The index once it holds nothing of these documents."""
    for begin in range(0, len(records), GROUP_DOCUMENTS):
        group = records[begin : begin + GROUP_DOCUMENTS]
        index = catalogue.save_index(replace(index, writing=tuple(record.document_id for record in group)))
        _forget(store, catalogue, index.fingerprint, group)
    return catalogue.save_index(replace(index, writing=()))


def _forget(store: Store, catalogue: Catalogue, fingerprint: str, records: Sequence[IndexedRecord]) -> None:
    held = catalogue.visible(fingerprint, records)
    catalogue.forget_indexed(fingerprint, *(record.document_id for record in records))
    store.delete_chunks(fingerprint, [name for ids in held.values() for name in ids])


def check_size(index: IndexRecord, embedder: Embedder) -> None:
    """Raises IndexMismatchError where the embedder gives vectors of another size than the index has."""
    if embedder.dimensions and embedder.dimensions != index.dimensions:
        raise IndexMismatchError(
            f"The index was built with {index.embedder} ({index.dimensions} numbers a vector), which now gives "
            f"{embedder.dimensions}. Nothing was written. Run `python -m rag index --rebuild` to build it anew."
        )


def search_terms(chunk: Chunk, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The terms a chunk is found by: those of its text, and those of the headings above it."""
    return analyse(chunk.reading, language), analyse(" ".join(chunk.section), language)


def document_frequencies(entries: Iterable[Entry]) -> Counter[str]:
    """In how many of these chunks each term stands, in the text or in a heading."""
    return Counter(term for entry in entries for term in {*entry.terms, *entry.heading_terms})


def _switch(one: _Cut, kept: dict[str, Entry]) -> Switch:
    record, document = one.task.record, one.document
    complete = len(kept) == len({chunk.id for chunk in one.chunks})
    indexed = IndexedRecord(
        document.id, document.name, record.content_hash, len(kept), complete, bytes_hash=record.bytes_hash
    )
    return Switch(indexed, kept.keys(), document_frequencies(kept.values()))
