"""The answer without a language model: the sentences of the kept chunks that answer best, quoted, each with its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag.analysis import analyse
from rag.embedders import Embedder
from rag.schema import Answer, Chunk, Citation
from rag.sentences import Unit, readable, units

MOST_SENTENCES = 6
MOST_CHARACTERS = 1200
FEWEST_WORDS = 4
# A sentence is quoted when it scores at least this share of the best one ...
KEPT_SHARE = 0.75
# ... and says something new: at most this share of its terms already stands in a quoted sentence.
REPEATED_SHARE = 0.75
# Meaning and shared words count alike; a little for standing in a passage that was ranked higher.
WORDS_WEIGHT = 1.0
RANK_WEIGHT = 0.03
# The question counts as answered where its best sentence reaches this sum of cosine and share of the question's idf.
ANSWERED = 0.75


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence that might answer: its source number from 1, its cosine to the question and the share of its idf."""

    unit: Unit
    source: int
    terms: frozenset[str]
    cosine: float
    coverage: float

    @property
    def score(self) -> float:
        """What sentences are ordered by; higher answers better."""
        return self.cosine + WORDS_WEIGHT * self.coverage - RANK_WEIGHT * (self.source - 1)


def score_sentences(
    question: str, sources: Sequence[Chunk], embedder: Embedder, language: str, idf: Callable[[str], float]
) -> list[Scored]:
    """Every quotable sentence of the sources in order, scored against the question."""
    candidates = [
        (unit, number) for number, chunk in enumerate(sources, 1) for unit in units(chunk.text, language) if _quotable(unit, chunk)
    ]
    if not candidates:
        return []
    asked = set(analyse(question, language))
    total = sum(idf(term) for term in asked)
    vectors = embedder.embed_documents([_with_context(unit, sources[number - 1]) for unit, number in candidates])
    cosines = vectors @ embedder.embed_query(question)
    scored = []
    for (unit, number), cosine in zip(candidates, np.asarray(cosines).tolist(), strict=True):
        terms = frozenset(analyse(_with_context(unit, sources[number - 1]), language))
        coverage = sum(idf(term) for term in asked & terms) / total if total else 0.0
        scored.append(Scored(unit, number, terms, cosine, coverage))
    return scored


def choose(scored: Sequence[Scored]) -> list[Scored]:
    """At most six sentences that score close to the best and do not repeat each other, in reading order."""
    ranked = sorted(scored, key=lambda item: (-item.score, item.source, item.unit.start))
    chosen: list[Scored] = []
    length = 0
    for item in ranked:
        if item.score < KEPT_SHARE * ranked[0].score or len(chosen) == MOST_SENTENCES:
            break
        repeated = any(len(item.terms & other.terms) > REPEATED_SHARE * min(len(item.terms), len(other.terms)) for other in chosen)
        if not repeated and length + len(item.unit.text) <= MOST_CHARACTERS:
            chosen.append(item)
            length += len(item.unit.text)
    return sorted(chosen, key=lambda item: (item.source, item.unit.start))


def extract(
    question: str, sources: Sequence[Chunk], embedder: Embedder, language: str, idf: Callable[[str], float], refusal: str
) -> Answer:
    """The quoted answer, or ``refusal`` where no sentence comes near the question."""
    scored = score_sentences(question, sources, embedder, language, idf)
    if not scored or max(item.cosine + item.coverage for item in scored) < ANSWERED:
        return Answer(refusal, "refused")
    chosen = choose(scored)
    lines = [f"{_sentence(readable(item.unit))} [Source {item.source}]" for item in chosen]
    citations = [
        Citation(item.source, sources[item.source - 1].id, readable(item.unit), True, "quoted from the source") for item in chosen
    ]
    return Answer("\n\n".join(lines), "grounded", tuple(citations))


def _quotable(unit: Unit, chunk: Chunk) -> bool:
    """Not a heading, a caption or a scrap."""
    words = unit.text.split()
    if unit.header:
        return len(unit.text) > 3
    title = " ".join(unit.text.split()).strip(" #")
    heading = any(title.endswith(part) or part.endswith(title) for part in chunk.section)
    return len(words) >= FEWEST_WORDS and not heading and unit.text.rstrip()[-1] not in ":?"


def _with_context(unit: Unit, chunk: Chunk) -> str:
    """The sentence under its own heading, so that "It stays on for eight hours." knows what stays on."""
    heading = f"{chunk.section[-1]}: " if chunk.section else ""
    return heading + readable(unit)


def _sentence(text: str) -> str:
    return text if text[-1] in ".!?…。！？\"”»)" else text + "."
