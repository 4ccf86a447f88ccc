"""The ports a local server listens on: those the user fixed, those it had before, or free ones."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from rag.environment import Environment
from rag.errors import ServerError


class _Earlier(Protocol):
    http_port: int
    grpc_port: int


@dataclass(frozen=True)
class Ports:
    """REST, gRPC, and the first of two consecutive ports each for gossip (and cluster data) and Raft (and its calls)."""

    http: int
    grpc: int
    gossip: int
    raft: int


def choose(environment: Environment, earlier: _Earlier | None = None) -> Ports:
    """Ports that are free at this moment; the ``earlier`` server's where possible, so that its clients find the new one.

    Raises ServerError naming port and setting where a port that the user fixed is taken.
    """
    with ExitStack() as held:
        http = _fixed(held, environment.weaviate_port, "WEAVIATE_PORT")
        grpc = _fixed(held, environment.weaviate_grpc_port, "WEAVIATE_GRPC_PORT")
        http = http or _hold(held, earlier.http_port if earlier else 0) or _hold(held, 0)
        grpc = grpc or _hold(held, earlier.grpc_port if earlier else 0) or _hold(held, 0)
        return Ports(http, grpc, _hold_pair(held), _hold_pair(held))


def answers(port: int) -> bool:
    """Whether something on this machine accepts connections at the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False


def _fixed(held: ExitStack, port: int | None, setting: str) -> int:
    if port is None:
        return 0
    if answers(port) or not _hold(held, port):
        raise ServerError(
            f"Port {port} is taken by another program. Set {setting} to a free port, or leave it out and one is chosen."
        )
    return port


def _hold_pair(held: ExitStack) -> int:
    for _ in range(100):
        first = _hold(held, 0)
        if first < 65535 and _hold(held, first + 1):
            return first
    raise ServerError("No two consecutive free ports were found on this machine. Close some programs and try again.")


def _hold(held: ExitStack, port: int) -> int:
    """The port, bound for TCP and UDP until ``held`` closes (0: one that is free); 0 where it is taken."""
    with ExitStack() as both:
        try:
            stream = both.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stream.bind(("", port))
            port = stream.getsockname()[1]
            datagram = both.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            datagram.bind(("", port))
        except OSError:
            return 0
        held.enter_context(both.pop_all())
        return port
