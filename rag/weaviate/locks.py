"""Who runs and who needs a data folder's server, kept by the kernel: a lock ends with its process, in every case."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from filelock import FileLock

from rag.errors import ServerError

FOLDER, HOLDERS, SERVER, WATCHDOG = "folder.lock", "holders.lock", "server.lock", "watchdog.lock"
FOLDER_LOCK_SECONDS = 120.0
PROBE_SECONDS = 2.0  # whoever asks whether a lock is held takes it for an instant

# Bare descriptors: a file object would complain that it is still open when the process ends, which is the point of it.
_held_by_us: dict[Path, int] = {}
_guard = threading.Lock()


def folder_lock(folder: Path) -> FileLock:
    """The lock under which a folder's server and watchdog are started and ended; a context manager."""
    return FileLock(folder / FOLDER, timeout=FOLDER_LOCK_SECONDS)


def hold(folder: Path) -> None:
    """Say that this process needs the folder's server, until ``release`` or its own end."""
    with _guard:
        held = _held_by_us.get(folder)
        if held is not None and _is_open_at(held, folder / HOLDERS):
            return
        file = os.open(folder / HOLDERS, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(file, shared=True, seconds=PROBE_SECONDS):
            os.close(file)
            raise ServerError(f"{folder / HOLDERS} is locked by another program. End it and try again.")
        _held_by_us[folder] = file
        if held is not None:
            os.close(held)  # of a folder that was deleted since


def release(folder: Path) -> None:
    """Say that this process does not need the folder's server any more."""
    with _guard:
        file = _held_by_us.pop(folder, None)
        if file is not None:
            os.close(file)


def is_needed(folder: Path) -> bool:
    """Whether any living process needs the folder's server."""
    return _is_refused(folder / HOLDERS, shared=False)


def is_held(path: Path) -> bool:
    """Whether the process that was started with this lock lives."""
    return _is_refused(path, shared=True)


def spawn(
    command: Sequence[str],
    lock: Path,
    cwd: str | Path,
    name: str | None = None,
    log: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> int | None:
    """Start a process that holds ``lock`` for as long as it lives; its pid, or None where the lock is held already.

    The child inherits the locked file: there is no moment at which it runs without the lock. It gets a session of its
    own, so that Ctrl-C in the terminal does not end it before those who use it.
    """
    with lock.open("ab") as file, (log or Path(os.devnull)).open("ab") as output:
        if not _locked(file.fileno(), shared=False, seconds=PROBE_SECONDS):
            return None
        process = subprocess.Popen(
            [name or command[0], *command[1:]],
            executable=command[0],
            pass_fds=[file.fileno()],
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Somebody has to take note of its end, or it stays a zombie for as long as this process runs.
    threading.Thread(target=process.wait, name=f"wait-{process.pid}", daemon=True).start()
    return process.pid


def _is_open_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _is_refused(path: Path, shared: bool) -> bool:
    try:
        file: IO[bytes] = path.open("r+b")
    except FileNotFoundError:
        return False
    with file:
        return not _try_lock(file.fileno(), shared)


def _locked(file: int, shared: bool, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not _try_lock(file, shared):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _try_lock(file: int, shared: bool) -> bool:
    import fcntl  # not on Windows, where there is no embedded server

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
