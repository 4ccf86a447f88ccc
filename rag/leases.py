"""One writer at a time among machines that share a server: a lease in the catalogue, renewed for as long as it holds.

The server has no compare-and-set and clocks differ, so this is as good as clocks that agree within seconds. On one
machine a file lock decides (rag/indexing.py).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rag.catalogue import Catalogue
from rag.errors import RagError, StoreError
from rag.reports import Progress
from rag.schema import digest

LEASE_SECONDS, RENEW_SECONDS, LOOK_SECONDS, PATIENCE_SECONDS = 30, 8, 0.5, 600


def holder_of(folder: Path) -> str:
    """What this machine's data folder is known by to others; the same again after a kill, which so waits for nobody."""
    return digest("holder", socket.gethostname(), folder.resolve())[:16]


@contextmanager
def leased(catalogue: Catalogue, holder: str, progress: Progress) -> Iterator[None]:
    """Holds the workspace's lease, once no other machine does. Raises RagError after ten minutes of waiting."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        if _is_free(catalogue, holder):
            catalogue.set_writer(holder, time.time() + LEASE_SECONDS)
            if _is_free(catalogue, holder):  # else another was quicker by a moment
                break
        if time.monotonic() > deadline:
            raise RagError("Another machine has been syncing these documents for ten minutes. Try again later.")
        progress("Waiting for another machine's sync of these documents", None)
        time.sleep(LOOK_SECONDS)
    done = threading.Event()
    renewing = threading.Thread(target=_renew, args=(catalogue, holder, done), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        done.set()
        renewing.join()
        with suppress(StoreError):  # the lease ends by itself, and the error that led here is the one to tell
            catalogue.set_writer(holder, 0.0)


def _is_free(catalogue: Catalogue, holder: str) -> bool:
    other, until = catalogue.writer()
    return other in ("", holder) or until <= time.time()


def _renew(catalogue: Catalogue, holder: str, done: threading.Event) -> None:
    while not done.wait(RENEW_SECONDS):
        with suppress(StoreError):
            catalogue.set_writer(holder, time.time() + LEASE_SECONDS)
