"""The work in hand, in the sidebar of every page: what is done, how long it will take, and a way to call it off."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.shared import jobs
from pages.shared.jobs import Job
from pages.shared.text import plain
from rag.workspace import Workspace

# How often the browser asks while there is work, and while there is none (another tab may begin some).
BUSY_SECONDS, IDLE_SECONDS = 0.5, 3.0


def draw(workspace: Workspace) -> None:
    """A progress line for each piece of work on the workspace, whoever began it; the page runs anew when one begins or
    ends."""
    shown = jobs.lane(workspace).jobs()
    for job in shown:
        with st.container(key=f"job_{job.number}", gap="xsmall"):
            st.fragment(_line, run_every=BUSY_SECONDS)(job)
            # Outside of the fragment, whose widgets would wait until an answer in the making is there.
            st.button(
                "Cancel", key=f"cancel_{job.number}", type="tertiary", on_click=job.cancel, disabled=job.cancelled
            )
    st.session_state["jobs_shown"] = tuple(job.number for job in shown)
    st.session_state["errors_shown"] = len(st.session_state.get("job_errors", ()))
    st.fragment(follow, run_every=BUSY_SECONDS if shown else IDLE_SECONDS)(workspace)


def draw_build(workspace: Workspace) -> None:
    """How far the index is that is being built, once more beside the button that began it."""
    for job in [job for job in jobs.lane(workspace).jobs() if job.fingerprint and not job.waits][:1]:
        st.fragment(_bar, run_every=BUSY_SECONDS)(job)


def draw_errors() -> None:
    """What went wrong with work that this session began, until it is dismissed."""
    errors = st.session_state.get("job_errors")
    if errors:
        for error in errors:
            st.error(plain(error))
        st.button("Dismiss", key="dismiss_errors", on_click=errors.clear)


def draw_index_error() -> None:
    """What the index that was built last could not take in, until the next one or until it is dismissed; the Chat page
    says so beside the knobs."""
    error = st.session_state.get("index_error")
    if error:
        st.error(plain(error))
        forget = partial(st.session_state.pop, "index_error", None)
        st.button("Dismiss", key="dismiss_index_error", type="tertiary", on_click=forget)


def follow(workspace: Workspace) -> None:
    """Run the page anew where the work or its errors are not what it showed when it was last drawn."""
    lane = jobs.lane(workspace)
    changed = lane.changes != st.session_state.get("changes_seen", lane.changes)
    shown = st.session_state.get("jobs_shown", ())
    untold = len(st.session_state.get("job_errors", ())) != st.session_state.get("errors_shown", 0)
    if untold or changed or jobs.has_ended() or tuple(job.number for job in lane.jobs()) != shown:
        st.rerun()


def _line(job: Job) -> None:
    st.caption(plain(job.label))
    _bar(job)


def _bar(job: Job) -> None:
    fraction, words = job.shown()
    st.progress(fraction, text=plain(words))
