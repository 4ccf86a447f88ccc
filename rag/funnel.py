"""The order of the stages, which nobody else knows: embed, dense | sparse, fuse, prompt, generate, check."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from rag import answering
from rag.analysis import analyse
from rag.catalogue import IndexRecord
from rag.errors import ProviderError, RagError
from rag.parents import Family, collapse, parent
from rag.reading import View
from rag.retrieval import fuse
from rag.schema import Chunk, Hit, Query, Stage, Trace, Turn, digest
from rag.settings import Settings
from rag.text import clean, is_blank
from rag.workspace import Workspace

MOST_QUERY_TERMS = 128
REMEMBERED = 256
T = TypeVar("T")


class StageMemory:
    """Results of stages by their inputs, so that a moved knob re-runs only what it touches; safe between threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: str, compute: Callable[[], T]) -> tuple[T, bool]:
        """The kept result and True, or a computed one and False. An error is kept by nobody."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key], True
        value = compute()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)
        return value, False


@dataclass(frozen=True)
class _Run:
    """What every stage of one question needs."""

    question: str
    settings: Settings
    workspace: Workspace
    index: IndexRecord
    visible: Mapping[str, frozenset[str]]
    memory: StageMemory

    def stage(self, name: str, inputs: Sequence[object], compute: Callable[[], tuple[Stage, T]]) -> tuple[Stage, T]:
        """The stage and its result, kept under its inputs and the index's revision; timed where it really ran."""

        def timed() -> tuple[Stage, T]:
            begun = time.perf_counter()
            stage, result = compute()
            return replace(stage, seconds=time.perf_counter() - begun), result

        key = digest(name, self.workspace.store.workspace, self.index.fingerprint, self.index.revision, *inputs)
        (stage, result), reused = self.memory.recall(key, timed)
        return (replace(stage, reused=True) if reused else stage), result


def run_funnel(
    question: str,
    history: Sequence[Turn],
    settings: Settings,
    workspace: Workspace,
    memory: StageMemory | None = None,
    answer: bool = True,
    on_text: Callable[[str], object] = lambda text: None,
) -> Trace:
    """Everything that happens to one question, as a Trace.

    ``memory`` keeps stages for the next run; ``answer=False`` ends after the prompt; ``on_text`` gets the answer so far
    while a language model writes it. Raises RagError for a blank question, a missing index or a failing search; an
    embedder that fails is a note beside the sparse list, a language model that fails an answer whose state is failed.
    """
    question = clean(question).strip()
    if is_blank(question):
        raise RagError("The question is blank. Type a few words to search for.")
    memory = memory or StageMemory()

    def search(view: View) -> tuple[_Run, dict[str, Stage], dict[str, Chunk]]:
        run = _Run(question, settings, workspace, view.index, view.visible, memory)
        legs = _retrieve(run)
        chunks = workspace.store.chunks(
            run.index.fingerprint, [hit.chunk_id for stage in legs.values() for hit in stage.hits]
        )
        return run, {name: _still_there(stage, chunks) for name, stage in legs.items()}, chunks

    found = workspace.read(settings, search)
    if found is None:
        return answering.no_documents(question, history, settings)
    run, legs, chunks = found
    fused = _fuse(run, legs)
    prompt, handed_over = _prompt(run, fused, chunks)
    trace = Trace(
        question=question,
        history=tuple(history),
        settings=settings.to_json(),
        index={"fingerprint": run.index.fingerprint, "plan": run.index.plan, "revision": run.index.revision},
        queries=(Query(question),),
        stages=(*legs.values(), fused, prompt),
        chunks={**chunks, **{chunk.id: chunk for chunk in handed_over}},
    )
    return answering.answer(trace, settings, workspace, run.index, run.stage, on_text) if answer else trace


def _retrieve(run: _Run) -> dict[str, Stage]:
    """The embed, dense and sparse stages by name; both searches run at once."""
    with ThreadPoolExecutor(2) as pool:
        sparse = pool.submit(_sparse, run)
        embed, vector = _embed(run)
        dense = _dense(run, vector)
        stages = {"embed": embed, "dense": dense, "sparse": sparse.result()}
    return {name: stage for name, stage in stages.items() if stage is not None}


