"""The knobs. Those of the search act at once; those of the index wait for a button, because they need another index.

Streamlit forgets a widget's value when its page is left, so the session's one frozen Settings hold them: each widget
begins with the value there, and puts what a person changes back. Where the settings change by other means, the widgets'
keys change too, so that they begin anew; nothing is ever written into a widget, which a run broken off by a click could
leave half done.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from pages.shared import jobs, session
from pages.shared.errors import attempt
from pages.shared.text import plain
from rag import answering, embedders
from rag.analysis import LANGUAGES
from rag.chunkers import CHUNKERS
from rag.library import SyncReport
from rag.settings import BASELINE, FUNNEL, LIMITS, Settings
from rag.workspace import Workspace

PRESETS = {"Full funnel": FUNNEL, "Baseline": BASELINE}
INDEX_KNOBS = ("chunker", "chunk_size", "chunk_overlap", "embedder", "language", "bm25_k1", "bm25_b")
FUSIONS = {"rrf": "Both, by reciprocal rank (RRF)", "dense": "Dense list alone", "sparse": "Sparse list alone"}
ANSWERERS = {"auto": "Automatic", "extractive": "Quoted sentences, no model"}


def draw(workspace: Workspace) -> Settings:
    """Draw the sidebar and give the settings back that now hold."""
    with st.sidebar:
        _presets(workspace)
        _error("knob_error")
        _search_knobs()
        _answer_knobs(workspace)
        _index_form(workspace)
    return session.settings()


def _presets(workspace: Workspace) -> None:
    st.subheader("Presets")
    with st.container(horizontal=True, gap="xsmall"):
        for label, preset in PRESETS.items():
            chosen = session.settings() == preset
            st.button(
                label,
                key=f"preset_{label.split()[0].lower()}",
                type="primary" if chosen else "secondary",
                on_click=_use_index,
                args=(workspace, preset),
            )
        st.button(
            "Reset",
            key="reset_search",
            type="tertiary",
            help="Puts every knob of the search and the answer back to its default; the index stays.",
            on_click=_reset_search,
        )


def _search_knobs() -> None:
    settings = session.settings()
    st.subheader("Search")
    _slider(
        "dense_candidates",
        "Dense candidates",
        "How many passages the search by meaning hands on; 0 switches it off.",
        5,
    )
    _slider(
        "sparse_candidates",
        "Sparse candidates",
        "How many passages the search by words hands on; 0 switches it off.",
        5,
    )
    _choice("fusion", "Fusion", list(FUSIONS), "How the two lists become one.", FUSIONS)
    joined = settings.fusion == "rrf"
    _slider(
        "rrf_k", "RRF k", "The larger k is, the less the first places count against the later ones.", 1, 200, not joined
    )
    with st.expander("Weights", key="weights"):
        _slider("dense_weight", "Dense list", "How much the dense list counts in the fusion.", 0.1, 3.0, not joined)
        _slider("sparse_weight", "Sparse list", "How much the sparse list counts in the fusion.", 0.1, 3.0, not joined)
        _slider("heading_weight", "Headings", "How much a word in a heading counts in the sparse list.", 1)


def _answer_knobs(workspace: Workspace) -> None:
    st.subheader("Answer")
    _slider("prompt_chunks", "Passages to the prompt", "How many passages of the fused list the answer may use.", 1)
    floor = "Below this similarity of the best dense passage, a question whose words are missing too is declined."
    _slider("refusal_floor", "Refusal floor", floor, 0.01)
    choices = answering.choices(workspace.environment)
    _choice(
        "answerer",
        "Answered by",
        choices,
        "A language model where there is a key, else sentences quoted as they stand.",
        ANSWERERS,
    )


def _index_form(workspace: Workspace) -> None:
    st.subheader("Index")
    with st.form("index", border=False):
        _select("chunker", "Chunker", list(CHUNKERS), "How documents are cut into passages.")
        _number("chunk_size", "Size", "The most characters a passage may have.", 100)
        _number(
            "chunk_overlap",
            "Overlap",
            "How many characters a passage repeats of the one before, at most half its size.",
            10,
        )
        _select(
            "embedder",
            "Embedder",
            embedders.available(workspace.environment),
            "The model that turns text into vectors.",
        )
        _select("language", "Language", list(LANGUAGES), "Whose word endings are ignored when words are compared.")
        with st.container(horizontal=True):
            _number("bm25_k1", "BM25 k1", "How much a repeated word still adds.", 0.1)
            _number("bm25_b", "BM25 b", "How much long passages are held back.", 0.05)
        st.caption("Changes here take another index. One that was built before is used at once.")
        st.form_submit_button(
            "Build index", key="build_index", on_click=_submit_index, args=(workspace,), width="stretch"
        )
    _error("index_error")


def _error(name: str) -> None:
    """What was wrong with the last change, until the next one."""
    error = st.session_state.get(name)
    if error:
        st.error(plain(error))


def key(name: str) -> str:
    """The key of a knob's widget at this time."""
    return f"_{name}_{session.generation()}"


