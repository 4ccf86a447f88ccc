"""Metrics, each against arithmetic that can be done by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.evaluation.metrics import METRICS, hit_at_k, mrr_at_k, ndcg_at_k, precision_at_1, recall_at_k


def test_recall_is_the_share_of_the_relevant_in_the_first_k() -> None:
    ranked = ["a", "x", "b", "y", "c"]
    relevant = {"a", "b", "c", "d"}
    assert recall_at_k(ranked, relevant, 1) == 1 / 4
    assert recall_at_k(ranked, relevant, 3) == 2 / 4
    assert recall_at_k(ranked, relevant, 50) == 3 / 4


def test_ndcg_divides_by_the_best_possible_order() -> None:
    # Found at ranks 1 and 3: 1/log2(2) + 1/log2(4) = 1 + 0.5; at best 1/log2(2) + 1/log2(3) = 1 + 0.6309.
    assert ndcg_at_k(["a", "x", "b"], {"a", "b"}, 10) == pytest.approx(1.5 / 1.6309, abs=1e-4)


def test_ndcg_takes_the_grade_itself_as_gain() -> None:
    # 2/1 + 0/1.585 + 3/2 = 3.5; at best 3/1 + 2/1.585 + 1/2 = 4.7619. (2^grade - 1 would give 0.6902.)
    assert ndcg_at_k(["b", "x", "a"], {"a": 3, "b": 2, "c": 1}, 10) == pytest.approx(0.7350, abs=1e-4)


def test_ndcg_counts_in_its_best_order_what_was_not_found_but_no_more_than_k() -> None:
    # One found at rank 1 of three relevant: 1 / (1 + 0.6309 + 0.5); with k = 1 the best order holds one as well.
    assert ndcg_at_k(["a", "x"], {"a", "b", "c"}, 10) == pytest.approx(1 / 2.1309, abs=1e-4)
    assert ndcg_at_k(["a", "x"], {"a", "b", "c"}, 1) == 1.0


def test_reciprocal_rank_is_that_of_the_first_relevant() -> None:
    assert mrr_at_k(["x", "y", "b", "a"], {"a", "b"}, 10) == pytest.approx(1 / 3)
    assert mrr_at_k(["x", "y", "b", "a"], {"a", "b"}, 2) == 0.0


def test_precision_at_1_and_hit() -> None:
    assert precision_at_1(["a", "x"], {"a", "b"}) == 1.0
    assert precision_at_1(["x", "a"], {"a", "b"}) == 0.0
    assert hit_at_k(["x", "a"], {"a", "b"}, 2) == 1.0
    assert hit_at_k(["x", "a"], {"a", "b"}, 1) == 0.0


def test_a_duplicate_counts_once_at_its_first_place_and_takes_no_place_of_another() -> None:
    assert recall_at_k(["a", "a", "b"], {"a", "b"}, 2) == 1.0
    assert ndcg_at_k(["a", "a", "a"], {"a", "b"}, 10) == ndcg_at_k(["a"], {"a", "b"}, 10)
    assert mrr_at_k(["x", "x", "a"], {"a"}, 10) == 1 / 2


def test_a_grade_of_0_or_less_is_judged_not_relevant() -> None:
    grades = {"a": 1, "b": 0, "c": -1}
    assert recall_at_k(["b", "c"], grades, 10) == 0.0
    assert recall_at_k(["a"], grades, 10) == 1.0
    assert ndcg_at_k(["c", "a"], grades, 10) == pytest.approx(1 / 1.58496, abs=1e-4)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("relevant", [set(), {}, {"a": 0}])
def test_where_nothing_is_relevant_every_metric_is_none_not_0(name: str, relevant: object) -> None:
    assert METRICS[name].function(["a", "b"], relevant) is None


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_runs_from_0_for_an_empty_list_to_1_for_the_best(name: str) -> None:
    assert METRICS[name].function([], {"a", "b"}) == 0.0
    assert METRICS[name].function(["a", "b"], {"a", "b"}) == 1.0
    assert METRICS[name].meaning.endswith(".")


def test_the_table_cuts_where_its_names_say() -> None:
    ranked = [f"x{number}" for number in range(49)] + ["a", "b"]
    assert METRICS["recall@50"].function(ranked, {"a", "b"}) == 1 / 2
    assert METRICS["nDCG@10"].function(ranked, {"x10"}) == 0.0
    assert METRICS["MRR@10"].function(ranked, {"x9"}) == 1 / 10
    assert METRICS["P@1"].function(ranked, {"x1"}) == 0.0
    assert METRICS["hit@4"].function(ranked, {"x4"}) == 0.0


@pytest.mark.parametrize("function", [recall_at_k, ndcg_at_k, mrr_at_k, hit_at_k])
def test_a_cut_off_below_1_is_a_mistake_of_the_caller(function: Callable[..., float | None]) -> None:
    with pytest.raises(ValueError, match="k is 0; a cut-off starts at 1"):
        function(["a"], {"a"}, 0)
