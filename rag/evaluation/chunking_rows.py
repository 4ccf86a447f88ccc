"""What the chunking bench measured, as records, as aligned text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from rag.evaluation.bench import aligned
from rag.evaluation.bootstrap import Interval, paired_difference
from rag.evaluation.chunking_scores import WORST, SpanScores
from rag.evaluation.published import Published

METRICS = ("recall", "precision", "omega", "iou")
COMPARED = ("recall", "iou")
NAMES = {"recall": "recall", "precision": "precision", "omega": "precision-omega", "iou": "IoU"}


@dataclass(frozen=True)
class Asked:
    """What one question brought: its scores and the tokens handed over, None where asking failed."""

    scores: SpanScores = WORST
    tokens: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Row:
    """One setting with one list over all questions; ``size`` is the mean of its chunks in characters.

    ``omegas`` are of the setting's cuts alone: no retrieval plays a part. ``against_best`` are paired differences, by
    metric, from the row whose mean is highest.
    """

    name: str
    list: str
    chunks: int
    size: float
    omegas: tuple[float, ...]
    asked: tuple[Asked, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    against_best: Mapping[str, Interval] = field(default_factory=dict)

    def values(self, metric: str) -> list[float]:
        """The metric of every question, from 0 to 1; a question that failed counts 0."""
        return list(self.omegas) if metric == "omega" else [getattr(one.scores, metric) for one in self.asked]

    def mean(self, metric: str) -> float:
        """Over all questions."""
        return float(np.mean(self.values(metric)))

    @property
    def tokens(self) -> float | None:
        """The mean of what the questions that did not fail were handed; None where all failed."""
        counts = [one.tokens for one in self.asked if one.tokens is not None]
        return float(np.mean(counts)) if counts else None

    @property
    def failed(self) -> dict[int, str]:
        """Why asking failed, by the question's number from 1."""
        return {number: one.error for number, one in enumerate(self.asked, start=1) if one.error}

    def to_json(self) -> dict[str, Any]:
        """JSON types only; scores from 0 to 1."""
        return {
            "name": self.name,
            "list": self.list,
            "settings": dict(self.settings),
            "chunks": self.chunks,
            "mean_characters": self.size,
            "tokens": self.tokens,
            "means": {metric: self.mean(metric) for metric in METRICS},
            "deviations": {metric: float(np.std(self.values(metric))) for metric in METRICS},
            "against_best": {metric: interval.to_json() for metric, interval in self.against_best.items()},
            "questions": [
                {**asdict(one.scores), "omega": omega, "tokens": one.tokens, "error": one.error}
                for one, omega in zip(self.asked, self.omegas, strict=True)
            ],
        }


@dataclass(frozen=True)
class Repeated:
    """A published row beside what its settings gave here."""

    row: Published
    chunks: int
    scores: tuple[SpanScores, ...]

    def percent(self, metric: str) -> float:
        """The mean over the questions, as published."""
        return 100 * float(np.mean([getattr(score, metric) for score in self.scores]))

    def to_json(self) -> dict[str, Any]:
        """JSON types only; percent as published."""
        here = {metric: self.percent(metric) for metric in ("recall", "precision", "iou")}
        return {"name": self.row.name, "published": asdict(self.row), "here": here, "chunks": self.chunks}


def against_best(rows: Sequence[Row]) -> list[Row]:
    """The rows, each with its paired differences from the best in recall and the best in IoU."""
    best = {metric: max(rows, key=lambda row: row.mean(metric)).values(metric) for metric in COMPARED} if rows else {}
    return [
        replace(row, against_best={name: paired_difference(row.values(name), best[name]) for name in COMPARED})
        for row in rows
    ]


def unbeaten(rows: Sequence[Row]) -> list[Row]:
    """The rows than which none has both more recall and more IoU, the highest recall first."""
    kept = [
        row
        for row in rows
        if not any(
            all(other.mean(name) >= row.mean(name) for name in COMPARED)
            and any(other.mean(name) > row.mean(name) for name in COMPARED)
            for other in rows
        )
    ]
    return sorted(kept, key=lambda row: -row.mean("recall"))


def as_text(repeated: Sequence[Repeated], rows: Sequence[Row], notices: Sequence[str]) -> str:
    """The tables for a terminal, in percent: published rows repeated, every setting, and differences from the best."""
    blocks = [_repeated_table(repeated)] if repeated else []
    blocks += [_table(rows), _differences(rows), *notices]
    lines = [f"{len(row.failed)} of {len(row.asked)} failed with {row.name}, {row.list}, and count 0:" for row in rows]
    for row, line in zip(rows, lines, strict=True):
        if row.failed:
            blocks.append("\n".join([line, *(f"  question {number}: {why}" for number, why in row.failed.items())]))
    return "\n\n".join(blocks)


def _repeated_table(repeated: Sequence[Repeated]) -> str:
    rows = [["published settings repeated", "recall", "published", "IoU", "published", "precision", "chunks"]]
    for one in repeated:
        recall, iou, precision = (f"{one.percent(metric):.1f}" for metric in ("recall", "iou", "precision"))
        published = one.row
        rows.append(
            [one.row.name, recall, f"{published.recall:.1f}", iou, f"{published.iou:.1f}", precision, f"{one.chunks}"]
        )
    return aligned(rows)


def _table(rows: Sequence[Row]) -> str:
    table = [["setting", "list", *(NAMES[name] for name in METRICS), "tokens", "chunks", "mean size"]]
    best = unbeaten(rows)
    for row in rows:
        cells = [f"{100 * row.mean(name):.1f} ± {100 * float(np.std(row.values(name))):.1f}" for name in METRICS]
        tokens = "-" if row.tokens is None else f"{row.tokens:.0f}"
        mark = "* " if row in best else ""
        table.append([f"{mark}{row.name}", row.list, *cells, tokens, f"{row.chunks}", f"{row.size:.0f}"])
    return aligned(table) + "\n* no other row has both more recall and more IoU"


def _differences(rows: Sequence[Row]) -> str:
    table = [["points from the best, 95 % interval", "list", *(NAMES[name] for name in COMPARED)]]
    for row in rows:
        table.append([row.name, row.list, *(_difference(row.against_best[name]) for name in COMPARED)])
    return aligned(table)


def _difference(interval: Interval) -> str:
    if interval.mean == 0 and interval.low == interval.high:
        return "best"
    if interval.low is None or interval.high is None:
        return f"{100 * interval.mean:+.1f}"
    return f"{100 * interval.mean:+.1f} ({100 * interval.low:+.1f} to {100 * interval.high:+.1f})"
