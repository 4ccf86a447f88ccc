"""The local Weaviate server: one a data folder, shared by all processes, stopped with the last that needs it."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import filelock
import psutil

from rag.environment import Environment
from rag.errors import ServerError
from rag.weaviate import locks, obtain, ports, watchdog
from rag.weaviate.obtain import VERSION, Progress

HOST = "127.0.0.1"
USER = "rag"
STATE, KEY, LOG, DATABASE = "server.json", "api-key", "server.log", "database"
READY_SECONDS = 120.0
END_SECONDS = 30.0
ATTEMPTS = 4
LOG_BYTES = 5_000_000


@dataclass(frozen=True)
class ServerAddress:
    """Where the local server listens, the key it asks for, and its process; ``kept`` says that it outlives its users."""

    pid: int
    http_port: int
    grpc_port: int
    version: str = VERSION
    kept: bool = False
    host: str = HOST
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True)
class ServerStatus:
    """What ``server status`` shows: ``address`` is None where no local server runs; ``in_use`` is by any living process."""

    data_folder: Path
    address: ServerAddress | None
    ready: bool
    in_use: bool


def ensure(environment: Environment, progress: Progress | None = None) -> ServerAddress:
    """The data folder's server, ready to answer: the one that runs, or a new one; this process needs it until it ends.

    Raises ServerError where there is no binary, a port set by the user is taken, or the folder cannot be used.
    """
    folder = environment.data_folder.resolve()
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        locks.hold(folder)
        for attempt in range(1, ATTEMPTS + 1):
            address, log_start = _attach_or_start(folder, environment, progress)
            if _wait_until_ready(folder, address):
                return address
            reason = _last_words(folder, log_start)
            if "address already in use" not in reason:
                break
    raise ServerError(f"Weaviate ended while it started: {reason} Its log is {folder / LOG}.")


def start(environment: Environment, progress: Progress | None = None) -> ServerAddress:
    """Like ``ensure``, but the server then runs until ``stop``, whoever ends before."""
    address = ensure(environment, progress)
    folder = environment.data_folder.resolve()
    with _usable(folder), locks.folder_lock(folder):
        current = _running(folder)
        if current is None:
            raise ServerError("Weaviate was stopped while it was being started. Start it again.")
        _write_state(folder, replace(current, kept=True))
        watchdog.start(folder)
        return replace(address, kept=True)


def status(environment: Environment) -> ServerStatus:
    """What runs on the data folder at this moment; starts nothing and needs nothing."""
    folder = environment.data_folder.resolve()
    address = None
    if locks.is_held(folder / locks.SERVER):
        address = _read_state(folder)
    return ServerStatus(folder, address, bool(address and _is_ready(address)), locks.is_needed(folder))


def stop(environment: Environment) -> bool:
    """Stop the data folder's server, whoever uses it; False where none ran."""
    folder = environment.data_folder.resolve()
    locks.release(folder)
    if not folder.exists():
        return False
    with _usable(folder):
        with locks.folder_lock(folder):
            ran = end(folder)
        deadline = time.monotonic() + END_SECONDS
        while locks.is_held(folder / locks.WATCHDOG) and time.monotonic() < deadline:
            time.sleep(0.02)
    return ran


def is_kept(folder: Path) -> bool:
    """Whether the running server was started to stay."""
    state = _read_state(folder)
    return bool(state and state.kept)


def end(folder: Path) -> bool:
    """Terminate the folder's server and wait for its end, call it under the folder's lock; False where none ran.

    Raises ServerError where the server belongs to somebody else.
    """
    if not locks.is_held(folder / locks.SERVER):
        return False
    process = _process(folder)
    if process is None:
        raise ServerError(
            f"The data folder {folder} is in use by a server that is not yours to stop. "
            "Stop it where it was started, or give another folder in RAG_DATA_FOLDER."
        )
    with suppress(psutil.NoSuchProcess):
        process.terminate()
    deadline = time.monotonic() + END_SECONDS
    while locks.is_held(folder / locks.SERVER):
        if time.monotonic() > deadline:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.02)
    (folder / STATE).unlink(missing_ok=True)
    return True


