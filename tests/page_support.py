"""What tests of pages share: the app run in this process on a workspace of its own, and its HTML read back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from bs4 import BeautifulSoup, Tag
from streamlit.testing.v1 import AppTest

import rag.environment
from pages.shared import jobs, opening, start
from pages.shared.errors import attempt
from rag import indexing, library
from rag.catalogue import SAMPLES_PRESENT
from rag.environment import PROJECT_FOLDER, Environment
from rag.reports import SyncReport, quiet
from rag.settings import Settings
from rag.weaviate import connection
from rag.workspace import Workspace, open_workspace
from tests.support import fresh_name

SECONDS = 60


def fill(environment: Environment, name: str, path: Path, samples: str = SAMPLES_PRESENT) -> None:
    """A workspace that holds the file, or the folder's files, as if they were the samples."""
    with connection.connected(environment) as client:
        workspace = open_workspace(environment, client, name)
        workspace.catalogue.set_samples(samples)
        library.add_paths(workspace.catalogue, [path])


@pytest.fixture(scope="module")
def workspace_name() -> Iterator[str]:
    """A workspace for the tests of one module; the page's connection is closed after them."""
    yield fresh_name()
    st.cache_resource.clear()


@pytest.fixture
def machine(environment: Environment, workspace_name: str, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """The pages read this environment: the test server, no keys, and the module's workspace."""
    use(monkeypatch, environment, workspace_name)
    return environment


def use(monkeypatch: pytest.MonkeyPatch, environment: Environment, name: str, **changes: object) -> None:
    """Let the pages find this environment and this workspace."""
    monkeypatch.setattr(opening, "WORKSPACE", name)
    monkeypatch.setattr(rag.environment, "read", lambda: replace(environment, **changes))


@pytest.fixture
def opened_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The pages of one test connect for themselves, as the first session after a start does."""
    made: list[opening.Opening] = []

    def of(environment: Environment) -> opening.Opening:
        made[:] = made or [opening.Opening(environment, opening.WORKSPACE)]
        return made[0]

    monkeypatch.setattr(start, "opening", of)
    yield
    made[0].close()


class Held:
    """Builds of indexes that begin and then wait, telling of their progress, until they are released or called off."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self._go = threading.Event()
        self._build = indexing.build
        self.begun: list[Settings] = []
        monkeypatch.setattr(indexing, "build", self)

    def __call__(self, store, catalogue, embedder, settings, folder, progress=quiet, **named) -> SyncReport:
        self.begun.append(settings)
        while not self._go.wait(0.02):
            progress("Indexing heron.md", 0.25)
        return self._build(store, catalogue, embedder, settings, folder, progress, **named)

    def release(self) -> None:
        """Let them go on."""
        self._go.set()


class Browser:
    """One browser session: AppTest, with what the pages draw as HTML."""

    def __init__(self) -> None:
        self.app = AppTest.from_file(str(PROJECT_FOLDER / "app.py"), default_timeout=SECONDS).run()
        self.sound()

    def sound(self) -> Browser:
        """No page ever shows an exception."""
        assert not self.app.exception, self.app.exception
        return self

    def ask(self, question: str) -> Browser:
        """Type a question and send it."""
        self.app.chat_input(key="_question").set_value(question).run()
        return self.sound()

    def press(self, key: str) -> Browser:
        """Press the button with that key, and wait for the work that this begins."""
        self.app.button(key=key).click().run()
        return self.settle()

    def settle(self) -> Browser:
        """Wait until all work on the workspace has ended and the page has taken note, as it does by itself."""
        workspace, _ = attempt(lambda: self.workspace)
        if workspace is None or "jobs" not in self.app.session_state:
            return self.sound()  # there is none to work on
        lane = jobs.lane(workspace)
        while lane.jobs() or self.app.session_state["jobs"]:
            for job in lane.jobs():
                job.message(SECONDS)
            self.app.run()
            self.sound()
        return self.sound()

    @property
    def generation(self) -> int:
        """A part of the keys of the knobs' widgets."""
        return self.app.session_state["generation"] if "generation" in self.app.session_state else 0

    def widget(self, name: str):
        """The widget of a knob."""
        return self.app.get_by_key(f"_{name}_{self.generation}")

    def knob(self, name: str, value: object) -> Browser:
        """Move one live knob."""
        self.widget(name).set_value(value).run()
        return self.sound()

    def form(self, **values: object) -> Browser:
        """Fill in the index form and send it."""
        for name, value in values.items():
            self.widget(name).set_value(value)
        return self.press("build_index")

    def go(self, page: str) -> Browser:
        """Move to another page."""
        self.app.switch_page(page).run()
        return self.sound()

    def part(self, name: str) -> Browser:
        """Choose a tab of the Documents page."""
        self.app.session_state["documents_part"] = name
        self.app.run()
        return self.sound()

    def parts(self, selector: str) -> list[Tag]:
        """Everything drawn as HTML that fits the selector, in order."""
        return [found for html in self.app.html for found in BeautifulSoup(html.value, "lxml").select(selector)]

    def texts(self, selector: str) -> list[str]:
        """The same as text, blanks made one."""
        return [" ".join(part.get_text(" ").split()) for part in self.parts(selector)]

    def errors(self) -> list[str]:
        """Every error shown, without the marks that keep Markdown away."""
        return [error.value.replace("\\", "") for error in self.app.error]

    @property
    def workspace(self) -> Workspace:
        """The workspace that the pages use."""
        return start.opening(rag.environment.read()).watch().workspace
