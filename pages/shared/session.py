"""What one browser session holds, unseen by any other: its settings, its conversation, and what its stages remember."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared.chat import ChatTurn
from pages.shared.errors import attempt
from rag.funnel import StageMemory
from rag.settings import FUNNEL, Settings


def settings() -> Settings:
    """The settings that the next question is asked with."""
    return st.session_state.setdefault("settings", FUNNEL)


def change(values: Mapping[str, Any]) -> None:
    """Set some knobs; a value that cannot be used changes nothing and is named beside the knobs."""
    changed, error = attempt(lambda: settings().changed(values))
    if changed:
        st.session_state["settings"], st.session_state["knob_error"] = changed, ""
    else:
        take(settings())
        st.session_state["knob_error"] = error


def take(wanted: Settings) -> None:
    """Set all knobs at once, so that their widgets have to follow."""
    st.session_state["settings"] = wanted
    st.session_state["generation"] = generation() + 1
    st.session_state["knob_error"] = st.session_state["index_error"] = ""


def generation() -> int:
    """How often all knobs were set at once: a part of their widgets' keys."""
    return st.session_state.get("generation", 0)


def turns() -> list[ChatTurn]:
    """The conversation, oldest first; a list to append to."""
    return st.session_state.setdefault("turns", [])


def memory() -> StageMemory:
    """Results of stages that a moved knob need not run again."""
    return st.session_state.setdefault("memory", StageMemory())


def ask(question: str, place: int | None = None) -> None:
    """Take a question in, to stand at ``place`` of the conversation (default: at its end).

    It stays asked until it is answered or has failed, however often the page runs again meanwhile; what stands at its
    place stays until then too.
    """
    st.session_state["asked"] = (question, len(turns()) if place is None else place)
    st.session_state.pop("failed", None)


def clear() -> None:
    """Forget the conversation; settings stay."""
    for name in ("turns", "memory", "asked", "failed"):
        st.session_state.pop(name, None)
