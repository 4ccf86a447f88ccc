"""Public retrieval collections in the folder layout of BEIR [Thakur et al. 2021].

``corpus.jsonl`` has ``_id``, ``title`` (may be absent) and ``text``; ``queries.jsonl`` has ``_id`` and ``text``;
``qrels/test.tsv`` has the header ``query-id corpus-id score`` and whole-number grades, 0 or less being not relevant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.evaluation.sets import EvaluationError, read_json_lines, read_lines

HEADER = ["query-id", "corpus-id", "score"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One entry of the corpus; it is searched as it is, never cut."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """A corpus, the queries to ask, and for each of them the grade of every judged passage.

    ``queries`` and ``qrels`` have the same keys: the queries with something relevant. Judged passages that the
    corpus lacks stay in ``qrels``, where they count as never found, which is how published figures are made.
    """

    name: str
    passages: tuple[Passage, ...]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    blank_passages: int = 0
    missing_passages: int = 0
    missing_queries: int = 0
    unjudged_queries: int = 0

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence for everything that was left out or cannot be found."""
        counted = (
            (self.blank_passages, "blank passages were dropped from the corpus"),
            (self.missing_passages, "passages judged relevant are not in the corpus and count as never found"),
            (self.missing_queries, "judged queries are blank or not in queries.jsonl and were not asked"),
            (self.unjudged_queries, "queries have nothing judged relevant and were not asked"),
        )
        return tuple(f"{count} {what}." for count, what in counted if count)


def read_collection(folder: str | Path) -> Collection:
    """The collection in a folder. Raises EvaluationError, naming file and line."""
    folder = Path(folder)
    if not folder.is_dir():
        raise EvaluationError(f"{folder} is no folder; name one with corpus.jsonl, queries.jsonl and qrels/test.tsv.")
    everything = [
        Passage(name, _text(path, line, record, "title", optional=True), _text(path, line, record, "text"))
        for path, line, name, record in _entries(folder / "corpus.jsonl")
    ]
    passages = tuple(passage for passage in everything if passage.title.strip() or passage.text.strip())
    if not passages:
        raise EvaluationError(f"{folder / 'corpus.jsonl'} holds no passage with text.")
    texts = {
        name: text
        for path, line, name, record in _entries(folder / "queries.jsonl")
        if (text := _text(path, line, record, "text").strip())
    }
    judged = _read_qrels(folder / "qrels" / "test.tsv")
    relevant = {query: grades for query, grades in judged.items() if any(grade > 0 for grade in grades.values())}
    qrels = {query: relevant[query] for query in texts if query in relevant}
    if not qrels:
        raise EvaluationError(f"{folder}: no query of queries.jsonl has a relevant passage in qrels/test.tsv.")
    known = {passage.id for passage in passages}
    wanted = {name for grades in qrels.values() for name, grade in grades.items() if grade > 0}
    return Collection(
        name=folder.resolve().name,
        passages=passages,
        queries={query: texts[query] for query in qrels},
        qrels=qrels,
        blank_passages=len(everything) - len(passages),
        missing_passages=len(wanted - known),
        missing_queries=len(relevant.keys() - texts.keys()),
        unjudged_queries=len(texts.keys() - relevant.keys()),
    )


def _entries(path: Path) -> Iterator[tuple[Path, int, str, dict[str, Any]]]:
    lines: dict[str, int] = {}
    for line, record in read_json_lines(path):
        name = _text(path, line, record, "_id")
        if not name.strip():
            raise EvaluationError(f'{path.name}, line {line}: "_id" is blank.')
        if name in lines:
            raise EvaluationError(f'{path.name}, line {line}: the _id "{name}" is already taken by line {lines[name]}.')
        lines[name] = line
        yield path, line, name, record


def _text(path: Path, line: int, record: dict[str, Any], name: str, optional: bool = False) -> str:
    value = record.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str):
        raise EvaluationError(f'{path.name}, line {line}: "{name}" must be a text.')
    return value


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    place = f"qrels/{path.name}"
    qrels: dict[str, dict[str, int]] = {}
    rows = read_lines(path)
    line, first = next(rows, (1, ""))
    if [cell.strip() for cell in first.split("\t")] != HEADER:
        raise EvaluationError(f"{place}, line {line}: the header must be {' '.join(HEADER)}, with tabs between.")
    for line, row in rows:
        cells = [cell.strip() for cell in row.split("\t")]
        if len(cells) != 3 or not all(cells):
            raise EvaluationError(f"{place}, line {line}: three cells with tabs between are needed, none blank.")
        query, passage, score = cells
        try:
            grade = int(score)
        except ValueError:
            raise EvaluationError(f"{place}, line {line}: the score is {score!r}; it must be a whole number.") from None
        if qrels.setdefault(query, {}).setdefault(passage, grade) != grade:
            raise EvaluationError(f"{place}, line {line}: {query} and {passage} were judged with another score before.")
    return qrels
