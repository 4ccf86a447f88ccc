"""Question sets: JSON Lines with quoted gold passages, so that the gold survives a change of chunker.

One question a line::

    {"id": "q01", "question": "...", "kind": "feature", "answer": "reference answer",
     "gold": [{"document": "manual.pdf", "quote": "...", "alternatives": [{"document": "faq.csv", "quote": "..."}]}],
     "history": [{"role": "user", "text": "..."}, {"role": "assistant", "text": "..."}], "note": "..."}

Every gold passage is needed; of it and its ``alternatives`` any one serves. ``history`` belongs to conversations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.errors import RagError
from rag.schema import Turn

KINDS = ("feature", "paraphrase", "table", "two-passage", "unanswerable", "near-miss", "conversation")
WITHOUT_GOLD = ("unanswerable", "near-miss")
ROLES = ("user", "assistant")
# A shorter quote ("15 A") stands in too many places to be gold.
MINIMUM_QUOTE_CHARACTERS = 8


class EvaluationError(RagError):
    """A question set or a collection cannot be used; the message names the file and, where there is one, the line."""


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A quote from a document, known by ``Document.name``; any one of it and its ``alternatives`` serves."""

    document: str
    quote: str
    alternatives: tuple[GoldPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its reference answer and the gold passages that are all needed; none: it has no answer."""

    id: str
    question: str
    kind: str
    gold: tuple[GoldPassage, ...]
    answer: str
    history: tuple[Turn, ...] = ()
    note: str = ""


def read_set(path: str | Path) -> tuple[Question, ...]:
    """The questions of a file, in its order. Raises EvaluationError, naming the line."""
    path = Path(path)
    questions: list[Question] = []
    lines: dict[str, int] = {}
    for line, record in read_json_lines(path):
        question = _Reader(f"{path.name}, line {line}").question(record)
        if question.id in lines:
            raise EvaluationError(
                f'{path.name}, line {line}: the id "{question.id}" is already taken by line {lines[question.id]}.'
            )
        lines[question.id] = line
        questions.append(question)
    if not questions:
        raise EvaluationError(f"{path.name} holds no questions; write one JSON object a line.")
    return tuple(questions)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number from 1 and object of each line that is not blank; a byte-order mark and CRLF are let pass.

    Raises EvaluationError where the file or a line cannot be read.
    """
    for line, text in read_lines(path):
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise EvaluationError(
                f"{path.name}, line {line}: not valid JSON ({error.msg}, column {error.colno}); one object a line."
            ) from None
        if not isinstance(record, dict):
            raise EvaluationError(f"{path.name}, line {line}: this is not a JSON object; it must begin with {{.")
        yield line, record


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line number from 1 and UTF-8 text of each line that is not blank. Raises EvaluationError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read ({error.strerror}); check the path.") from None
    # Cut at newlines only: str.splitlines would also cut at U+2028, which JSON allows inside a text.
    for line, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise EvaluationError(f"{path.name}, line {line}: not UTF-8; save the file as UTF-8.") from None
        if text:
            yield line, text


class _Reader:
    """Turns parsed JSON into records; every error begins with ``place``, the file and line."""

    def __init__(self, place: str):
        self.place = place

    def question(self, record: dict[str, Any]) -> Question:
        self.keys(record, "the question", ("id", "question", "kind", "gold", "answer"), ("history", "note"))
        kind = self.choice(record, "kind", KINDS)
        gold = tuple(self.passage(entry, "gold") for entry in self.entries(record, "gold"))
        history = tuple(self.turn(entry) for entry in self.entries(record, "history"))
        if kind in WITHOUT_GOLD and gold:
            raise self.error(f'kind "{kind}" has no answer in the corpus, so its "gold" must be [].')
        if kind not in (*WITHOUT_GOLD, "conversation") and not gold:
            raise self.error(f'kind "{kind}" needs at least one passage in "gold".')
        if kind == "two-passage" and len(gold) < 2:
            raise self.error('kind "two-passage" needs at least two passages in "gold".')
        if (kind == "conversation") != bool(history):
            raise self.error('"history" must hold the turns before a question of kind "conversation", and of no other.')
        texts = {name: self.text(record, name) for name in ("id", "question", "answer")}
        note = self.text(record, "note") if "note" in record else ""
        return Question(kind=kind, gold=gold, history=history, note=note, **texts)

    def passage(self, record: Any, where: str) -> GoldPassage:
        allowed = ("alternatives",) if where == "gold" else ()
        self.keys(record, f"a passage of {where}", ("document", "quote"), allowed)
        quote = self.text(record, "quote")
        if sum(character.isalnum() for character in quote) < MINIMUM_QUOTE_CHARACTERS:
            raise self.error(
                f'the quote "{quote}" is too short to be found again; give at least {MINIMUM_QUOTE_CHARACTERS} letters.'
            )
        alternatives = (self.passage(entry, "alternatives") for entry in self.entries(record, "alternatives"))
        return GoldPassage(self.text(record, "document"), quote, tuple(alternatives))

    def turn(self, record: Any) -> Turn:
        self.keys(record, "a turn of history", ("role", "text"), ())
        return Turn(self.choice(record, "role", ROLES), self.text(record, "text"))

    def keys(self, record: Any, what: str, needed: tuple[str, ...], allowed: tuple[str, ...]) -> None:
        if not isinstance(record, dict):
            raise self.error(f"{what} must be an object, not {json.dumps(record)[:60]}.")
        for name in needed:
            if name not in record:
                raise self.error(f'{what} has no "{name}"; add it.')
        for name in record:
            if name not in needed + allowed:
                raise self.error(f'{what} has an unknown key "{name}"; it may have: {", ".join(needed + allowed)}.')

    def text(self, record: dict[str, Any], name: str) -> str:
        value = record[name]
        if not isinstance(value, str) or not value.strip():
            raise self.error(f'"{name}" must be a text that is not blank.')
        return value.strip()

    def choice(self, record: dict[str, Any], name: str, choices: tuple[str, ...]) -> str:
        if record[name] not in choices:
            raise self.error(f'"{name}" is {record[name]!r}; choose one of: {", ".join(choices)}.')
        return record[name]

    def entries(self, record: dict[str, Any], name: str) -> list[Any]:
        value = record.get(name, [])
        if not isinstance(value, list):
            raise self.error(f'"{name}" must be a list.')
        return value

    def error(self, message: str) -> EvaluationError:
        return EvaluationError(f"{self.place}: {message}")
