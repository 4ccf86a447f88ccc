"""Reciprocal rank fusion against arithmetic done by hand, and against Weaviate's own."""

from __future__ import annotations

import csv

import pytest
from weaviate import WeaviateClient

from rag.analysis import analyse
from rag.environment import SAMPLES_FOLDER
from rag.errors import SettingsError
from rag.retrieval import fuse, reciprocal_rank_fusion
from rag.schema import Hit
from rag.weaviate.store import Store
from tests.support import StubEmbedder, an_entry, client, fresh_name, sample_chunks

__all__ = ["client"]


def ranked(*names: str) -> tuple[Hit, ...]:
    return tuple(Hit(name, rank, 1 / rank) for rank, name in enumerate(names, 1))


def with_at(places: dict[int, str], length: int, filler: str) -> tuple[Hit, ...]:
    return ranked(*(places.get(rank, f"{filler}{rank}") for rank in range(1, length + 1)))


def test_the_worked_example() -> None:
    dense = with_at({1: "first in both", 10: "tenth in both"}, 10, "d")
    sparse = with_at({1: "first in both", 10: "tenth in both"}, 10, "s")
    scores = {hit.chunk_id: hit.score for hit in reciprocal_rank_fusion({"dense": dense, "sparse": sparse}, k=60)}
    assert scores["first in both"] == pytest.approx(0.0328, abs=5e-5)  # 1/61 + 1/61
    assert scores["tenth in both"] == pytest.approx(0.0286, abs=5e-5)  # 1/70 + 1/70
    far = {"dense": ranked("first and last"), "sparse": with_at({100: "first and last"}, 100, "s")}
    scores = {hit.chunk_id: hit.score for hit in reciprocal_rank_fusion(far, k=60)}
    assert scores["first and last"] == pytest.approx(0.0226, abs=5e-5)  # 1/61 + 1/160


def test_a_chunk_absent_from_a_list_gets_nothing_from_it() -> None:
    """B22 (a): dense p, q, r and sparse s, t, r."""
    fused = reciprocal_rank_fusion({"dense": ranked("p", "q", "r"), "sparse": ranked("s", "t", "r")}, k=60)
    assert [hit.chunk_id for hit in fused] == ["r", "p", "s", "q", "t"]
    assert [hit.score for hit in fused] == pytest.approx([2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62])
    assert fused[0].score == pytest.approx(0.031746, abs=5e-7) and fused[1].score == pytest.approx(0.016393, abs=5e-7)
    assert fused[0].why == {"dense": {"rank": 3, "share": 1 / 63}, "sparse": {"rank": 3, "share": 1 / 63}}
    assert fused[1].why == {"dense": {"rank": 1, "share": 1 / 61}}


def test_a_chunk_that_stands_in_a_list_twice_counts_once_at_its_better_place() -> None:
    """B22 (b): dense p, p, q and sparse q."""
    fused = reciprocal_rank_fusion({"dense": ranked("p", "p", "q"), "sparse": ranked("q")}, k=60)
    assert [(hit.chunk_id, hit.rank) for hit in fused] == [("q", 1), ("p", 2)]
    assert fused[1].score == 1 / 61
    assert fused[0].score > 1 / 61 + 1 / 64


def test_empty_lists_are_no_error() -> None:
    """B22 (c) and (d): one list empty, and both."""
    assert [
        (hit.chunk_id, hit.score) for hit in reciprocal_rank_fusion({"dense": (), "sparse": ranked("a")}, k=60)
    ] == [("a", 1 / 61)]
    assert reciprocal_rank_fusion({"dense": (), "sparse": ()}, k=60) == ()
    assert reciprocal_rank_fusion({}, k=60) == ()


def test_equal_sums_stand_in_the_order_of_their_ids_whichever_list_comes_first() -> None:
    one, two = ranked("b", "c"), ranked("a", "d")
    for lists in ({"dense": one, "sparse": two}, {"sparse": two, "dense": one}):
        assert [hit.chunk_id for hit in reciprocal_rank_fusion(lists, k=60)] == ["a", "b", "c", "d"]


def test_weights_multiply_a_lists_share_and_0_leaves_it_out() -> None:
    lists = {"dense": ranked("a", "b"), "sparse": ranked("b", "c")}
    fused = reciprocal_rank_fusion(lists, k=60, weights={"dense": 3, "sparse": 0.5})
    assert {hit.chunk_id: hit.score for hit in fused} == pytest.approx(
        {"a": 3 / 61, "b": 3 / 62 + 0.5 / 61, "c": 0.5 / 62}
    )
    assert [hit.chunk_id for hit in fused] == ["b", "a", "c"]
    assert [hit.chunk_id for hit in reciprocal_rank_fusion(lists, k=60, weights={"sparse": 0})] == ["a", "b"]


def test_a_smaller_k_weighs_the_first_places_more() -> None:
    # At k 0: 1/1 against 1/3 + 1/3; at k 60: 1/61 against 1/63 + 1/63.
    lists = {"dense": ranked("top", "x", "both"), "sparse": ranked("y", "z", "both")}
    assert reciprocal_rank_fusion(lists, k=0)[0].chunk_id == "top"
    assert reciprocal_rank_fusion(lists, k=60)[0].chunk_id == "both"


def test_one_leg_alone_keeps_its_ranks_and_scores() -> None:
    lists = {"dense": ranked("a", "b"), "sparse": ranked("c")}
    for leg in ("dense", "sparse"):
        assert fuse(lists, leg, 60, {}) == tuple(
            Hit(hit.chunk_id, hit.rank, hit.score, {leg: {"rank": hit.rank}}) for hit in lists[leg]
        )
    assert fuse({"sparse": lists["sparse"]}, "dense", 60, {}) == ()
    assert fuse(lists, "rrf", 60, {"dense": 1, "sparse": 1}) == reciprocal_rank_fusion(lists, 60)
    with pytest.raises(SettingsError, match=r"There is no fusion called 'best'\. Choose one of: rrf, dense, sparse\."):
        fuse(lists, "best", 60, {})


def test_at_k_59_and_equal_weights_the_order_is_that_of_weaviates_own_ranked_hybrid(client: WeaviateClient) -> None:
    """Weaviate gives the first place of a list weight / 60; at alpha 0.5 each weight is a half."""
    store, fingerprint, model = Store(client, fresh_name()), "8" * 16, StubEmbedder("m", 64)
    store.prepare_index(fingerprint, 1.2, 0.75)
    entries = [an_entry(chunk, model) for chunk in sample_chunks(300, "faq.csv", "release-notes.md")]
    assert 90 < len(entries) < 150
    assert store.write(fingerprint, entries, 64) == ()
    with (SAMPLES_FOLDER / "faq.csv").open(encoding="utf-8", newline="") as file:
        questions = [row["question"] for row in csv.DictReader(file)]
    for question in questions:
        terms, vector = analyse(question), model.embed_query(question)
        lists = {"dense": store.dense(fingerprint, vector, 150), "sparse": store.sparse(fingerprint, terms, 150, 1)}
        ours = reciprocal_rank_fusion(lists, k=59, weights={"dense": 0.5, "sparse": 0.5})
        theirs = store.server_hybrid(fingerprint, terms, vector, 0.5, 150)
        assert len(ours) == len(theirs) == len(entries)
        scores = {hit.chunk_id: hit.score for hit in ours}
        # The same scores in the same order; where two are equal, either may stand first.
        assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], abs=1e-6), question
        assert [scores[hit.chunk_id] for hit in theirs] == pytest.approx([hit.score for hit in theirs], abs=1e-6), (
            question
        )
