"""Ranking metrics as pure functions: ranked ids and relevant ids in, a number from 0 to 1 out.

``relevant`` is a set of ids, or a mapping from id to grade, where a grade of 0 or less means judged and not relevant.
Every metric is None where nothing is relevant; an id that stands twice in a list counts once, at its first place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from math import log2
from typing import NamedTuple

Relevant = Collection[str] | Mapping[str, float]


def recall_at_k(ranked: Iterable[str], relevant: Relevant, k: int) -> float | None:
    """The share of the relevant ids that stand in the first ``k``."""
    grades = _grades(relevant)
    return sum(name in grades for name in _first(ranked, k)) / len(grades) if grades else None


def ndcg_at_k(ranked: Iterable[str], relevant: Relevant, k: int) -> float | None:
    """Discounted cumulative gain of the first ``k``, divided by that of the best possible order.

    The gain is the grade itself and the discount log2(rank + 1), as in trec_eval's ``ndcg_cut``
    [Jarvelin, Kekalainen 2002]; the other common gain, 2^grade - 1, is the same where every grade is 1.
    """
    grades = _grades(relevant)
    if not grades:
        return None
    ideal = sorted(grades.values(), reverse=True)[:k]
    return _discounted(grades.get(name, 0.0) for name in _first(ranked, k)) / _discounted(ideal)


def mrr_at_k(ranked: Iterable[str], relevant: Relevant, k: int) -> float | None:
    """One divided by the rank of the first relevant id, 0 where none stands in the first ``k``; its mean is the MRR."""
    grades = _grades(relevant)
    if not grades:
        return None
    return next((1 / rank for rank, name in enumerate(_first(ranked, k), start=1) if name in grades), 0.0)


def precision_at_1(ranked: Iterable[str], relevant: Relevant) -> float | None:
    """1 where the first id is relevant, else 0."""
    return hit_at_k(ranked, relevant, 1)


def hit_at_k(ranked: Iterable[str], relevant: Relevant, k: int) -> float | None:
    """1 where at least one relevant id stands in the first ``k``, else 0."""
    grades = _grades(relevant)
    return float(any(name in grades for name in _first(ranked, k))) if grades else None


class Metric(NamedTuple):
    """A metric as data: ``function(ranked, relevant)`` and what its number means, in one sentence."""

    function: Callable[[Iterable[str], Relevant], float | None]
    meaning: str


METRICS: dict[str, Metric] = {
    "recall@50": Metric(partial(recall_at_k, k=50), "The share of what is relevant that the first 50 hold."),
    "nDCG@10": Metric(partial(ndcg_at_k, k=10), "How near the first 10 are to the best possible order; 1 is the best."),
    "MRR@10": Metric(partial(mrr_at_k, k=10), "One divided by the rank of the first relevant one; 0 beyond rank 10."),
    "P@1": Metric(precision_at_1, "The share of questions whose first place is relevant."),
    "hit@4": Metric(partial(hit_at_k, k=4), "The share of questions with something relevant in the first 4."),
}


def _grades(relevant: Relevant) -> dict[str, float]:
    if isinstance(relevant, Mapping):
        return {name: float(grade) for name, grade in relevant.items() if grade > 0}
    return dict.fromkeys(relevant, 1.0)


def _first(ranked: Iterable[str], k: int) -> list[str]:
    if k < 1:
        raise ValueError(f"k is {k}; a cut-off starts at 1.")
    return list(dict.fromkeys(ranked))[:k]


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