def _attach_or_start(
    folder: Path, environment: Environment, progress: Progress | None
) -> tuple[ServerAddress, int]:
    with locks.folder_lock(folder):
        running = _running(folder)
        if running:
            watchdog.start(folder)
            return running, _log_size(folder)
    binary = obtain.binary(progress)
    if progress:
        progress("Starting Weaviate", None)
    with locks.folder_lock(folder):
        running = _running(folder)
        if running:
            watchdog.start(folder)
            return running, _log_size(folder)
        if locks.is_held(folder / locks.SERVER):
            end(folder)  # it runs, but nothing is left that says where
        chosen = ports.choose(environment, _read_state(folder))
        if _log_size(folder) > LOG_BYTES:
            (folder / LOG).replace(folder / f"{LOG}.1")
        log_start = _log_size(folder)
        key = _key(folder)
        watchdog.start(folder)
        command = [str(binary), "--host", HOST, "--port", str(chosen.http), "--scheme", "http",
                   "--read-timeout=600s", "--write-timeout=600s"]
        pid = locks.spawn(command, folder / locks.SERVER, argv0=_name(folder), log=folder / LOG,
                          env=settings(folder / DATABASE, key, chosen))
        if pid is None:
            raise ServerError(f"The data folder {folder} is in use. Give another folder in RAG_DATA_FOLDER.")
        address = ServerAddress(pid, chosen.http, chosen.grpc, api_key=key)
        _write_state(folder, address)
        return address, log_start


def settings(database: Path, key: str, chosen: ports.Ports) -> dict[str, str]:
    """The environment variables the server is started with, and nothing else: no variable of the user's reaches it."""
    return {
        "PERSISTENCE_DATA_PATH": str(database),
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
        "AUTHENTICATION_APIKEY_ENABLED": "true",
        "AUTHENTICATION_APIKEY_ALLOWED_KEYS": key,
        "AUTHENTICATION_APIKEY_USERS": USER,
        "AUTHORIZATION_ADMINLIST_ENABLED": "true",
        "AUTHORIZATION_ADMINLIST_USERS": USER,
        "GO_PROFILING_DISABLE": "true",
        "DISABLE_TELEMETRY": "true",
        "ENABLE_MODULES": "",
        "API_BASED_MODULES_DISABLED": "true",
        "DEFAULT_VECTORIZER_MODULE": "none",
        "AUTOSCHEMA_ENABLED": "false",
        "USE_BLOCKMAX_WAND": "false",
        "QUERY_DEFAULTS_LIMIT": "100",
        "QUERY_MAXIMUM_RESULTS": "100000",
        "DISK_USE_WARNING_PERCENTAGE": "95",
        "DISK_USE_READONLY_PERCENTAGE": "98",
        "LOG_LEVEL": "warning",
        "GRPC_PORT": str(chosen.grpc),
        "CLUSTER_HOSTNAME": "local",
        "CLUSTER_IN_LOCALHOST": "true",
        "CLUSTER_ADVERTISE_ADDR": HOST,
        "CLUSTER_BIND_ADDR": HOST,
        "CLUSTER_GOSSIP_BIND_PORT": str(chosen.gossip),
        "CLUSTER_DATA_BIND_PORT": str(chosen.gossip + 1),
        "CLUSTER_BASIC_AUTH_USERNAME": USER,
        "CLUSTER_BASIC_AUTH_PASSWORD": key,
        "RAFT_BOOTSTRAP_EXPECT": "1",
        "RAFT_JOIN": f"local:{chosen.raft}",
        "RAFT_PORT": str(chosen.raft),
        "RAFT_INTERNAL_RPC_PORT": str(chosen.raft + 1),
        # The default 5 makes a node wait five seconds for a leader that, alone, it always becomes itself.
        "RAFT_TIMEOUTS_MULTIPLIER": "1",
    }


