"""One running server: what is known of it, whether it lives, and how it is ended."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import psutil

from rag.errors import ServerError
from rag.weaviate import locks
from rag.weaviate.obtain import VERSION

HOST = "127.0.0.1"
STATE, KEY, DATABASE = "server.json", "api-key", "database"
END_SECONDS = 30.0


@dataclass(frozen=True)
class ServerAddress:
    """Where the local server listens, its key and its process; ``kept`` says that it outlives those who use it."""

    pid: int
    http_port: int
    grpc_port: int
    version: str = VERSION
    kept: bool = False
    host: str = HOST
    api_key: str = field(default="", repr=False)


def name(folder: Path) -> str:
    """What the server's process calls itself: it tells the server of one data folder from all others."""
    return f"weaviate {folder / DATABASE}"


def running(folder: Path) -> ServerAddress | None:
    """The folder's server, where it lives and all that is needed to use it is known."""
    address = remembered(folder)
    if not address or not locks.is_held(folder / locks.SERVER):
        return None
    try:
        if not _is_named(psutil.Process(address.pid), name(folder)):
            return None
        api_key = (folder / KEY).read_text(encoding="ascii").strip()
    except (psutil.Error, OSError, ValueError):
        return None
    return replace(address, api_key=api_key) if api_key else None


def remembered(folder: Path) -> ServerAddress | None:
    """What was last written about the folder's server, without its key; it may have ended since."""
    try:
        record = json.loads((folder / STATE).read_text(encoding="utf-8"))
        return ServerAddress(
            pid=int(record["pid"]),
            http_port=int(record["http_port"]),
            grpc_port=int(record["grpc_port"]),
            version=str(record["version"]),
            kept=record["kept"] is True,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None  # none, or not whole: the kernel's locks decide what lives, this file only says where


def remember(folder: Path, address: ServerAddress) -> None:
    """Write down where the folder's server is to be found; its key stays in its own file."""
    record = asdict(replace(address, api_key=""))
    temporary = folder / f"{STATE}.{os.getpid()}"
    temporary.write_text(json.dumps(record), encoding="utf-8")
    temporary.replace(folder / STATE)


def key(folder: Path) -> str:
    """The folder's API key, made where there is none yet; only its owner can read the file."""
    path = folder / KEY
    with suppress(OSError, ValueError):
        found = path.read_text(encoding="ascii").strip()
        if len(found) >= 32:
            path.chmod(0o600)
            return found
    path.unlink(missing_ok=True)
    made = secrets.token_urlsafe(32)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(made)
    return made


def end(folder: Path) -> bool:
    """Terminate the folder's server and wait for its end; False where none ran. Call it under the folder's lock.

    Raises ServerError where the server belongs to somebody else.
    """
    ours = [process for process in psutil.process_iter() if _is_named(process, name(folder))]
    for process in ours:
        with suppress(psutil.Error):
            process.terminate()
    _, left = psutil.wait_procs(ours, timeout=END_SECONDS)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=END_SECONDS)
    if locks.is_held(folder / locks.SERVER):
        raise ServerError(
            f"The data folder {folder} is in use by a server that is not yours to stop. "
            "Stop it where it was started, or name another folder in RAG_DATA_FOLDER."
        )
    return bool(ours)


def _is_named(process: psutil.Process, text: str) -> bool:
    try:
        return process.cmdline()[:1] == [text]
    except (psutil.Error, OSError):
        return False
