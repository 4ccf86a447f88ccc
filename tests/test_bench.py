"""The retrieval bench over functions passed in: what counts as found, what as failed, and what a reader sees."""

from __future__ import annotations

import json

import pytest

from rag.errors import RagError
from rag.evaluation.bench import (
    MEASURED,
    Retrieved,
    Wanted,
    format_table,
    passage_order,
    run_retrieval,
    score_list,
    wanted_documents,
    wanted_passages,
)
from rag.evaluation.metrics import METRICS

NOTHING = [f"x{number}" for number in range(50)]


def test_a_collection_wants_each_relevant_passage_and_is_measured_as_the_plain_metrics_do() -> None:
    grades = {"a": 2, "b": 1, "c": 0}
    ranked = ["x", "b", "c", "a", "b"]
    assert wanted_documents(grades) == (Wanted(frozenset({"a"}), 2.0), Wanted(frozenset({"b"}), 1.0))
    scores = score_list(ranked, wanted_documents(grades))
    assert scores == {name: METRICS[name].function(ranked, grades) for name in MEASURED}


def test_a_passage_found_by_overlapping_chunks_counts_once_at_its_first_chunk() -> None:
    wanted = wanted_passages([{"c1", "c2"}, {"c3"}])
    order, grades = passage_order(["x", "c1", "c2", "c3"], wanted)
    assert order == ["place 1", "passage 0", "place 3", "passage 1"]
    assert grades == {"passage 0": 1.0, "passage 1": 1.0}
    scores = score_list(["x", "c1", "c2", "c3"], wanted)
    # Ranks 2 and 4: (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3)) = 1.0616 / 1.6309.
    assert scores["nDCG@10"] == pytest.approx(0.6509, abs=1e-4)
    assert (scores["recall@50"], scores["MRR@10"], scores["P@1"]) == (1.0, 0.5, 0.0)


def test_recall_counts_passages_not_chunks() -> None:
    assert score_list(["c1", "c2"], wanted_passages([{"c1", "c2"}, {"c3"}]))["recall@50"] == 1 / 2


def test_a_chunk_that_holds_two_passages_finds_both_and_moves_no_other() -> None:
    wanted = wanted_passages([{"both"}, {"both"}, {"c3"}])
    assert passage_order(["both", "x", "y", "c3"], wanted)[0] == ["passage 0", "passage 1", "place 3", "passage 2"]
    # Ranks 1, 2 and 4: (1 + 0.6309 + 0.4307) / (1 + 0.6309 + 0.5).
    assert score_list(["both", "x", "y", "c3"], wanted)["nDCG@10"] == pytest.approx(2.0616 / 2.1309, abs=1e-4)
    assert score_list(["both"], wanted_passages([{"both"}, {"both"}])) == dict.fromkeys(MEASURED, 1.0)


def test_the_fiftieth_chunk_still_finds_two_passages_and_the_fifty_first_none() -> None:
    wanted = wanted_passages([{"both"}, {"both"}])
    assert score_list([*NOTHING[:49], "both"], wanted)["recall@50"] == 1.0
    assert score_list([*NOTHING, "both"], wanted)["recall@50"] == 0.0


def test_where_nothing_is_wanted_nothing_is_scored() -> None:
    assert score_list(["a"], ()) == dict.fromkeys(MEASURED)


ANSWERS = {
    "first": Retrieved({"dense": ["x", "a"], "sparse": [], "fused": ["a", "x"]}, {"dense": 0.010, "sparse": 0.002}),
    "second": Retrieved({"dense": ["b"], "sparse": ["x", "b"], "fused": ["b"]}, {"dense": 0.030, "sparse": 0.004}),
}
WANTED = {"q1": wanted_passages([{"a"}]), "q2": wanted_passages([{"b"}])}


def ask(text: str) -> Retrieved:
    if text not in ANSWERS:
        raise RagError(f"{text} could not be asked.")
    return ANSWERS[text]


def test_every_list_is_measured_and_fused_compared_with_each() -> None:
    result = run_retrieval(ask, {"q1": "first", "q2": "second"}, WANTED)
    assert result.means["fused"]["P@1"].mean == 1.0
    assert result.means["dense"]["MRR@10"].mean == 0.75
    assert result.means["sparse"]["recall@50"].mean == 0.5
    # nDCG@10 at rank 2 is 1/log2(3) = 0.6309: dense (0.6309 + 1) / 2, sparse (0 + 0.6309) / 2.
    assert result.differences["fused - dense"].mean == pytest.approx(1 - 0.8155, abs=1e-4)
    assert result.differences["fused - sparse"].mean == pytest.approx(1 - 0.3155, abs=1e-4)
    assert result.differences["fused - sparse"].scored == 2
    assert result.failed == {}


def test_milliseconds_are_percentiles_over_the_questions() -> None:
    result = run_retrieval(ask, {"q1": "first", "q2": "second"}, WANTED)
    # Between 10 and 30, half way and at 95 %.
    assert result.milliseconds["dense"] == pytest.approx({"p50": 20.0, "p95": 29.0})
    assert result.milliseconds["sparse"] == pytest.approx({"p50": 3.0, "p95": 3.9})


