"""The whole funnel on a real server with stub models: stages, re-use, and questions nobody expects."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import ProviderError, RagError, StoreError
from rag.funnel import StageMemory, run_funnel
from rag.generation import REFUSAL
from rag.schema import Trace, Turn
from rag.workspace import Workspace
from tests.support import StubEmbedder, client, m1, open_test_workspace, settings_for, write_files

__all__ = ["client"]
QUESTION = "How long will it take to charge from a household socket?"
SETTINGS = settings_for(answerer="extractive")


@pytest.fixture(scope="module")
def shared(client: WeaviateClient, environment: Environment) -> Workspace:
    """The FAQ and the release notes, indexed once."""
    workspace = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64))
    library.add_paths(workspace.catalogue, [SAMPLES_FOLDER / "faq.csv", SAMPLES_FOLDER / "release-notes.md"])
    workspace.build(SETTINGS)
    return workspace


class Calls(Counter):
    """How often the store was searched and the question embedded."""

    def __init__(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
        super().__init__()
        for owner, name in (
            (workspace.store, "dense"), (workspace.store, "sparse"), (workspace.embedder("m1"), "embed_query"),
        ):  # fmt: skip
            monkeypatch.setattr(owner, name, self._counting(name, getattr(owner, name)))

    def _counting(self, name: str, real):
        def call(*arguments: object, **options: object):
            self[name] += 1
            return real(*arguments, **options)

        return call


def ask(workspace: Workspace, question: str = QUESTION, memory: StageMemory | None = None, **changes: object) -> Trace:
    return run_funnel(question, (), SETTINGS.changed(changes), workspace, memory)


def ids(trace: Trace, stage: str) -> list[str]:
    return [hit.chunk_id for hit in trace.stage(stage).hits]


def reused(trace: Trace) -> dict[str, bool]:
    return {stage.name: stage.reused for stage in trace.stages}


def without_times(trace: Trace) -> Trace:
    return replace(trace, stages=tuple(replace(stage, seconds=0.0, reused=False) for stage in trace.stages))


def test_a_trace_holds_every_stage_in_order_with_the_chunks_of_every_list(shared: Workspace) -> None:
    trace = ask(shared)
    assert [stage.name for stage in trace.stages] == ["embed", "dense", "sparse", "fused", "prompt", "generate"]
    assert [stage.variant for stage in trace.stages] == ["m1", "m1", "bm25", "rrf", "first 4", "extractive"]
    count = shared.store.count(SETTINGS.fingerprint())
    assert len(trace.stage("dense").hits) == min(50, count)
    assert set(ids(trace, "fused")) == {*ids(trace, "dense"), *ids(trace, "sparse")} == set(trace.chunks)
    assert ids(trace, "prompt") == ids(trace, "fused")[:4] == [chunk.id for chunk in trace.prompt_chunks()]
    assert all(stage.seconds > 0 and not stage.reused for stage in trace.stages)
    for stage in trace.stages:
        assert [hit.rank for hit in stage.hits] == list(range(1, len(stage.hits) + 1))
    # The model and the page see the place in the fused list, and no score that a prompt could leak.
    assert {hit.score for hit in trace.stage("prompt").hits} == {None}
    best = trace.stage("fused").hits[0]
    assert best.score == pytest.approx(sum(1 / (60 + leg["rank"]) for leg in best.why.values()))
    assert trace.index == {
        "fingerprint": SETTINGS.fingerprint(),
        "plan": SETTINGS.plan(),
        "revision": trace.index["revision"],
    }
    assert (trace.question, trace.settings) == (QUESTION, SETTINGS.to_json())
    assert trace.queries[0].text == QUESTION and trace.queries[0].origin == "asked"
    assert "household socket" in trace.prompt_chunks()[0].text


def test_a_trace_goes_to_json_and_back(shared: Workspace) -> None:
    trace = run_funnel(QUESTION, (Turn("user", "Hello"), Turn("assistant", "Good day")), SETTINGS, shared)
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace


def test_without_an_answer_the_trace_ends_at_the_prompt(shared: Workspace) -> None:
    trace = run_funnel(QUESTION, (), SETTINGS, shared, answer=False)
    assert trace.stages[-1].name == "prompt" and trace.answer is None
    assert Trace.from_json(trace.to_json()) == trace


def test_a_moved_knob_runs_only_what_it_touches(shared: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, calls = StageMemory(), Calls(shared, monkeypatch)
    first = ask(shared, memory=memory)
    assert calls == {"dense": 1, "sparse": 1, "embed_query": 1}
    assert not any(reused(first).values())

    again = ask(shared, memory=memory)
    assert all(reused(again).values()) and without_times(again) == without_times(first)

    other_k = ask(shared, memory=memory, rrf_k=1)
    assert {name for name, kept in reused(other_k).items() if kept} >= {"embed", "dense", "sparse"}
    assert not reused(other_k)["fused"]
    assert calls == {"dense": 1, "sparse": 1, "embed_query": 1}
    assert other_k.stage("fused").hits[0].score == pytest.approx(
        sum(1 / (1 + leg["rank"]) for leg in other_k.stage("fused").hits[0].why.values())
    )

    shorter = ask(shared, memory=memory, sparse_candidates=5)
    assert (reused(shorter)["dense"], reused(shorter)["sparse"]) == (True, False)
    assert len(shorter.stage("sparse").hits) == 5
    assert calls == {"dense": 1, "sparse": 2, "embed_query": 1}
    shorter = ask(shared, memory=memory, dense_candidates=5)
    assert (reused(shorter)["dense"], reused(shorter)["sparse"], reused(shorter)["embed"]) == (False, True, True)
    assert calls == {"dense": 2, "sparse": 2, "embed_query": 1}

    more = ask(shared, memory=memory, prompt_chunks=6)
    assert reused(more)["fused"] and not reused(more)["prompt"] and len(more.prompt_chunks()) == 6
    assert calls == {"dense": 2, "sparse": 2, "embed_query": 1}

    other = ask(shared, "Which tyres fit?", memory)
    assert not any(reused(other).values()) and calls == {"dense": 3, "sparse": 3, "embed_query": 2}


def test_after_a_sync_nothing_is_reused(client: WeaviateClient, environment: Environment, tmp_path: Path) -> None:
    workspace, memory = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64)), StageMemory()
    folder = write_files(tmp_path / "files", a_txt="Kilns are hot.", b_txt="Glaze is glass.")

    def sync() -> None:
        library.add_paths(workspace.catalogue, [folder])
        workspace.build(SETTINGS)

    sync()
    assert len(ask(workspace, "Are kilns hot?", memory).chunks) == 2
    sync()  # nothing changed
    assert all(reused(ask(workspace, "Are kilns hot?", memory)).values())
    (folder / "a.txt").unlink()
    sync()
    trace = ask(workspace, "Are kilns hot?", memory)
    assert not any(reused(trace).values())
    assert [chunk.document for chunk in trace.chunks.values()] == ["b.txt"]


def test_chunks_that_a_sync_removes_between_search_and_reading_fall_out_of_the_lists(
    shared: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = ids(ask(shared), "dense")[:2]
    real = shared.store.chunks
    monkeypatch.setattr(
        shared.store, "chunks", lambda index, wanted: {k: v for k, v in real(index, wanted).items() if k not in gone}
    )
    trace = ask(shared)
    assert not {*gone} & {*ids(trace, "dense"), *ids(trace, "sparse"), *ids(trace, "fused"), *trace.chunks}
    assert trace.stage("dense").hits[0].rank == 1 and len(trace.prompt_chunks()) == 4


def test_an_empty_workspace_declines_with_a_hint_to_add_documents(
    client: WeaviateClient, environment: Environment
) -> None:
    trace = ask(open_test_workspace(client, environment, m1()), "What is pasta made of?")
    assert (trace.answer.text, trace.answer.state, trace.answer.citations) == (REFUSAL, "refused", ())
    assert [(stage.name, stage.note) for stage in trace.stages] == [
        ("generate", "There are no documents yet. Add some on the Documents page, or run `python -m rag index PATH`.")
    ]
    assert Trace.from_json(trace.to_json()) == trace


def test_settings_without_an_index_say_how_to_build_it(shared: Workspace) -> None:
    with pytest.raises(
        RagError, match=r"There is no index for these settings yet .* `python -m rag index` with the same --set"
    ):
        ask(shared, chunk_size=500)


def test_where_the_embedder_fails_the_sparse_list_answers_under_a_note(shared: Workspace) -> None:
    memory, model = StageMemory(), shared.embedder("m1")
    model.fail_from = 1
    try:
        trace = ask(shared, memory=memory)
        assert [stage.name for stage in trace.stages][:4] == ["embed", "sparse", "fused", "prompt"]
        assert trace.stage("embed").note == "No dense list: m1 timed out. Try again."
        assert trace.stage("dense") is None
        assert ids(trace, "fused") == ids(trace, "sparse") != []
        # Without another list a failure is no "not found".
        for changes in ({"fusion": "dense"}, {"sparse_candidates": 0}):
            with pytest.raises(ProviderError, match="m1 timed out"):
                ask(shared, **changes)
    finally:
        model.fail_from = None
    repaired = ask(shared, memory=memory)
    assert not reused(repaired)["embed"] and reused(repaired)["sparse"] and len(repaired.stage("dense").hits) > 0


def test_a_store_that_fails_is_no_empty_list(shared: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise StoreError("Weaviate could not search by keywords: gone.")

    monkeypatch.setattr(shared.store, "sparse", fail)
    with pytest.raises(StoreError, match="could not search by keywords"):
        ask(shared)


def test_a_leg_switched_off_has_no_stage_and_makes_no_call(shared: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(shared, monkeypatch)
    sparse = ask(shared, dense_candidates=0)
    assert [stage.name for stage in sparse.stages][:3] == ["sparse", "fused", "prompt"]
    assert calls == {"sparse": 1} and ids(sparse, "fused") == ids(sparse, "sparse")
    dense = ask(shared, sparse_candidates=0, fusion="dense")
    assert [stage.name for stage in dense.stages][:4] == ["embed", "dense", "fused", "prompt"]
    assert calls == {"sparse": 1, "dense": 1, "embed_query": 1}
    assert [hit.score for hit in dense.stage("fused").hits] == [hit.score for hit in dense.stage("dense").hits]
    nothing = ask(shared, dense_candidates=0, fusion="dense")
    assert (
        nothing.stage("fused").note
        == "Every list that the fusion takes is switched off: raise its candidates or its weight."
    )


def test_weights_move_the_fused_list_between_the_legs(shared: Workspace) -> None:
    assert ids(ask(shared, sparse_weight=0), "fused") == ids(ask(shared), "dense")
    assert ids(ask(shared, dense_weight=0), "fused") == ids(ask(shared), "sparse")


def test_questions_from_eight_threads_get_the_answers_they_would_get_alone(shared: Workspace) -> None:
    words = ("tyres", "keys", "doors", "seats", "lights", "fuses", "range", "towing")
    asked = [f"{QUESTION} {word}" for word in words] * 3
    alone = {question: without_times(ask(shared, question)) for question in asked[:8]}
    memory = StageMemory()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: ask(shared, question, memory), asked))
    assert all(without_times(trace) == alone[trace.question] for trace in together)


def test_a_memory_forgets_the_oldest_and_keeps_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.funnel.REMEMBERED", 2)
    memory = StageMemory()
    with pytest.raises(ZeroDivisionError):
        memory.recall("a", lambda: 1 / 0)
    assert [memory.recall(key, lambda: 1)[1] for key in ("a", "b", "a", "c", "a", "b")] == [
        False,
        False,
        True,
        False,
        True,
        False,
    ]


def test_passages_in_one_section_reach_the_prompt_as_that_section_and_the_cut_comes_after(shared: Workspace) -> None:
    small = settings_for(answerer="extractive", chunk_size=120, chunk_overlap=0)
    shared.build(small)
    plain = run_funnel(QUESTION, (), small, shared, answer=False)
    trace = run_funnel(QUESTION, (), small.changed({"return_parent": "section"}), shared, answer=False)
    assert ids(trace, "fused") == ids(plain, "fused")  # the lists stay as they are
    sources = trace.prompt_chunks()
    sections = [(chunk.document, chunk.section) for chunk in sources]
    assert len(set(sections)) == len(sections) == 4
    best = {}
    for chunk_id in ids(plain, "fused"):
        chunk = plain.chunks[chunk_id]
        best.setdefault((chunk.document, chunk.whole_section), chunk_id)
    numbers = trace.source_numbers()
    assert [numbers[chunk_id] for chunk_id in list(best.values())[:4]] == [1, 2, 3, 4]
    for source in sources:
        text = shared.catalogue.document(source.document_id).text
        assert text[source.start : source.end] == source.text
        assert all(
            source.start <= trace.chunks[key].start and trace.chunks[key].end <= source.end
            for key, number in numbers.items()
            if number == sources.index(source) + 1
        )
    count = len(best)
    assert trace.stage("prompt").note == f"{len(ids(trace, 'fused'))} passages lie in {count} sections."
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
