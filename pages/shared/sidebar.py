"""The knobs. Those of the search act at once; those of the index wait for a button, because they need another index,
which is built in the background where there is none yet.

Streamlit forgets a widget's value when its page is left, so the session's one frozen Settings hold them: each widget
begins with the value there, and puts what a person changes back. Where the settings change by other means, the widgets'
keys change too, so that they begin anew; nothing is ever written into a widget, which a run broken off by a click could
leave half done.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared import indexes, session, work_view
from pages.shared.errors import attempt
from pages.shared.knobs import Values, chosen_values, draw_chunker_knobs, with_chunker
from pages.shared.session import INDEX_KNOBS
from pages.shared.text import plain
from rag import answering, embedders
from rag.analysis import LANGUAGES
from rag.chunkers import CHUNKERS
from rag.settings import BASELINE, CHOICES, FUNNEL, LIMITS, Settings
from rag.workspace import Workspace

OTHER_KNOBS = ("embedder", "language", "bm25_k1", "bm25_b")
PRESETS = {"Full funnel": FUNNEL, "Baseline": BASELINE}
FUSIONS = {"rrf": "Both, by reciprocal rank (RRF)", "dense": "Dense list alone", "sparse": "Sparse list alone"}
PARENTS = {
    "auto": "Automatic",
    "none": "The passage alone",
    "window": "The sentences around it",
    "paragraph": "Its paragraph",
    "section": "Its section",
}
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
            settings = session.settings()
            chosen = replace(settings, overrides=preset.overrides) == preset
            st.button(
                label,
                key=f"preset_{label.split()[0].lower()}",
                type="primary" if chosen else "secondary",
                on_click=_use_preset,
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
    _choice(
        "return_parent",
        "Hand over",
        list(CHOICES["return_parent"]),
        "What the answer is given in the place of a passage found: larger is clearer, but leaves room for less. "
        "Automatic is the paragraph where sentences are indexed, else the passage.",
        PARENTS,
    )
    _slider(
        "parent_limit",
        "Most characters",
        "Where its surroundings are larger, the passage alone is handed over.",
        200,
        8000,
        session.settings().return_parent == "none",
    )
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
    """The knobs of the index; what is set here is taken with the button."""
    st.subheader("Index")
    with st.container(key="index_form"):
        chunker = _select("chunker", "Chunker", list(CHUNKERS), "How documents are cut into passages.")
        own = draw_chunker_knobs(chunker, session.settings(), key)
        values: Values = {
            "embedder": _select(
                "embedder",
                "Embedder",
                embedders.available(workspace.environment),
                "The model that turns text into vectors.",
            ),
            "language": _select(
                "language", "Language", list(LANGUAGES), "Whose word endings are ignored when words are compared."
            ),
        }
        with st.container(horizontal=True):
            values["bm25_k1"] = _number("bm25_k1", "BM25 k1", "How much a repeated word still adds.", 0.1)
            values["bm25_b"] = _number("bm25_b", "BM25 b", "How much long passages are held back.", 0.05)
        wanted, _ = attempt(lambda: with_chunker(session.settings(), chunker, own).changed(values))
        st.button(
            "Use this index" if wanted and _is_built(workspace, wanted) else "Build index",
            key="build_index",
            on_click=_submit_index,
            args=(workspace,),
            width="stretch",
        )
        if wanted and wanted.fingerprint() != session.settings().fingerprint():
            in_use = indexes.plan_words(session.settings().plan(), indexes.names(workspace))
            st.caption(plain(f"Answers still come from {in_use}."))
        work_view.draw_build(workspace)
        st.caption("One that was built before is used at once. Another is built in the background; the chat goes on.")
    _error("index_error")


def _is_built(workspace: Workspace, wanted: Settings) -> bool:
    """Whether it is another index than the one in use, and is there."""
    changed = wanted.fingerprint() != session.settings().fingerprint()
    return changed and workspace.catalogue.index(wanted.fingerprint()) is not None


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


def _select(name: str, label: str, options: list[str], text: str) -> str:
    """A knob of the index with a few values to choose from."""
    options, position = _options(name, options)
    return st.selectbox(label, options, position, key=key(name), help=text)


def _number(name: str, label: str, text: str, step: float) -> float:
    """A knob of the index that is a number."""
    low, high, value = _numbers(name, type(step))
    return st.number_input(label, low, high, value, step=step, key=key(name), help=text)


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
    """Take up what the widgets hold now: what was typed last may be newer than what was drawn."""
    settings, chunker = session.settings(), st.session_state[key("chunker")]
    own = chosen_values(chunker, settings, key)
    values = {name: st.session_state[key(name)] for name in OTHER_KNOBS}
    wanted, st.session_state["index_error"] = attempt(lambda: with_chunker(settings, chunker, own).changed(values))
    if wanted:
        indexes.use(workspace, wanted)


def _use_preset(workspace: Workspace, preset: Settings) -> None:
    """Every knob as the preset has it; the full funnel heeds the documents that have a chunker of their own."""
    wanted, st.session_state["index_error"] = attempt(lambda: workspace.settings() if preset == FUNNEL else preset)
    if wanted:
        indexes.use(workspace, wanted)


def _reset_search() -> None:
    kept = {name: getattr(session.settings(), name) for name in (*INDEX_KNOBS, "chunker_parameters", "overrides")}
    session.take(replace(FUNNEL, **kept))
