"""The Folders part of the page: folders of this machine, read once or watched on a schedule."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.shared import documents
from pages.shared.errors import told
from pages.shared.text import plain
from rag.catalogue import WatchedFolder
from rag.pace import span
from rag.settings import Settings
from rag.text import shortened
from rag.workspace import Workspace

INTERVALS = {
    60: "every minute",
    300: "every 5 minutes",
    900: "every 15 minutes",
    3600: "every hour",
    86400: "every day",
}
PATH_CHARACTERS = 200


def draw(workspace: Workspace, settings: Settings) -> None:
    """The whole part."""
    _draw_new(workspace, settings)
    folders = workspace.catalogue.folders()
    st.subheader("Watched folders")
    if not folders:
        st.info("No folder is watched yet. Give a path above and choose how often it is looked at.")
    for number, folder in enumerate(folders):
        _draw_folder(workspace, settings, folder, number)


def _draw_new(workspace: Workspace, settings: Settings) -> None:
    st.subheader("Add a folder")
    with st.form("folder", border=False):
        st.text_input(
            "Path of a folder or a file on the machine that runs this app", key="_path", placeholder="/home/me/manuals"
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("How often", [0, *INTERVALS], format_func=lambda seconds: _interval(seconds), key="_seconds")
            st.form_submit_button("Add", key="add_folder", type="primary", on_click=_add, args=(workspace, settings))
    st.caption(
        "Files that are new, changed or gone there are added, replaced or removed here. Hidden ones are left out."
    )
    error = st.session_state.get("folder_error")
    if error:
        st.error(plain(error))


def _draw_folder(workspace: Workspace, settings: Settings, folder: WatchedFolder, number: int) -> None:
    with st.container(border=True, key=f"folder_{number}"):
        st.markdown(f"**{plain(folder.path)}**")
        if folder.last:
            ago = time.time() - folder.last
            when = "just now" if ago < 5 else f"{span(ago)} ago"
            st.caption(plain(f"Last looked at {when}: {folder.outcome or 'not done yet'}"))
        else:
            st.caption("Not looked at yet")
        intervals = list(dict.fromkeys([*INTERVALS, folder.seconds]))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            key = f"_every_{number}_{folder.path}_{folder.seconds}"
            st.selectbox("How often", intervals, intervals.index(folder.seconds), _interval, key=key,
                         on_change=lambda: _change(workspace, folder, seconds=st.session_state[key]))  # fmt: skip
            on = f"_on_{number}_{folder.path}_{folder.on}"
            st.toggle(
                "Watched", folder.on, key=on, on_change=lambda: _change(workspace, folder, on=st.session_state[on])
            )
            st.button("Sync now", key=f"sync_{number}", icon=":material/sync:",
                      on_click=documents.begin_folder_sync, args=(workspace, settings, folder))  # fmt: skip
            with st.popover("Forget…", key=f"forget_popover_{number}"):
                st.write("It is not looked at any more. Its documents stay until they are removed under Documents.")
                st.button("Yes, forget it", key=f"forget_{number}", type="primary",
                          on_click=told(workspace.catalogue.forget_folder), args=(folder.path,))  # fmt: skip


@told
def _add(workspace: Workspace, settings: Settings) -> None:
    path, seconds = st.session_state["_path"].strip(), st.session_state["_seconds"]
    # The functions of os.path take any text, also a home of nobody and a name longer than files may have.
    place = Path(os.path.abspath(os.path.expanduser(path)))
    if not path:
        st.session_state["folder_error"] = "Give the path of a folder first."
    elif not os.path.exists(place):
        st.session_state["folder_error"] = (
            f"There is nothing at {shortened(str(place), PATH_CHARACTERS)}. Check the path."
        )
    elif seconds and not os.path.isdir(place):
        st.session_state["folder_error"] = f"{place} is not a folder; only folders are watched. Add it once instead."
    else:
        st.session_state["folder_error"] = ""
        if seconds:
            # Looked at now by this session's work, so that it is seen; from then on by the watcher.
            folder = WatchedFolder(str(place), seconds, last=time.time())
            workspace.catalogue.save_folder(folder)
            documents.begin_folder_sync(workspace, settings, folder)
        else:
            documents.begin_paths(workspace, settings, place)


@told
def _change(workspace: Workspace, folder: WatchedFolder, **changes: int | bool) -> None:
    current = next((one for one in workspace.catalogue.folders() if one.path == folder.path), None)
    if current:
        workspace.catalogue.save_folder(replace(current, **changes))


def _interval(seconds: int) -> str:
    return INTERVALS.get(seconds, f"every {span(seconds)}") if seconds else "only once, now"
