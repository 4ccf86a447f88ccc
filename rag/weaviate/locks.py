"""Who runs and who needs the server of a data folder, kept by the kernel: a lock ends with its process, however that ends."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from filelock import FileLock

from rag.errors import ServerError

SERVER, WATCHDOG, HOLDERS, START = "server.lock", "watchdog.lock", "holders.lock", "start.lock"
START_LOCK_SECONDS = 120.0
PROBE_SECONDS = 2.0  # whoever asks whether a lock is held takes it for an instant

_held_by_us: dict[Path, int] = {}  # bare descriptors: no file object that complains about being open at exit
_held_by_us_guard = threading.Lock()


def folder_lock(folder: Path) -> FileLock:
    """The lock under which a server of this data folder is started, stopped or adopted; a context manager."""
    return FileLock(folder / START, timeout=START_LOCK_SECONDS)


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return False
    with file:
        return not _try_lock(file, shared=True)


def spawn(command: Sequence[str], lock: Path, argv0: str | None = None, log: Path | None = None, **options) -> int | None:
    """Start a process of its own session that holds ``lock`` for as long as it lives; its pid, or None if the lock is held.

    The child inherits the locked file, so that there is no moment at which it runs without the lock.
    """
    with lock.open("ab") as file:
        if not _wait_for_lock(file, shared=False, seconds=PROBE_SECONDS):
            return None
        output: IO[bytes] | int = log.open("ab") if log else subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                [argv0 or command[0], *command[1:]], executable=command[0], pass_fds=[file.fileno()],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **options,
            )
        finally:
            if not isinstance(output, int):
                output.close()
    # Somebody has to take note of its end, or it stays a zombie for as long as this process runs.
    threading.Thread(target=process.wait, name=f"wait-{process.pid}", daemon=True).start()
    return process.pid


def hold(folder: Path) -> None:
    """Say that this process needs the server of the folder, until ``release`` or its own end."""
    with _held_by_us_guard:
        if folder in _held_by_us:
            return
        file = os.open(folder / HOLDERS, os.O_RDWR | os.O_CREAT, 0o600)
        if not _wait_for_lock(file, shared=True, seconds=PROBE_SECONDS):
            os.close(file)
            raise ServerError(f"{folder / HOLDERS} is locked by another program. Close it, or delete the file.")
        _held_by_us[folder] = file


def release(folder: Path) -> None:
    """Say that this process does not need the server of the folder any more."""
    with _held_by_us_guard:
        file = _held_by_us.pop(folder, None)
        if file is not None:
            os.close(file)


def is_needed(folder: Path) -> bool:
    """Whether any living process holds the folder's server."""
    try:
        file = (folder / HOLDERS).open("ab")
    except FileNotFoundError:
        return False
    with file:
        return not _try_lock(file, shared=False)


def _wait_for_lock(file: IO[bytes] | int, shared: bool, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not _try_lock(file, shared):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _try_lock(file: IO[bytes] | int, shared: bool) -> bool:
    import fcntl  # not on Windows, where there is no embedded server

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
