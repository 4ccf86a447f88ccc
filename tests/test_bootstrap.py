"""Bootstrap intervals: against cases known by hand or by the normal approximation, and the degenerate ones."""

from __future__ import annotations

import numpy as np
import pytest

from rag.evaluation.bootstrap import Interval, mean_interval, paired_difference


def test_a_mean_stands_with_its_interval_and_its_count() -> None:
    interval = mean_interval([0.0, 1.0] * 50)
    # A mean of 100 coin flips has a standard error of 0.05: 0.5 -/+ 1.96 * 0.05.
    assert interval.mean == 0.5
    assert interval.low == pytest.approx(0.402, abs=0.02)
    assert interval.high == pytest.approx(0.598, abs=0.02)
    assert (interval.scored, interval.excluded, interval.confidence) == (100, 0, 0.95)


def test_the_interval_of_two_values_is_theirs() -> None:
    # Means of two draws are 0, 0.5 or 1 with chances 1/4, 1/2, 1/4: the outer 2.5 % are 0 and 1.
    assert mean_interval([0.0, 1.0]) == Interval(0.5, 0.0, 1.0, 2, 0)
    # The middle 40 % are all 0.5.
    assert mean_interval([0.0, 1.0], confidence=0.4) == Interval(0.5, 0.5, 0.5, 2, 0, 0.4)


def test_a_difference_is_taken_pair_by_pair() -> None:
    hardness = np.random.default_rng(7).random(200)
    better = hardness + np.tile([0.01, 0.03], 100)
    interval = paired_difference(list(better), list(hardness))
    assert interval.mean == pytest.approx(0.02)
    # The spread of the questions (standard deviation 0.29) cancels; that of the differences is 0.01.
    # 1.96 * 0.01 / sqrt(200)
    assert interval.high - interval.mean == pytest.approx(0.0014, abs=0.0003)
    assert interval.excludes_zero


def test_swapping_the_two_turns_the_sign() -> None:
    first, second = [1.0, 0.5, 0.0, 1.0], [0.0, 0.5, 0.5, 0.0]
    one, other = paired_difference(first, second), paired_difference(second, first)
    assert one.mean == -other.mean == 0.375
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_a_question_that_one_of_the_two_has_not_scored_is_left_out_and_counted() -> None:
    interval = paired_difference([1.0, None, 1.0, 0.5, float("nan")], [0.5, 1.0, None, 0.0, 0.0])
    assert interval == Interval(0.5, 0.5, 0.5, 2, 3)


def test_the_mean_of_unscored_rows_is_neither_raised_nor_nan() -> None:
    assert mean_interval([1.0, None, 1.0, None]) == Interval(1.0, 1.0, 1.0, 2, 2)
    assert mean_interval([None, None, float("nan")]) == Interval(None, None, None, 0, 3)
    assert mean_interval([]) == Interval(None, None, None, 0, 0)


def test_one_question_has_a_mean_but_no_interval() -> None:
    interval = mean_interval([0.7])
    assert interval == Interval(0.7, None, None, 1, 0)
    assert not interval.excludes_zero


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert mean_interval([0.1] * 30) == Interval(0.1, 0.1, 0.1, 30, 0)
    same = paired_difference([0.3, 0.9], [0.3, 0.9])
    assert same == Interval(0.0, 0.0, 0.0, 2, 0)
    assert not same.excludes_zero


def test_the_same_seed_gives_the_same_numbers() -> None:
    scores = list(np.random.default_rng(1).random(40))
    assert mean_interval(scores, seed=3) == mean_interval(scores, seed=3)
    assert mean_interval(scores, seed=3) != mean_interval(scores, seed=4)


def test_many_questions_are_drawn_in_parts() -> None:
    interval = mean_interval(list(np.tile([0.0, 1.0], 10_000)), resamples=500)
    # 1.96 * 0.5 / sqrt(20,000)
    assert interval.high - interval.mean == pytest.approx(0.0069, abs=0.001)


def test_it_goes_to_json_with_null_for_what_is_missing() -> None:
    assert mean_interval([0.5, None]).to_json() == {
        "mean": 0.5,
        "low": None,
        "high": None,
        "scored": 1,
        "excluded": 1,
        "confidence": 0.95,
    }


def test_lists_of_unlike_length_and_impossible_confidence_are_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([1.0, 0.0], [1.0])
    with pytest.raises(ValueError, match="confidence is 95"):
        mean_interval([1.0, 0.0], confidence=95)
