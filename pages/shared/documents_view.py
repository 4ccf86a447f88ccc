"""The Documents part of the page: files to add, those that failed, and the table of documents."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import document_view, documents, indexes, jobs, work_view
from pages.shared.documents import DocumentRow, Outcome, Upload
from pages.shared.errors import fragment, told
from pages.shared.names import place, titles
from pages.shared.text import plain
from rag import plans
from rag.catalogue import FileFailure
from rag.loaders import LOADERS, MAX_MEGABYTES
from rag.schema import digest
from rag.settings import Settings
from rag.text import shortened
from rag.workspace import Workspace

BUSY_SECONDS = 2.0
FILTERED_FROM = 9
FAILURES_SHOWN = 20
ROW_PIXELS, REPORT_ROWS = 35, 7
LETTER_PIXELS, MOST_PIXELS = 7, 340
NAME_CHARACTERS = 80


def draw(workspace: Workspace, settings: Settings) -> None:
    """The whole part."""
    _draw_upload(workspace, settings)
    failures = workspace.catalogue.failures()
    _draw_report(failures)
    _draw_failures(workspace, failures)
    running = jobs.lane(workspace).jobs()
    fragment(_draw_documents, run_every=BUSY_SECONDS if running else None)(workspace, settings)


def _draw_upload(workspace: Workspace, settings: Settings) -> None:
    st.subheader("Add files")
    with st.form("upload", clear_on_submit=True, border=False):
        kinds = [suffix.lstrip(".") for suffix in LOADERS]
        files = st.file_uploader(
            f"Drop them here, up to {MAX_MEGABYTES} MB each. A whole folder: under Folders.",
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


def _draw_report(failures: tuple[FileFailure, ...]) -> None:
    """What became of each file of the last change, until it is dismissed; files that failed stand below."""
    outcome: Outcome | None = st.session_state.get("outcome")
    if outcome is None:
        return
    report, below = outcome.report, {failure.name for failure in failures}
    rows = documents.report_rows(report, below, "indexed whole" if outcome.words else "added")
    if outcome.words:
        (st.warning if report.failed else st.success)(plain(outcome.words))
    elif report.failed:
        done = sum(len(getattr(report, kind)) for kind in documents.HAPPENED)
        st.warning(
            f"{len(report.failed)} of {done + len(report.failed)} could not be added. The rest is in."
            if done
            else "Nothing could be added."
        )
    else:
        st.success("Done.")
    if rows:
        height = ROW_PIXELS * (min(len(rows), REPORT_ROWS) + 1) + 3
        st.dataframe(rows, hide_index=True, key="report", height=height)
    forget = partial(st.session_state.pop, "outcome", None)
    st.button("Dismiss", key="dismiss_report", type="tertiary", on_click=forget)


def _draw_failures(workspace: Workspace, failures: tuple[FileFailure, ...]) -> None:
    """Files that could not be read, each with its reason, until one of that name is read or it is dismissed."""
    if not failures:
        return
    many = len(failures) > 1
    names = [failure.name for failure in failures]
    label = f"{len(failures)} file{'s' if many else ''} could not be read"
    with st.expander(label, expanded=True, icon=":material/error:", key="failures"):
        for number, failure in enumerate(failures[:FAILURES_SHOWN]):
            with st.container(horizontal=True, vertical_alignment="center", key=f"failure_{number}"):
                name = shortened(failure.name, NAME_CHARACTERS)
                if names.count(failure.name) > 1:
                    name += f" ({place(failure.source, failure.name)})"
                st.markdown(f"**{plain(name)}**: {plain(failure.reason)}", width="stretch")
                st.button("Dismiss", key=f"dismiss_{number}", type="tertiary",
                          on_click=_dismiss, args=(workspace, (failure,)))  # fmt: skip
        if len(failures) > FAILURES_SHOWN:
            st.caption(f"and {len(failures) - FAILURES_SHOWN} more")
        if many:
            st.button("Dismiss all", key="dismiss_all", on_click=_dismiss, args=(workspace, failures))


@told
def _dismiss(workspace: Workspace, failures: tuple[FileFailure, ...]) -> None:
    for failure in failures:
        workspace.catalogue.forget_failure(failure.source)


def _draw_documents(workspace: Workspace, settings: Settings) -> None:
    """The table, drawn anew every now and then while there is work; the rest of the page stays."""
    rows = documents.rows(workspace, settings)
    if not rows:
        st.info("There are no documents yet. Add files above; the chat answers from them as soon as they are indexed.")
        return
    known = [row for row in rows if row.id]
    total = sum(row.chunks for row in known)
    st.subheader(f"{len(known)} document{'' if len(known) == 1 else 's'}, {total:,} chunks")
    _draw_behind(workspace, settings, known)
    shown = _filtered(rows)
    names = titles(workspace.catalogue.documents())
    _draw_table(workspace, shown, names)
    if known:
        _draw_removal(workspace, settings, known, names)
        document_view.draw(workspace, settings, [row for row in shown if row.id] or known, names)
    work_view.follow(workspace)


def _draw_behind(workspace: Workspace, settings: Settings, rows: list[DocumentRow]) -> None:
    """What is not indexed and nobody is indexing, with a button for it."""
    behind = [row for row in rows if row.state != "indexed"]
    if not behind or jobs.lane(workspace).jobs():
        return
    which = f"{len(behind)} documents are" if len(behind) > 1 else "1 document is"
    indexes_there = {index.fingerprint: index.plan for index in workspace.catalogue.indexes()}
    why = "" if settings.fingerprint() in indexes_there else plans.nearest(indexes_there.values(), settings.plan())
    st.warning(
        plain(f"{which} not in the index in use, or not as it is now.")
        + (plain(f" These settings have no index yet; the nearest one differs: {'; '.join(why)}.") if why else "")
    )
    st.button("Bring the index up to date", key="catch_up", icon=":material/sync:",
              on_click=indexes.bring_up_to_date, args=(workspace, settings))  # fmt: skip


def _filtered(rows: list[DocumentRow]) -> list[DocumentRow]:
    if len(rows) < FILTERED_FROM:
        return rows
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input("Find by name", key="_find", icon=":material/search:", placeholder="part of a name")
        only = st.toggle("Only what is not indexed, or has a notice", key="_attention")
    found = [row for row in rows if text.casefold().strip() in row.name.casefold()]
    found = [row for row in found if not only or row.state != "indexed" or row.notices]
    if len(found) < len(rows):
        st.caption(f"{len(found)} of {len(rows)} shown")
    return found


def _draw_table(workspace: Workspace, rows: list[DocumentRow], titles: dict[str, str]) -> None:
    best = documents.recommendations(workspace, [row.id for row in rows if row.id])
    table = [
        {
            "Document": titles.get(row.source, row.name),
            "State": row.state,
            "Notices": "; ".join(row.notices),
            "Chunks": row.chunks,
            "Chunker": row.chunker,
            "Recommended": best.get(row.id),
            "Pages": row.pages or None,
            "Kind": row.kind,
            "From": row.origin,
            "Sections": row.sections,
            "Characters": row.characters,
        }
        for row in rows
    ]
    columns = {
        "Document": st.column_config.TextColumn(width="medium"),
        "State": st.column_config.TextColumn(width=_width([row.state for row in rows])),
        "Notices": st.column_config.TextColumn(width=_width(["; ".join(row.notices) for row in rows])),
    }
    columns |= {
        name: st.column_config.NumberColumn(format="localized", width="small")
        for name in ("Pages", "Sections", "Characters", "Chunks")
    }
    order = [name for name in table[0] if any(row[name] for row in table)] if table else None
    key = f"_rows_{digest(*(row.id for row in rows))}"  # ticks are numbers of rows: other rows begin without any
    with st.container(key="documents"):
        st.dataframe(
            table,
            hide_index=True,
            column_config=columns,
            column_order=order,
            placeholder="–",
            key=key,
            selection_mode="multi-row",
            on_select=partial(_choose, key, rows),
        )


def _width(texts: list[str]) -> int:
    """Pixels for a column of these texts, within limits."""
    return min(MOST_PIXELS, 40 + LETTER_PIXELS * max(map(len, texts), default=0))


def _choose(key: str, rows: list[DocumentRow]) -> None:
    """Take the ticked rows up: to be removed, should that be wanted, and a single one to be shown in full."""
    ticked = st.session_state[key].selection.rows
    chosen = [rows[number] for number in ticked if number < len(rows) and rows[number].id]
    st.session_state["_to_remove"] = [row.source for row in chosen]
    if len(chosen) == 1:
        st.session_state["_document"] = chosen[0].id


def _draw_removal(workspace: Workspace, settings: Settings, rows: list[DocumentRow], titles: dict[str, str]) -> None:
    names = {row.source: titles.get(row.source, row.name) for row in rows}
    samples = [row for row in rows if row.origin == "sample"]
    ticked = st.session_state.get("_to_remove", [])
    if any(one not in names for one in ticked):
        ticked = st.session_state["_to_remove"] = [one for one in ticked if one in names]
    many = len(ticked)
    which = f"{many} documents" if many > 1 else "1 document" if many else "documents"
    with st.container(horizontal=True):
        with st.popover(f"Remove {which}…", key="remove_popover", icon=":material/delete:"):
            chosen = st.multiselect(
                "Documents to remove",
                list(names),
                format_func=lambda source: names.get(source, source),
                key="_to_remove",
            )
            st.caption("They leave the index and the answers. Files on disk stay where they are.")
            st.button("Remove", key="remove_documents", type="primary", disabled=not chosen,
                      on_click=_remove, args=(workspace, settings))  # fmt: skip
        if samples:
            with st.popover("Remove the samples…", key="samples_popover", icon=":material/folder_off:"):
                st.write(
                    f"Takes the {len(samples)} sample documents out. They do not come back by themselves; "
                    "`python -m rag index data/samples` adds them again."
                )
                st.button("Yes, remove the samples", key="remove_samples", type="primary",
                          on_click=documents.begin_samples_removal, args=(workspace, settings))  # fmt: skip


def _remove(workspace: Workspace, settings: Settings) -> None:
    documents.begin_removal(workspace, settings, st.session_state["_to_remove"])
