"""Where neighbouring sentences part in meaning, as their embeddings see it, a passage ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.chunkers.base import Piece
from rag.chunkers.sentence_window import Sentence, sentences
from rag.embedders.base import Embedder
from rag.schema import Document
from rag.settings import Settings

# The amounts that 0 stands for. Percentiles: the widest tenth of the gaps, the example in the documentation of Amazon
# Bedrock's semantic chunking. Standard deviations: a fifteenth of a normal distribution lies above 1.5. Interquartile:
# the fence of Tukey's box plot (1977), 1.5 times the range above the third quartile.
USUAL = {"percentile": 90.0, "standard-deviation": 1.5, "interquartile": 1.5, "gradient": 90.0}
# Equal texts get distances that differ in the eighth digit; that is no jump.
DIGITS = 6
TINY = 1e-12


def semantic(document: Document, settings: Settings, embedder: Embedder) -> list[Piece]:
    """Passages of whole sentences of one section, parted where the distance in meaning passes the ``threshold``.

    The distance at a gap is that between the mean of the two sentences before it and of the two after it, as TextTiling
    compares the blocks on both sides [Hearst 1997]: one sentence alone is a noisy witness, and blocks that share one
    would look alike. Each sentence is embedded once. The threshold is taken over all gaps of the document.

    No passage is longer than ``chunk_size``: it is cut where the distance is largest. None is shorter than ``min_size``
    or half of ``chunk_size``, whichever is less, unless its section or a neighbour's size leaves no choice.
    """
    sections = list(sentences(document, settings))
    distances = _distances(document.text, sections, embedder)
    threshold, amount = str(settings.parameter("threshold")), float(settings.parameter("amount"))
    jumps = jumps_of(distances, threshold, amount or USUAL[threshold])
    smallest = min(int(settings.parameter("min_size")), settings.chunk_size // 2)
    pieces: list[Piece] = []
    for section, widths, jumping in zip(sections, distances, jumps, strict=True):
        for first, last in _parted(section, widths, jumping, settings.chunk_size, smallest):
            pieces.append(Piece(section[first].start, section[last].end, section[first].header))
    return pieces


def jumps_of(distances: Sequence[np.ndarray], threshold: str, amount: float) -> list[np.ndarray]:
    """For each section's distances, whether each lies above the threshold over all of them; equal ones never do.

    percentile: above ``amount`` percent of all. standard-deviation: that many above the mean. interquartile: so many
    interquartile ranges above the third quartile. gradient: what is compared is how far a distance rises above those
    beside it, and ``amount`` is a percentile of that; it suits texts whose distances drift.
    """
    values = [_rises(one) for one in distances] if threshold == "gradient" else list(distances)
    everything = np.concatenate([*values, np.zeros(0)])
    if not len(everything):
        return [np.zeros(0, dtype=bool) for _ in values]
    if threshold == "standard-deviation":
        limit = everything.mean() + amount * everything.std()
    elif threshold == "interquartile":
        lower, upper = np.percentile(everything, [25, 75])
        limit = upper + amount * (upper - lower)
    else:
        limit = np.percentile(everything, amount)
    return [one > limit + 10.0**-DIGITS for one in values]


def _rises(distances: np.ndarray) -> np.ndarray:
    """How far each distance lies above the mean of its neighbours, or above its one neighbour at an edge."""
    if len(distances) < 2:
        return np.zeros(len(distances))
    padded = np.concatenate([distances[1:2], distances, distances[-2:-1]])
    return distances - (padded[:-2] + padded[2:]) / 2


def _distances(text: str, sections: Sequence[Sequence[Sentence]], embedder: Embedder) -> list[np.ndarray]:
    """For each section of n sentences n - 1 cosine distances, from 0 to 2; all are embedded in one call."""
    several = [section for section in sections if len(section) > 1]
    vectors = embedder.embed_documents([text[one.start : one.end] for section in several for one in section])
    found: list[np.ndarray] = []
    position = 0
    for section in sections:
        if len(section) < 2:
            found.append(np.zeros(0))
            continue
        own = vectors[position : position + len(section)].astype(np.float64)
        position += len(section)
        # Blocks of two neighbours, at the edges one of them twice: the gap after sentence i lies between i and i + 2.
        blocks = np.concatenate([own[:1], own]) + np.concatenate([own, own[-1:]])
        # Two sentences that mean the opposite have no mean direction: their distance to anything is then 1.
        blocks /= np.maximum(np.linalg.norm(blocks, axis=1, keepdims=True), TINY)
        found.append(np.round(np.clip(1 - (blocks[:-2] * blocks[2:]).sum(axis=1), 0, 2), DIGITS))
    return found


def _parted(
    section: Sequence[Sentence], distances: np.ndarray, jumps: np.ndarray, size: int, smallest: int
) -> list[tuple[int, int]]:
    """(first, last) sentence of each passage: divided at the widest jump first, then as often as the size needs."""
    starts = np.array([sentence.start for sentence in section], dtype=np.int64)
    ends = np.array([sentence.end for sentence in section], dtype=np.int64)
    done: list[tuple[int, int]] = []
    waiting = [(0, len(section) - 1)] if section else []
    while waiting:
        first, last = waiting.pop()
        gaps = slice(first, last)
        large_enough = np.minimum(ends[gaps] - starts[first], ends[last] - starts[first + 1 : last + 1]) >= smallest
        too_long = ends[last] - starts[first] > size
        allowed = large_enough if too_long else large_enough & jumps[gaps]
        if not too_long and not allowed.any():
            done.append((first, last))
            continue
        # Where no gap leaves both sides large enough, any must do.
        widths = np.where(allowed, distances[gaps], -1.0) if allowed.any() else distances[gaps]
        gap = first + int(widths.argmax())
        waiting += [(gap + 1, last), (first, gap)]
    return done
