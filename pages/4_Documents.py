"""The Documents page: what the chat answers from, how it is cut, the indexes built of it, and watched folders."""

from __future__ import annotations

import streamlit as st

from pages.shared import cuts_view, documents_view, folders_view, indexes_view, session, start, work_view

PARTS = {
    "Documents": documents_view.draw,
    "Cuts": cuts_view.draw,
    "Indexes": indexes_view.draw,
    "Folders": folders_view.draw,
}


def main() -> None:
    """Draw the page; of its parts only the one that is looked at."""
    workspace = start.open_page("Documents", "What the chat can answer from. Files are read on this machine.")
    settings = session.settings()
    work_view.draw_index_error()
    for tab, draw in zip(st.tabs(list(PARTS), key="documents_part", on_change="rerun"), PARTS.values(), strict=True):
        if tab.open:
            with tab:
                draw(workspace, settings)


start.draw(main)
