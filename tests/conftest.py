"""What tests share: one real Weaviate server on a data folder of its own, stopped when the run ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from rag.environment import Environment
from rag.errors import ServerError
from rag.weaviate import obtain, server

START_SERVERS = {"environment", "own", "address"}  # the fixtures behind which a server is started


@pytest.fixture(scope="session", autouse=True)
def weaviate_binary(request: pytest.FixtureRequest) -> None:
    """The binary, before any time-out counts: on a new machine it is downloaded or built first, which takes minutes.

    Where it cannot be had, each test that needs it says so; the others run.
    """
    if START_SERVERS.isdisjoint(name for item in request.session.items for name in item.fixturenames):
        return
    terminal = request.config.pluginmanager.getplugin("terminalreporter")
    if terminal and not obtain.cached_path().exists():
        terminal.write_line("Weaviate is not on this machine yet: it is downloaded, or built with Go.")
    with suppress(ServerError):
        obtain.binary()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """No keys, no address, and a data folder that only this run uses; its server starts with the first that asks."""
    environment = Environment(data_folder=tmp_path_factory.mktemp("weaviate"))
    yield environment
    server.stop(environment)
