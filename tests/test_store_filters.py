"""Searches that are kept to some documents, and those that leave out what is being written."""

from __future__ import annotations

import pytest
from weaviate import WeaviateClient

from rag.weaviate.store import Store
from tests.support import a_chunk, an_entry, client, fresh_name, m1

__all__ = ["client"]
FINGERPRINT = "5" * 16


@pytest.fixture
def store(client: WeaviateClient) -> Store:
    store = Store(client, fresh_name())
    store.prepare_index(FINGERPRINT, 1.2, 0.75)
    return store


def test_a_search_may_be_kept_to_some_documents_to_the_letter(store: Store) -> None:
    """B17: names that share words, stop words, signs of pattern languages; filtered by the document's id."""
    names = ["report.txt", "annual report.txt", "report-2.txt", "Report.txt", "the.txt", "100%_*.txt", 'it\'s "x"?.txt']
    chunks = {name: [a_chunk(number, f"Kilns {number}, {name}.", name) for number in range(3)] for name in names}
    store.write(FINGERPRINT, [an_entry(chunk, m1()) for own in chunks.values() for chunk in own], 8)
    for name in names:
        only = [f"id of {name}"]
        for hits in (
            store.dense(FINGERPRINT, m1().vector("kilns"), 50, documents=only),
            store.sparse(FINGERPRINT, ("kiln",), 50, 1, documents=only),
        ):
            assert {hit.chunk_id for hit in hits} == {chunk.id for chunk in chunks[name]}
    two = ["id of report.txt", "id of the.txt"]
    assert len(store.sparse(FINGERPRINT, ("kiln",), 50, 1, documents=two)) == 6
    assert store.dense(FINGERPRINT, m1().vector("kilns"), 50, documents=["id of nobody.txt"]) == ()
    # After a deletion the filter finds nothing of what is gone, and all of the rest.
    store.delete_chunks(FINGERPRINT, store.chunk_ids(FINGERPRINT, "id of report.txt"))
    assert store.dense(FINGERPRINT, m1().vector("kilns"), 50, documents=two[:1]) == ()
    assert len(store.dense(FINGERPRINT, m1().vector("kilns"), 50, documents=["id of annual report.txt"])) == 3


@pytest.mark.parametrize("limit", [1, 7, 20, 100])
def test_of_documents_that_are_being_written_only_visible_chunks_are_found_and_the_list_is_full(
    store: Store, limit: int
) -> None:
    hidden = [a_chunk(number, f"Kilns, kilns, kilns {number}.", "a.md") for number in range(60)]
    shown = [a_chunk(60 + number, f"Of kilns and much else, {number}.", "a.md") for number in range(4)]
    others = [a_chunk(number, f"A glaze, not only of kilns, {number}.", "b.md") for number in range(30)]
    store.write(FINGERPRINT, [an_entry(chunk, m1()) for chunk in (*hidden, *shown, *others)], 8)
    visible = {"id of a.md": frozenset(chunk.id for chunk in shown), "id of c.md": frozenset()}
    may_be_seen = {chunk.id for chunk in (*shown, *others)}
    vector = m1().vector("kilns")
    for found, everything in (
        (store.dense(FINGERPRINT, vector, limit, visible), store.dense(FINGERPRINT, vector, 200)),
        (store.sparse(FINGERPRINT, ("kiln",), limit, 1, visible), store.sparse(FINGERPRINT, ("kiln",), 200, 1)),
    ):
        assert len(everything) == 94 and len(found) == min(limit, 34)
        right = [hit.score for hit in everything if hit.chunk_id in may_be_seen][:limit]
        assert [hit.score for hit in found] == pytest.approx(right)
        assert {hit.chunk_id for hit in found} <= may_be_seen
        assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
