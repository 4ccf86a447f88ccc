"""How much of what answers a question was handed over, and how much else, in characters.

The definitions are those of Chroma's evaluation [Smith, Troynikov 2024, "Evaluating Chunking Strategies for
Retrieval"], worked over characters as its program does. Spans are (start, end) of one document, the end outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.schema import Span


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Of one question, each from 0 to 1; the higher the better."""

    recall: float
    precision: float
    iou: float


WORST = SpanScores(0.0, 0.0, 0.0)


def score_retrieved(references: Sequence[Span], retrieved: Sequence[Span], elsewhere: int = 0) -> SpanScores:
    """The scores of the spans handed over from the document that holds the references.

    recall = found / references, precision = found / handed over, IoU = found / (handed over + not found), where found
    are the references' characters that lie in any retrieved span. Of passages that overlap each counts whole in what
    is handed over, because a model is given it whole; ``elsewhere`` are the characters from other documents.
    """
    found = shared_characters(references, retrieved)
    wanted = characters(references)
    handed_over = characters(retrieved) + elsewhere
    missed = characters(merged(references)) - found
    return SpanScores(_share(found, wanted), _share(found, handed_over), _share(found, handed_over + missed))


def precision_omega(references: Sequence[Span], spans: Sequence[Span]) -> float:
    """The best precision any retrieval could have: of all ``spans`` of the document, those that hold a character of a
    reference are taken, each place once. References that no span holds count against it.
    """
    merged_references = merged(references)
    touching = [span for span in spans if shared_characters(merged_references, [span])]
    found = shared_characters(merged_references, touching)
    missed = characters(merged_references) - found
    return _share(found, characters(merged(touching)) + missed)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same characters in as few spans as can be, in order; empty spans are left out."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def characters(spans: Iterable[Span]) -> int:
    """The sum of the spans' lengths; what two of them share counts twice."""
    return sum(max(0, end - start) for start, end in spans)


def shared_characters(first: Iterable[Span], second: Iterable[Span]) -> int:
    """How many characters lie in spans of both, each counted once."""
    others = list(second)
    return characters(merged((max(start, low), min(end, high)) for start, end in first for low, high in others))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
