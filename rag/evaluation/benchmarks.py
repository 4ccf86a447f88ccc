"""``bench retrieval`` and ``bench answers``: the real funnel over the shipped questions or a public collection.

Each has a workspace of its own, dropped afterwards, so the user's documents and indexes are not touched.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weaviate import WeaviateClient

from rag import library
from rag.catalogue import IndexedRecord, IndexRecord
from rag.environment import PROJECT_FOLDER, SAMPLES_FOLDER, Environment
from rag.errors import RagError
from rag.evaluation.bench import Retrieved, format_table, run_retrieval, wanted_documents, wanted_passages
from rag.evaluation.collections import Collection, read_collection
from rag.evaluation.gold import QuoteFinder, missing_gold, relevant_chunks
from rag.evaluation.sets import Question, read_set
from rag.funnel import run_funnel
from rag.indexing import document_frequencies, search_terms
from rag.schema import Chunk, Document, Trace
from rag.settings import Settings
from rag.weaviate.entries import Entry
from rag.weaviate.store import WRITE_BATCH
from rag.workspace import Workspace, open_workspace

Progress = Callable[[str, float | None], None]
SHIPPED_QUESTIONS = PROJECT_FOLDER / "data" / "evaluation" / "manual.jsonl"
UNANSWERABLE = ("unanswerable", "near-miss")
Outcome = tuple[dict[str, Any], str, bool]


def retrieval(
    environment: Environment,
    client: WeaviateClient,
    settings: Settings,
    folder: Path | None,
    limit: int | None,
    progress: Progress,
) -> Outcome:
    """Figures per list as JSON and as text, and whether a question failed."""
    with temporary_workspace(environment, client) as workspace:
        if folder:
            collection = read_collection(folder)
            _index_collection(workspace, collection, settings, progress)
            questions: Mapping[str, Any] = collection.queries
            wanted = {name: wanted_documents(grades) for name, grades in collection.qrels.items()}
            notices = collection.notices
            about: dict[str, Any] = {"collection": str(folder), "passages": len(collection.passages)}
        else:
            documents = _index_samples(workspace, settings, progress)
            shipped = read_set(SHIPPED_QUESTIONS)
            finder = QuoteFinder(documents)
            chunks = [chunk for document in documents for chunk in workspace.chunks(document, settings)]
            questions = {question.id: question.question for question in shipped if not question.history}
            wanted = {q.id: wanted_passages(relevant_chunks(q, finder, chunks)) for q in shipped}
            notices = tuple(missing_gold(shipped, finder))
            about = {"collection": "the shipped questions", "passages": len(chunks)}
        questions = dict(list(questions.items())[:limit])
        result = run_retrieval(
            lambda text: _retrieved(run_funnel(text, (), settings, workspace, answer=False), bool(folder)),
            questions,
            wanted,
            notices=notices,
            about={**about, "settings": settings.to_json()},
            progress=lambda done, total: progress("Asking", done / total),
        )
    return result.to_json(), format_table(result), bool(result.failed)


def answers(
    environment: Environment,
    client: WeaviateClient,
    settings: Settings,
    folder: Path | None,
    limit: int | None,
    progress: Progress,
) -> Outcome:
    """Of the shipped questions: how many answers cite a gold passage, how many were declined, rightly or wrongly."""
    with temporary_workspace(environment, client) as workspace:
        documents = _index_samples(workspace, settings, progress)
        questions = [question for question in read_set(SHIPPED_QUESTIONS) if not question.history][:limit]
        finder = QuoteFinder(documents)
        rows = []
        for number, question in enumerate(questions):
            progress("Asking", number / len(questions))
            rows.append(_answered(question, run_funnel(question.question, (), settings, workspace), finder))
    counts = Counter(row["outcome"] for row in rows)
    answerable = sum(1 for row in rows if row["answerable"])
    text = "\n".join(
        [
            f"answerable questions: {answerable}",
            f"  cited a gold passage   {counts['cited gold']}",
            f"  cited other passages   {counts['cited other']}",
            f"  wrongly declined       {counts['wrongly declined']}",
            f"questions without an answer: {len(rows) - answerable}",
            f"  declined               {counts['declined']}",
            f"  wrongly answered       {counts['wrongly answered']}",
            f"failed: {counts['failed']}",
        ]
    )
    record = {"counts": dict(counts), "questions": rows, "settings": settings.to_json()}
    return record, text, bool(counts["failed"])


def _answered(question: Question, trace: Trace, finder: QuoteFinder) -> dict[str, Any]:
    answer = trace.answer
    cited = {citation.chunk_id for citation in answer.citations}
    answerable = question.kind not in UNANSWERABLE
    if answer.state == "failed":
        outcome = "failed"
    elif answer.state == "refused":
        outcome = "wrongly declined" if answerable else "declined"
    elif not answerable:
        outcome = "wrongly answered"
    else:
        gold = set().union(*relevant_chunks(question, finder, trace.chunks.values()))
        outcome = "cited gold" if cited & gold else "cited other"
    return {
        "id": question.id,
        "kind": question.kind,
        "question": question.question,
        "answerable": answerable,
        "outcome": outcome,
        "answer": answer.text,
    }


def _retrieved(trace: Trace, by_document: bool) -> Retrieved:
    """The trace's lists; of a collection by passage id, which is its document's name."""
    lists = {
        stage.name: [trace.chunks[hit.chunk_id].document if by_document else hit.chunk_id for hit in stage.hits]
        for stage in trace.stages
        if stage.name in ("dense", "sparse", "fused")
    }
    return Retrieved(lists, {stage.name: stage.seconds for stage in trace.stages})


@contextmanager
def temporary_workspace(environment: Environment, client: WeaviateClient) -> Iterator[Workspace]:
    """A workspace of a name nobody else has, removed at the end whatever happens."""
    workspace = open_workspace(environment, client, f"bench-{uuid.uuid4().hex[:12]}")
    try:
        yield workspace
    finally:
        workspace.remove()


def _index_samples(workspace: Workspace, settings: Settings, progress: Progress) -> list[Document]:
    report = library.add_paths(workspace.catalogue, [SAMPLES_FOLDER], progress)
    report += workspace.build(settings, progress)
    if report.failed:
        raise RagError(f"The samples could not be indexed: {report.failed[0].name}: {report.failed[0].reason}")
    return [workspace.catalogue.document(record.id) for record in workspace.catalogue.documents()]


def _index_collection(workspace: Workspace, collection: Collection, settings: Settings, progress: Progress) -> None:
    """Every passage as one chunk, as the collection's judgements take it; the chunker plays no part."""
    embedder = workspace.embedder(settings.embedder)
    chunks = []
    for passage in collection.passages:
        text = "\n".join(part for part in (passage.title, passage.text) if part)
        chunks.append(Chunk(document_id=passage.id, document=passage.id, position=0, start=0, end=len(text), text=text))
    vectors = embedder.embed_documents(
        [chunk.text for chunk in chunks], lambda done, total: progress("Embedding the collection", done / total)
    )
    plan = settings.plan()
    fingerprint = settings.fingerprint()
    workspace.store.prepare_index(fingerprint, plan["bm25_k1"], plan["bm25_b"])
    frequencies: Counter[str] = Counter()
    for begin in range(0, len(chunks), WRITE_BATCH):
        progress("Writing the collection", begin / len(chunks))
        batch = list(zip(chunks, vectors, strict=True))[begin : begin + WRITE_BATCH]
        entries = [Entry(chunk, vector, *search_terms(chunk, settings.language)) for chunk, vector in batch]
        for rejected in workspace.store.write(fingerprint, entries, vectors.shape[1]):
            raise RagError(f"Passage {rejected.chunk.document} could not be stored: {rejected.reason}")
        frequencies += document_frequencies(entries)
    index = IndexRecord(fingerprint, plan, vectors.shape[1], "")
    workspace.catalogue.save_indexed(
        fingerprint, IndexedRecord("collection", "collection", "", len(chunks), True), frequencies
    )
    workspace.catalogue.save_index(index)
