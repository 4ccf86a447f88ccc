"""What one browser session holds, unseen by any other: its settings, its conversation, and what its stages remember."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.shared import chat
from pages.shared.chat import Asked, ChatTurn, Entry
from pages.shared.errors import attempt
from rag.funnel import StageMemory
from rag.settings import FUNNEL, KINDS, OVERRIDE, Settings

# The plain knobs that an index depends on; a chunker's own parameters and the documents' own chunkers come to them.
INDEX_KNOBS = ("chunker", "chunk_size", "chunk_overlap", "embedder", "language", "bm25_k1", "bm25_b")


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


def merged(wanted: Settings, before: Settings) -> Settings:
    """The settings that were wanted when those of ``before`` held; what was moved since then of the search, the answer
    and the documents' own chunkers stays where it is now."""
    now = settings()
    live = [name for name in KINDS if name not in INDEX_KNOBS]
    moved = {name: getattr(now, name) for name in live if getattr(now, name) != getattr(before, name)}
    own, earlier = dict(now.overrides), dict(before.overrides)
    differing = [source for source in own | earlier if own.get(source) != earlier.get(source)]
    return wanted.changed({**moved, **{f"{OVERRIDE}{source}": own.get(source, "") for source in differing}})


def generation() -> int:
    """How often all knobs were set at once: a part of their widgets' keys."""
    return st.session_state.get("generation", 0)


def turns() -> list[Entry]:
    """The conversation, oldest first: what was answered, what waits, and what could not be answered."""
    return st.session_state.setdefault("turns", [])


def memory() -> StageMemory:
    """Results of stages that a moved knob need not run again."""
    return st.session_state.setdefault("memory", StageMemory())


def ask(question: str) -> None:
    """Take a question in behind those asked before; they are answered one by one, and none takes another's place."""
    chat.add(turns(), question)


def ask_again(entry: Entry) -> None:
    """Have a question answered once more, in the place where it stands; a second press changes nothing."""
    again = isinstance(entry, ChatTurn)
    chat.put(turns(), entry, Asked(entry.answered.question, entry) if again else Asked(entry.question))


def clear() -> None:
    """Forget the conversation; settings stay."""
    for name in ("turns", "memory"):
        st.session_state.pop(name, None)
