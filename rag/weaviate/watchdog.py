"""The process that stops a data folder's server a few seconds after the last process that needs it, however that ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rag.errors import ServerError
from rag.weaviate import locks

POLL_SECONDS = 0.5
GRACE_SECONDS = 3.0  # two commands in a row share one server


def start(folder: Path) -> None:
    """Start a watchdog for the folder unless one lives; call it under the folder's lock."""
    if locks.is_held(folder / locks.WATCHDOG):
        return
    project = Path(__file__).resolve().parent.parent.parent
    locks.spawn(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(project)!r}); from rag.weaviate import watchdog; "
         "watchdog.main(sys.argv[1])", str(folder)], folder / locks.WATCHDOG, cwd="/",
    )


def main(folder_text: str) -> None:
    """Watch until the folder's server has ended, by itself or by our hand."""
    folder = Path(folder_text)
    idle_since = time.monotonic()
    while folder.exists():
        time.sleep(POLL_SECONDS)
        if _is_wanted(folder):
            idle_since = time.monotonic()
        if locks.is_held(folder / locks.SERVER) and time.monotonic() - idle_since < GRACE_SECONDS:
            continue
        if _ended(folder):
            return


def _is_wanted(folder: Path) -> bool:
    from rag.weaviate import server

    return locks.is_needed(folder) or server.is_kept(folder)


def _ended(folder: Path) -> bool:
    from rag.weaviate import server

    # Decided under the folder's lock: whoever starts a server looks for a watchdog under the same lock.
    with locks.folder_lock(folder):
        if locks.is_held(folder / locks.SERVER) and _is_wanted(folder):
            return False
        try:
            server.end(folder)
        except ServerError:
            pass  # a server that cannot be ended is not ours to end
        return True
