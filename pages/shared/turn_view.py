"""One turn of the chat on the page: question, answer, sources, funnel."""

from __future__ import annotations

import streamlit as st

from pages.shared import session
from pages.shared.answer_view import answer_html, legend_html, question_html
from pages.shared.chat import ChatTurn
from pages.shared.funnel_view import funnel_html, settings_line, times_html
from pages.shared.text import plain

STANDS = {
    True: "The same passages reach the prompt, so the answer stands.",
    False: "The answer was written with the earlier ones.",
}


def draw_turn(turn: ChatTurn, number: int, last: bool) -> None:
    """One question with its answer, its sources and its funnel; earlier turns keep theirs folded."""
    with st.chat_message("user", avatar=":material/person:"):
        st.html(question_html(turn.answered.question))
    with st.chat_message("assistant", avatar=":material/filter_alt:"):
        st.html(answer_html(turn.answered))
        if last:
            _draw_standing(turn, number)
        legend = legend_html(turn.answered)
        if legend:
            st.html(legend)
    with st.expander(
        "The funnel: how the passages were found", expanded=last, key=f"funnel_{number}_{'open' if last else 'folded'}"
    ):
        st.html(times_html(turn.funnel) + funnel_html(turn.funnel))
        st.caption(plain(settings_line(turn.funnel)))


def _draw_standing(turn: ChatTurn, number: int) -> None:
    """Whether the last answer still is what the settings give, and the way to have it written again."""
    failed = turn.answered.answer.state == "failed"
    with st.container(horizontal=True, vertical_alignment="center"):
        if turn.retrieved:
            st.caption(f"The lists below are for the changed settings. {STANDS[turn.stands]}", width="content")
        if failed or not turn.stands:
            label = "Try again" if failed else "Answer again"
            st.button(label, key=f"again_{number}", on_click=session.ask, args=(turn.answered.question, number))
