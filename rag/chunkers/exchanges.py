"""Question-answer pairs, tickets and exchanges of speakers in a document, told by its blocks or by how it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.chunkers.elements import Element, elements
from rag.schema import Document, Span

_QUESTION = (
    "q|question|frage|pregunta|domanda|pergunta|vraag|fråga|spørgsmål|spørsmål|kysymys|pytanie|otázka|soru|вопрос|"
    "питання|ερώτηση|質問|問|问|问题|질문|سؤال|س|प्रश्न|שאלה"
)
_ANSWER = (
    "a|answer|antwort|respuesta|réponse|risposta|resposta|antwoord|svar|vastaus|odpowiedź|odpověď|cevap|ответ|"
    "відповідь|απάντηση|回答|答|답변|답|جواب|ج|उत्तर|תשובה"
)
# Every repetition in these is bounded: a line of a million blanks must not be tried in a million ways.
LINE_START = re.compile(r"^[ \t\u3000*_#>-]*", re.MULTILINE)
_MARK = r"(?:{})[^\S\n]{{0,2}}(?:no\.?|nr\.?)?[^\S\n]{{0,2}}\d{{0,4}}[*_]{{0,2}}[^\S\n]{{0,2}}[:：.)]"
QUESTION_MARK = re.compile(_MARK.format(_QUESTION), re.IGNORECASE)
ANSWER_MARK = re.compile(_MARK.format(_ANSWER), re.IGNORECASE)
QUESTION_NAME = re.compile(rf"(?:{_QUESTION})\d*", re.IGNORECASE)
TICKET = re.compile(
    r"[*_#>\[\s]{0,6}(?:support |service )?(?:ticket|case|issue|incident|request|chat|call|bug|vorgang|fall|anfrage|"
    r"störung|demande|incidencia|caso|chamado|тикет|заявка|工单|チケット)\b[\s:]{0,3}(?:id|no\.?|nr\.?|number)?[\s:]{0,3}"
    r"[#№]?(?:[A-Z]{1,6}-?)?\d+",
    re.IGNORECASE,
)
SPEAKER = re.compile(
    r"(?:[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?:\s?[AaPp][Mm])?[\])]?[\s-]{0,3})?"
    r"(?:<[@+%~&\s]?([^>\n]{1,40})>|[*_]{0,2}([^:\n]{1,60}?)[*_]{0,2}\s{0,2}[:：])"
)
HELPER = re.compile(
    r"\b(?:agent|support|assistant|bot|operator|advisor|adviser|helpdesk|help desk|service|staff|technician|expert|"
    r"mitarbeiter|berater|kundendienst|conseiller|agente|asistente|оператор|поддержка)\b",
    re.IGNORECASE,
)
QUESTION_ENDS = ("?", "？", "؟", "⸮")
LONGEST_QUESTION = 200
# A document has pairs where at least so many are found, and questions are so large a share of its paragraphs.
FEWEST, SHARE_OF_QUESTIONS = 2, 0.2


class Exchange(NamedTuple):
    """A pair, a ticket or an exchange of speakers: its span, that of its question, and where its parts begin."""

    start: int
    end: int
    question: Span
    starts: tuple[int, ...] = ()


def exchanges(document: Document) -> list[Exchange]:
    """Those of the document, in order and without overlap; none where it holds only other text."""
    kinds = {block.kind for block in document.blocks}
    if "question-answer" in kinds:
        return [_pair(document.text, b.start, b.end) for b in document.blocks if b.kind == "question-answer"]
    if "speaker-turn" in kinds:
        return list(_conversations(document))
    if document.format == "table" and kinds == {"paragraph"}:
        return [_pair(document.text, block.start, block.end) for block in document.blocks]
    if document.format.startswith("code"):
        return []
    if len(found := _by_headings(document)) >= FEWEST or len(found := _by_marks(document)) >= FEWEST:
        return found
    everything = elements(document)
    ways = (_by_question_lines, _by_tickets)
    return next((found for way in ways if len(found := way(document.text, everything)) >= FEWEST), [])


def is_question(line: str) -> bool:
    """Whether a line of a title or a paragraph's own asks something."""
    line = line.strip().rstrip("*_# \t")
    return line.endswith(QUESTION_ENDS) and len(line) <= LONGEST_QUESTION and line[:1] not in "\"'“”„«»‘-–—>|"


def _pair(text: str, start: int, end: int) -> Exchange:
    line_end = text.find("\n", start, end)
    return Exchange(start, end, (start, end if line_end < 0 else line_end))