def _slider(name: str, label: str, text: str, step: float, most: float | None = None, disabled: bool = False) -> None:
    """A live knob; the slider ends at ``most`` unless the value lies beyond."""
    low, high, value = _numbers(name, type(step))
    high = max(type(step)(most), value) if most is not None else high
    st.slider(label, low, high, value, step, key=key(name), help=text, disabled=disabled, on_change=_put, args=(name,))


def _choice(name: str, label: str, options: list[str], text: str, words: dict[str, str]) -> None:
    """A live knob with a few values to choose from."""
    options, position = _options(name, options)
    st.selectbox(
        label,
        options,
        position,
        lambda option: words.get(option, option),
        key(name),
        text,
        on_change=_put,
        args=(name,),
    )


def _put(name: str) -> None:
    session.change({name: st.session_state[key(name)]})


def _select(name: str, label: str, options: list[str], text: str) -> None:
    """A knob of the form with a few values to choose from."""
    options, position = _options(name, options)
    st.selectbox(label, options, position, key=key(name), help=text)


def _number(name: str, label: str, text: str, step: float) -> None:
    """A knob of the form that is a number."""
    low, high, value = _numbers(name, type(step))
    st.number_input(label, low, high, value, step=step, key=key(name), help=text)


def _numbers(name: str, kind: type) -> tuple[float, float, float]:
    """Least, most and present value of a knob, all of one type, as Streamlit wants them."""
    low, high, value = (kind(number) for number in (*LIMITS[name], getattr(session.settings(), name)))
    return low, high, value


def _options(name: str, options: list[str]) -> tuple[list[str], int]:
    """The options and the position of the present value, which is one of them even where it is not offered here."""
    value = getattr(session.settings(), name)
    options = options if value in options else [*options, value]
    return options, options.index(value)


def _submit_index(workspace: Workspace) -> None:
    values = {name: st.session_state[key(name)] for name in INDEX_KNOBS}
    wanted, st.session_state["index_error"] = attempt(lambda: session.settings().changed(values))
    if wanted:
        _use_index(workspace, wanted)


def _reset_search() -> None:
    kept = {name: getattr(session.settings(), name) for name in INDEX_KNOBS}
    session.take(replace(FUNNEL, **kept))


def _use_index(workspace: Workspace, wanted: Settings) -> None:
    """Bring the wanted settings' index up to date, then take them; until it is built the old ones hold."""
    jobs.begin(partial(_build, workspace, wanted), partial(_take, wanted))


def _build(workspace: Workspace, wanted: Settings, progress: jobs.Progress) -> SyncReport:
    return workspace.build(wanted, progress, other_embedder=True)


def _take(wanted: Settings, report: SyncReport) -> None:
    session.take(wanted)
    st.session_state["index_error"] = " ".join(f"{failure.name}: {failure.reason}." for failure in report.failed)
