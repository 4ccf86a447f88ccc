"""What the shipped corpus and its questions promise, with the real model, the real server and the default settings.

Not figures to be proud of but floors: a change that takes answers away fails here.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from weaviate import WeaviateClient

from rag.environment import SAMPLES_FOLDER, Environment
from rag.evaluation import benchmarks
from rag.evaluation.gold import QuoteFinder, relevant_chunks
from rag.evaluation.sets import read_set
from rag.funnel import run_funnel
from rag.library import add_paths
from rag.settings import FUNNEL
from rag.workspace import Workspace
from tests.support import client, cut, open_test_workspace

__all__ = ["client"]
TOP = 4


@pytest.fixture(scope="module")
def workspace(client: WeaviateClient, environment: Environment) -> Iterator[Workspace]:
    workspace = open_test_workspace(client, environment)
    add_paths(workspace.catalogue, [SAMPLES_FOLDER])
    workspace.build(FUNNEL)
    yield workspace


def test_at_least_36_of_48_cite_the_gold_and_9_of_12_are_declined(
    client: WeaviateClient, environment: Environment
) -> None:
    record, _, failed = benchmarks.answers(environment, client, FUNNEL, None, None, lambda message, fraction: None)
    counts = record["counts"]
    assert not failed
    assert counts["cited gold"] >= 36
    assert counts["declined"] >= 9


def test_dense_and_sparse_alone_each_miss_at_least_8_at_top_4_and_not_the_same(workspace: Workspace) -> None:
    documents = [workspace.catalogue.document(record.id) for record in workspace.catalogue.documents()]
    finder = QuoteFinder(documents)
    chunks = [chunk for document in documents for chunk in cut(document, FUNNEL)]
    missed: dict[str, set[str]] = {"dense": set(), "sparse": set()}
    for question in read_set(benchmarks.SHIPPED_QUESTIONS):
        if question.history or not question.gold:
            continue
        wanted = relevant_chunks(question, finder, chunks)
        trace = run_funnel(question.question, (), FUNNEL, workspace, answer=False)
        for name, ids in missed.items():
            top = {hit.chunk_id for hit in trace.stage(name).hits[:TOP]}
            if not all(top & passage for passage in wanted):
                ids.add(question.id)
    assert len(missed["dense"]) >= 8 and len(missed["sparse"]) >= 8
    assert missed["dense"] - missed["sparse"] and missed["sparse"] - missed["dense"]


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("What does Paws Mode do?", "looks after a companion animal that has to wait unattended in the parked car"),
        (
            "how do I stop the cabin from frying in the summer?",
            "prevents the interior of the unattended, parked vehicle from overheating",
        ),
        (
            "does Perch Guard work if I haven't put a USB drive in the car?",
            "Without a storage device, Perch Guard remains useful.",
        ),
    ],
)
def test_the_three_questions_of_a_first_visit_are_answered(workspace: Workspace, question: str, quote: str) -> None:
    trace = run_funnel(question, (), FUNNEL, workspace)
    cited = next(citation for citation in trace.answer.citations if quote in citation.sentence)
    source = trace.prompt_chunks()[cited.number - 1]
    assert quote in source.text and source.document == "lapwing-owners-manual.pdf"
    assert trace.answer.state == "grounded"
