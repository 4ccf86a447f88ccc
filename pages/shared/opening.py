"""The one connection and workspace of this process, shared by every browser session and made by the first."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.jobs import Job, Progress
from rag.environment import Environment
from rag.library import SyncReport
from rag.settings import FUNNEL
from rag.weaviate import connection
from rag.weaviate.tenants import DEFAULT_WORKSPACE
from rag.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from weaviate import WeaviateClient

WORKSPACE = DEFAULT_WORKSPACE


@dataclass(frozen=True)
class Opened:
    """A workspace ready for use, and what the start did to its documents."""

    client: WeaviateClient
    workspace: Workspace
    report: SyncReport


class Opening:
    """The server found or started, a client connected, the first index built: once, whoever asks first."""

    def __init__(self, environment: Environment, name: str):
        self._environment, self._name = environment, name
        self._lock = threading.Lock()
        self._job: Job[Opened] | None = None

    def watch(self) -> Opened:
        """What was opened, waited for under a progress bar where it is not ready. Raises RagError where it fails."""
        with self._lock:
            job = self._job = self._job or Job(self._open)
        return job.watch()

    def again(self) -> None:
        """Forget an opening that failed or whose server is gone, so that the next ``watch`` connects anew."""
        with self._lock:
            job = self._job
            if job is None or not job.done:
                return
            if not job.failed:
                client = job.watch().client
                if client.is_live():
                    return
                client.close()
            self._job = None

    def close(self) -> None:
        """Close the connection, if there is one."""
        with self._lock:
            if self._job and self._job.done and not self._job.failed:
                self._job.watch().client.close()
            self._job = None

    def _open(self, progress: Progress) -> Opened:
        client = connection.connect(self._environment, progress)
        try:
            workspace = open_workspace(self._environment, client, self._name)
            return Opened(client, workspace, workspace.start(FUNNEL, progress))
        except BaseException:
            client.close()
            raise


@st.cache_resource(show_spinner=False, on_release=Opening.close)
def _opening(address: str, name: str, _environment: Environment) -> Opening:
    return Opening(_environment, name)


def opening(environment: Environment) -> Opening:
    """The opening of the server at the environment's address, or else on its data folder."""
    return _opening(environment.weaviate_url or str(environment.data_folder), WORKSPACE, environment)