def _still_there(stage: Stage, chunks: Mapping[str, Chunk]) -> Stage:
    """The stage without hits whose chunks a sync has removed since the search."""
    hits = [hit for hit in stage.hits if hit.chunk_id in chunks]
    return replace(stage, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)))


def _embed(run: _Run) -> tuple[Stage | None, np.ndarray | None]:
    name = run.settings.embedder
    if run.settings.dense_candidates == 0:
        return None, None

    def compute() -> tuple[Stage, np.ndarray]:
        return Stage("embed", name, query=0), run.workspace.embedder(name).embed_query(run.question)

    try:
        return run.stage("embed", (name, run.question), compute)
    except ProviderError as error:
        if run.settings.fusion == "dense" or run.settings.sparse_candidates == 0:
            raise  # there is no other list to fall back on
        return Stage("embed", name, query=0, note=f"No dense list: {error}"), None


def _dense(run: _Run, vector: np.ndarray | None) -> Stage | None:
    if vector is None:
        return None
    limit = run.settings.dense_candidates

    def compute() -> tuple[Stage, None]:
        hits = run.workspace.store.dense(run.index.fingerprint, vector, limit, run.visible)
        return Stage("dense", run.settings.embedder, hits=hits, query=0), None

    return run.stage("dense", (run.settings.embedder, run.question, limit), compute)[0]


def _sparse(run: _Run) -> Stage | None:
    settings = run.settings
    if settings.sparse_candidates == 0:
        return None
    terms = analyse(run.question, settings.language)[:MOST_QUERY_TERMS]

    def compute() -> tuple[Stage, None]:
        hits = run.workspace.store.sparse(
            run.index.fingerprint, terms, settings.sparse_candidates, settings.heading_weight, run.visible
        )
        note = "" if hits else "No keyword matched."
        if not terms:
            note = "No keyword matched: the question has only common words and marks."
        return Stage("sparse", "bm25", hits=hits, query=0, note=note), None

    return run.stage("sparse", (terms, settings.sparse_candidates, settings.heading_weight), compute)[0]


def _fuse(run: _Run, legs: Mapping[str, Stage]) -> Stage:
    settings = run.settings
    lists = {name: legs[name].hits for name in ("dense", "sparse") if name in legs}
    weights = {"dense": settings.dense_weight, "sparse": settings.sparse_weight}
    inputs = (
        settings.fusion,
        settings.rrf_k,
        sorted(weights.items()),
        [(name, [(hit.chunk_id, hit.score) for hit in hits]) for name, hits in lists.items()],
    )

    def compute() -> tuple[Stage, None]:
        hits = fuse(lists, settings.fusion, settings.rrf_k, weights)
        taken = [name for name in lists if (weights[name] > 0 if settings.fusion == "rrf" else name == settings.fusion)]
        note = "" if taken else "Every list that the fusion takes is switched off: raise its candidates or its weight."
        return Stage("fused", settings.fusion, hits=hits, query=0, note=note), None

    return run.stage("fused", inputs, compute)[0]


def _prompt(run: _Run, before: Stage, chunks: Mapping[str, Chunk]) -> tuple[Stage, tuple[Chunk, ...]]:
    """The passages that are handed over: siblings become one on the whole list, and only then it is cut."""
    settings = run.settings
    kind, limit, count = settings.return_parent, settings.parent_limit, settings.prompt_chunks

    def compute() -> tuple[Stage, tuple[Chunk, ...]]:
        families = collapse(before.hits, chunks, kind, limit)
        found = tuple(_handed_over(run, family, chunks) for family in families[:count])
        hits = tuple(
            Hit(chunk.id, rank, None, {"from": before.name, "chunks": [hit.chunk_id for hit in family.hits]})
            for rank, (family, chunk) in enumerate(zip(families, found), 1)
        )
        word = "paragraph" if kind == "auto" else kind
        larger = any(chunk.id not in chunks for chunk in found)
        note = f"{len(before.hits)} passages lie in {len(families)} {word}s." if larger else ""
        return Stage("prompt", f"first {count}", hits=hits, note=note), found

    return run.stage("prompt", (count, kind, limit, [hit.chunk_id for hit in before.hits]), compute)


def _handed_over(run: _Run, family: Family, chunks: Mapping[str, Chunk]) -> Chunk:
    return parent(family, chunks[family.hits[0].chunk_id], lambda key: run.workspace.document(key, run.index.revision))
