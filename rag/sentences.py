"""Passages into the units an answer can quote: sentences, list items and table rows, each with its exact span."""

from __future__ import annotations

import re
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
_EAST_ASIAN_END = re.compile(r"(?<=[。！？])")
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
    lines = _lines(text)
    found: list[Unit] = []
    lead = ""
    for number, (start, end) in enumerate(lines):
        line = text[start:end].strip()
        if _RULE_ROW.match(line):
            continue
        if not _is_row(line):
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
        following = lines[number + 1] if number + 1 < len(lines) else (end, end)
        if _RULE_ROW.match(text[slice(*following)].strip()):
            header = line
            continue
        left, right = _trim(text, start, end)
        found.append(Unit(text[left:right], left, right, header, row=True))
    return tuple(found)


def _lines(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that are not blank, those joined that a narrow page only wrapped."""
    spans: list[tuple[int, int]] = []
    for match in re.finditer(r"[^\n]+", text):
        line = match.group().strip()
        if not line:
            continue
        if spans and _is_wrapped(text[slice(*spans[-1])], text[spans[-1][1] : match.start()], line):
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append((match.start(), match.end()))
    return spans


def _is_wrapped(before: str, between: str, line: str) -> bool:
    """Whether ``line`` goes on with the sentence that the line before it did not end."""
    last = before.rstrip().rsplit("\n", 1)[-1]
    if between.count("\n") != 1 or last[-1:] in _ENDS or last.startswith("#"):
        return False
    if _is_row(last) or _is_row(line) or _ITEM.match(line) or _RULE_ROW.match(line) or line.startswith("#"):
        return False
    return line[0].islower() or len(last) >= WRAPPED_CHARACTERS


def _is_row(line: str) -> bool:
    return " | " in line.strip("|")


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


def _sentences(text: str, start: int, end: int, language: str) -> list[Unit]:
    found: list[Unit] = []
    position = start
    mark = None
    for piece in sentencex.segment(_LANGUAGE_CODES.get(language, "en"), text[start:end]):
        for part in _EAST_ASIAN_END.split(piece):
            left, right = _trim(text, position, position + len(part))
            position += len(part)
            if left == right:
                continue
            if _ITEM.fullmatch(text[left:right] + " "):
                mark = left
                continue
            left, mark = (left if mark is None else mark), None
            found.append(Unit(text[left:right], left, right))
    return found


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    passage = text[start:end]
    start += len(passage) - len(passage.lstrip())
    return start, start + len(passage.strip())
