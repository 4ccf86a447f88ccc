"""The indexes of a workspace as pages show and change them: which there are, taking one up, building and dropping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from pages.shared import jobs, session
from pages.shared.errors import attempt
from pages.shared.names import titles
from pages.shared.text import plain
from rag import plans
from rag.catalogue import DocumentRecord, IndexedRecord
from rag.library import SyncReport
from rag.settings import OVERRIDE, OWN, Settings
from rag.workspace import Workspace

UNIT = f"{OWN}unit"
CATCH_UP = "Bringing the index up to date"
OVERRIDES_NAMED = 3  # in the title of an index


@dataclass(frozen=True)
class IndexRow:
    """One index as it is listed; ``differences`` say what is otherwise in the settings in use, ``title`` what its plan
    is."""

    fingerprint: str
    title: str
    plan: Mapping[str, Any]
    chunks: int
    megabytes: float
    behind: int
    in_use: bool
    first: bool
    differences: tuple[str, ...]


def rows(workspace: Workspace, settings: Settings) -> list[IndexRow]:
    """Every index there is, the one in use first."""
    catalogue, sizes = workspace.catalogue, workspace.index_sizes()
    documents = catalogue.documents()
    called = titles(documents)
    first = workspace.settings().fingerprint()
    found = []
    for index in catalogue.indexes():
        size = sizes.get(index.fingerprint)
        row = IndexRow(
            index.fingerprint,
            plan_words(index.plan, called),
            index.plan,
            size.chunks if size else 0,
            size.megabytes if size else 0.0,
            _behind(documents, catalogue.indexed(index.fingerprint)),
            index.fingerprint == settings.fingerprint(),
            index.fingerprint == first,
            plans.differences(index.plan, settings.plan(), called),
        )
        found.append(row)
    return sorted(found, key=lambda row: (not row.in_use, row.plan["chunker"], row.fingerprint))


def is_current(record: DocumentRecord, held: IndexedRecord | None) -> bool:
    """Whether an index holds the document whole and as it is now."""
    return held is not None and held.complete and held.content_hash == record.content_hash


def behind(workspace: Workspace, settings: Settings) -> int:
    """How many documents the index of these settings does not hold as they are, or holds though they are gone."""
    catalogue = workspace.catalogue
    return _behind(catalogue.documents(), catalogue.indexed(settings.fingerprint()))


def _behind(documents: tuple[DocumentRecord, ...], indexed: Mapping[str, IndexedRecord]) -> int:
    stale = sum(1 for record in documents if not is_current(record, indexed.get(record.id)))
    return stale + len(set(indexed) - {record.id for record in documents})


def plan_words(plan: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """An index plan in one line: chunker, sizes, its own parameters, the documents with a chunker of their own by their
    ``names`` (of sources), embedder and language."""
    names = names or {}
    unit = plan.get(UNIT, "characters")
    sizes = {"chunk_size": f"{{}} {unit}", "chunk_overlap": "overlap {}"}
    parts = [plan["chunker"], *(words.format(plan[name]) for name, words in sizes.items() if plan.get(name))]
    own = {name.removeprefix(OWN): value for name, value in plan.items() if name.startswith(OWN) and name != UNIT}
    parts += [f"{name.replace('_', ' ')} {value}" for name, value in own.items()]
    sources = [name.removeprefix(OVERRIDE) for name in plan if name.startswith(OVERRIDE)]
    overrides = [f"{names.get(s) or s.rpartition('/')[2]}: {plan[OVERRIDE + s]}" for s in sources]
    more = len(overrides) - OVERRIDES_NAMED
    parts += [", ".join(overrides[:OVERRIDES_NAMED]) + (f" and {more} more" if more > 0 else "")] if overrides else []
    return " · ".join([*parts, plan["embedder"], plan["language"]])


def begin(workspace: Workspace) -> None:
    """Take what sessions of this workspace begin with, where this one has no settings yet.

    Where its index is not built, as after a document got a chunker of its own in a session with other settings, the one
    without documents' own chunkers is used until it is.
    """
    if "settings" in st.session_state:
        return
    wanted, catalogue = workspace.settings(), workspace.catalogue
    without = replace(wanted, overrides=())
    there = {index.fingerprint for index in catalogue.indexes()} if wanted.overrides else set()
    if without.fingerprint() in there and wanted.fingerprint() not in there:
        st.session_state["settings"] = without
        use(workspace, wanted)
    else:
        st.session_state["settings"] = wanted


def names(workspace: Workspace) -> dict[str, str]:
    """What the documents are called, by their sources; see ``titles``."""
    return titles(workspace.catalogue.documents())


def use(workspace: Workspace, wanted: Settings) -> None:
    """Take the wanted settings up, as ``adopt`` does, unless others are chosen before their index is built."""
    before = session.settings()
    choice = st.session_state["index_choice"] = st.session_state.get("index_choice", 0) + 1

    def change() -> Settings | None:
        return session.merged(wanted, before) if st.session_state["index_choice"] == choice else None

    adopt(workspace, f"Building the index: {wanted.chunker}", change)


def adopt(workspace: Workspace, label: str, change: Callable[[], Settings | None], built: str = "") -> None:
    """Take up the settings that ``change`` makes of those of the moment: at once where their index is whole, or is the
    one that was ``built`` just now, else when it has been built in the background. Until then the present ones hold,
    and where that is called off, fails, or ``change`` gives None, they stay."""
    wanted = change()
    if wanted is None:
        return
    count, error = (0, "") if wanted.fingerprint() == built else attempt(lambda: behind(workspace, wanted))
    st.session_state["index_error"] = error
    if count == 0:
        session.take(wanted)
    elif count:
        then = partial(_take, workspace, label, change, wanted)
        jobs.begin(workspace, label, partial(_build, workspace, wanted), then, builds=wanted.fingerprint())


def bring_up_to_date(workspace: Workspace, settings: Settings) -> None:
    """Index in the background what the index of these settings lacks."""
    label = f"{CATCH_UP}: {settings.chunker}"
    jobs.begin(workspace, label, partial(_build, workspace, settings), _tell, builds=settings.fingerprint())


def catch_up(workspace: Workspace) -> None:
    """Begin to bring this session's index up to date where it is not: once when the session begins, and whenever other
    work has changed the documents."""
    settings, lane = session.settings(), jobs.lane(workspace)
    if st.session_state.get("changes_seen") == lane.changes:
        return
    st.session_state["changes_seen"] = lane.changes
    in_hand = any(job.fingerprint == settings.fingerprint() for job in lane.jobs())
    if not in_hand and behind(workspace, settings):
        bring_up_to_date(workspace, settings)


def begin_drop(workspace: Workspace, fingerprint: str, words: str) -> None:
    """Drop an index in the background."""

    def drop(progress: jobs.Progress) -> None:
        progress("Dropping", None)
        workspace.drop(fingerprint)

    # A change, so that a session which still uses it has it built again.
    jobs.begin(workspace, f"Dropping an index: {words}", drop, lambda _: st.toast("Dropped."), changes=True)


def _build(workspace: Workspace, wanted: Settings, progress: jobs.Progress) -> SyncReport:
    return workspace.build(wanted, progress, other_embedder=True)


def _take(
    workspace: Workspace, label: str, change: Callable[[], Settings | None], wanted: Settings, report: SyncReport
) -> None:
    adopt(workspace, label, change, wanted.fingerprint())
    taken = session.settings().fingerprint() == wanted.fingerprint()
    words = f"Questions are now answered with {plain(wanted.chunker)}." if taken else "Another was chosen since."
    st.toast(f"The index is built. {words}", icon=":material/check:")
    _tell(report)


def _tell(report: SyncReport) -> None:
    st.session_state["index_error"] = " ".join(f"{failure.name}: {failure.reason}." for failure in report.failed)
