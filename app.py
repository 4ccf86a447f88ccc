"""The Chat page: ask the documents, read the cited answer, and see every list that it came from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared import chat, session, sidebar, start
from pages.shared.answer_view import text_html
from pages.shared.chat import ChatTurn, Entry
from pages.shared.errors import attempt
from pages.shared.examples import draw_examples
from pages.shared.jobs import LOOK_SECONDS, Job
from pages.shared.text import plain
from pages.shared.turn_view import draw_asked, draw_turn
from rag.settings import Settings
from rag.workspace import Workspace


def main() -> None:
    """Draw the page, then answer the next question that waits."""
    workspace = start.open_page(
        "Retrieval Funnel",
        "Ask the documents. Under each answer stand its sources, and the ranked lists that they came from.",
    )
    settings = sidebar.draw(workspace)
    turns = session.turns()
    refresh(turns, settings, workspace)
    waiting = chat.next_place(turns)
    with st.container():  # one element however long the chat is, so that the question box below never moves
        place = draw_conversation(turns, waiting)
        if not turns:
            draw_examples(workspace, settings)
        else:
            st.button("Clear chat", key="clear_chat", icon=":material/delete:", type="tertiary", on_click=session.clear)
        if st.session_state.pop("arrived", None) == len(turns) - 1:
            start.scroll_to_question(len(turns) - 1)
    with st.container(key="ask"):
        st.chat_input(
            "Ask the documents", key="_question", on_submit=lambda: session.ask(st.session_state["_question"])
        )
    if waiting is not None:
        answer(turns, waiting, place, settings, workspace)


def draw_conversation(turns: list[Entry], waiting: int | None) -> DeltaGenerator | None:
    """Everything said so far; gives the place where the answer of the question at ``waiting`` is to stand."""
    live, place = chat.live_place(turns), None
    for number, entry in enumerate(turns):
        if isinstance(entry, ChatTurn):
            draw_turn(entry, number, live=number == live)
        else:
            drawn = draw_asked(entry, number)
            place = drawn if number == waiting else place
    return place


def answer(turns: list[Entry], number: int, place: DeltaGenerator, settings: Settings, workspace: Workspace) -> None:
    """Answer the question at ``number``; the page then runs again and shows it as a turn.

    The work is done in a thread of its own, so that neither the next question nor any click begins it anew.
    """
    asked, begun = turns[number], turns[number].job is not None
    if not begun:
        work = partial(chat.answered, asked.question, turns[:number], settings, workspace, session.memory())
        asked = turns[number] = replace(asked, job=Job(work))
    with place.container(), st.spinner("Searching the documents…"):
        text, shown = st.empty(), ""
        if not begun and number == len(turns) - 1:
            start.scroll_to_question(number)
        while not asked.job.done:
            said = asked.job.message(LOOK_SECONDS)
            if said != shown:
                text.html(text_html(said))
                shown = said
        chat.settle(turns, number)
    st.session_state["arrived"] = number
    st.rerun()


def refresh(turns: list[Entry], settings: Settings, workspace: Workspace) -> None:
    """Run the last question again where the settings changed; earlier turns stay as they were."""
    place = chat.live_place(turns)
    if place is None:
        return
    turn, error = attempt(lambda: chat.refreshed(turns[place], settings, workspace, session.memory()))
    if turn:
        turns[place] = turn
    else:
        st.error(plain(error))
        st.button("Try again", key="retry_refresh", on_click=start.reconnect)


main()
