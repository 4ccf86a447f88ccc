"""The Chat page: ask the documents, read the cited answer, and see every list that it came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import chat, session, sidebar, start
from pages.shared.answer_view import text_html
from pages.shared.chat import Asked, ChatTurn, Entry
from pages.shared.errors import attempt
from pages.shared.examples import draw_examples, draw_nothing
from pages.shared.jobs import LOOK_SECONDS
from pages.shared.text import plain
from pages.shared.turn_view import draw_asked, draw_turn
from rag.settings import Settings
from rag.workspace import Workspace


def main() -> None:
    """Draw the page, then answer the next question that waits.

    The three parts of the page are one element each, so that none moves while another grows: what is typed stays in the
    question box, and nothing of an earlier run is left beside an answer in the making.
    """
    with st.container():
        workspace = start.open_page(
            "Retrieval Funnel",
            "Ask the documents. Under each answer stand its sources, and the ranked lists that they came from.",
        )
        settings = sidebar.draw(workspace)
        refresh(session.turns(), settings, workspace)
    turns = list(session.turns())
    asked = chat.next_asked(turns)
    with st.container():
        place = draw_conversation(turns, asked)
        if not turns:
            draw_examples(workspace, settings)
        else:
            if attempt(workspace.catalogue.documents) == ((), ""):
                draw_nothing()
            st.button("Clear chat", key="clear_chat", icon=":material/delete:", type="tertiary", on_click=session.clear)
            st.empty()  # the last row of the examples goes at once, not when the first answer is there
        if st.session_state.pop("arrived", False) and not asked:
            start.scroll_to_question(len(turns) - 1)
    with st.container(key="ask"):
        st.chat_input(
            "Ask the documents", key="_question", on_submit=lambda: session.ask(st.session_state["_question"])
        )
    if asked:
        before = turns[: turns.index(asked)]
        work = partial(chat.answered, asked.question, before, settings, workspace, session.memory())
        answer(asked, work, place, last=asked is turns[-1])


def draw_conversation(turns: Sequence[Entry], asked: Asked | None) -> DeltaGenerator | None:
    """Everything said so far; gives the place where the answer of ``asked`` is to stand."""
    live, place = chat.live_turn(turns), None
    for number, entry in enumerate(turns):
        with st.container():
            if isinstance(entry, ChatTurn):
                draw_turn(entry, number, live=entry is live)
            else:
                drawn = draw_asked(entry, number)
                place = drawn if entry is asked else place
    return place


def answer(asked: Asked, work: Callable[..., ChatTurn], place: DeltaGenerator, last: bool) -> None:
    """Answer the question; the page then runs again and shows it as a turn.

    The work is done in a thread of its own, so that neither the next question nor any click begins it anew.
    """
    turns, in_sight = session.turns(), asked.begun or not last
    job = asked.answering(work)
    with place.container(), st.spinner("Answering from the documents…"):
        text = st.empty()
        if not in_sight:
            start.scroll_to_question(1)
        while not job.done:
            text.html(text_html(job.message(LOOK_SECONDS)))  # where a newer run of the page has begun, this one ends
        chat.settle(turns, asked, job)
    st.session_state["arrived"] = last
    st.rerun()


def refresh(turns: list[Entry], settings: Settings, workspace: Workspace) -> None:
    """Run the last question again where the settings changed; earlier turns stay as they were."""
    live = chat.live_turn(turns)
    if live is None:
        return
    turn, error = attempt(lambda: chat.refreshed(live, settings, workspace, session.memory()))
    if turn:
        chat.put(turns, live, turn)
    else:
        st.error(plain(error))
        st.button("Try again", key="retry_refresh", on_click=start.reconnect)


start.draw(main)
