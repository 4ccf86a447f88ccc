"""The Chat page: ask the documents, read the cited answer, and see every list that it came from."""

from __future__ import annotations

import streamlit as st

from pages.shared import chat, session, sidebar, start
from pages.shared.answer_view import question_html, text_html
from pages.shared.chat import ChatTurn
from pages.shared.errors import attempt
from pages.shared.text import plain
from pages.shared.turn_view import draw_turn
from rag.settings import Settings
from rag.workspace import Workspace

EXAMPLES = {
    "What does Paws Mode do?": "An exact name: its words alone find the passage.",
    "How do I stop the cabin from frying in the summer?": "A paraphrase: the passage shares almost no word with it.",
    "Does Perch Guard work if I haven't put a USB drive in the car?": "A closer reading: many are near, one answers.",
    "How much does a new traction battery cost?": "Not in the documents: the right answer is to decline.",
}


def main() -> None:
    """Draw the page."""
    workspace = start.open_page(
        "Retrieval Funnel",
        "Ask the documents. Under each answer stand its sources, and the ranked lists that they came from.",
    )
    settings = sidebar.draw(workspace)
    turns = session.turns()
    question, place = st.session_state.get("asked", (None, len(turns)))
    if turns and question is None:
        refresh_last(turns, settings, workspace)
    for number, turn in enumerate(turns[:place]):
        draw_turn(turn, number, last=number == len(turns) - 1)
    if question is not None:
        answer(question, place, settings, workspace)
    elif "failed" in st.session_state:
        draw_failed(*st.session_state["failed"])
    elif not turns:
        draw_examples(workspace)
    if turns:
        st.button("Clear chat", key="clear_chat", icon=":material/delete:", type="tertiary", on_click=session.clear)
    if st.session_state.pop("arrived", False):
        start.scroll_to_question(len(turns) - 1)
    with st.container(key="ask"):
        st.chat_input(
            "Ask the documents", key="_question", on_submit=lambda: session.ask(st.session_state["_question"])
        )


def answer(question: str, place: int, settings: Settings, workspace: Workspace) -> None:
    """Answer a question that was asked, where it was asked; the page then runs again and shows it as a turn."""
    turns = session.turns()
    with st.chat_message("user", avatar=":material/person:"):
        st.html(question_html(question))
    with st.chat_message("assistant", avatar=":material/filter_alt:"), st.spinner("Searching the documents…"):
        text = st.empty()
        turn, error = attempt(
            lambda: chat.answered(
                question, turns[:place], settings, workspace, session.memory(), lambda part: text.html(text_html(part))
            )
        )
    if turn:
        turns[place:] = [turn]
        st.session_state["arrived"] = True
    else:
        st.session_state["failed"] = (question, place, error)
    del st.session_state["asked"]
    st.rerun()


def refresh_last(turns: list[ChatTurn], settings: Settings, workspace: Workspace) -> None:
    """Run the last question again where the settings changed; earlier turns stay as they were."""
    turn, error = attempt(lambda: chat.refreshed(turns[-1], turns[:-1], settings, workspace, session.memory()))
    if turn:
        turns[-1] = turn
    else:
        st.error(plain(error))
        st.button("Try again", key="retry_refresh", on_click=start.reconnect)


def draw_failed(question: str, place: int, error: str) -> None:
    """A question that could not be answered, why, and a way to ask it again."""
    if question.strip():
        with st.chat_message("user", avatar=":material/person:"):
            st.html(question_html(question))
    st.error(plain(error))
    if question.strip():
        st.button("Try again", key="retry_question", on_click=lambda: (start.reconnect(), session.ask(question, place)))


def draw_examples(workspace: Workspace) -> None:
    """Four questions to begin with, or a hint where there is nothing to ask."""
    if not workspace.catalogue.documents():
        st.info("There are no documents yet. Add some on the Documents page, then ask about them here.")
        st.page_link("pages/4_Documents.py", label="Add documents", icon=":material/upload_file:")
        return
    examples = list(enumerate(EXAMPLES.items(), 1))
    for pair in (examples[:2], examples[2:]):
        for column, (number, (question, shows)) in zip(st.columns(2), pair, strict=True):
            with column.container(gap="xsmall"):
                st.button(
                    question,
                    key=f"example_{number}",
                    width="stretch",
                    wrap=True,
                    on_click=session.ask,
                    args=(question,),
                )
                st.caption(shows)


main()
