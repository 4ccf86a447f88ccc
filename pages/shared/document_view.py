"""One document in full: its state and notices, the chunker that suits it and why, and a way to give it one of its
own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shared import documents, indexes
from pages.shared.documents import DocumentRow
from pages.shared.errors import told
from pages.shared.text import plain
from rag.chunkers import CHUNKERS
from rag.settings import Settings
from rag.workspace import Workspace


def draw(workspace: Workspace, settings: Settings, rows: Sequence[DocumentRow], titles: Mapping[str, str]) -> None:
    """A box to choose one of the documents, called by their ``titles`` (of sources), and the one chosen."""
    names = {row.id: row for row in rows}
    if st.session_state.get("_document") not in names:
        st.session_state["_document"] = None  # set, not only forgotten: the browser would show the one that is gone
    chosen = st.selectbox(
        "One document in full",
        list(names),
        None,
        lambda one: titles.get(names[one].source, names[one].name) if one in names else "",
        key="_document",
        placeholder="Choose one, or tick a row of the table",
    )
    if not chosen:
        return
    row, best = names[chosen], documents.recommendation(workspace, chosen)
    title = titles.get(row.source, row.name)
    with st.container(border=True, key="document"):
        st.markdown(f"**{plain(title)}**: {plain(row.state)}")
        for notice in row.notices:
            st.caption(plain(notice))
        own = dict(settings.overrides).get(row.source, "")
        how = "a chunker of its own" if own else "as the index"
        now = f"Cut by **{plain(row.chunker)}**, {how}."
        better = f" Recommended: **{plain(best.chunker)}**. {plain(best.reason)}" if best else ""
        st.markdown(now + better)
        _draw_override(workspace, settings, row, title, own, best.chunker if best else "")


def _draw_override(workspace: Workspace, settings: Settings, row: DocumentRow, title: str, own: str, best: str) -> None:
    """Its own chunker, for everybody, which begins with the recommended one; or that for all documents."""
    key = f"_own_{row.id}_{own}"
    choices = ["", *(name for name in CHUNKERS if name != "recommended")]
    differs = best in choices and best != row.chunker and row.chunker != "recommended"
    beginning = best if differs else own
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.selectbox(
            "Cut it by",
            choices,
            choices.index(beginning) if beginning in choices else 0,
            lambda name: name or f"as the index: {settings.chunker}",
            key=key,
        )
        st.button(f"Use {wanted or settings.chunker} for this document", key="use_own", type="primary",
                  disabled=wanted == own, on_click=_override, args=(workspace, row, title, key))  # fmt: skip
        if wanted and wanted != settings.chunker:
            with st.popover("For all documents…", key="all_popover"):
                st.write(
                    f"Cuts every document by {wanted}, but for those with a chunker of their own. It needs an index of "
                    "its own, which is built in the background where it is not there yet."
                )
                st.button(f"Yes, use {wanted} for all documents", key="use_for_all",
                          on_click=_use_for_all, args=(workspace, settings, wanted))  # fmt: skip
    st.caption("A change cuts and indexes in the background; until it is done, answers come from what is there.")


@told
def _override(workspace: Workspace, row: DocumentRow, title: str, key: str) -> None:
    documents.begin_override(workspace, row.source, title, st.session_state[key])


@told
def _use_for_all(workspace: Workspace, settings: Settings, chunker: str) -> None:
    indexes.use(workspace, settings.changed({"chunker": chunker}))
