"""What people read when the server fails: one sentence in plain words, with what to do, and nothing lost in silence."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import pytest
from weaviate import WeaviateClient
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateQueryError, WeaviateRetryError

from rag.environment import Environment
from rag.errors import RagError, ServerError, StoreError
from rag.weaviate import connection, server
from rag.weaviate.failures import translated
from rag.weaviate.records import Records
from rag.weaviate.remedies import known
from rag.weaviate.store import Store, collection_name
from tests.support import a_chunk, an_entry, client, fresh_name, m1

__all__ = ["client"]
FINGERPRINT = "9" * 16
DAMAGED = (
    "the index files are damaged. Run `python -m rag server stop`, move the data folder away "
    "(`python -m rag server status` names it), and index your documents again."
)
FULL = "the disk is full. Free space, then `python -m rag server stop` and try again"
STATUS = "`python -m rag server status` shows the server."


class Refused(grpc.RpcError, grpc.Call):
    """A call that failed; its text is all of its state, as that of the real one is."""

    def __init__(self, code: grpc.StatusCode, details: str):
        self._code, self._details = code, details

    def __str__(self) -> str:
        return (
            f'<_InactiveRpcError of RPC that terminated with:\n\tstatus = {self._code}\n\tdetails = "{self._details}"'
        )

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details

    initial_metadata = trailing_metadata = is_active = time_remaining = cancel = add_callback = lambda *_: None


def raised(*errors: Exception) -> str:
    """What is made of errors of which each came from the one before."""
    with pytest.raises(StoreError) as caught, translated("search by meaning"):
        last: Exception | None = None
        for error in errors:
            error.__context__ = last
            last = error
        raise last
    return str(caught.value)


def answered(status: int, body: object) -> UnexpectedStatusCodeError:
    return UnexpectedStatusCodeError("Object was not added", httpx.Response(status, json=body))


def queried(code: grpc.StatusCode, details: str) -> str:
    call = Refused(code, details)
    return raised(call, WeaviateQueryError(str(call), "GRPC search"))


def test_a_call_s_own_words_are_shown_and_nothing_of_its_state() -> None:
    assert queried(grpc.StatusCode.UNKNOWN, 'explorer: get class:\n tenant not found: "w".') == (
        f'Weaviate could not search by meaning: explorer: get class: tenant not found: "w". {STATUS}'
    )


def test_an_http_answer_s_own_words_are_shown_and_nothing_of_its_body() -> None:
    refused = answered(422, {"error": [{"message": "no such tenant"}, {"message": "nor class"}]})
    assert raised(refused) == f"Weaviate could not search by meaning: no such tenant; nor class. {STATUS}"
    assert raised(answered(502, ["a proxy"])) == (
        f"Weaviate could not search by meaning: it answered with status 502. {STATUS}"
    )


def test_long_words_are_cut_between_two() -> None:
    said = queried(grpc.StatusCode.UNKNOWN, "shard " * 100)
    assert said == f"Weaviate could not search by meaning: {'shard ' * 49}shard… {STATUS}"


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
def test_a_server_that_is_gone(code: grpc.StatusCode) -> None:
    call = Refused(code, "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1")
    for last in (WeaviateQueryError(str(call), "GRPC search"), WeaviateRetryError(str(call), 1)):
        assert raised(call, last) == (
            "Weaviate does not answer, so it could not search by meaning: it has stopped or cannot be reached. "
            "Try again; if that does not help, `python -m rag server status` shows the local server."
        )


# Each as Weaviate 1.35.2 sent it, on a file system that was filled up and with files that were overwritten.
@pytest.mark.parametrize(
    ("message", "advice"),
    [
        (
            'delete from index "funnelcatalogue": delete local object: shard="w": store is read-only due to: disk '
            "usage too high. Set to read-only at 99.05%, threshold set to 98.00%",
            f"{FULL}: Weaviate stays read-only until it is started anew.",
        ),
        (
            'unable to store logs within log store, err: "write /data/raft/raft.db: no space left on device"',
            f"{FULL}.",
        ),
        (
            'get/init local shard "w", no shutdown: LazyLoadShard::preventShutdown: Unable to load shard w: unexpected '
            'error initializing shard "w" of index "funnelcatalogue": runtime error: makeslice: len out of range',
            DAMAGED,
        ),
        ('could not initialize schema repo: init bolt_db: open "/data/schema.db": invalid database', DAMAGED),
        ("apikey client could not start up: invalid character '|' looking for beginning of value", DAMAGED),
        ("Unable to load shard w: init lsmkv store: open /data/x.wal: too many open files", ""),
        ("store is read-only due to: memory usage too high. Set to read-only at 99.05%, threshold set to 98.00%", ""),
        ('tenant not found: "w"', ""),
    ],
)
def test_known_troubles_come_with_what_to_do(message: str, advice: str) -> None:
    assert known(message) == advice
    if advice:
        refused = answered(500, {"error": [{"message": message}]})
        assert raised(refused) == f"Weaviate could not search by meaning: {advice}"


def test_where_nothing_can_be_written_no_chunk_passes_for_stored(
    client: WeaviateClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    store = Store(client, fresh_name())
    store.prepare_index(FINGERPRINT, 1.2, 0.75)
    old = an_entry(a_chunk(0, "An old text."), m1())
    assert store.write(FINGERPRINT, [old], 8) == ()
    shards = client.collections.use(collection_name(FINGERPRINT)).config
    shards.update_shards("READONLY", store.workspace)
    new = [an_entry(a_chunk(position, f"A secret text, {position}."), m1()) for position in (1, 2, 3)]
    # This server names only the first of the three.
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(StoreError, match=r"^Weaviate could not write the objects: store is read-only.*shows the"):
            store.write(FINGERPRINT, new, 8)
        with pytest.raises(StoreError, match=r"^Weaviate could not delete the objects: .*store is read-only.*shows"):
            store.delete_chunks(FINGERPRINT, [old.chunk.id])
    assert store.count(FINGERPRINT) == 1
    # Nor does the client tell the world of the documents.
    assert "secret" not in caplog.text + "".join(capfd.readouterr())
    shards.update_shards("READY", store.workspace)
    assert store.write(FINGERPRINT, new, 8) == () and store.count(FINGERPRINT) == 4
    store.delete_chunks(FINGERPRINT, [old.chunk.id])
    assert store.count(FINGERPRINT) == 3


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Environment]:
    """A data folder of the test's own that held a document and a record, its server stopped."""
    environment = Environment(data_folder=tmp_path / "data")
    with connection.connected(environment) as own_client:
        store = Store(own_client, "w")
        store.prepare_index(FINGERPRINT, 1.2, 0.75)
        store.write(FINGERPRINT, [an_entry(a_chunk(0, "A text."), m1())], 8)
        Records(own_client, "w").put("kind", "key", {"a": 1})
    server.stop(environment)
    yield environment
    server.stop(environment)


