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
    """REST, gRPC, gossip, and the first of the two consecutive ports of Raft and of the calls between its nodes."""

    http: int
    grpc: int
    gossip: int
    raft: int


def choose(environment: Environment, earlier: _Earlier | None = None) -> Ports:
    """Ports that are free at this moment; those of the ``earlier`` server where possible, for its clients to go on.

    Raises ServerError naming port and setting where a port that the user fixed is taken.
    """
    with ExitStack() as held:
        http = _fixed(held, environment.weaviate_port, "WEAVIATE_PORT")
        grpc = _fixed(held, environment.weaviate_grpc_port, "WEAVIATE_GRPC_PORT")
        if earlier:
            http = http or _hold(held, earlier.http_port)
            grpc = grpc or _hold(held, earlier.grpc_port)
        return Ports(http or _hold_free(held), grpc or _hold_free(held), _hold_free(held), _hold_free(held, pair=True))


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


def _hold_free(held: ExitStack, pair: bool = False) -> int:
    for _ in range(100):
        port = _hold(held, 0)
        if port and (not pair or (port < 65535 and _hold(held, port + 1))):
            return port
    raise ServerError("No free ports were found on this machine. Close some programs and try again.")


def _hold(held: ExitStack, port: int) -> int:
    """The port, bound for TCP and UDP until ``held`` closes (port 0: any that is free); 0 where it is taken."""
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
