"""Where the errors of the library are caught: once, for every page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from pages.shared.text import plain
from rag.errors import RagError

T = TypeVar("T")
P = ParamSpec("P")


def attempt(work: Callable[[], T]) -> tuple[T | None, str]:
    """The result and "", or None and the sentence that says what went wrong and what to do."""
    try:
        return work(), ""
    except RagError as error:
        return None, str(error)


def told(callback: Callable[P, object]) -> Callable[P, None]:
    """The callback of a widget, which runs before its page can catch anything: an error is told at the top of the page
    until it is dismissed."""

    @wraps(callback)
    def caught(*args: P.args, **named: P.kwargs) -> None:
        _, error = attempt(lambda: callback(*args, **named))
        if error:
            st.session_state.setdefault("job_errors", []).append(error)

    return caught


def fragment(draw: Callable[P, object], run_every: float | None = None) -> Callable[P, None]:
    """A part of a page that is drawn anew by itself, which its page does not catch: an error is told in its place, with
    a button that draws the whole page."""

    @wraps(draw)
    def caught(*args: P.args, **named: P.kwargs) -> None:
        _, error = attempt(lambda: draw(*args, **named))
        if error:
            st.error(plain(error), icon=":material/cloud_off:")
            if st.button("Try again", key=f"retry{draw.__name__}"):
                st.rerun()

    return st.fragment(caught, run_every=run_every)
