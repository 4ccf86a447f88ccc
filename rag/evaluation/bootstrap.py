"""Percentile bootstrap intervals of a mean over questions, and of the mean difference of two paired systems.

Questions are drawn with replacement, as many as there are; the statistic is the mean of each draw, and the interval
runs between its percentiles [Efron, Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13]. A pair is drawn
as a whole, by its difference, so that what makes a question hard for both systems cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
# Drawn indices held in memory at a time: 32 MB.
DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval, how many questions it rests on, and how many were left out as not scored.

    ``mean`` is None where none was scored; ``low`` and ``high`` also where only one was, which says nothing of spread.
    """

    mean: float | None
    low: float | None
    high: float | None
    scored: int
    excluded: int
    confidence: float = CONFIDENCE

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero; False where there is no interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def to_json(self) -> dict[str, Any]:
        """JSON types only."""
        return asdict(self)


def mean_interval(
    scores: Sequence[float | None], resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = 0
) -> Interval:
    """The mean of the scores and its interval; None and NaN are not scored and left out. Same seed, same numbers."""
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence is {confidence} (between 0 and 1), resamples {resamples} (at least 1).")
    kept = np.array([score for score in scores if _scored(score)], dtype=float)
    excluded = len(scores) - kept.size
    if kept.size == 0:
        return Interval(None, None, None, 0, excluded, confidence)
    # Equal values have a mean known exactly; summing them would add an error of rounding.
    mean = float(kept[0]) if np.all(kept == kept[0]) else float(kept.mean())
    if kept.size == 1:
        return Interval(mean, None, None, 1, excluded, confidence)
    if np.all(kept == kept[0]):
        return Interval(mean, mean, mean, kept.size, excluded, confidence)
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(_resampled_means(kept, resamples, seed), [tail, 100 - tail])
    return Interval(mean, float(low), float(high), kept.size, excluded, confidence)


def paired_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Interval:
    """The mean of ``first[i] - second[i]`` and its interval, over the questions that both have scored.

    Raises ValueError where the two are not equally long.
    """
    pairs = zip(first, second, strict=True)
    differences = [a - b if _scored(a) and _scored(b) else None for a, b in pairs]
    return mean_interval(differences, resamples, confidence, seed)


def _scored(score: float | None) -> bool:
    return score is not None and not isnan(score)


def _resampled_means(values: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, DRAWN_AT_ONCE // values.size)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        means[start:stop] = values[generator.integers(0, values.size, (stop - start, values.size))].mean(axis=1)
    return means
