"""The process that tests/kill_sync.py kills: one sync that says what it does as it does it.

python -m tests.kill_child DATA_FOLDER FILES WORKSPACE LOG [PHASE:CALL]
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from weaviate import WeaviateClient

from rag import library, writing
from rag.catalogue import Catalogue
from rag.environment import Environment
from rag.weaviate import connection
from rag.weaviate.records import Records
from rag.weaviate.store import Store
from rag.workspace import Workspace
from tests.support import StubEmbedder, m1, settings_for

PHASES = ("embedding", "writing", "deleting", "catalogue")
SETTINGS = settings_for(chunk_size=200, chunk_overlap=0)
GROUP = 4  # documents written at once; few, so that a sync has many groups
TEXT_SECONDS = 0.0003  # so that a stub takes time as a model does
MOMENT_SECONDS = 0.002


def child(data_folder: Path, files: Path, workspace_name: str, log: Path, kill_at: str = "") -> None:
    """Sync the folder, saying in the log what begins ("> writing") and ends ("< writing").

    With ``kill_at`` "writing:3" it ends hard as the third call of that phase begins, with "writing:3:half" once half of
    what that call was given is done, with "writing:3:moment" a moment after it began.
    """
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    phase_wanted, number, manner = (*kill_at.split(":"), "", "", "")[:3]
    seen: Counter[str] = Counter()

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def marked(phase: str, call: Callable) -> Callable:
        def run(*arguments):
            os.write(file, f"> {phase}\n".encode())
            seen[phase] += 1
            if phase == phase_wanted and seen[phase] == int(number):
                if manner == "moment":
                    threading.Timer(MOMENT_SECONDS, die).start()
                elif manner == "half":
                    call(*(part[: len(part) // 2] if isinstance(part, list) else part for part in arguments))
                    die()
                else:
                    die()
            result = call(*arguments)
            os.write(file, f"< {phase}\n".encode())
            return result

        return run

    environment = Environment(data_folder=data_folder)
    with connection.connected(environment) as client:
        workspace = open_over(client, environment, workspace_name)
        records, store, embedder = workspace.catalogue._records, workspace.store, workspace.embedder("m1")
        records.put_many = marked("catalogue", records.put_many)
        records.delete = marked("catalogue", records.delete)
        records.delete_many = marked("catalogue", records.delete_many)
        store.write = marked("writing", store.write)
        store.delete_chunks = marked("deleting", store.delete_chunks)
        embedder.vector = slowly(embedder)
        embedder.embed_documents = marked("embedding", embedder.embed_documents)
        writing.GROUP_DOCUMENTS = GROUP
        os.write(file, b"begin\n")
        sync(workspace, files)
        os.write(file, b"end\n")


def slowly(embedder: StubEmbedder) -> Callable:
    """The stub's vectors, each after a while."""
    vector = embedder.vector

    def run(text: str):
        time.sleep(TEXT_SECONDS)
        return vector(text)

    return run


def open_over(client: WeaviateClient, environment: Environment, name: str) -> Workspace:
    """The workspace, with the stub for a model."""
    return Workspace(environment, Store(client, name), Catalogue(Records(client, name)), {"m1": m1()})


def sync(workspace: Workspace, files: Path) -> None:
    """What a start does: files into documents, documents into the index."""
    library.add_paths(workspace.catalogue, [files])
    workspace.build(SETTINGS)


if __name__ == "__main__":
    child(*(Path(text) for text in sys.argv[1:3]), sys.argv[3], Path(sys.argv[4]), *sys.argv[5:])
