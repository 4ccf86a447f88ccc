"""Workspaces apart on one real server, and the server's errors in plain words."""

from __future__ import annotations

import pytest
from weaviate import WeaviateClient

from rag.environment import Environment
from rag.errors import SettingsError, StoreError
from rag.schema import Hit
from rag.weaviate import connection
from rag.weaviate.store import Store, collection_name
from tests.support import a_chunk, an_entry, client, fresh_name, m1

__all__ = ["client"]
FINGERPRINT = "5" * 16


def test_workspaces_see_nothing_of_each_other_and_one_outlives_the_other(client: WeaviateClient) -> None:
    fingerprint = "6" * 16
    one, two = Store(client, fresh_name()), Store(client, fresh_name())
    for store, text in ((one, "Kilns of workspace one."), (two, "Kilns of workspace two.")):
        assert not store.has_index(fingerprint) and store.count(fingerprint) == 0
        store.prepare_index(fingerprint, 1.2, 0.75)
        store.write(fingerprint, [an_entry(a_chunk(0, text), m1())], 8)
    for store, text in ((one, "Kilns of workspace one."), (two, "Kilns of workspace two.")):
        hits: tuple[Hit, ...] = store.sparse(fingerprint, ("kiln",), 10, 1)
        assert [store.chunks(fingerprint, [hit.chunk_id])[hit.chunk_id].text for hit in hits] == [text]
        assert len(store.dense(fingerprint, m1().vector("kilns"), 10)) == 1
    one.drop_index(fingerprint)
    assert not one.has_index(fingerprint) and one.count(fingerprint) == 0
    assert two.has_index(fingerprint) and two.count(fingerprint) == 1
    two.drop_index(fingerprint)
    assert not client.collections.exists(collection_name(fingerprint))
    two.drop_index(fingerprint)  # what is not there is no error


@pytest.mark.parametrize("name", ["", "a b", "../up", "x" * 65, "ü"])
def test_a_workspace_name_that_cannot_be_one_is_refused(client: WeaviateClient, name: str) -> None:
    with pytest.raises(SettingsError, match="A workspace name has 1 to 64 letters, digits, - or _"):
        Store(client, name)


def test_a_closed_connection_is_a_store_error_that_says_what_could_not_be_done(environment: Environment) -> None:
    name = fresh_name()
    with connection.connected(environment) as open_client:
        store = Store(open_client, name)
        store.prepare_index(FINGERPRINT, 1.2, 0.75)
    entry = an_entry(a_chunk(0, "Text."), m1())
    for call, action in (
        (lambda: store.write(FINGERPRINT, [entry], 8), "write the objects"),
        (lambda: store.dense(FINGERPRINT, m1().vector("x"), 5), "search by meaning"),
        (lambda: store.sparse(FINGERPRINT, ("x",), 5, 1), "search by keywords"),
        (lambda: store.chunks(FINGERPRINT, [entry.chunk.id]), "read chunks"),
        (lambda: store.has_index(FINGERPRINT), "look for the collection"),
        (lambda: store.drop_index(FINGERPRINT), "drop the collection"),
    ):
        with pytest.raises(StoreError, match=f"Weaviate could not {action}.*python -m rag server status"):
            call()


def test_an_index_that_is_gone_is_a_store_error_when_searched(client: WeaviateClient) -> None:
    store = Store(client, fresh_name())
    with pytest.raises(StoreError, match="Weaviate could not search by keywords"):
        store.sparse("7" * 16, ("kiln",), 5, 1)
    with pytest.raises(StoreError, match="Weaviate could not search by meaning"):
        store.dense("7" * 16, m1().vector("kiln"), 5)