def overwrite(folder: Path, *names: str) -> None:
    """Files of those names get random bytes."""
    found = [path for name in names for path in folder.rglob(name)]
    assert found
    for path in found:
        path.write_bytes(os.urandom(max(path.stat().st_size, 8)))


def test_damaged_index_files_are_called_that(own: Environment) -> None:
    overwrite(own.data_folder, "indexcount", "proplengths")
    with connection.connected(own) as own_client:
        store = Store(own_client, "w")
        entries = [an_entry(a_chunk(position, f"Text {position}."), m1()) for position in (1, 2)]
        for call, action in (
            (lambda: store.dense(FINGERPRINT, m1().vector("x"), 5), "search by meaning"),
            (lambda: store.count(FINGERPRINT), "count chunks"),
            (lambda: store.write(FINGERPRINT, entries, 8), "write the objects"),
            (lambda: Records(own_client, "w").put("kind", "other", {}), "write the objects"),
            (lambda: Records(own_client, "w").delete("kind", "key"), "write the catalogue"),
        ):
            with pytest.raises(RagError) as caught:
                call()
            assert str(caught.value) == f"Weaviate could not {action}: {DAMAGED}"


def test_a_server_that_cannot_start_on_damaged_files_says_so(own: Environment) -> None:
    overwrite(own.data_folder, "schema.db")
    with pytest.raises(ServerError) as caught:
        server.ensure(own)
    assert str(caught.value) == (
        f"Weaviate ended while it started: {DAMAGED} Its log is {own.data_folder / 'server.log'}."
    )
