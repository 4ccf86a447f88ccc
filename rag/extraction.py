"""The answer without a language model: the best sentences of the kept chunks, quoted, each with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.analysis import analyse
from rag.catalogue import Statistics
from rag.embedders import Embedder
from rag.generation import harmless
from rag.loaders.base import paragraphs
from rag.schema import Answer, Chunk, Citation
from rag.sentences import Unit, readable, units

MOST_SENTENCES = 6
MOST_CHARACTERS = 1500
FEWEST_WORDS = 4
# Each source gives its best sentence where that reaches the first share of the best score, and more at the second.
FIRST_SHARE = 0.6
FURTHER_SHARE = 0.95
# By itself a sentence must come at least this near, as a share of the nearest one's cosine, or hold this share of the
# question's idf.
NEAR_SHARE, HELD_SHARE = 0.6, 0.4
# A sentence says something new when at most this share of its terms stands in one already quoted.
REPEATED_SHARE = 0.75
# A sentence scores half the sum of three cosines (its own, that of it between its neighbours under its heading, its
# chunk's), plus the share of the question's idf that it holds, less this for each further source. Variants were
# compared on the shipped questions by where the gold sentence came out.
FURTHER_SOURCE = 0.03


@dataclass(frozen=True, slots=True)
class Scored:
    """One sentence that might answer: its source number from 1, its search terms, and how well it answers.

    ``cosine`` is of the sentence alone and ``nearness`` of it with its neighbours; ``held`` is the share of the
    question's idf that stands in the sentence itself.
    """

    unit: Unit
    source: int
    terms: frozenset[str]
    score: float
    cosine: float
    nearness: float
    held: float


def score_sentences(
    question: str,
    sources: Sequence[Chunk],
    embedder: Embedder,
    language: str,
    statistics: Statistics,
) -> list[Scored]:
    """Every quotable sentence of the sources in order, scored against the question."""
    found = [(number, chunk, _units(chunk, language)) for number, chunk in enumerate(sources, 1)]
    places = [(number, chunk, of_chunk, i) for number, chunk, of_chunk in found for i in range(len(of_chunk))]
    if not places:
        return []
    plain = [readable(of_chunk[i]) for _, _, of_chunk, i in places]
    windows = [_window(chunk, of_chunk, i) for _, chunk, of_chunk, i in places]
    texts = list(dict.fromkeys([*plain, *windows, *(chunk.text for chunk in sources)]))
    cosines = dict(zip(texts, embedder.embed_documents(texts) @ embedder.embed_query(question), strict=True))
    asked = set(analyse(question, language))
    total = sum(statistics.idf(term) for term in asked)
    headings = {number: set(analyse(_heading(chunk), language)) for number, chunk in enumerate(sources, 1)}

    def share(terms: set[str]) -> float:
        return sum(statistics.idf(term) for term in terms) / total if total else 0.0

    sound = [
        _quotable(of_chunk[i], of_chunk[i + 1] if i + 1 < len(of_chunk) else None, chunk)
        for _, chunk, of_chunk, i in places
    ]
    scored = []
    for quotable, (number, chunk, of_chunk, i), text, window in zip(sound, places, plain, windows, strict=True):
        # Where there are only scraps, a scrap is better than nothing.
        if not quotable and (any(sound) or not any(map(str.isalnum, text))):
            continue
        terms = frozenset(analyse(text, language))
        cosine, nearness = float(cosines[text]), float(cosines[window])
        meaning = 0.5 * (cosine + nearness + float(cosines[chunk.text]))
        score = meaning + share(asked & (terms | headings[number])) - FURTHER_SOURCE * (number - 1)
        scored.append(Scored(of_chunk[i], number, terms, score, cosine, nearness, share(asked & terms)))
    return scored


def choose(scored: Sequence[Scored]) -> list[Scored]:
    """At most six sentences that score close to the best and do not repeat each other, in reading order.

    The one nearest in meaning brings the sentence after it along, which often says what follows from it.
    """
    least = NEAR_SHARE * max((item.cosine for item in scored), default=0.0)
    near = [item for item in scored if item.cosine >= least or item.held >= HELD_SHARE]
    ranked = sorted(near, key=lambda item: (-item.score, item.source, item.unit.start))
    nearest = max(near, key=lambda item: item.cosine, default=None)
    chosen: list[Scored] = []
    length = 0
    for item in ranked:
        along = [other for other in scored if item is nearest and _goes_on(item, other)]
        known_source = any(item.source == other.source for other in chosen)
        if len(chosen) == MOST_SENTENCES or item.score < FIRST_SHARE * ranked[0].score:
            break
        if known_source and item.score < FURTHER_SHARE * ranked[0].score:
            continue
        for quoted in (item, *along)[: MOST_SENTENCES - len(chosen)]:
            if length + len(quoted.unit.text) <= MOST_CHARACTERS and not _repeats(quoted, chosen):
                chosen.append(quoted)
                length += len(quoted.unit.text)
    return sorted(chosen, key=lambda item: (item.source, item.unit.start))


def quote(chosen: Sequence[Scored], sources: Sequence[Chunk]) -> Answer:
    """The chosen sentences as an answer, each on a line of its own with its ``[Source N]``."""
    quoted = [(item.source, harmless(_with_question(item.unit, sources[item.source - 1]))) for item in chosen]
    lines = [f"{_ended(text, sources[source - 1])} [Source {source}]" for source, text in quoted]
    citations = tuple(
        Citation(source, sources[source - 1].id, text, True, "quoted from the source") for source, text in quoted
    )
    return Answer("\n\n".join(lines), "grounded", citations)


def _goes_on(item: Scored, other: Scored) -> bool:
    """Whether ``other`` follows ``item`` in the same paragraph."""
    between = other.unit.start - item.unit.end
    return other.source == item.source and 0 <= between <= 2 and not (item.unit.row or other.unit.row)


def _with_question(unit: Unit, chunk: Chunk) -> str:
    """The sentence, after the question it answers where it is the beginning of an answer in a list of questions."""
    if chunk.line_start is not None:
        return unit.text  # source code keeps its lines
    text = readable(unit)
    question = _heading(chunk)
    before = " ".join(chunk.text[: unit.start].split())
    return f"{question} {text}" if question.endswith("?") and before == question else text


def _repeats(item: Scored, chosen: Sequence[Scored]) -> bool:
    return any(
        len(item.terms & other.terms) > REPEATED_SHARE * min(len(item.terms), len(other.terms)) for other in chosen
    )


def _window(chunk: Chunk, of_chunk: Sequence[Unit], i: int) -> str:
    """A sentence between its neighbours, under its heading, so that "It lasts eight hours." knows what lasts."""
    heading = _heading(chunk)
    return (f"{heading}: " if heading else "") + " ".join(readable(unit) for unit in of_chunk[max(0, i - 1) : i + 2])


def _units(chunk: Chunk, language: str) -> tuple[Unit, ...]:
    if chunk.line_start is not None:
        # Whole runs of lines: one alone may say the opposite.
        return tuple(Unit(chunk.text[start:end], start, end) for start, end in paragraphs(chunk.text))
    # A passage that begins among a table's rows has the column names in its header.
    names = next((line for line in chunk.header.split("\n") if line.lstrip().startswith("|")), "")
    return units(chunk.text, language, names)


def _heading(chunk: Chunk) -> str:
    return chunk.section[-1] if chunk.section else ""


def _quotable(unit: Unit, following: Unit | None, chunk: Chunk) -> bool:
    """Not a heading, a question, a table's caption, a scrap, or half a sentence."""
    if unit.row:
        return len(unit.text) > 3
    words = " ".join(unit.text.split()).strip("# ")
    heading = any(words in title or words.endswith(title) for title in chunk.section)
    caption = following is not None and following.row and words[-1:] not in ".!…"
    half = words[:1].islower() and not unit.lead and chunk.line_start is None
    return len(words.split()) >= FEWEST_WORDS and not heading and not caption and not half and words[-1] not in ":?"


def _ended(text: str, chunk: Chunk) -> str:
    """The text with a full stop, unless it ends otherwise or is source code."""
    if chunk.line_start is not None:
        return text
    text = text.rstrip(" ;,")
    return text if text[-1] in '.!?…。！？"”»)' else text + "."
