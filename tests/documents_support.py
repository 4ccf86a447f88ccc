"""What tests of the Documents page share: a workspace of two small samples, its page, and its tables read back."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import streamlit as st

from rag import library, workspace
from rag.environment import Environment
from tests.page_support import Browser, use
from tests.support import fresh_name

LAPWING = "# Lapwing\n\nThe Lapwing is an electric car with five doors.\n"
FAQ = "question,answer\nHow many seats are there?,There are five seats in two rows.\n"
OWL = "# Owl\n\nThe Owl is a lorry with a crane that lifts three tonnes.\n"
COLUMNS = {"documents": "State", "report": "What happened"}
PAGE = "pages/4_Documents.py"


@pytest.fixture
def documents_page(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A new session on the Documents page of a new workspace, whose samples are two small files."""
    folder = tmp_path_factory.mktemp("samples")
    for name, text in (("lapwing.md", LAPWING), ("faq.csv", FAQ)):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(library, "SAMPLES_FOLDER", folder)
    monkeypatch.setattr(workspace, "SAMPLES_FOLDER", folder)
    name = fresh_name()
    monkeypatch.setattr(workspace, "DEFAULT_WORKSPACE", name)  # the one that begins with the samples
    use(monkeypatch, environment, name)
    yield Browser().go(PAGE)
    st.cache_resource.clear()


def table(browser: Browser, name: str) -> list[dict[str, object]]:
    """The rows of a table on the page, which is known by a column that it alone has; none where it is not drawn."""
    frames = [frame.value for frame in browser.app.dataframe]
    return next((frame.to_dict("records") for frame in frames if COLUMNS[name] in frame.columns), [])


def listed(browser: Browser) -> dict[str, str]:
    """Name and state of every document in the table."""
    return {row["Document"]: row["State"] for row in table(browser, "documents")}


def failures(browser: Browser) -> dict[str, str]:
    """Name and reason of every file that is shown as not readable."""
    shown = [re.match(r"\*\*(.+?)\*\*: (.+)", text.value.replace("\\", "")) for text in browser.app.markdown]
    keys = [button.key for button in browser.app.button if re.fullmatch(r"dismiss_\d+", button.key or "")]
    return dict(match.groups() for match in list(filter(None, shown))[: len(keys)])


def send(browser: Browser, **files: bytes) -> None:
    """Choose the files and press the button, without waiting for what this begins. ``a_md=b"..."`` sends a.md."""
    named = [(".".join(name.rsplit("_", 1)), data, "application/octet-stream") for name, data in files.items()]
    browser.app.file_uploader(key="_files").set_value(named)
    browser.app.button(key="add_files").click().run()
    browser.sound()


def add(browser: Browser, **files: bytes) -> dict[str, str]:
    """Send the files; what the page says became of each that could be read."""
    send(browser, **files)
    browser.settle()
    return {row["Document"]: row["What happened"] for row in table(browser, "report")}
