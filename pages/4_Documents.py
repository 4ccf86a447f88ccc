"""The Documents page: what is indexed, files to add, documents to remove."""

from __future__ import annotations

import streamlit as st

from pages.shared import documents, session, start
from pages.shared.documents import Upload
from pages.shared.text import plain
from rag.library import SyncReport
from rag.loaders import LOADERS, MAX_MEGABYTES
from rag.settings import Settings
from rag.workspace import Workspace


def main() -> None:
    """Draw the page."""
    workspace = start.open_page("Documents", "What the chat can answer from. Files are read on this machine.")
    settings = session.settings()
    report = st.session_state.pop("documents_report", None)
    if report:
        draw_report(report)
    draw_documents(workspace, settings)
    draw_upload(workspace, settings)
    draw_indexes(workspace, settings)


def draw_report(report: SyncReport) -> None:
    """What became of each file of the last upload or removal."""
    rows = documents.report_rows(report)
    if report.failed:
        st.warning(
            f"{len(report.failed)} of {len(rows)} could not be added. The rest is in."
            if len(rows) > len(report.failed)
            else "Nothing could be added."
        )
    else:
        st.success("Done.")
    st.dataframe(rows, hide_index=True)


def draw_documents(workspace: Workspace, settings: Settings) -> None:
    """The table of documents, what the loaders noticed, and the ways to remove some."""
    rows = documents.document_rows(workspace, settings)
    if not rows:
        st.info("There are no documents yet. Add files below; the chat answers from them as soon as they are indexed.")
        return
    total = sum(row["Chunks"] for row in rows)
    st.subheader(f"{len(rows)} document{'s' if len(rows) > 1 else ''}, {total:,} chunks")
    columns = {"Document": st.column_config.TextColumn(width="medium")}
    columns |= {
        name: st.column_config.NumberColumn(format="localized")
        for name in ("Pages", "Sections", "Characters", "Chunks")
    }
    st.dataframe(rows, hide_index=True, column_config=columns, placeholder="–")
    records = workspace.catalogue.documents()
    noticed = [(record.name, notice) for record in records for notice in record.notices]
    if noticed:
        with st.expander(f"{len(noticed)} notice{'s' if len(noticed) > 1 else ''} from reading them", key="notices"):
            for name, notice in noticed:
                st.markdown(f"**{plain(name)}**: {plain(notice)}")
    with st.container(horizontal=True):
        with st.popover("Remove documents…", key="remove_popover", icon=":material/delete:"):
            names = {record.id: f"{record.name} ({documents.origin(record)})" for record in records}
            chosen = st.multiselect(
                "Documents to remove", list(names), format_func=lambda key: names.get(key, key), key="_to_remove"
            )
            st.caption("They leave the index and the answers. Files on disk stay where they are.")
            st.button("Remove", key="remove_documents", type="primary", disabled=not chosen,
                      on_click=documents.begin_removal, args=(workspace, settings, chosen))  # fmt: skip
        samples = [record for record in records if documents.origin(record) == "sample"]
        if samples:
            with st.popover("Remove the samples…", key="samples_popover", icon=":material/folder_off:"):
                st.write(
                    f"Takes the {len(samples)} sample documents out. They do not come back by themselves; "
                    "`python -m rag index data/samples` adds them again."
                )
                st.button("Yes, remove the samples", key="remove_samples", type="primary",
                          on_click=documents.begin_samples_removal, args=(workspace, settings))  # fmt: skip


def draw_upload(workspace: Workspace, settings: Settings) -> None:
    """Files to add; a file of the same name as an earlier upload replaces it."""
    st.subheader("Add files")
    with st.form("upload", clear_on_submit=True, border=False):
        kinds = [suffix.lstrip(".") for suffix in LOADERS]
        files = st.file_uploader(
            f"PDF, Markdown, HTML, text or tables, up to {MAX_MEGABYTES} MB each",
            kinds,
            accept_multiple_files=True,
            key="_files",
        )
        sent = st.form_submit_button("Add to the documents", key="add_files", type="primary")
    if sent and files:
        documents.begin_upload(workspace, settings, [Upload(file.name, file.getvalue()) for file in files])
        st.rerun()
    elif sent:
        st.info("Choose one or more files first.")


def draw_indexes(workspace: Workspace, settings: Settings) -> None:
    """Every index there is, and whether it is behind."""
    rows = documents.index_rows(workspace, settings)
    if rows:
        st.subheader("Indexes")
        st.dataframe(rows, hide_index=True)
        st.caption("The settings on the Chat page choose the index. One that is behind catches up when it is chosen.")


start.draw(main)
