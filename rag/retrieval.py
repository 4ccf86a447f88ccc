"""The fusions: pure functions from ranked lists to one ranked list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag.errors import SettingsError
from rag.schema import Hit

LEGS = ("dense", "sparse")


def reciprocal_rank_fusion(
    lists: Mapping[str, Sequence[Hit]], k: float = 60, weights: Mapping[str, float] | None = None
) -> tuple[Hit, ...]:
    """One list by the sum of weight / (k + rank), ranks from 1 [Cormack, Clarke and Buettcher 2009].

    A chunk absent from a list gets nothing from it; one that stands in a list twice counts once, at its better place.
    Equal sums stand in the order of their ids. ``why`` holds each list's rank and share.
    """
    scores: dict[str, float] = {}
    shares: dict[str, dict[str, dict[str, float]]] = {}
    for name, hits in lists.items():
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        if weight == 0:
            continue
        seen: set[str] = set()
        for rank, hit in enumerate(hits, 1):
            if hit.chunk_id in seen:
                continue
            seen.add(hit.chunk_id)
            share = weight / (k + rank)
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + share
            shares.setdefault(hit.chunk_id, {})[name] = {"rank": rank, "share": share}
    order = sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))
    return tuple(Hit(chunk_id, rank, scores[chunk_id], shares[chunk_id]) for rank, chunk_id in enumerate(order, 1))


def fuse(lists: Mapping[str, Sequence[Hit]], fusion: str, k: float, weights: Mapping[str, float]) -> tuple[Hit, ...]:
    """The lists joined as ``fusion`` says: rrf, or one leg alone with its own ranks and scores."""
    if fusion == "rrf":
        return reciprocal_rank_fusion(lists, k, weights)
    if fusion in LEGS:
        hits = lists.get(fusion, ())
        return tuple(Hit(hit.chunk_id, hit.rank, hit.score, {fusion: {"rank": hit.rank}}) for hit in hits)
    raise SettingsError(f"There is no fusion called {fusion!r}. Choose one of: rrf, {', '.join(LEGS)}.")
