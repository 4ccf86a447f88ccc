"""The conversation on the page: turns with question, answer, sources and funnel; questions still without answer."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import session, start
from pages.shared.answer_view import answer_html, legend_html, question_html
from pages.shared.chat import Asked, ChatTurn
from pages.shared.funnel_view import funnel_html, settings_line, times_html
from pages.shared.text import plain
from rag.text import is_blank

STANDS = {
    True: "The same passages reach the prompt, so the answer stands.",
    False: "The answer was written with the earlier ones.",
}


def draw_turn(turn: ChatTurn, number: int, live: bool) -> None:
    """One question with its answer, its sources and its funnel; a turn that follows the knobs shows its funnel at once,
    any other when it is opened, so that a long chat stays light."""
    _draw_question(turn.answered.question)
    with _assistant():
        st.html(answer_html(turn.answered))
        _draw_standing(turn, number, live)
        legend = legend_html(turn.answered)
        if legend:
            st.html(legend)
    funnel = st.expander(
        "The funnel: how the passages were found",
        expanded=live,
        key=f"funnel_{number}_{'open' if live else 'folded'}",
        on_change="rerun",
    )
    if funnel.open:
        with funnel:
            st.html(times_html(turn.funnel) + funnel_html(turn.funnel))
            st.caption(plain(settings_line(turn.funnel)))


def draw_asked(asked: Asked, number: int) -> DeltaGenerator | None:
    """A question without an answer: why there is none, or the place where it will stand."""
    if not is_blank(asked.question):
        _draw_question(asked.question)
    if asked.waits:
        with _assistant():
            place = st.empty()
            _leave_nothing()
        _leave_nothing()
        place.caption("Waiting for its turn…")
        return place
    st.error(plain(asked.error))
    if not is_blank(asked.question):
        _draw_again("Try again", f"retry_question_{number}", asked)
    return None


def _draw_standing(turn: ChatTurn, number: int, live: bool) -> None:
    """Whether the answer still is what the settings give, and the way to have it written again."""
    if turn.error:
        st.error(plain(turn.error))
    failed = bool(turn.error) or turn.answered.answer.state == "failed"
    changed = live and turn.retrieved is not None
    if not failed and not changed:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if changed:
            st.caption(f"The lists below are for the changed settings. {STANDS[turn.stands]}", width="content")
        if failed or not turn.stands:
            _draw_again("Try again" if failed else "Answer again", f"again_{number}", turn)


def _draw_question(question: str) -> None:
    with st.chat_message("user", avatar=":material/person:"):
        st.html(question_html(question))


def _draw_again(label: str, key: str, entry: ChatTurn | Asked) -> None:
    st.button(label, key=key, on_click=lambda: (start.reconnect(), session.ask_again(entry)))


def _leave_nothing() -> None:
    """Take away what stood below in the run before: it would stay, in grey, until the answer is there."""
    for _ in range(2):
        st.empty()


def _assistant() -> DeltaGenerator:
    return st.chat_message("assistant", avatar=":material/filter_alt:")
