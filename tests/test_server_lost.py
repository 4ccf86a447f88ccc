"""A server that ends or falls silent under those who use it: they are told within seconds, and can go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag.environment import Environment
from rag.errors import ServerError, StoreError
from rag.funnel import run_funnel
from rag.weaviate import connection, locks, obtain, server
from rag.workspace import Workspace
from tests.support import StubEmbedder, m1, open_test_workspace, settings_for, sync, write_files

SETTINGS = settings_for(answerer="extractive")
QUESTION = "How hot does the kiln heat clay?"
# The client's own patience is 63 seconds. Loaded machines may take a little longer than the 3 that are meant.
SOON = 15.0


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Environment]:
    """A data folder of the test's own, whose server may be killed."""
    environment = Environment(data_folder=tmp_path / "data")
    yield environment
    server.stop(environment)


@pytest.fixture
def remote(own: Environment) -> Environment:
    """The same server as an address elsewhere: it is never started by us."""
    address = server.ensure(own)
    return Environment(
        data_folder=own.data_folder / "unused",
        weaviate_url=f"http://{address.host}:{address.http_port}",
        weaviate_grpc_port=address.grpc_port,
        weaviate_api_key=address.api_key,
    )


def opened(client, environment: Environment, folder: Path) -> Workspace:
    """A workspace with one document."""
    workspace = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64), name="kilns")
    sync(workspace, write_files(folder, kilns_md="# Kilns\n\nThe kiln heats clay to 1,280 degrees."), settings=SETTINGS)
    return workspace


def ask(workspace: Workspace) -> str:
    return run_funnel(QUESTION, (), SETTINGS, workspace, answer=False).prompt_chunks()[0].text


def kill(environment: Environment) -> None:
    """End the server, and nothing else, the hard way."""
    os.kill(server.ensure(environment).pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while locks.is_held(environment.data_folder / locks.SERVER):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def refused(work: Callable[[], object], seconds: float = SOON) -> str:
    """The sentence of the StoreError, which has to come soon."""
    begun = time.monotonic()
    with pytest.raises(StoreError) as caught:
        work()
    assert time.monotonic() - begun < seconds
    return str(caught.value)


def test_the_binary_is_there_before_any_test_that_starts_a_server(request: pytest.FixtureRequest, own) -> None:
    assert "weaviate_binary" in request.fixturenames and obtain.cached_path().is_file()


def test_a_question_to_a_server_that_was_killed_fails_soon_and_the_next_start_answers(own, tmp_path) -> None:
    with connection.connected(own) as client:
        workspace = opened(client, own, tmp_path / "files")
        assert "1,280" in ask(workspace)
        kill(own)
        assert server.running(own) is None
        assert refused(lambda: ask(workspace)) == (
            "Weaviate does not answer, so it could not read the catalogue: it has stopped or cannot be reached. "
            "Try again; if that does not help, `python -m rag server status` shows the local server."
        )
        assert "could not look for the collection" in refused(lambda: workspace.store.count(SETTINGS.fingerprint()))
        assert "could not write the objects" in refused(lambda: workspace.catalogue.set_samples("removed"))
        with connection.connected(own) as fresh:  # starts it again
            assert server.running(own) == server.ensure(own)
            assert "1,280" in ask(open_test_workspace(fresh, own, m1(), name="kilns"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:  # the client from before the kill finds it too
            try:
                assert "1,280" in ask(workspace)
                break
            except StoreError:
                continue
        else:
            pytest.fail("the old client never found the server again")


def test_a_call_under_way_when_the_server_dies_fails_soon(own, tmp_path) -> None:
    with connection.connected(own) as client:
        workspace = opened(client, own, tmp_path / "files")
        pid = server.ensure(own).pid
        os.kill(pid, signal.SIGSTOP)  # it takes the call and is still at it when it dies
        threading.Timer(1, os.kill, (pid, signal.SIGKILL)).start()
        assert "does not answer" in refused(lambda: ask(workspace))


def test_a_server_that_falls_silent_is_given_up_after_ten_seconds_at_most(own, tmp_path, monkeypatch) -> None:
    assert connection.QUERY_SECONDS <= 10
    monkeypatch.setattr(connection, "QUERY_SECONDS", 2)
    with connection.connected(own) as client:
        workspace = opened(client, own, tmp_path / "files")
        pid = server.ensure(own).pid
        os.kill(pid, signal.SIGSTOP)
        try:
            assert "does not answer" in refused(lambda: ask(workspace), 8)
            assert "does not answer" in refused(lambda: workspace.store.has_index("x"), 8)  # over REST
        finally:
            os.kill(pid, signal.SIGCONT)
        assert "1,280" in ask(workspace)


def test_an_address_that_goes_away_is_told_soon_and_used_again_when_it_is_back(own, remote, tmp_path) -> None:
    with connection.connected(remote) as client:
        workspace = opened(client, remote, tmp_path / "files")
        kill(own)
        assert "does not answer, so it could not" in refused(lambda: ask(workspace))
        with pytest.raises(ServerError, match="No Weaviate answers at http://127.0.0.1:"):
            connection.connect(remote)
        server.ensure(own)
        with connection.connected(remote) as fresh:
            assert "1,280" in ask(open_test_workspace(fresh, remote, m1(), name="kilns"))


def test_many_calls_at_once_are_all_told_soon(own, tmp_path) -> None:
    with connection.connected(own) as client:
        workspace = opened(client, own, tmp_path / "files")
        kill(own)
        with ThreadPoolExecutor(8) as pool:
            messages = list(pool.map(lambda _: refused(lambda: ask(workspace)), range(8)))
        assert {"does not answer" in message for message in messages} == {True}


def test_a_data_folder_deleted_under_its_server_is_begun_anew_and_kept(own, tmp_path) -> None:
    first = server.ensure(own)
    own.data_folder.rename(tmp_path / "gone")  # as deleting it does, but whole at once
    os.kill(first.pid, signal.SIGKILL)
    assert server.running(own) is None
    second = server.ensure(own)
    assert second.api_key != first.api_key
    assert server.status(own).in_use  # or its watchdog would end it a few seconds later
