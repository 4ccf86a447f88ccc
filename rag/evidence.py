"""Whether the sources answer the question at all, judged without a language model.

No single number tells: a passage on the right subject is near in meaning also where the fact is missing. So three
signals are added: how near the nearest passage comes, whether words that stand together in the question stand together
in a source, and whether the dense and the sparse list agree. Three absences decide by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.analysis import analyse
from rag.catalogue import Statistics
from rag.schema import Chunk, Hit

# Weights and threshold were set on the shipped questions and rounded; the benchmark `bench answers` measures them.
PHRASES_WEIGHT = 0.3
AGREEMENT_WEIGHT = 0.8
ANSWERED = 0.46
AGREEMENT_DEPTH = 10
# Where one of the two lists is switched off or empty, their agreement is unknown: its middle on those questions.
USUAL_AGREEMENT = 0.2
NEAR_TERMS = 4
UNKNOWN_SHARE, UNKNOWN_NEARNESS = 0.8, 0.55
# A word that a few passages lack may be put otherwise there; one that many lack is probably no subject of theirs.
ENOUGH_CHUNKS = 100
_CODE = re.compile(r"[a-z]{1,5}\d[a-z\d]*")
# What a question asks for that only a text of a certain look can answer: the thing, how it is asked for, how it looks.
_KINDS = tuple(
    (thing, re.compile(asked, re.IGNORECASE), re.compile(looks, re.IGNORECASE))
    for thing, asked, looks in (
        (
            "a price",
            r"\b(?:what|how much) (?:do|does|did|will|would)\b.*\bcosts?\b(?=\W*$| to\b| me\b| for\b)"
            r"|\b(?:price|cost) (?:of|for)\b|\bhow (?:expensive|pricey)\b"
            r"|\bhow much (?:is|are) (?:a|an|the|one|two) (?:new|replacement|spare)\b",
            r"[$€£¥₹]|\b(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds|cents|free|no charge|no cost|price[ds]?|fees?)\b",
        ),
        ("an e-mail address", r"\be-?mail address", r"\S@\S"),
        ("a telephone number", r"\b(?:tele)?phone number", r"\+?\d[\d ()/-]{5,}\d|\b(?:911|999|112)\b"),
    )
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The three signals, each 0 to 1, and ``absence``: a sentence where something decisive is missing, else ""."""

    nearness: float
    phrases: float
    agreement: float
    absence: str = ""

    @property
    def score(self) -> float:
        """Their weighted sum; from ANSWERED on the question counts as answered."""
        return self.nearness + PHRASES_WEIGHT * self.phrases + AGREEMENT_WEIGHT * self.agreement

    @property
    def suffices(self) -> bool:
        """Whether an answer may be quoted."""
        return not self.absence and self.score >= ANSWERED

    def reason(self) -> str:
        """Why the question is declined, in one sentence."""
        if self.absence:
            return f"Declined: {self.absence}"
        return (
            f"Declined: no passage answers this closely enough (evidence {self.score:.2f} of the {ANSWERED} needed: "
            f"nearest passage {self.nearness:.2f}, word pairs found together {self.phrases:.0%}, the two lists agree "
            f"on {self.agreement:.0%})."
        )


def weigh(
    question: str,
    sources: Sequence[Chunk],
    nearness: float,
    dense: Sequence[Hit] | None,
    sparse: Sequence[Hit] | None,
    statistics: Statistics,
    language: str,
) -> Evidence:
    """The evidence for a question; a list that was switched off is None."""
    terms = analyse(question, language)
    return Evidence(
        nearness,
        _phrases(terms, sources, statistics, language),
        _agreement(dense, sparse),
        _absence(question, terms, sources, nearness, statistics),
    )


def _phrases(terms: Sequence[str], sources: Sequence[Chunk], statistics: Statistics, language: str) -> float:
    """The share, by the smaller idf of the two, of neighbouring question terms that stand near each other in a
    source."""
    pairs = {frozenset(pair): min(map(statistics.idf, pair)) for pair in zip(terms, terms[1:]) if pair[0] != pair[1]}
    if not pairs:
        return 1.0
    found: set[frozenset[str]] = set()
    for chunk in sources:
        words = analyse(" ".join((*chunk.section, chunk.reading)), language)
        for position, word in enumerate(words):
            found.update(frozenset((word, other)) for other in words[position + 1 : position + 1 + NEAR_TERMS])
    total = sum(pairs.values())
    return sum(weight for pair, weight in pairs.items() if pair in found) / total if total else 0.0


def _agreement(dense: Sequence[Hit] | None, sparse: Sequence[Hit] | None) -> float:
    if not dense or not sparse:
        return USUAL_AGREEMENT
    first = [{hit.chunk_id for hit in hits[:AGREEMENT_DEPTH]} for hits in (dense, sparse)]
    return len(first[0] & first[1]) / AGREEMENT_DEPTH


def _absence(
    question: str, terms: Sequence[str], sources: Sequence[Chunk], nearness: float, statistics: Statistics
) -> str:
    unknown = {term for term in terms if not statistics.document_frequencies.get(term)}
    codes = sorted(term for term in unknown if _CODE.fullmatch(term))
    if codes:
        return f"{', '.join(code.upper() for code in codes)} stands nowhere in the documents."
    total = sum(statistics.idf(term) for term in set(terms))
    share = sum(statistics.idf(term) for term in unknown) / total if total else 0.0
    if statistics.chunks >= ENOUGH_CHUNKS and share >= UNKNOWN_SHARE and nearness < UNKNOWN_NEARNESS:
        return f"the documents do not know the words {', '.join(sorted(unknown))}, and little else is asked."
    for thing, asked, looks in _KINDS:
        if asked.search(question) and not any(looks.search(chunk.reading) for chunk in sources):
            return f"the question is for {thing}, and no source names one."
    return ""
