"""The local Weaviate server: one a data folder, shared by all processes, stopped with the last that needs it.

A process that asks for the server holds a lock of the data folder until it ends; a watchdog stops the server when
nobody does. The server holds a lock too, so that a data folder never has two.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import filelock

from rag.environment import Environment
from rag.errors import ServerError
from rag.weaviate import instance, launch, locks, obtain, ports, remedies, watchdog
from rag.weaviate.instance import ServerAddress
from rag.weaviate.obtain import VERSION, Progress

__all__ = ["VERSION", "ServerAddress", "ServerStatus", "ensure", "running", "start", "status", "stop"]

READY_SECONDS = 120.0
ATTEMPTS = 4


@dataclass(frozen=True)
class ServerStatus:
    """What runs on a data folder: ``address`` is None where nothing does; ``in_use`` says a living process needs it."""

    data_folder: Path
    address: ServerAddress | None
    ready: bool
    in_use: bool


def ensure(environment: Environment, progress: Progress | None = None) -> ServerAddress:
    """The data folder's server, ready to answer: the one that runs, or a new one; this process needs it until it ends.

    Raises ServerError where there is no binary, a port the user fixed is taken, or the folder cannot be used.
    """
    obtain.refuse_windows()
    folder = environment.data_folder.resolve()
    reason = ""
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        locks.hold(folder)
        for attempt in range(ATTEMPTS):
            log_start = launch.log_size(folder)
            address = _attached_or_started(folder, environment, progress)
            if _answers(folder, address):
                return address
            reason = launch.last_words(folder, log_start)
            # Between the choice of a free port and its use, another program can take it; anything else is tried twice.
            if attempt and reason != launch.PORT_TAKEN:
                break
    advice = remedies.known(reason) or f"{remedies.plain(reason)}."
    raise ServerError(f"Weaviate ended while it started: {advice} Its log is {folder / launch.LOG}.")


def running(environment: Environment) -> ServerAddress | None:
    """The data folder's server as long as its process lives, None where there is none: a look of 0.1 milliseconds."""
    folder = environment.data_folder.resolve()
    with _usable(folder):
        return instance.running(folder)


def start(environment: Environment, progress: Progress | None = None) -> ServerAddress:
    """Like ``ensure``, but the server then runs until ``stop``, whoever ends before."""
    ensure(environment, progress)
    folder = environment.data_folder.resolve()
    with _usable(folder), locks.folder_lock(folder):
        address = instance.running(folder)
        if address is None:
            raise ServerError("Weaviate was stopped while it was being started. Start it again.")
        address = replace(address, kept=True)
        instance.remember(folder, address)
        return address


def status(environment: Environment) -> ServerStatus:
    """What runs on the data folder at this moment; starts nothing and needs nothing."""
    folder = environment.data_folder.resolve()
    with _usable(folder):
        address = instance.running(folder)
        return ServerStatus(folder, address, bool(address and _is_ready(address)), locks.is_needed(folder))


def stop(environment: Environment) -> bool:
    """Stop the data folder's server, whoever uses it; False where none ran."""
    folder = environment.data_folder.resolve()
    locks.release(folder)
    if not folder.exists():
        return False
    with _usable(folder):
        with locks.folder_lock(folder):
            ran = instance.end(folder)
        deadline = time.monotonic() + instance.END_SECONDS
        while locks.is_held(folder / locks.WATCHDOG) and time.monotonic() < deadline:
            time.sleep(0.02)
    return ran


def _attached_or_started(folder: Path, environment: Environment, progress: Progress | None) -> ServerAddress:
    with locks.folder_lock(folder):
        address = instance.running(folder)
        if address:
            watchdog.start(folder)
            return address
    binary = obtain.binary(progress)  # may take minutes: not under the lock
    if progress:
        progress("Starting Weaviate", None)
    with locks.folder_lock(folder):
        address = instance.running(folder)
        if address is None:
            instance.end(folder)  # one that runs though nothing is left that says where
            chosen = ports.choose(environment, instance.remembered(folder))
            watchdog.start(folder)
            return launch.launch(folder, binary, chosen)
        watchdog.start(folder)
        return address


def _answers(folder: Path, address: ServerAddress) -> bool:
    """True when the server answers, False when it has ended; raises ServerError where it does neither."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if not locks.is_held(folder / locks.SERVER):
            return False
        if _is_ready(address):
            return True
        time.sleep(0.03)
    raise ServerError(
        f"Weaviate runs but has not answered for {READY_SECONDS:.0f} seconds. "
        f"See {folder / launch.LOG}, or run `python -m rag server stop` and try again."
    )


def _is_ready(address: ServerAddress) -> bool:
    connection = HTTPConnection(address.host, address.http_port, timeout=5)
    try:
        connection.request("GET", "/v1/.well-known/ready")
        return connection.getresponse().status == 200 and ports.answers(address.grpc_port)
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except filelock.Timeout as error:
        raise ServerError(
            f"Another process has been starting or stopping the server of {folder} for "
            f"{locks.FOLDER_LOCK_SECONDS:.0f} seconds. End it and try again."
        ) from error
    except OSError as error:
        raise ServerError(
            f"The data folder {folder} cannot be used ({error.strerror or error}). "
            "Make it writable and give it space, or name another folder in RAG_DATA_FOLDER."
        ) from error