def test_a_failed_question_counts_as_0_and_is_listed() -> None:
    result = run_retrieval(ask, {"q1": "first", "q2": "third"}, WANTED)
    assert result.failed == {"q2": "third could not be asked."}
    assert result.means["fused"]["nDCG@10"].mean == 0.5
    assert result.means["fused"]["nDCG@10"].scored == 2
    table = format_table(result)
    assert "1 of 2 failed and count as 0:\n  q2: third could not be asked." in table


def test_where_all_fail_the_means_are_0_and_no_stage_has_a_time() -> None:
    result = run_retrieval(ask, {"q1": "third", "q2": "third"}, WANTED)
    assert {row["P@1"].mean for row in result.means.values()} == {0.0}
    assert result.milliseconds == {}
    assert "2 of 2 failed" in format_table(result)


def test_a_fault_of_the_program_is_no_failed_question() -> None:
    with pytest.raises(KeyError):
        run_retrieval({}.__getitem__, {"q1": "first"}, WANTED)


def test_a_list_switched_off_is_not_scored_also_where_a_question_failed() -> None:
    def dense_only(text: str) -> Retrieved:
        answer = ask(text)
        return Retrieved({name: ranked for name, ranked in answer.lists.items() if name != "sparse"})

    result = run_retrieval(dense_only, {"q1": "first", "q2": "third"}, WANTED)
    assert result.means["sparse"]["nDCG@10"].mean is None
    assert result.means["sparse"]["nDCG@10"].scored == 0
    assert result.differences["fused - sparse"].mean is None
    assert result.means["dense"]["nDCG@10"].scored == 2
    rows = [line.split() for line in format_table(result).splitlines()]
    assert ["sparse", "-", "-", "-", "-", "0", "of", "2"] in rows


def test_questions_without_gold_are_not_asked_and_named() -> None:
    asked = []

    def remembering(text: str) -> Retrieved:
        asked.append(text)
        return ask(text)

    result = run_retrieval(remembering, {"q1": "first", "u1": "unanswerable", "u2": "near"}, {**WANTED, "u1": ()})
    assert asked == ["first"]
    assert result.not_asked == ("u1", "u2")
    assert "2 without gold were not asked: u1, u2" in format_table(result)


def test_gold_that_no_chunk_holds_counts_as_missed_and_is_said_so() -> None:
    result = run_retrieval(ask, {"q1": "first"}, {"q1": wanted_passages([{"a"}, set()])}, notices=["Mind this."])
    assert result.means["fused"]["recall@50"].mean == 0.5
    assert result.notices == ("Mind this.", "q1: no chunk holds gold passage 2; it counts as never found.")
    assert "Mind this.\nq1: no chunk holds gold passage 2" in format_table(result)


def test_progress_is_told_after_each_question() -> None:
    told = []
    run_retrieval(ask, {"q1": "first", "q2": "second"}, WANTED, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_the_record_goes_to_json_as_it_is() -> None:
    result = run_retrieval(ask, {"q1": "first", "q2": "third", "u1": "x"}, WANTED, about={"collection": "little"})
    record = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert record["about"] == {"collection": "little"}
    assert record["means"]["fused"]["P@1"]["mean"] == 0.5
    assert record["questions"][1] == {
        "id": "q2",
        "scores": {name: dict.fromkeys(MEASURED, 0.0) for name in ("dense", "sparse", "fused")},
        "error": "third could not be asked.",
    }
    assert record["failed"] == {"q2": "third could not be asked."}
    assert record["not_asked"] == ["u1"]


def test_the_table_is_plain_and_aligned() -> None:
    table = format_table(run_retrieval(ask, {"q1": "first", "q2": "second"}, WANTED))
    assert table.split("\n\n")[0].splitlines() == [
        "list    recall@50  nDCG@10  MRR@10    P@1  scored",
        "dense       1.000    0.815   0.750  0.500  2 of 2",
        "sparse      0.500    0.315   0.250  0.000  2 of 2",
        "fused       1.000    1.000   1.000  1.000  2 of 2",
    ]
    assert table.split("\n\n")[1].splitlines() == [
        "difference of nDCG@10    mean     95 % interval  scored",
        "fused - dense          +0.185  +0.000 to +0.369  2 of 2",
        "fused - sparse         +0.685  +0.369 to +1.000  2 of 2",
    ]
    assert table.split("\n\n")[2].splitlines() == [
        "stage   p50 ms  p95 ms",
        "dense     20.0    29.0",
        "sparse     3.0     3.9",
    ]


def test_an_empty_run_is_a_table_of_dashes_not_an_error() -> None:
    result = run_retrieval(ask, {}, {})
    assert result.means["fused"]["P@1"].mean is None
    assert "fused           -" in format_table(result)
