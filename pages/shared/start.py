"""How every page begins: its frame, the links between pages, the workspace, and this session's unfinished work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.shared import indexes, jobs, work_view
from pages.shared.errors import attempt
from pages.shared.opening import Opening, opening
from pages.shared.text import plain
from rag import environment
from rag.workspace import Workspace

PRODUCT = "Retrieval Funnel"
STYLE = Path(__file__).with_name("style.css")
ICON = Path(__file__).with_name("icon.png")
SCROLL = "[...document.querySelectorAll('.stChatMessage:has(.rf-question)')].at(-1)?.scrollIntoView();"
PAGES = {"app.py": ("Chat", ":material/forum:"), "pages/4_Documents.py": ("Documents", ":material/description:")}


def draw(page: Callable[[], None]) -> None:
    """Draw a page; what the library cannot do meanwhile is said at its end, with a button to try again."""
    _, error = attempt(page)
    if error:
        st.error(plain(error), icon=":material/cloud_off:")
        st.button("Try again", key="retry_page", on_click=reconnect)


def open_page(title: str, description: str) -> Workspace:
    """Draw the frame of a page and give the workspace back; stops the page where there is none to be had."""
    st.set_page_config(title if title == PRODUCT else f"{title} · {PRODUCT}", page_icon=str(ICON), layout="wide")
    st.html(STYLE)
    with st.sidebar:
        for path, (label, icon) in PAGES.items():
            st.page_link(path, label=label, icon=icon)
    st.title(title)
    st.caption(description)
    found, error = attempt(environment.read)
    if error:
        st.error(plain(error))
        st.stop()
    begun = opening(found)
    opened, error = attempt(begun.watch)
    if error:
        _unavailable(begun, error)
    for failure in opened.report.failed:
        st.warning(plain(f"{failure.name}: {failure.reason}"))
    indexes.begin(opened.workspace)
    jobs.settle()
    indexes.catch_up(opened.workspace)
    with st.sidebar:
        work_view.draw(opened.workspace)
    work_view.draw_errors()
    return opened.workspace


def reconnect() -> None:
    """Connect anew where the server is gone; does nothing while it answers."""
    found, error = attempt(environment.read)
    if not error:
        opening(found).again()


def _unavailable(begun: Opening, error: str) -> None:
    st.error(plain(error), icon=":material/cloud_off:")
    st.button("Try again", key="retry_start", on_click=begun.again, type="primary")
    st.stop()


def scroll_to_question(place: int) -> None:
    """Bring the last question to the top of the window; the first one is in sight anyway."""
    if place:
        st.html(f"<script>/* {place} */ {SCROLL}</script>", unsafe_allow_javascript=True)
