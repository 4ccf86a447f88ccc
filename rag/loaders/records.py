"""JSON Lines, and JSON files of records: question-answer pairs, conversations, or records told name by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag.errors import LoadError
from rag.loaders.base import Assembly, Content, clean, decode_as_it_is, one_block, sections_from, some

# The names of a question with those of its answer, the surest first; the first names that a record has count.
PAIRS = (
    ("question", "answer"), ("question", "answers"), ("question", "response"), ("question", "output"),
    ("questions", "answers"), ("q", "a"), ("frage", "antwort"), ("pregunta", "respuesta"), ("query", "response"),
    ("query", "answer"), ("query", "answers"), ("query", "output"), ("prompt", "completion"), ("prompt", "response"),
    ("prompt", "answer"), ("prompt", "output"), ("instruction", "output"), ("instruction", "response"),
    ("instruction", "completion"), ("input", "output"), ("user", "assistant"), ("human", "assistant"),
    ("problem", "solution"),
    *((asked, told) for told in ("answer", "reply", "response", "resolution", "solution", "body")
      for asked in ("title", "subject")),
)  # fmt: skip
# What belongs to the question although it has a field of its own: a ticket's text, where its answer is another.
TICKET = ("body", "description", "details", "problem")
ADDED_TO_QUESTION = {"instruction": ("input",), "title": TICKET, "subject": TICKET}
CONVERSATIONS = ("messages", "conversations", "conversation", "turns", "dialogue", "dialog")
ROLES = ("role", "from", "speaker", "author")
CONTENTS = ("content", "value", "text", "message")
ASKERS = frozenset(("user", "human", "customer", "prompter", "client"))
ANSWERERS = frozenset(("assistant", "gpt", "bot", "model", "agent", "chatgpt", "ai", "support"))
MAX_DEPTH = 30
NOT_JSON = "not JSON"
TOO_DEEP = "nested too deeply"

Pair = tuple[str, str]


@dataclass
class _Found:
    """What was made of the records so far, and which of them were left out and why."""

    assembly: Assembly = field(default_factory=Assembly)
    marks: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    unused: dict[str, None] = field(default_factory=dict)


def load_records(data: bytes, name: str) -> Content:
    """Each question and its answer as one block and one section; other records as ``name: value`` lines.

    A line that is no JSON, or has a question or an answer alone, is left out and named in the notices.
    """
    text = decode_as_it_is(data, name).lstrip("\ufeff")
    records, kind = list(_lines(text)), "line"
    if not name.lower().endswith((".jsonl", ".ndjson")) or _is_one_value(records):
        whole = _parsed(text)
        if not isinstance(whole, _Bad):
            records, kind = list(enumerate(_records_of(whole), start=1)), "record"
    found = _Found()
    names = next(filter(None, (_names(record) for _, record in records)), None)
    for number, record in records:
        if why := _add(found, record, names):
            found.bad.append(f"{kind} {number} ({why})")
    notices = []
    if found.bad:
        notices.append(f"{len(found.bad)} of {len(records)} {kind}s left out: {some(found.bad)}")
        if not found.assembly.blocks:
            raise LoadError(name, notices[0])
    if found.unused:
        notices.append(f"read as questions and answers, without the fields {some(list(found.unused))}")
    text = found.assembly.text
    blocks = tuple(found.assembly.blocks)
    return Content(text, sections_from(text, found.marks), (), blocks, tuple(notices), "table")


@dataclass(frozen=True)
class _Bad:
    """What stands for a value that could not be read."""

    why: str


def _parsed(text: str) -> Any:
    """The value that JSON text holds, numbers as they are written; _Bad where it is none."""
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str, strict=False)
    except RecursionError:
        return _Bad(TOO_DEEP)
    except ValueError:
        return _Bad(NOT_JSON)


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(re.split("\r\n|\n|\r", text), start=1):
        if line.strip():
            yield number, _parsed(line)


def _is_one_value(records: Sequence[tuple[int, Any]]) -> bool:
    """Whether the lines make no sense one by one, as those of a value that was written over many lines."""
    return all(isinstance(record, _Bad) or not isinstance(record, dict) for _, record in records)


def _records_of(whole: Any) -> list[Any]:
    """The records of a file: its list, the one list of records in it, its records by their names, or itself."""
    if isinstance(whole, list):
        return whole if _exchanges(whole) is None else [whole]
    if isinstance(whole, dict) and whole and all(map(_names, whole.values())):
        return list(whole.values())
    lists = [value for value in whole.values() if _is_records(value)] if isinstance(whole, dict) else []
    return lists[0] if len(lists) == 1 and not _names(whole) else [whole]


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _folded(record: dict[str, Any]) -> dict[str, str]:
    """The names of a record as they are compared, with those it has."""
    return {re.sub(r"[\W_]+", "", name.casefold()): name for name in record}


def _names(record: Any) -> tuple[str, str] | None:
    """The names under which a record has a question and an answer."""
    if not isinstance(record, dict):
        return None
    known = _folded(record)
    return next((pair for pair in PAIRS if pair[0] in known and pair[1] in known), None)


def _add(found: _Found, record: Any, names: tuple[str, str] | None) -> str:
    """Add one record to what was found; why it is left out, or ""."""
    if isinstance(record, _Bad):
        return record.why
    known = _folded(record) if isinstance(record, dict) else {}
    try:
        if here := _names(record):
            return _add_pair(found, record, known, here)
        if names and (names[0] in known or names[1] in known):
            return f"no {'answer' if names[0] in known else 'question'}"
        if (exchanges := _exchanges(record)) is not None:
            return _add_exchanges(found, exchanges)
        told = one_or_more(told_lines(record))
    except _TooDeep:
        return TOO_DEEP
    if not told:
        return "empty"
    found.assembly.add("paragraph", told)
    return ""


def _add_pair(found: _Found, record: dict[str, Any], known: dict[str, str], names: tuple[str, str]) -> str:
    used = [known[names[0]], known[names[1]]]
    question, answer = (_told(record[name]) for name in used)
    for more in (known[name] for name in ADDED_TO_QUESTION.get(names[0], ()) if name in known):
        if more not in used:
            question = one_block(f"{question}\n{_told(record[more])}")
            used.append(more)
    if not question or not answer:
        return f"no {'answer' if question else 'question'}"
    found.unused |= dict.fromkeys(clean(name) for name in record if name not in used)
    _write(found, (), (question, answer))
    return ""


def _write(found: _Found, path: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    block = found.assembly.add("question-answer", "\n".join(pair))
    path = (*path, " ".join(pair[0].split()))
    found.marks.append((block.start, path))
    return path


def _exchanges(record: Any) -> list[Pair] | None:
    """The questions of a conversation that were answered, each with its answer; None where there is none."""
    known = _folded(record) if isinstance(record, dict) else {}
    turns = next((record[known[name]] for name in CONVERSATIONS if name in known), record)
    if not _is_records(turns):
        return None
    said = []
    for turn in turns:
        names = _folded(turn)
        role = next((turn[names[name]] for name in ROLES if name in names), None)
        content = next((turn[names[name]] for name in CONTENTS if name in names), None)
        if not isinstance(role, str):
            return None
        said.append((role.casefold(), _told(content)))
    if not any(role in ASKERS | ANSWERERS for role, _ in said):
        return None
    pairs: list[Pair] = []
    asked: list[str] = []
    for role, content in said:
        if role in ASKERS and content:
            asked.append(content)
        elif role in ANSWERERS and content and asked:
            pairs.append(("\n".join(asked), content))
            asked = []
        elif role in ANSWERERS and content and pairs:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}\n{content}")
    return pairs


def _add_exchanges(found: _Found, exchanges: list[Pair]) -> str:
    path: tuple[str, ...] = ()
    for pair in exchanges:
        # What is asked next rests on what was asked first.
        path = _write(found, path[:1], pair)
    return "" if exchanges else "no question with an answer"


class _TooDeep(Exception):
    """A value lies in more others than anyone wants to read."""


def _told(value: Any) -> str:
    """A value in words: text as it stands, several values one a line, the text of a part of a message alone."""
    if isinstance(value, list):
        return one_block("\n".join(map(_told_part, value)))
    return _told_part(value)


def _told_part(value: Any) -> str:
    if isinstance(value, dict) and "text" in value:
        text = value["text"]
        return one_block("\n".join(map(_plain, text)) if isinstance(text, list) else _plain(text))
    return one_or_more(told_lines(value))


def one_or_more(lines: Sequence[str]) -> str:
    """The lines that are not blank, their indentation kept."""
    return "\n".join(line.rstrip() for line in lines if line.strip()).strip()


def told_lines(value: Any, depth: int = 0) -> list[str]:
    """Any JSON value as lines a person can read: ``name: value``, what is in it indented, lists with dashes."""
    if depth > MAX_DEPTH:
        raise _TooDeep
    if isinstance(value, dict):
        lines = []
        for name, inner in value.items():
            lines += _named(" ".join(clean(name).split()), inner, depth)
        return lines
    if isinstance(value, list):
        lines = []
        for inner in value:
            first, *rest = told_lines(inner, depth + 1) or [""]
            if first:
                lines += [f"- {first}", *(f"  {line}" for line in rest)]
        return lines
    return _plain(value).split("\n")


def _named(name: str, value: Any, depth: int) -> list[str]:
    if isinstance(value, list) and value and not any(isinstance(one, (dict, list)) for one in value):
        items = [" ".join(_plain(one).split()) for one in value]
        value = ", ".join(filter(None, items))
    inner = [line for line in told_lines(value, depth + 1) if line.strip()]
    if not inner:
        return []
    if isinstance(value, (dict, list)):
        return [f"{name}:", *(f"  {line}" for line in inner)]
    return [f"{name}: {inner[0].strip()}", *(f"  {line.strip()}" for line in inner[1:])]


def _plain(value: Any) -> str:
    """One value that holds no others; "" for null."""
    if isinstance(value, (dict, list)):
        return one_or_more(told_lines(value))
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else clean(str(value)).strip()
