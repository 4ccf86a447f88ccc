"""Asks a retrieval function many questions and measures every ranked list it gives, and the time of each stage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from rag.errors import RagError
from rag.evaluation.bootstrap import Interval, mean_interval, paired_difference
from rag.evaluation.metrics import METRICS, recall_at_k

Item = TypeVar("Item")
LISTS = ("dense", "sparse", "fused")
MEASURED = ("recall@50", "nDCG@10", "MRR@10", "P@1")
COMPARED = "nDCG@10"
RECALL_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one question brought: ranked ids per list, seconds per stage; a list switched off is left out, not empty."""

    lists: Mapping[str, Sequence[str]]
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing to be found: the ids of which any one serves (empty: it can't be found), and its grade."""

    ids: frozenset[str]
    grade: float = 1.0


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question's number per list and metric, None where not scored; ``error`` is empty unless asking failed."""

    id: str
    scores: dict[str, dict[str, float | None]]
    error: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The means per list and metric, differences of nDCG@10, milliseconds per stage, and every question beside them.

    ``not_asked`` are the ids of questions without gold, ``notices`` sentences a reader must see with the numbers.
    """

    questions: tuple[QuestionResult, ...]
    means: dict[str, dict[str, Interval]]
    differences: dict[str, Interval]
    milliseconds: dict[str, dict[str, float]]
    not_asked: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> dict[str, str]:
        """Why asking failed, by question id."""
        return {question.id: question.error for question in self.questions if question.error}

    def to_json(self) -> dict[str, Any]:
        """JSON types only; a missing number is null."""
        return {
            "about": dict(self.about),
            "means": {
                name: {metric: interval.to_json() for metric, interval in row.items()}
                for name, row in self.means.items()
            },
            "differences": {name: interval.to_json() for name, interval in self.differences.items()},
            "milliseconds": self.milliseconds,
            "questions": [
                {"id": question.id, "scores": question.scores, "error": question.error} for question in self.questions
            ],
            "failed": self.failed,
            "not_asked": list(self.not_asked),
            "notices": list(self.notices),
        }


def wanted_documents(grades: Mapping[str, float]) -> tuple[Wanted, ...]:
    """What a collection's judgements of one query want: each relevant passage by itself, with its grade."""
    return tuple(Wanted(frozenset({name}), float(grade)) for name, grade in grades.items() if grade > 0)


def wanted_passages(relevant_chunks: Iterable[Iterable[str]]) -> tuple[Wanted, ...]:
    """What a question with quoted gold wants: each gold passage, by any one of the chunks that hold it."""
    return tuple(Wanted(frozenset(chunks)) for chunks in relevant_chunks)


def passage_order(ranked: Iterable[str], wanted: Sequence[Wanted]) -> tuple[list[str], dict[str, float]]:
    """A ranked list with its chunks replaced by the wanted passages they find, and the grades of those; for any metric.

    A passage stands at the first chunk that finds it; a later chunk of it keeps its place and finds nothing. Where one
    chunk finds several, the others take the next places that find nothing, so that no other chunk moves.
    """
    grades = {f"passage {number}": want.grade for number, want in enumerate(wanted)}
    found: set[str] = set()
    waiting: list[str] = []
    order = []
    for place, chunk in enumerate(dict.fromkeys(ranked), start=1):
        new = [name for name, want in zip(grades, wanted, strict=True) if chunk in want.ids and name not in found]
        found.update(new)
        waiting += new
        order.append(waiting.pop(0) if waiting else f"place {place}")
    return order + waiting, grades


def score_list(ranked: Sequence[str], wanted: Sequence[Wanted]) -> dict[str, float | None]:
    """The measured metrics of one ranked list; None for all of them where nothing is wanted."""
    order, grades = passage_order(ranked, wanted)
    scores = {name: METRICS[name].function(order, grades) for name in MEASURED}
    # All that the first 50 chunks hold, also where one of the last holds two passages and pushed one to place 51.
    order, _ = passage_order(list(dict.fromkeys(ranked))[:RECALL_DEPTH], wanted)
    return {**scores, "recall@50": recall_at_k(order, grades, RECALL_DEPTH + len(grades))}


def run_retrieval(
    ask: Callable[[Item], Retrieved],
    questions: Mapping[str, Item],
    wanted: Mapping[str, Sequence[Wanted]],
    notices: Sequence[str] = (),
    about: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> RetrievalResult:
    """Asks every question (by id) that wants something, and measures each list.

    A question whose asking raises RagError counts 0 in every list and is listed; other exceptions are faults of the
    program and pass through. A list that no question brought was switched off and is not scored.
    """
    asked = [name for name in questions if wanted.get(name)]
    retrieved: dict[str, Retrieved | str] = {}
    for done, name in enumerate(asked, start=1):
        try:
            retrieved[name] = ask(questions[name])
        except RagError as error:
            retrieved[name] = str(error) or type(error).__name__
        progress(done, len(asked))
    answers = [answer for answer in retrieved.values() if isinstance(answer, Retrieved)]
    switched_on = {name for answer in answers for name in answer.lists} if answers else set(LISTS)
    results = tuple(_question_result(name, retrieved[name], wanted[name], switched_on) for name in asked)
    compared = {name: _column(results, name, COMPARED) for name in LISTS}
    unfindable = [
        f"{name}: no chunk holds gold passage {number}; it counts as never found."
        for name in asked
        for number, want in enumerate(wanted[name], start=1)
        if not want.ids
    ]
    return RetrievalResult(
        questions=results,
        means={name: {metric: mean_interval(_column(results, name, metric)) for metric in MEASURED} for name in LISTS},
        differences={
            f"fused - {other}": paired_difference(compared["fused"], compared[other]) for other in ("dense", "sparse")
        },
        milliseconds=_milliseconds(answers),
        not_asked=tuple(name for name in questions if name not in retrieved),
        notices=(*notices, *unfindable),
        about=dict(about or {}),
    )


def format_table(result: RetrievalResult) -> str:
    """The result as aligned plain text for a terminal; ``-`` stands where there is no number."""
    total = len(result.questions)
    scored = {name: result.means[name][COMPARED].scored for name in LISTS}
    rows = [["list", *MEASURED, "scored"]]
    for name in LISTS:
        numbers = [_number(result.means[name][metric].mean) for metric in MEASURED]
        rows.append([name, *numbers, f"{scored[name]} of {total}"])
    blocks = [aligned(rows)]
    rows = [[f"difference of {COMPARED}", "mean", "95 % interval", "scored"]]
    for name, interval in result.differences.items():
        ends = "-" if interval.low is None else f"{interval.low:+.3f} to {interval.high:+.3f}"
        rows.append([name, _number(interval.mean, "+.3f"), ends, f"{interval.scored} of {total}"])
    blocks.append(aligned(rows))
    if result.milliseconds:
        rows = [["stage", "p50 ms", "p95 ms"]]
        rows += [[name, f"{row['p50']:.1f}", f"{row['p95']:.1f}"] for name, row in result.milliseconds.items()]
        blocks.append(aligned(rows))
    lines = list(result.notices)
    if result.not_asked:
        lines.append(f"{len(result.not_asked)} without gold were not asked: {', '.join(result.not_asked)}")
    if result.failed:
        lines.append(f"{len(result.failed)} of {total} failed and count as 0:")
        lines += [f"  {name}: {why}" for name, why in result.failed.items()]
    return "\n\n".join([*blocks, "\n".join(lines)] if lines else blocks)


def _question_result(
    name: str, answer: Retrieved | str, wanted: Sequence[Wanted], switched_on: set[str]
) -> QuestionResult:
    nothing: dict[str, float | None] = dict.fromkeys(MEASURED)
    if isinstance(answer, str):
        worst: dict[str, float | None] = dict.fromkeys(MEASURED, 0.0)
        return QuestionResult(name, {key: dict(worst if key in switched_on else nothing) for key in LISTS}, answer)
    return QuestionResult(
        name, {key: score_list(answer.lists[key], wanted) if key in answer.lists else dict(nothing) for key in LISTS}
    )


def _column(results: Sequence[QuestionResult], name: str, metric: str) -> list[float | None]:
    return [result.scores[name][metric] for result in results]


def _milliseconds(answers: Sequence[Retrieved]) -> dict[str, dict[str, float]]:
    stages = dict.fromkeys(stage for answer in answers for stage in answer.seconds)
    times = {stage: [1000 * a.seconds[stage] for a in answers if stage in a.seconds] for stage in stages}
    return {
        stage: {"p50": float(np.percentile(values, 50)), "p95": float(np.percentile(values, 95))}
        for stage, values in times.items()
    }


def _number(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else format(value, form)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal: the first column to the left, the others to the right, two blanks between."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
