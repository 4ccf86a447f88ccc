"""Fixtures of every test that talks to a fake service: the servers, keys for them, and no way out of this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from rag import providers
from rag.environment import Environment
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.voyage_server import VoyageServer

__all__ = ["gemini", "keyed", "only_this_machine", "voyage_server"]


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anywhere else fails the test: no hub, no vocabulary, no real service."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        assert isinstance(address, str) or address[0] in ("127.0.0.1", "::1", "localhost"), f"connects to {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(providers, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def voyage_server() -> Iterator[VoyageServer]:
    with VoyageServer() as server:
        yield server


@pytest.fixture
def gemini() -> Iterator[GeminiServer]:
    with GeminiServer() as server:
        yield server


@pytest.fixture
def keyed(voyage_server: VoyageServer, gemini: GeminiServer) -> Environment:
    return Environment(
        voyage_api_key="right-key",
        voyage_base_url=voyage_server.url,
        gemini_api_key="right-key",
        gemini_base_url=gemini.url,
    )
