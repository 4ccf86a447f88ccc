"""What a fresh chat shows: what there is to ask about, and four questions to begin with."""

from __future__ import annotations

import streamlit as st

from pages.shared import session
from pages.shared.text import plain
from rag.catalogue import SAMPLES_PRESENT
from rag.settings import Settings
from rag.text import shortened
from rag.workspace import Workspace

EXAMPLES = {
    "What does Paws Mode do?": "An exact name: its words alone find the passage.",
    "How do I stop the cabin from frying in the summer?": "A paraphrase: the passage shares almost no word with it.",
    "Does Perch Guard work if I haven't put a USB drive in the car?": "A closer reading: many are near, one answers.",
    "How much does a new traction battery cost?": "Not in the documents: the right answer is to decline.",
}
NAME_CHARACTERS = 60


def draw_examples(workspace: Workspace, settings: Settings) -> None:
    """What is indexed, four questions about the samples where those are there, or a hint where nothing is."""
    if not workspace.catalogue.documents():
        draw_nothing()
        return
    st.markdown(plain(holdings(workspace, settings)))
    if workspace.catalogue.samples() != SAMPLES_PRESENT:
        st.write("Ask about them below. More are added on the Documents page.")
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


def draw_nothing() -> None:
    """That there is nothing to ask about, and the way to the page where that is changed."""
    st.info("There are no documents yet. Add some on the Documents page, then ask about them here.")
    st.page_link("pages/4_Documents.py", label="Add documents", icon=":material/upload_file:")


def holdings(workspace: Workspace, settings: Settings) -> str:
    """What the index of these settings holds, in one sentence that names the longest document."""
    indexed = workspace.catalogue.indexed(settings.fingerprint())
    held = [record for record in workspace.catalogue.documents() if record.id in indexed]
    if not held:
        return "No document is indexed for these settings yet."
    names = [shortened(max(held, key=lambda record: record.characters).name, NAME_CHARACTERS)]
    if len(held) > 1:
        names.append(f"{len(held) - 1} more")
    count = f"{len(held)} documents are" if len(held) > 1 else "1 document is"
    return f"{count} indexed: {' and '.join(names)}."
