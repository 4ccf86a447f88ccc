"""What a run that was broken off left behind: found by comparing catalogue and collection, and put right.

A document's chunks are inserted before it is switched to them, and what it no longer shows is deleted after. So a run
that ends at any instant leaves chunks nobody sees, never a document without its chunks; those are removed here, and
what the run did not come to is still to do by the catalogue.
"""

from __future__ import annotations

from dataclasses import replace

from rag.catalogue import Catalogue, IndexRecord
from rag.weaviate.store import Store


def clear_away(store: Store, catalogue: Catalogue) -> None:
    """Finish dropping the indexes that are marked so, and forget those whose collection has vanished."""
    for fingerprint in catalogue.dropped():
        drop(store, catalogue, fingerprint)
    for index in catalogue.indexes():
        if not store.has_index(index.fingerprint):
            catalogue.forget_index(index.fingerprint)


def drop(store: Store, catalogue: Catalogue, fingerprint: str) -> None:
    """Remove an index with everything recorded of it; the documents stay.

    From the first step on nobody is told of the index; broken off after it, ``clear_away`` does the rest.
    """
    catalogue.drop_index(fingerprint)
    store.drop_index(fingerprint)
    catalogue.forget_index(fingerprint)


def reconcile(store: Store, catalogue: Catalogue, index: IndexRecord) -> tuple[IndexRecord, set[str]]:
    """The index without chunks that nobody may see, and the ids of the documents of which chunks are missing.

    One count where it agrees with the catalogue and nothing was being written; else every stored id is read.
    """
    fingerprint = index.fingerprint
    indexed = catalogue.indexed(fingerprint)
    if not index.writing and store.count(fingerprint) == sum(record.chunks for record in indexed.values()):
        return index, set()
    visible = catalogue.visible(fingerprint, indexed.values())
    stored = store.all_ids(fingerprint)
    nothing: frozenset[str] = frozenset()
    store.delete_chunks(fingerprint, [one for name, ids in stored.items() for one in ids - visible.get(name, nothing)])
    damaged = {
        name
        for name, record in indexed.items()
        if visible.get(name, nothing) - stored.get(name, set()) or len(visible.get(name, nothing)) != record.chunks
    }
    return catalogue.save_index(replace(index, writing=())), damaged