def _running(folder: Path) -> ServerAddress | None:
    """The folder's server if it lives and all we need to use it is known."""
    state = _read_state(folder)
    if not state or not state.api_key or not locks.is_held(folder / locks.SERVER):
        return None
    return state if _is_ours(folder, state.pid) else None


def _process(folder: Path) -> psutil.Process | None:
    state = _read_state(folder)
    if state and _is_ours(folder, state.pid):
        return psutil.Process(state.pid)
    return next((p for p in psutil.process_iter() if _is_ours(folder, p.pid)), None)


def _is_ours(folder: Path, pid: int) -> bool:
    try:
        return psutil.Process(pid).cmdline()[:1] == [_name(folder)]
    except (psutil.Error, OSError):
        return False


def _name(folder: Path) -> str:
    """What the process calls itself: it tells the server of one data folder from all others."""
    return f"weaviate {folder / DATABASE}"


def _read_state(folder: Path) -> ServerAddress | None:
    try:
        record = json.loads((folder / STATE).read_text(encoding="utf-8"))
        state = ServerAddress(
            pid=int(record["pid"]), http_port=int(record["http_port"]), grpc_port=int(record["grpc_port"]),
            version=str(record["version"]), kept=record["kept"] is True,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None  # none, or not whole: the kernel's locks decide, this file only says where
    with suppress(OSError, ValueError):
        return replace(state, api_key=(folder / KEY).read_text(encoding="ascii").strip())
    return state


def _write_state(folder: Path, address: ServerAddress) -> None:
    record = {name: value for name, value in asdict(address).items() if name != "api_key"}
    temporary = folder / f"{STATE}.{os.getpid()}"
    temporary.write_text(json.dumps(record), encoding="utf-8")
    temporary.replace(folder / STATE)


def _key(folder: Path) -> str:
    path = folder / KEY
    with suppress(OSError, ValueError):
        key = path.read_text(encoding="ascii").strip()
        if len(key) >= 32:
            path.chmod(0o600)
            return key
    path.unlink(missing_ok=True)
    key = secrets.token_urlsafe(32)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(key)
    return key


def _wait_until_ready(folder: Path, address: ServerAddress) -> bool:
    """True when it answers, False when it has ended; raises ServerError where it does neither."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if _is_ready(address):
            return True
        if not locks.is_held(folder / locks.SERVER):
            return False
        time.sleep(0.03)
    raise ServerError(
        f"Weaviate runs but does not answer after {READY_SECONDS:.0f} seconds. "
        f"See {folder / LOG}, or run `python -m rag server stop` and try again."
    )


def _is_ready(address: ServerAddress) -> bool:
    if not ports.answers(address.grpc_port):
        return False
    connection = HTTPConnection(address.host, address.http_port, timeout=5)
    try:
        connection.request("GET", "/v1/.well-known/ready")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _log_size(folder: Path) -> int:
    try:
        return (folder / LOG).stat().st_size
    except FileNotFoundError:
        return 0


def _last_words(folder: Path, start: int) -> str:
    with (folder / LOG).open("rb") as file:
        file.seek(start)
        lines = file.read()[-20_000:].decode("utf-8", "replace").splitlines()
    words = [line for line in lines if '"level":"fatal"' in line or '"level":"error"' in line] or lines
    if not words:
        return "it left no message."
    with suppress(ValueError, TypeError):
        record = json.loads(words[-1])
        return ": ".join(str(record[name]) for name in ("msg", "error") if record.get(name)) + "."
    return words[-1].strip()


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    try:
        yield
    except filelock.Timeout as error:
        raise ServerError(
            f"Another program has been starting or stopping the server of {folder} for "
            f"{locks.START_LOCK_SECONDS:.0f} seconds. End it and try again."
        ) from error
    except OSError as error:
        raise ServerError(
            f"The data folder {folder} cannot be used ({error.strerror or error}). "
            "Make it writable and give it space, or name another folder in RAG_DATA_FOLDER."
        ) from error
