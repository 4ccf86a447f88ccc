"""Passages into the units an answer can quote: sentences, list items and table rows, each with its exact span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import sentencex

_LANGUAGE_CODES = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl", "english": "en",
    "estonian": "et", "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "no",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "spanish": "es",
    "swedish": "sv", "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip
_RULE_ROW = re.compile(r"^\|?\s*:?-{2,}[\s|:-]*$")
# Marks that end a sentence whatever follows, a blank or not: of Unicode's Sentence_Terminal those outside Latin script.
MARKS = (
    "\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u1368\u104a\u104b\u17d4\u17d5\u0f0d\u0f0e"
    "\u1803\u1809\u203c\u2047-\u2049\u1b5a\u1b5b\u1b5e\u1b5f\u1c7e\u1c7f\ua4ff\ua60e\ua60f\ua9c8\ua9c9\uaa5d-\uaa5f\uabeb"
)
_CLOSERS = "\"'”’)\\]}»›」』）》〉】〕］｝"
_MARK_END = re.compile(f"(?:[{MARKS}]|\uff0e(?![0-9０-９]))+[{_CLOSERS}]*\\s*")
_LATIN_END = re.compile(f"[.!?…][{_CLOSERS}]*\\s*\\Z")
_SMALL_STOP = re.compile(r"[.…]\s*\Z")
_CLOSING = re.compile(f"[{_CLOSERS}]+")
_BLANK = re.compile(r"\s*")
# Words whose full stop ends no sentence on its line, and those whose full stop ends none before a number.
_BEFORE_MORE = "approx|ca|cf|dr|e\\.g|eq|eqs|excl|fig|figs|i\\.e|incl|mme|mr|mrs|ms|prof|resp|vgl|viz|vs|z\\.\\s?b"
_BEFORE_NUMBER = (
    "abb|abs|art|avg|bd|cap|ch|chap|ed|est|kap|max|min|no|nos|nr|núm|p|pág|par|pos|pp|ref|refs|rev|s|sec|tab|temp|typ"
    "|ver|vol"
)
_OPEN_STOP = re.compile(rf"(?<![\w.])(?:{_BEFORE_MORE})\.\s+\Z", re.IGNORECASE)
_OPEN_NUMBER = re.compile(rf"(?<![\w.])(?:{_BEFORE_NUMBER})\.\s+\Z", re.IGNORECASE)
_MONSIEUR = re.compile(r"(?<![\w.])MM?\.\s+\Z")
# All that a sentence has is a list's mark, a number or an initial: it is the beginning of the next.
_MARK_ALONE = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,3}|[^\W\d_]|[ivx]{2,4})[.)])\s*")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEARBY = 24
# The library takes time by the square of what it is given, so it is given no more than this at once.
_BLOCK_CHARACTERS = 4000
_BLOCK_END = re.compile(f"\n|[.!?…][{_CLOSERS}]*\\s+|[{MARKS}]+[{_CLOSERS}]*")
_SMALL_STARTS = 2
_ENDS = frozenset(".!?:;…。！？")
# A line at least this long that ends in the middle of a sentence was broken by the width of a page.
WRAPPED_CHARACTERS = 40
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Unit:
    """``text[start:end]`` of a passage.

    ``row`` says that it is a table's row, ``header`` is the row of column names above it where that is known; ``lead``
    is the line ending in a colon that a list item goes on from.
    """

    text: str
    start: int
    end: int
    header: str = ""
    row: bool = False
    lead: str = ""


def units(text: str, language: str = "english", header: str = "") -> tuple[Unit, ...]:
    """The sentences, list items and table rows of a passage in order; blank ones and table rules left out.

    A table's first row is its header where a rule follows it. ``header`` is the header row of the table that the
    passage begins in the middle of, where it does.
    """
    spans = lines(text)
    found: list[Unit] = []
    lead = ""
    for number, (start, end) in enumerate(spans):
        line = text[start:end].strip()
        if is_rule(line):
            continue
        if not is_row(line):
            header = ""
            sentences = _sentences(text, start, end, language)
            # An item that goes on from a line ending in a colon ("Do not use it on:") says nothing without it.
            follows = bool(lead) and bool(_ITEM.match(line) or line[0].islower())
            found += [
                replace(unit, lead=lead) if follows and not place else unit for place, unit in enumerate(sentences)
            ]
            if not follows:
                lead = found[-1].text if line.endswith(":") and found else ""
            continue
        lead = ""
        following = spans[number + 1] if number + 1 < len(spans) else (end, end)
        if is_rule(text[slice(*following)].strip()):
            header = line
            continue
        left, right = _trim(text, start, end)
        found.append(Unit(text[left:right], left, right, header, row=True))
    return tuple(found)


def lines(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that are not blank, those joined that a narrow page only wrapped."""
    spans: list[tuple[int, int]] = []
    last = ""
    for match in re.finditer(r"[^\n]+", text):
        line = match.group().strip()
        if not line:
            continue
        if spans and text.count("\n", spans[-1][1], match.start()) == 1 and _is_wrapped(last, line):
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append((match.start(), match.end()))
        last = line
    return spans


