"""Which chunker suits a document, from the shares of its text that are pairs, tables, lists, code or plain prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.chunkers.elements import WHOLE, elements
from rag.chunkers.exchanges import exchanges
from rag.schema import Document

# Each limit stands beside the rule that uses it; shares are of the characters that are not blank space.
PAIRS_SHARE = 0.5
SHORT_PAIR = 1500
FOREIGN_SHARE = 0.5
MIXED_SHARE = 0.15
SECTION_CHARACTERS = 4000
FEWEST_SECTIONS = 3
LONG_CHARACTERS = 20_000
PROSE_SHARE = 0.5
FACTS_SHARE = 0.4
# Scripts in which a token is a letter or two: Greek and Cyrillic, then all from Armenian to the end of the plane but
# for the punctuation and Latin letters among them.
FOREIGN = re.compile(
    "[\u0370-\u1dff\u2e80-\ua71f\ua800-\ufaff\ufb1d-\ufdff\ufe70-\ufefe\uff66-\uffdc\U00020000-\U0003ffff]"
)
FIGURE = re.compile(r"\d")
LETTER = re.compile(r"[^\W\d_]")
SENTENCE_PARTS = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n\s*\n")
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
SENTENCE_LENGTHS = range(15, 500)
SAMPLE = 200_000


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The name of a chunker, and the sentence that says why it suits the document."""

    chunker: str
    reason: str


def recommend(document: Document) -> Recommendation:
    """The chunker for the document's shape, by the first rule that fits, with the figures that the rule rests on."""
    if document.format.startswith("code:"):
        language = document.format.removeprefix("code:")
        return Recommendation("code", f"It is source code ({language}): functions and classes are its natural parts.")
    text = document.text
    length = max(1, _visible(text))
    pairs = exchanges(document)
    share = sum(_visible(text[one.start : one.end]) for one in pairs) / length
    if share >= PAIRS_SHARE and sum(one.end - one.start for one in pairs) <= SHORT_PAIR * len(pairs):
        turns = any(one.starts for one in pairs)
        kind = "exchanges of speakers" if turns else "question-answer pairs or tickets"
        return Recommendation("qa", f"{_percent(share)} of its text is {kind} ({len(pairs):,} of them).")
    sample = text[:SAMPLE]
    foreign = len(FOREIGN.findall(sample)) / max(1, len(LETTER.findall(sample)))
    if foreign >= FOREIGN_SHARE:
        return Recommendation(
            "token", f"{_percent(foreign)} of its letters are of scripts that take a token for every letter or two."
        )
    return _by_layout(document, length)


def _by_layout(document: Document, length: int) -> Recommendation:
    text = document.text
    held = {kind: 0 for kind in WHOLE}
    for element in elements(document):
        if element.kind in held:
            held[element.kind] += _visible(text[element.start : element.end])
    mixed = sum(held.values()) / length
    if mixed >= MIXED_SHARE:
        names = {"table": "tables", "list": "lists", "code": "code", "warning": "warnings"}
        parts = [f"{names[kind]} {_percent(count / length)}" for kind, count in held.items() if count * 100 >= length]
        return Recommendation("layout", f"{_percent(mixed)} of its text is laid out: {', '.join(parts)}.")
    sections = sum(1 for section in document.sections if section.path)
    if sections >= FEWEST_SECTIONS and len(text) <= SECTION_CHARACTERS * sections:
        return Recommendation(
            "layout", f"It has {sections:,} headings, one for every {len(text) // sections:,} characters."
        )
    sample = text[:SAMPLE]
    sentences = [part for part in SENTENCE_PARTS.split(sample) if _is_sentence(part)]
    prose = sum(map(_visible, sentences)) / max(1, _visible(sample))
    facts = sum(1 for sentence in sentences if FIGURE.search(sentence)) / max(1, len(sentences))
    headings = f"{sections:,} headings" if sections != 1 else "1 heading"
    if prose < PROSE_SHARE:
        return Recommendation(
            "recursive",
            f"It has no shape that another chunker needs: {headings}, "
            f"{_percent(mixed)} of its text laid out, {_percent(prose)} in sentences.",
        )
    if len(text) >= LONG_CHARACTERS and facts >= FACTS_SHARE:
        return Recommendation(
            "sentence-window",
            f"It is long prose ({len(text):,} characters, {headings}) whose facts stand in single sentences: "
            f"{_percent(facts)} of them hold a figure.",
        )
    return Recommendation("recursive", f"It is plain prose: {_percent(prose)} of its text in sentences, {headings}.")


def _is_sentence(part: str) -> bool:
    return len(part) in SENTENCE_LENGTHS and part.rstrip("\"'”’)» \n").endswith(SENTENCE_ENDS)


def _visible(text: str) -> int:
    """How many characters are not blank space."""
    return sum(map(len, text.split()))


def _percent(share: float) -> str:
    return f"{100 * min(share, 1):.0f} %"
