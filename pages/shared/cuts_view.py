"""The Cuts part of the page: one document, cut by one or two chunkers while one looks; no index is needed for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from pages.shared.chunk_view import Part, cuts_html, figures_html, parts, tree_html
from pages.shared.documents import recommendation
from pages.shared.errors import attempt, fragment
from pages.shared.jobs import Job, Progress
from pages.shared.knobs import draw_chunker_knobs, with_chunker
from pages.shared.names import titles
from pages.shared.text import plain
from rag import chunkers
from rag.chunkers import CHUNKERS
from rag.chunkers.measures import Tokens
from rag.schema import Chunk, Document, digest
from rag.settings import Settings
from rag.text import shortened
from rag.workspace import Workspace

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

CUTS_KEPT, DOCUMENTS_KEPT = 64, 16
COLORS = ("#0f8a7c", "#b8741a")
MOST_BINS, PATH_CHARACTERS = 40, 80


@dataclass(frozen=True)
class Cut:
    """A document as one chunker cuts it: each chunk with its tokens by the embedder's count, and what is embedded
    beside its text; or the sentence on why it cannot."""

    name: str
    chunks: tuple[Chunk, ...] = ()
    tokens: tuple[int, ...] = ()
    embedded: str = ""
    error: str = ""


def draw(workspace: Workspace, settings: Settings) -> None:
    """The whole part; what is changed in it draws it alone anew."""
    records = {record.id: record for record in workspace.catalogue.documents()}
    if not records:
        st.info("There are no documents yet. Add files under Documents; how they are cut is then shown here.")
        return
    called = titles(records.values())
    fragment(_draw)(workspace, settings, {one: called[record.source] for one, record in records.items()})


def _draw(workspace: Workspace, settings: Settings, names: dict[str, str]) -> None:
    longest = list(names)
    wanted = st.session_state.get("_document")
    if st.session_state.get("_cut_document") not in names:
        # Set, not only forgotten: the browser would go on to show the one that is gone.
        st.session_state["_cut_document"] = wanted if wanted in names else longest[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Document", longest, format_func=lambda one: names.get(one, ""), key="_cut_document")
        second = st.toggle("Two chunkers side by side", key="_two")
    document = _document(workspace, chosen)
    if document is None:
        st.info("This document was removed meanwhile. Choose another.")
        return
    cuts = _draw_choices(workspace, settings, document, second)
    best = recommendation(workspace, chosen)
    with st.container():  # of what is not always there, so that what follows keeps its place
        if best:
            st.caption(f"Recommended for this document: {plain(best.chunker)}. {plain(best.reason)}")
        if len({_places(cut) for cut in cuts}) < len(cuts) and not any(cut.error for cut in cuts):
            st.info("The same cuts.")
    with st.container():
        part = _draw_pager(document)
    for cut, column in zip(cuts, st.columns(len(cuts))):
        with column:
            if cut.error:
                st.error(plain(cut.error))
            else:
                st.html(cuts_html(cut.chunks, document, part))
    st.html(
        '<p class="rf-key"><i class="rf-cut-0"></i><i class="rf-cut-1"></i> one chunk after the other '
        '<i class="rf-overlap"></i> overlap <i class="rf-repeated"></i> a header that is repeated; '
        "each begins with its number and its characters</p>"
    )
    drawn = [cut for cut in cuts if not cut.error]
    if drawn:
        st.plotly_chart(histogram(drawn), key="sizes", config={"displayModeBar": False})
    tree = tree_html(document)
    if tree:
        with st.expander(f"Sections of {plain(names[chosen])}", key="sections"):
            st.html(tree)


def _draw_choices(workspace: Workspace, settings: Settings, document: Document, second: bool) -> list[Cut]:
    """One chunker with its knobs in each column, and the figures of what it makes of the document."""
    own = settings.for_document(document.source)
    other = next((name for name in CHUNKERS if name != own.chunker), own.chunker)
    cuts = []
    columns = st.columns(2 if second else 1)
    for side, beginning, column in zip("ab", (own.chunker, other), columns):
        with column, st.container(border=True, key=f"side_{side}"):
            choices = list(CHUNKERS)
            chunker = st.selectbox("Chunker", choices, choices.index(beginning), key=f"_cut_{side}")
            with st.container(horizontal=True, key=f"knobs_{side}"):
                values = draw_chunker_knobs(chunker, own, lambda name, s=side, c=chunker: f"_cut_{s}_{c}_{name}")
            wanted, error = attempt(lambda: with_chunker(replace(own, overrides=()), chunker, values))
            cut = _cut(workspace, document, wanted) if wanted else Cut(chunker, error=error)
            cuts.append(cut)
            if not cut.error:
                st.html(figures_html([len(chunk.text) for chunk in cut.chunks], cut.tokens))
                if cut.embedded:
                    st.caption(plain(cut.embedded))
    return cuts


def _places(cut: Cut) -> tuple[tuple[int, int, str], ...]:
    return tuple((chunk.start, chunk.end, chunk.header) for chunk in cut.chunks)


def embedded_words(chunks: Sequence[Chunk], texts: Sequence[str]) -> str:
    """What is embedded beside the text of the chunks, whose whole ``texts`` these are, in a sentence; "" for
    nothing."""
    paths = [text.removesuffix(chunk.reading).strip() for chunk, text in zip(chunks, texts, strict=True)]
    path = max(paths, key=len, default="")
    found = [f'its heading path, such as "{shortened(path, PATH_CHARACTERS)}"'] if path else []
    headers = sum(1 for chunk in chunks if chunk.header)
    found += [f"the header that it repeats ({headers} of {len(chunks)} chunks have one)"] if headers else []
    return f"Embedded before the text of a chunk: {' and '.join(found)}." if found else ""


def _draw_pager(document: Document) -> Part:
    """The part of the document that is drawn, with the ways to the next and to any other."""
    found = parts(document)
    key = f"_part_{digest(document.id, document.content_hash)[:12]}"
    if len(found) == 1:
        return found[0]

    def turn(by: int) -> None:
        st.session_state[key] = min(len(found) - 1, max(0, st.session_state[key] + by))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.selectbox(
            "Part of the document", range(len(found)), format_func=lambda place: found[place].label, key=key
        )
        st.button("Earlier", key="earlier", on_click=turn, args=(-1,), disabled=number == 0)
        st.button("Later", key="later", on_click=turn, args=(1,), disabled=number == len(found) - 1)
    return found[number]


def histogram(cuts: Sequence[Cut]) -> Figure:
    """How many chunks there are of which size."""
    # Plotly takes pandas for whole while another session's thread is still importing it; this waits for that to end.
    import pandas  # noqa: F401
    from plotly.graph_objects import Figure, Histogram

    figure = Figure()
    sizes = [[len(chunk.text) for chunk in cut.chunks] for cut in cuts]
    every = [size for own in sizes for size in own]
    wide = max(1, -(-max(every, default=0) // MOST_BINS))  # the same bins for both
    most = max((max(Counter(size // wide for size in own).values()) for own in sizes if own), default=0)
    for color, cut, own in zip(COLORS, cuts, sizes):
        bins = {"start": 0, "end": max(every, default=0) + wide, "size": wide}
        figure.add_trace(Histogram(x=own, name=cut.name, xbins=bins, opacity=0.7, marker_color=color))
    figure.update_layout(
        barmode="overlay",
        height=260,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis_title="characters of a chunk",
        yaxis_title="chunks",
        yaxis_dtick=max(1, round(most / 5)),
        showlegend=True,
        legend={"orientation": "h", "y": 1.15},
    )
    return figure


@st.cache_resource(show_spinner=False, max_entries=DOCUMENTS_KEPT)
def _whole(document_id: str, content_hash: str, _workspace: Workspace) -> Document | None:
    return _workspace.catalogue.document(document_id)


def _document(workspace: Workspace, document_id: str) -> Document | None:
    record = next((record for record in workspace.catalogue.documents() if record.id == document_id), None)
    return _whole(document_id, record.content_hash, workspace) if record else None


@st.cache_resource(show_spinner=False, max_entries=CUTS_KEPT)
def _cutting(
    document_id: str, content_hash: str, plan: str, _workspace: Workspace, _document: Document, _settings: Settings
) -> Job[Cut]:
    def work(progress: Progress) -> Cut:
        progress(f"Cutting by {_settings.chunker}", None)
        chunks = _workspace.chunks(_document, _settings)
        measure = Tokens(_workspace.embedder(_settings.embedder).token_spans(_document.text))
        tokens = tuple(measure(chunk.start, chunk.end) for chunk in chunks)
        texts = chunkers.indexed_texts(_document, chunks, _settings)
        return Cut(_settings.chunker, chunks, tokens, embedded_words(chunks, texts))

    return Job(work)


def _cut(workspace: Workspace, document: Document, settings: Settings) -> Cut:
    """The document's chunks under these settings, worked out once; a failure is tried again with the next look."""
    wanted = (document.id, document.content_hash, settings.fingerprint(), workspace, document, settings)
    cut, error = attempt(_cutting(*wanted).watch)
    if error:
        _cutting.clear(*wanted)
    return cut or Cut(settings.chunker, error=error)
