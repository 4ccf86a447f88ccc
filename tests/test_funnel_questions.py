"""Questions nobody expects: blank, without keywords, of ten thousand words, or not quite text."""

from __future__ import annotations

import json
import math

import pytest
from weaviate import WeaviateClient

from rag import library
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError
from rag.funnel import run_funnel
from rag.generation import REFUSAL
from rag.schema import Trace
from rag.workspace import Workspace
from tests.support import StubEmbedder, client, m1, open_test_workspace, settings_for, write_files

__all__ = ["client"]
SETTINGS = settings_for(answerer="extractive")


@pytest.fixture(scope="module")
def shared(client: WeaviateClient, environment: Environment) -> Workspace:
    """The FAQ, indexed once."""
    workspace = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64))
    library.add_paths(workspace.catalogue, [SAMPLES_FOLDER / "faq.csv"])
    workspace.build(SETTINGS)
    return workspace


def ask(workspace: Workspace, question: str, **changes: object) -> Trace:
    return run_funnel(question, (), SETTINGS.changed(changes), workspace)


def ids(trace: Trace, stage: str) -> list[str]:
    return [hit.chunk_id for hit in trace.stage(stage).hits]


@pytest.mark.parametrize("question", ["", "  \n\t", "\0", "\ud800"])
def test_a_blank_question_is_refused_with_a_hint_and_without_a_call(
    shared: Workspace, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """B13: an empty question, and one of spaces."""
    for owner, name in ((shared.store, "dense"), (shared.store, "sparse"), (shared.embedder("m1"), "embed_query")):
        monkeypatch.setattr(owner, name, lambda *arguments: pytest.fail("called"))
    with pytest.raises(RagError, match=r"The question is blank\. Type a few words to search for\."):
        ask(shared, question)


@pytest.fixture(scope="module")
def guide(client: WeaviateClient, environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64))
    folder = write_files(tmp_path_factory.mktemp("guide"), a_txt="To be or not to be, a short guide")
    library.add_paths(workspace.catalogue, [folder])
    workspace.build(SETTINGS)
    return workspace


@pytest.mark.parametrize("question", ["to be or not to be", "who is it?", "???", "\N{AUTOMOBILE}"])
def test_a_question_without_keywords_still_has_its_dense_list(guide: Workspace, question: str) -> None:
    """B21: questions of common words and marks only."""
    note = "No keyword matched: the question has only common words and marks."
    trace = ask(guide, question)
    assert (trace.stage("sparse").hits, trace.stage("sparse").note) == ((), note)
    assert len(trace.stage("dense").hits) == 1 and math.isfinite(trace.stage("dense").hits[0].score)
    assert trace.stage("fused").hits[0].score == pytest.approx(1 / 61)
    only = ask(guide, question, fusion="sparse")
    assert (only.stage("fused").hits, only.prompt_chunks(), only.stage("sparse").note) == ((), (), note)
    assert (only.answer.text, only.answer.state) == (REFUSAL, "refused")


def test_a_question_whose_words_stand_nowhere_says_so(guide: Workspace) -> None:
    assert ask(guide, "xylophone tuning").stage("sparse").note == "No keyword matched."


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("\0How do tyres\0 wear?", "How do tyres wear?"),
        ("tyres \ud83d and \udc80 wear", "tyres  and  wear"),
        ('<b>"tyres"</b> AND (NOT *wear:~^2)', '<b>"tyres"</b> AND (NOT *wear:~^2)'),
    ],
)
def test_questions_are_cleaned_and_never_read_as_a_query_language(shared: Workspace, asked: str, searched: str) -> None:
    trace = ask(shared, asked)
    assert trace.question == searched
    assert len(trace.stage("sparse").hits) > 0 and len(trace.stage("dense").hits) > 0
    json.dumps(trace.to_json()).encode()


def test_a_question_of_ten_thousand_words_is_searched_by_its_first_terms(shared: Workspace) -> None:
    trace = ask(shared, "household socket charging " + " ".join(f"word{number}" for number in range(10_000)))
    assert "socket" in trace.chunks[ids(trace, "sparse")[0]].text
    assert len(trace.stage("dense").hits) > 0
