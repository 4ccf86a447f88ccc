"""The one connection and workspace of this process, shared by every browser session and made by the first."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.jobs import Job, Progress, lane
from rag.environment import Environment
from rag.library import SyncReport
from rag.watching import Watcher
from rag.weaviate import connection, server
from rag.weaviate.tenants import DEFAULT_WORKSPACE
from rag.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from weaviate import WeaviateClient

WORKSPACE = DEFAULT_WORKSPACE


@dataclass(frozen=True)
class Opened:
    """A workspace ready for use, what the start did to its documents, the local server's process, if it is one, and the
    thread that syncs the watched folders."""

    client: WeaviateClient
    workspace: Workspace
    report: SyncReport
    pid: int | None
    watcher: Watcher


class Opening:
    """The server found or started, a client connected, the first index built: once, whoever asks first."""

    def __init__(self, environment: Environment, name: str):
        self._environment, self._name = environment, name
        self._lock = threading.Lock()
        self._job: Job[Opened] | None = None
        self._retired: list[WeaviateClient] = []

    def watch(self) -> Opened:
        """What was opened, waited for under a progress bar where it is not ready; opened anew where a local server has
        ended since. Raises RagError where it fails."""
        with self._lock:
            opened = self._opened()
            if opened and self._has_ended(opened):
                self._retire(opened)
            job = self._job = self._job or Job(self._open)
        return job.watch()

    def again(self) -> None:
        """Forget an opening that failed or whose server is gone, so that the next ``watch`` connects anew."""
        with self._lock:
            opened = self._opened()
            if opened and not opened.client.is_live():
                self._retire(opened)
            elif self._job and self._job.failed:
                self._job = None

    def close(self) -> None:
        """Close every connection that was made."""
        with self._lock:
            opened = self._opened()
            if opened:
                self._retire(opened)
            for client in self._retired:
                client.close()
            self._retired.clear()
            self._job = None

    def _opened(self) -> Opened | None:
        return self._job.watch() if self._job and self._job.done and not self._job.failed else None

    def _has_ended(self, opened: Opened) -> bool:
        if self._environment.weaviate_url:
            return False
        address = server.running(self._environment)
        return address is None or address.pid != opened.pid

    def _retire(self, opened: Opened) -> None:
        # Not closed yet: other sessions may be in the middle of a call, which then fails in its own words.
        opened.watcher.stop(0)
        self._retired.append(opened.client)
        self._job = None

    def _open(self, progress: Progress) -> Opened:
        client = connection.connect(self._environment, progress)
        try:
            local = None if self._environment.weaviate_url else server.ensure(self._environment, progress)
            workspace = open_workspace(self._environment, client, self._name)
            report = workspace.start(workspace.settings(), progress)
            watcher = Watcher(workspace, workspace.settings, lambda _: lane(workspace).note_change()).start()
            return Opened(client, workspace, report, local.pid if local else None, watcher)
        except BaseException:
            client.close()
            raise


@st.cache_resource(show_spinner=False, on_release=Opening.close)
def _opening(address: str, name: str, _environment: Environment) -> Opening:
    return Opening(_environment, name)


def opening(environment: Environment) -> Opening:
    """The opening of the server at the environment's address, or else on its data folder."""
    return _opening(environment.weaviate_url or str(environment.data_folder), WORKSPACE, environment)
