"""Finds quoted gold passages in documents and says which chunks hold them, whatever cut the chunks.

A quote is searched exactly, but for what loaders and typists change: white space, letter case, quote marks, dashes and
hyphens (so a word broken at the end of a line is found), ligatures and other compatibility forms, invisible characters.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple, Self

from rag.evaluation.sets import GoldPassage, Question
from rag.schema import Chunk, Document

# Half, because a quote cut in two by a chunker is still answered by the bigger part: at least one of two parts reaches
# half, and overlap often gives it to two chunks. A smaller share would count chunks that only touch the passage.
NEEDED_SHARE = 0.5
# Dashes, opening and closing quotation marks, invisible format and control characters.
DROPPED_CATEGORIES = frozenset({"Pd", "Pi", "Pf", "Cf", "Cc"})
# The same in other categories: straight and low quotes, accents typed as quotes, primes, minus, hyphen bullet.
DROPPED_CHARACTERS = frozenset("\"'`\u00b4\u201a\u201e\u2032\u2033\u2212\u2043")


class Span(NamedTuple):
    """``text[start:end]`` of the document of that name; an empty ``document_id`` is any document of that name."""

    document: str
    start: int
    end: int
    document_id: str = ""


class _Text(NamedTuple):
    text: str
    document_id: str
    folded: str
    # Where in ``folded`` the characters of ``text`` end, one number a character.
    ends: list[int]


class QuoteFinder:
    """Finds quotes in a fixed set of documents; each document is normalised once, when it is first searched."""

    def __init__(self, documents: Iterable[Document]):
        self._sources = [(document.name, document.id, document.text) for document in documents]
        self._texts: dict[str, list[_Text]] = {}

    @classmethod
    def from_texts(cls, texts: Mapping[str, str]) -> Self:
        """A finder over texts by document name, for a place that has no Document."""
        finder = cls(())
        finder._sources = [(name, "", text) for name, text in texts.items()]
        return finder

    def knows(self, document: str) -> bool:
        """Whether a document of that name is there to be searched."""
        return any(name == document for name, _, _ in self._sources)

    def find(self, quote: str, document: str) -> tuple[Span, ...]:
        """Every place where the quote stands in the documents of that name, in order; empty where it does not."""
        if document not in self._texts:
            self._texts[document] = [
                _normalise(text, document_id) for name, document_id, text in self._sources if name == document
            ]
        needle = "".join(_fold(character) for character in quote)
        return tuple(
            Span(document, start, end, text.document_id)
            for text in self._texts[document]
            for start, end in _places(text, needle)
        )


def covers(chunk: Chunk, span: Span) -> bool:
    """Whether the chunk holds at least half of the span's characters, or is too short for that and mostly of the span.

    It depends on this chunk alone, so a trace's few chunks are judged as the whole index would be.
    """
    if chunk.document != span.document or span.document_id not in ("", chunk.document_id):
        return False
    held = min(chunk.end, span.end) - max(chunk.start, span.start)
    needed = NEEDED_SHARE * (span.end - span.start)
    if chunk.end - chunk.start < needed:
        needed = NEEDED_SHARE * (chunk.end - chunk.start)
    return held > 0 and held >= needed


def relevant_chunks(question: Question, finder: QuoteFinder, chunks: Iterable[Chunk]) -> list[set[str]]:
    """The ids of the chunks that hold each gold passage (or one of its alternatives), one set per passage, in order.

    A set is empty where the passage stands in no document (``missing_gold`` says so in words) or in none of the chunks;
    an empty set is a passage never found.
    """
    chunks = list(chunks)
    found = []
    for passage in question.gold:
        spans = [span for choice in _choices(passage) for span in finder.find(choice.quote, choice.document)]
        found.append({chunk.id for chunk in chunks if any(covers(chunk, span) for span in spans)})
    return found


def missing_gold(questions: Iterable[Question], finder: QuoteFinder) -> list[str]:
    """A sentence for every quote, alternatives too, that stands in no document of the name it gives."""
    sentences = []
    for question in questions:
        for choice in (choice for passage in question.gold for choice in _choices(passage)):
            if not finder.knows(choice.document):
                sentences.append(f"gold of {question.id}: there is no document {choice.document}")
            elif not finder.find(choice.quote, choice.document):
                sentences.append(f"gold of {question.id} not found in {choice.document}: '{choice.quote}'")
    return sentences


def _choices(passage: GoldPassage) -> Sequence[GoldPassage]:
    return (passage, *passage.alternatives)


def _normalise(text: str, document_id: str) -> _Text:
    folded = [_fold(character) for character in text]
    return _Text(text, document_id, "".join(folded), list(accumulate(map(len, folded))))


@lru_cache(maxsize=65536)
def _fold(character: str) -> str:
    # Decomposed (NFKD), not composed: one character at a time then gives the same whichever way an accent was written.
    parts = () if _dropped(character) else unicodedata.normalize("NFKD", character)
    return "".join(part.casefold() for part in parts if not _dropped(part))


def _dropped(character: str) -> bool:
    named = character in DROPPED_CHARACTERS or character.isspace()
    return named or unicodedata.category(character) in DROPPED_CATEGORIES


def _places(text: _Text, needle: str) -> list[tuple[int, int]]:
    places = []
    at = text.folded.find(needle) if needle else -1
    while at >= 0:
        # The first character that ends after a folded position is the one it came from.
        start = bisect_right(text.ends, at)
        end = bisect_right(text.ends, at + len(needle) - 1) + 1
        if not (_inside_a_number(text.text, start) or _inside_a_number(text.text, end)):
            places.append((start, end))
        at = text.folded.find(needle, at + 1)
    return places


def _inside_a_number(text: str, boundary: int) -> bool:
    # "2.5 bar" is not found in "12.5 bar", nor "code E-3" in "code E-31".
    return text[max(0, boundary - 1) : boundary].isdigit() and text[boundary : boundary + 1].isdigit()
