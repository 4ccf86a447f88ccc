"""The process that stops a data folder's server a few seconds after the last that needs it, however that one ended."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import filelock

from rag.environment import PROJECT_FOLDER
from rag.errors import ServerError
from rag.weaviate import instance, locks

POLL_SECONDS = 0.5
GRACE_SECONDS = 3.0  # two commands in a row share one server
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from rag.weaviate.watchdog import watch; watch(sys.argv[2])"


def start(folder: Path) -> None:
    """Start a watchdog for the folder unless one lives; call it under the folder's lock."""
    if not locks.is_held(folder / locks.WATCHDOG):
        command = [sys.executable, "-c", _PROGRAM, str(PROJECT_FOLDER), str(folder)]
        locks.spawn(command, folder / locks.WATCHDOG, cwd="/")


def watch(folder_text: str) -> None:
    """Wait until the folder's server has ended, by itself or, when nobody needs it, by our hand."""
    folder = Path(folder_text)
    last_wanted = time.monotonic()
    while folder.exists():
        time.sleep(POLL_SECONDS)
        with suppress(filelock.Timeout, OSError):  # asked again after the next pause
            if _is_wanted(folder):
                last_wanted = time.monotonic()
            lives = locks.is_held(folder / locks.SERVER)
            if (not lives or time.monotonic() - last_wanted >= GRACE_SECONDS) and _is_over(folder):
                return
    instance.end(folder)


def _is_wanted(folder: Path) -> bool:
    address = instance.remembered(folder)
    return locks.is_needed(folder) or bool(address and address.kept)


def _is_over(folder: Path) -> bool:
    # Decided under the folder's lock, because whoever starts a server looks for a watchdog under the same lock.
    with locks.folder_lock(folder):
        if locks.is_held(folder / locks.SERVER) and _is_wanted(folder):
            return False
        with suppress(ServerError):  # a server that is not ours to end
            instance.end(folder)
        return True
