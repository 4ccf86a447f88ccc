"""Passages into the units an answer can quote: sentences, list items and table rows, each with its exact span."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Unit:
    """``text[start:end]`` of a passage; ``header`` is the table's header row where the unit is a row under one."""

    text: str
    start: int
    end: int
    header: str = ""


def units(text: str, language: str = "english") -> tuple[Unit, ...]:
    """The sentences, list items and table rows of a passage in order; blank ones and table rules left out."""
    found: list[Unit] = []
    header = ""
    in_table = False
    for line in re.finditer(r"[^\n]+", text):
        if not line.group().strip():
            continue
        if _RULE_ROW.match(line.group().strip()):
            continue
        if " | " not in line.group().strip().strip("|"):
            in_table = False
            found += _sentences(text, line.start(), line.end(), language)
            continue
        if not in_table:
            in_table, header = True, line.group().strip()
            continue
        start, end = _trim(text, line.start(), line.end())
        found.append(Unit(text[start:end], start, end, header))
    return tuple(found)


def cells(row: str) -> list[str]:
    """A table row's cells without the bars around them."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def readable(unit: Unit) -> str:
    """A unit as a person reads it alone: list marks off, and a table row as "cell (column: cell; column: cell)"."""
    if not unit.header:
        return _ITEM.sub("", " ".join(unit.text.split())).strip()
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
