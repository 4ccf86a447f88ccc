"""Transcripts: who speaks in the lines of a chat, an interview or an IRC log, each turn as a span of the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from rag.loaders.base import paragraphs
from rag.schema import Block

_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,3})?)?(?:[ \u00a0\u202f]?[AaPp]\.?[Mm]\.?)?"
_STAMP = rf"[\[(<]?(?:{_DATE}[ \t,T]+)?{_CLOCK}Z?[\])>]?(?:[ \t]+[-–][ \t]+|[ \t]*)"
_NAME = r"[^\W\d_][^:：\n\[\]{}=/\\|]{0,39}?"
# A nickname in angle brackets, with the sign of its rank; a name with a colon; a nickname between tabs.
TURN = re.compile(
    rf"(?P<stamp>{_STAMP})?(?:<[ @+%&~]?(?P<nick>[^\s<>]{{1,32}})>[ \t]+"
    rf"|(?P<name>{_NAME})(?P<clock>[ \t]{{0,4}}[(\[]{_CLOCK}[)\]])?[ \t]{{0,4}}(?::[ \t]+|：[ \t]*)"
    r"|\t(?P<column>[^\s<>:]{1,32})\t)(?P<said>\S.*)"
)
# A line of a chat or meeting program that names who speaks and when; what was said stands under it.
HEAD = re.compile(rf"(?P<name>{_NAME})[ \t]{{1,4}}[\[(]?(?:{_DATE}[ \t,T]+)?{_CLOCK}[\])]?[ \t]*")
# What a chat program writes into its log of its own accord: who came and went.
EVENT = re.compile(rf"(?:{_STAMP})?(?:\*\*\*|---|-!-|-->|<--|={{3}})[ \t]|{_STAMP}(?:--|\*)[ \t]")
STAMPED = re.compile(_STAMP)
LINE = re.compile(r"\S[^\n]*")
TITLE = re.compile(r"\S[^\n]{0,79}(?<![.!?;])")
SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]]*\s*\Z")
# Words before a colon that name what follows, not who says it.
LABELS = frozenset(
    ["abstract", "added", "address", "author", "bug", "caution", "changed", "city", "copyright", "country", "critical",
     "date", "debug", "description", "email", "error", "example", "examples", "fatal", "file", "files", "fix", "fixed",
     "hint", "http", "https", "important", "info", "key", "license", "maintainer", "name", "note", "notes", "package",
     "phone", "price", "problem", "remark", "removed", "result", "section", "see", "size", "solution", "source",
     "status", "step", "subject", "summary", "task", "tel", "tip", "title", "todo", "topic", "trace", "type", "url",
     "usage", "value", "version", "warn", "warning", "website"]
)  # fmt: skip
TURN_KIND = "speaker-turn"
MIN_SENTENCES = 1 / 3
MIN_HEADS = 3
MAX_LINES_PER_HEAD = 6


def find_turns(text: str) -> dict[int, str]:
    """The kind of block that begins at each line that opens one: a turn, or what the program wrote in between.

    Empty where the text is no transcript. It is one where most lines, or most paragraphs, open with a speaker, where
    the names come back, and where a time or a nickname stands with them or what follows reads like speech, not values.
    """
    lines = list(LINE.finditer(text))
    heads = {line.start(): match["name"] for line in lines if (match := HEAD.fullmatch(line.group()))}
    if (
        len(heads) >= MIN_HEADS
        and _names_come_back(list(heads.values()))
        and (len(heads) >= len(lines) / MAX_LINES_PER_HEAD)
    ):
        return dict.fromkeys(heads, TURN_KIND)
    turns = {line.start(): match for line in lines if (match := TURN.fullmatch(line.group()))}
    names = [match["nick"] or match["column"] or match["name"] for match in turns.values()]
    events = {line.start(): "paragraph" for line in lines if EVENT.match(line.group())}
    dominate = len(turns) > (len(lines) - len(events)) / 2 or _opens_paragraphs(text, turns)
    if not _names_come_back(names) or not dominate:
        return {}
    marked = sum(1 for match in turns.values() if match["name"] is None or match["stamp"] or match["clock"])
    spoken = sum(1 for match in turns.values() if SENTENCE_END.search(match["said"]))
    labels = sum(1 for name in names if name.casefold() in LABELS)
    if labels >= len(turns) / 3 or not (marked > len(turns) / 2 or spoken >= MIN_SENTENCES * len(turns)):
        return {}
    if marked > len(turns) / 2:
        events |= {line.start(): "paragraph" for line in lines if STAMPED.match(line.group())}
    return events | dict.fromkeys(turns, TURN_KIND)


def _names_come_back(names: list[str]) -> bool:
    return len(names) > 1 and len(Counter(names)) <= len(names) / 2


def _opens_paragraphs(text: str, turns: Mapping[int, object]) -> bool:
    starts = [start for start, _ in paragraphs(text)]
    return sum(1 for start in starts if start in turns) > len(starts) / 2


def transcript_blocks(text: str, openings: Mapping[int, str]) -> Iterator[Block]:
    """The blocks of a transcript: turns, the titles of conversations, and paragraphs that nobody says.

    A turn runs to the next one or to the end of its paragraph; a line alone before a turn that could be a title is one.
    """
    spans = list(paragraphs(text))
    for (start, end), (following, _) in zip(spans, [*spans[1:], (len(text), 0)]):
        if start not in openings and openings.get(following) == TURN_KIND and TITLE.fullmatch(text, start, end):
            yield Block("heading", start, end)
            continue
        inside = (line.start() for line in LINE.finditer(text, start, end))
        starts = [start, *(one for one in inside if one in openings and one > start)]
        for left, right in zip(starts, [*starts[1:], end]):
            yield Block(openings.get(left, "paragraph"), left, left + len(text[left:right].rstrip()))