def _is_wrapped(last: str, line: str) -> bool:
    """Whether ``line`` goes on with the sentence that the line before it did not end."""
    if last[-1:] in _ENDS or last.startswith("#"):
        return False
    if is_row(last) or is_row(line) or _ITEM.match(line) or is_rule(line) or line.startswith("#"):
        return False
    return line[0].islower() or len(last) >= WRAPPED_CHARACTERS


def is_row(line: str) -> bool:
    """Whether a line is a table's row by its looks: cells with bars between them."""
    return " | " in line.strip("|")


def is_rule(line: str) -> bool:
    """Whether a line, without the blanks around it, is the rule below a table's column names."""
    return _RULE_ROW.match(line) is not None


def cells(row: str) -> list[str]:
    """A table row's cells without the bars around them."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def readable(unit: Unit) -> str:
    """A unit as a person reads it alone: list marks off, a table row as "cell (column: cell; column: cell)"."""
    if not unit.row:
        text = _ITEM.sub("", " ".join(unit.text.split())).strip()
        return f"{_ITEM.sub('', unit.lead)} {text}" if unit.lead else text
    values, names = cells(unit.text), cells(unit.header)
    if len(values) != len(names):
        return "; ".join(value for value in values if value)
    pairs = [f"{name}: {value}" for name, value in zip(names[1:], values[1:], strict=True) if value]
    return f"{values[0]} ({'; '.join(pairs)})" if pairs else values[0]


def sentence_ends(text: str, language: str = "english") -> list[int]:
    """Where a sentence of ``text`` ends and another begins, in order; blank space goes with the sentence before it.

    By sentencex, and after the marks of other scripts wherever they stand. A full stop that it takes for an end is none
    after an abbreviation, an initial or an item's number, nor before a small letter, unless sentences here begin so.
    """
    text = _SURROGATE.sub("\ufffd", text)
    candidates = _candidates(text, _LANGUAGE_CODES.get(language, "en"))
    small = [end for end in candidates if text[end].islower() and _SMALL_STOP.search(text, max(0, end - _NEARBY), end)]
    writes_small = len(small) >= _SMALL_STARTS and len(small) * 2 > len(candidates)
    dropped = set() if writes_small else set(small)
    found = {match.end() for match in _MARK_END.finditer(text) if match.end() < len(text)}
    start = 0
    for end in candidates:
        if end not in dropped and not _goes_on(text, start, end, language):
            found.add(end)
            start = end
    return sorted(found)


def _candidates(text: str, code: str) -> list[int]:
    """Where sentencex ends sentences, moved behind closing quotes and brackets and the blank space after them."""
    found = [0]
    for start, end in _blocks(text):
        place = start
        for piece in sentencex.segment(code, text[start:end]):
            place += len(piece)
            if place <= found[-1]:
                continue
            if place == end and not _LATIN_END.search(text, max(start, end - _NEARBY), end):
                continue  # a block ends in the middle of a sentence
            closing = None if text[place - 1].isspace() else _CLOSING.match(text, place)
            found.append(_BLANK.match(text, closing.end() if closing else place).end())
    return [end for end in found[1:] if end < len(text)]


def _goes_on(text: str, start: int, end: int, language: str) -> bool:
    """Whether the full stop before ``end`` is that of an abbreviation, an initial or an item's number."""
    near = max(start, end - _NEARBY)
    if _BLANK_LINE.search(text, near, end):
        return False
    if near == start and _MARK_ALONE.fullmatch(text, start, end):
        return True
    if _OPEN_STOP.search(text, near, end) or (language == "french" and _MONSIEUR.search(text, near, end)):
        return True
    return text[end : end + 2].strip("([§#")[:1].isdigit() and _OPEN_NUMBER.search(text, near, end) is not None


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = start + _BLOCK_CHARACTERS
        if end < len(text):
            end = max((match.end() for match in _BLOCK_END.finditer(text, start, end)), default=end)
        yield start, min(end, len(text))
        start = end


def _sentences(text: str, start: int, end: int, language: str) -> list[Unit]:
    ends = [start + place for place in sentence_ends(text[start:end], language)]
    spans = [_trim(text, *span) for span in zip([start, *ends], [*ends, end])]
    return [Unit(text[left:right], left, right) for left, right in spans if left < right]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    passage = text[start:end]
    start += len(passage) - len(passage.lstrip())
    return start, start + len(passage.strip())