def _between(text: str, starts: Sequence[int], stops: Sequence[int]) -> list[Exchange]:
    """From each start to the next one, or to the first of the sorted ``stops`` after it."""
    found: list[Exchange] = []
    stops = sorted({*starts, *stops, len(text)})
    places = {place: number for number, place in enumerate(stops)}
    for start in starts:
        end = start + len(text[start : stops[places[start] + 1]].rstrip())
        found.append(_pair(text, start, end))
    return found


def _by_headings(document: Document) -> list[Exchange]:
    """Sections whose heading is a question or names a ticket, each with the sections below it."""
    found: list[Exchange] = []
    path: tuple[str, ...] | None = None
    for section in document.sections:
        if path and section.path[: len(path)] == path and len(section.path) > len(path):
            found[-1] = found[-1]._replace(end=section.end)
            continue
        path = None
        title = section.path[-1] if section.path else ""
        if is_question(title) or TICKET.match(title):
            path = section.path
            found.append(_pair(document.text, section.start, section.end))
    return found


def _by_marks(document: Document) -> list[Exchange]:
    """``Q: ...`` and ``A: ...``, in the languages whose words for them are known."""
    text = document.text
    places = [match.span() for match in LINE_START.finditer(text)]
    questions = [start for start, mark in places if QUESTION_MARK.match(text, mark)]
    answers = sum(1 for _, mark in places if ANSWER_MARK.match(text, mark)) if questions else 0
    if answers * 2 < len(questions):
        return []
    return _between(text, questions, [block.start for block in document.blocks if block.kind == "heading"])


def _by_question_lines(text: str, everything: Sequence[Element]) -> list[Exchange]:
    """Paragraphs that are a question or begin with one on a line of its own, each with what follows it."""
    prose = [element for element in everything if element.kind in ("paragraph", "list")]
    starts = [element.start for element in prose if _asks(text, element)]
    if len(starts) < SHARE_OF_QUESTIONS * len(prose):
        return []
    return _between(text, starts, [element.start for element in everything if element.kind == "heading"])


def _asks(text: str, element: Element) -> bool:
    line_end = text.find("\n", element.start, element.end)
    return is_question(text[element.start : element.end if line_end < 0 else line_end])


def _by_tickets(text: str, everything: Sequence[Element]) -> list[Exchange]:
    starts = [element.start for element in everything if TICKET.match(text, element.start, element.end)]
    return _between(text, starts, [])


def _conversations(document: Document) -> Iterator[Exchange]:
    """Exchanges of each run of turns that no heading parts, what no speaker opens with the turn before it."""
    run: list[int] = []
    end = 0
    boundaries = {section.start for section in document.sections}
    for block in document.blocks:
        parted = block.kind == "heading" or block.start in boundaries
        if run and parted:
            yield from _exchanges_of(document.text, run, end)
            run = []
        if block.kind == "speaker-turn":
            run.append(block.start)
        end = block.end
    if run:
        yield from _exchanges_of(document.text, run, end)


def _exchanges_of(text: str, starts: Sequence[int], end: int) -> Iterator[Exchange]:
    """A new one begins with a question of the speaker who asks, once another has spoken."""
    turns = list(zip(starts, [*starts[1:], end]))
    begun: list[int] = []
    spoken: set[str] = set()
    asker = last = ""
    for number, (start, turn_end) in enumerate(turns):
        speaker = _speaker(text, start, turn_end)
        helps = HELPER.search(speaker) is not None
        if begun and len(spoken) > 1 and speaker != last and not helps:
            asks = any(text.find(mark, start, turn_end) >= 0 for mark in QUESTION_ENDS)
            named = QUESTION_NAME.fullmatch(speaker) is not None
            if named or (asks and (speaker == asker or speaker not in spoken)):
                yield _exchange(turns, begun)
                begun, spoken, asker = [], set(), ""
        # Whoever is there to help asks back, and opens nothing.
        asker = asker or ("" if helps else speaker)
        begun.append(number)
        spoken.add(speaker)
        last = speaker
    yield _exchange(turns, begun)


def _exchange(turns: Sequence[Span], begun: Sequence[int]) -> Exchange:
    first = turns[begun[0]]
    return Exchange(first[0], turns[begun[-1]][1], first, tuple(turns[number][0] for number in begun))


def _speaker(text: str, start: int, end: int) -> str:
    match = SPEAKER.match(text, start, end)
    return " ".join((match.group(1) or match.group(2) or "").split()).casefold() if match else ""
