"""The Indexes part of the page: each index with its plan, size and state, taken up or dropped from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared import indexes, session
from pages.shared.errors import told
from pages.shared.indexes import IndexRow
from pages.shared.text import plain
from rag.settings import ANALYZER_VERSION, CHUNKERS_VERSION, OWN, Settings
from rag.workspace import Workspace

VERSIONS = {"analyzer_version": ANALYZER_VERSION, "chunkers_version": CHUNKERS_VERSION}


def draw(workspace: Workspace, settings: Settings) -> None:
    """The whole part."""
    rows = indexes.rows(workspace, settings)
    if not rows:
        st.info("There is no index yet. The first one is built as soon as there is a document.")
        return
    total = sum(row.megabytes for row in rows)
    st.subheader(f"{len(rows)} index{'es' if len(rows) > 1 else ''}, {megabytes(total)}")
    st.caption("Each was built with another chunker, size, embedder or language. They stay until they are dropped, so "
               "that switching between them takes no time.")  # fmt: skip
    for row in rows:
        _draw_row(workspace, settings, row)


def _draw_row(workspace: Workspace, settings: Settings, row: IndexRow) -> None:
    with st.container(border=True, key=f"index_{row.fingerprint}"):
        badge = "  :green-badge[in use]" if row.in_use else ""
        st.markdown(f"**{plain(row.title)}**{badge}")
        facts = [f"{row.chunks:,} chunks", megabytes(row.megabytes), state(row)]
        st.caption(" · ".join(facts))
        if row.differences and not row.in_use:
            st.caption(plain("Differs from the settings in use: " + "; ".join(row.differences)))
        if row.in_use:
            return
        with st.container(horizontal=True):
            if not outdated(row.plan):
                st.button("Use", key=f"use_{row.fingerprint}", on_click=_use, args=(workspace, settings, row.plan))
            with st.popover(
                "Drop…", key=f"drop_popover_{row.fingerprint}", icon=":material/delete:", disabled=row.first
            ):
                st.write("Removes this index for everybody. The documents stay, and it can be built again.")
                st.button("Yes, drop it", key=f"drop_{row.fingerprint}", type="primary",
                          on_click=indexes.begin_drop, args=(workspace, row.fingerprint, row.title))  # fmt: skip
        if row.first:
            st.caption("New sessions begin with this one, so it cannot be dropped.")


def state(row: IndexRow) -> str:
    """Whether the index is behind the documents, or was built by an older version of the program."""
    if outdated(row.plan):
        return "needs a rebuild: an older version of the program cut or read otherwise"
    if row.behind:
        return f"{row.behind} document{'s' if row.behind > 1 else ''} behind"
    return "up to date"


def outdated(plan: Mapping[str, Any]) -> bool:
    """Whether another version of the program made it, so that no settings of today lead to it."""
    return any(plan.get(name) != version for name, version in VERSIONS.items())


def megabytes(number: float) -> str:
    """A size as people read it: 0.4 MB, 12 MB, 1.2 GB."""
    if number >= 1000:
        return f"{number / 1000:.1f} GB"
    return f"{number:.1f} MB" if number < 10 else f"{number:.0f} MB"


def settings_of(plan: Mapping[str, Any], settings: Settings) -> Settings:
    """The settings with the index knobs and the overrides of that plan, and no others. Raises SettingsError."""
    knobs = {name: value for name, value in plan.items() if name not in VERSIONS}
    if "chunk_size" in knobs and "chunk_overlap" not in knobs:
        knobs["chunk_overlap"] = min(settings.chunk_overlap, knobs["chunk_size"] // 2)
    kept = {f"override.{source}": "" for source, _ in settings.overrides}
    # A parameter of another chunker is none of this one's.
    own = {name: value for name, value in knobs.items() if name.startswith(OWN)}
    rest = {name: value for name, value in knobs.items() if name not in own}
    return settings.changed({**kept, **rest}).changed(own)


@told
def _use(workspace: Workspace, settings: Settings, plan: Mapping[str, Any]) -> None:
    indexes.use(workspace, settings_of(plan, session.settings()))
