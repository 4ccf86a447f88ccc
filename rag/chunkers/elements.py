"""A document as elements in order: headings, paragraphs, tables, lists, code and warnings, with or without blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.chunkers.base import trimmed
from rag.loaders.base import paragraphs
from rag.schema import Document, Span
from rag.sentences import sentence_ends

WHOLE = ("table", "list", "code", "warning")
# Words that open a warning or a note, in the languages most manuals are written in.
_LABELS = (
    "warning|caution|danger|important|attention|notice|note|tip|hint|safety|"
    "warnung|vorsicht|gefahr|achtung|hinweis|wichtig|"
    "avertissement|mise en garde|prudence|remarque|"
    "advertencia|precaución|peligro|atención|nota|importante|aviso|atenção|cuidado|perigo|"
    "avvertenza|attenzione|avviso|pericolo|waarschuwing|let op|opmerking|gevaar|"
    "varning|obs|fara|advarsel|merk|varoitus|huomio|ostrzeżenie|uwaga|varování|pozor|upozornění|uyarı|dikkat|"
    "предупреждение|внимание|осторожно|примечание|важно|попередження|увага|προειδοποίηση|προσοχή|"
    "警告|注意|注意事項|危険|注記|重要|危险|提示|경고|주의|위험|참고|تحذير|تنبيه|ملاحظة|אזהרה|चेतावनी|सावधानी|ध्यान दें"
)
WARNING = re.compile(
    rf"(?:>\s{{0,3}})?(?:\[!\w+\]|(?:!!!|\?\?\?|:::)\s?\w+|\.\.\s\w+::|\[(?:{_LABELS})\]"
    rf"|\W{{0,6}}(?:{_LABELS})(?:\*\*|__)?\s{{0,2}}\d{{0,3}}\s{{0,2}}(?:[:：!！]|[-–—]\s|\n|$))",
    re.IGNORECASE,
)
_LABEL_ALONE = re.compile(rf"\W{{0,4}}(?:{_LABELS})\W{{0,4}}", re.IGNORECASE)
ROW = re.compile(r"[^\S\n]*(?:\||\+[-=])")
ITEM = re.compile(r"[^\S\n]*(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[^\S\n]+\S")
FENCE = re.compile(r"[^\S\n]{0,3}(?:```|~~~)")
_LINE = re.compile(r"[^\n]+")
MAX_LEAD = 500
# A shorter "sentence" is the number of a caption or an abbreviation: "Table 3. Torques".
MIN_SENTENCE = 12


class Element(NamedTuple):
    """A span of the text and what it is: a block's kind, or warning; blank space belongs to none."""

    kind: str
    start: int
    end: int


def elements(document: Document) -> list[Element]:
    """Everything in the document that is not blank, in order and without overlap, what no block tells by its looks."""
    found: list[Element] = []
    position = 0
    for block in [*sorted(document.blocks, key=lambda block: (block.start, -block.end)), None]:
        start = max(position, block.start) if block else len(document.text)
        for span in _runs(document.text, position, start):
            found += _by_looks(document.text, *span)
        if block is None:
            break
        start, end = trimmed(document.text, start, max(start, block.end))
        if start < end:
            found += _typed(document, block.kind, start, end)
        position = max(position, end)
    return _warnings_joined(document.text, found)


def lead_in(text: str, before: Element | None, language: str) -> Span | None:
    """The sentence that ends the paragraph directly before a table or list; None where there is none to repeat."""
    if before is None or before.kind not in ("paragraph", "warning"):
        return None
    start = before.start
    earliest = max(start, before.end - 2 * MAX_LEAD)
    for end in sentence_ends(text[earliest : before.end], language):
        if earliest + end < before.end and earliest + end - start >= MIN_SENTENCE:
            start = earliest + end
    return (start, before.end) if before.end - start <= MAX_LEAD else None


def _runs(text: str, start: int, end: int) -> Iterator[Span]:
    for left, right in paragraphs(text[start:end]):
        yield start + left, start + right


def _typed(document: Document, kind: str, start: int, end: int) -> list[Element]:
    if kind == "paragraph":
        return _by_looks(document.text, start, end)
    return [Element(kind, start, end)]


def _by_looks(text: str, start: int, end: int) -> list[Element]:
    """A paragraph as it is, or parted where rows of a table or items of a list begin and end in it."""
    passage = text[start:end]
    if WARNING.match(passage):
        return [Element("warning", start, end)]
    if FENCE.match(passage):
        return [Element("code", start, end)]
    if "|" not in passage and not ITEM.match(passage) and not re.search(rf"\n{ITEM.pattern}", passage):
        return [Element("paragraph", start, end)]
    lines = [(start + match.start(), start + match.end()) for match in _LINE.finditer(passage)]
    kinds = _line_kinds(text, lines)
    found: list[Element] = []
    for (left, right), kind in zip(lines, kinds):
        if found and found[-1].kind == kind:
            found[-1] = found[-1]._replace(end=right)
        else:
            found.append(Element(kind, left, right))
    found = [element._replace(start=trimmed(text, *element[1:])[0]) for element in found]
    # A single row is a line of its paragraph.
    if any("\n" not in text[element.start : element.end] for element in found if element.kind == "table"):
        return [Element("paragraph", start, end)]
    return [element._replace(end=trimmed(text, *element[1:])[1]) for element in found]


def is_rule(line: str) -> bool:
    """Whether the line only parts a table's column names from its rows: dashes, with bars, colons or crosses."""
    line = line.strip()
    return not line.strip("|+:=- \t") and "-" in line and ("|" in line or "+" in line)


def _line_kinds(text: str, lines: list[Span]) -> list[str]:
    told = [text[slice(*line)] for line in lines]
    # Columns without bars at the edges are a table where a rule stands under the first line.
    bare = len(told) > 2 and is_rule(told[1]) and all(is_rule(line) or " | " in line for line in told)
    listed = sum(1 for line in told if ITEM.match(line)) > 1
    kinds: list[str] = []
    for line in told:
        if bare or ROW.match(line):
            kinds.append("table")
        else:
            # What follows an item within its paragraph goes on with it.
            goes_on = bool(kinds) and kinds[-1] == "list"
            kinds.append("list" if listed and (goes_on or ITEM.match(line)) else "paragraph")
    return kinds


def _warnings_joined(text: str, found: list[Element]) -> list[Element]:
    """A paragraph that is nothing but "WARNING" goes with the paragraph that it announces."""
    joined: list[Element] = []
    for element in found:
        last = joined[-1] if joined else None
        alone = last is not None and last.kind == "warning" and _LABEL_ALONE.fullmatch(text, last.start, last.end)
        if alone and element.kind in ("paragraph", "list"):
            joined[-1] = Element("warning", last.start, element.end)
        else:
            joined.append(element)
    return joined
