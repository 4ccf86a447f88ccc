"""What a Word file's styles and numbering say of a paragraph: heading, list, code, hidden; and the number before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag.loaders.docx_package import Element, W

MAX_CHAIN = 30
MAX_COUNTED = 3999
BODY_TEXT = 9
# "heading 1" is Word's own name in every language; other programs write theirs.
HEADING_NAME = re.compile(
    r"(?:heading|head|überschrift|berschrift|titre|título|titulo|ttulo|titolo|titel|kop|rubrik|overskrift|otsikko|"
    r"nagłówek|nagwek|nadpis|заголовок|標題|标题|見出し|제목)[ _-]*([1-9])",
    re.IGNORECASE,
)
LIST_NAME = re.compile(r"list(?: |_)?(bullet|number)? ?([2-5])?", re.IGNORECASE)
CODE_NAME = re.compile(r"\b(?:code|source|preformatted|listing|verbatim)\b", re.IGNORECASE)
OFF = frozenset(("0", "false", "off", "none"))
ROMAN = [(1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")]
ROMAN += [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]


def value(parent: Element | None, *names: str) -> str | None:
    """The ``val`` of the element that the names lead to; "" where it has none, None where there is no element."""
    for name in names:
        parent = None if parent is None else parent.find(W + name)
    return None if parent is None else parent.get(W + "val", "")


def is_on(parent: Element | None, name: str) -> bool | None:
    """Whether a property that is on or off is on; None where it is not given."""
    told = value(parent, name)
    return None if told is None else told.casefold() not in OFF


def whole(text: str | None, default: int | None = None) -> int | None:
    """The text as a whole number of few digits, else the default."""
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,6}", text) else default


@dataclass(frozen=True)
class Style:
    """What a paragraph's style says; ``level`` is that of a heading (0 for the document's title), else None.

    ``number_level`` is the level of its list from 0, ``depth`` how deep "List Bullet 2" lies by its name.
    """

    name: str = ""
    level: int | None = None
    number_id: str | None = None
    number_level: int = 0
    depth: int = 0
    is_code: bool = False
    is_hidden: bool = False


class Styles:
    """The styles of a file, each read together with those it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._default = ""
        self._known: dict[str, Style] = {}
        for element in () if root is None else root.iter(W + "style"):
            self._elements.setdefault(element.get(W + "styleId", ""), element)
            if element.get(W + "type") == "paragraph" and element.get(W + "default", "0").casefold() not in OFF:
                self._default = element.get(W + "styleId", "")

    def of(self, properties: Element | None) -> Style:
        """The style that a paragraph's properties name, or the default one."""
        style_id = value(properties, "pStyle") or self._default
        if style_id not in self._known:
            self._known[style_id] = self._read(style_id)
        return self._known[style_id]

    def hides(self, run: Element | None) -> bool:
        """Whether a run's character style makes it hidden text."""
        told = (is_on(element.find(W + "rPr"), "vanish") for element in self._chain(value(run, "rStyle") or ""))
        return bool(next((one for one in told if one is not None), False))

    def numbering_of(self, style_id: str) -> str | None:
        """The number id that a style of lists leads to."""
        ids = (value(element.find(W + "pPr"), "numPr", "numId") for element in self._chain(style_id))
        return next((one for one in ids if one), None)

    def _chain(self, style_id: str) -> Iterator[Element]:
        for _ in range(MAX_CHAIN):
            element = self._elements.get(style_id)
            if element is None:
                return
            yield element
            style_id = value(element, "basedOn") or ""

    def _read(self, style_id: str) -> Style:
        chain = list(self._chain(style_id))
        names = [value(element, "name") or "" for element in chain] or [style_id]
        properties = [element.find(W + "pPr") for element in chain]
        hidden = (is_on(element.find(W + "rPr"), "vanish") for element in chain)
        levels = (whole(value(one, "numPr", "ilvl")) for one in properties)
        listed = LIST_NAME.fullmatch(names[0])
        return Style(
            name=names[0].casefold(),
            level=self._level(names, [style_id, *(element.get(W + "styleId", "") for element in chain)], properties),
            number_id=self.numbering_of(style_id),
            number_level=next((one for one in levels if one is not None), 0),
            depth=int(listed.group(2) or 1) - 1 if listed else 0,
            is_code=any(map(CODE_NAME.search, names)),
            is_hidden=bool(next((one for one in hidden if one is not None), False)),
        )

    @staticmethod
    def _level(names: list[str], style_ids: list[str], properties: list[Element | None]) -> int | None:
        if "title" in (name.casefold() for name in names):
            return 0
        told = (whole(value(one, "outlineLvl")) for one in properties)
        outline = next((one for one in told if one is not None), None)
        if outline is not None:
            return outline + 1 if 0 <= outline < BODY_TEXT else None
        found = next(filter(None, map(HEADING_NAME.fullmatch, [*names, *style_ids])), None)
        return int(found.group(1)) if found else None


@dataclass(frozen=True)
class _Level:
    format: str
    start: int
    text: str
    counts_plainly: bool


@dataclass
class Numbering:
    """The lists of a file, counting on as paragraphs ask for their marks."""

    root: Element | None
    styles: Styles
    _levels: dict[str, tuple[str, dict[int, _Level], dict[int, int]]] = field(default_factory=dict)
    _counters: dict[str, dict[int, int]] = field(default_factory=dict)
    _begun: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.root is None:
            return
        abstract = {one.get(W + "abstractNumId", ""): one for one in self.root.iter(W + "abstractNum")}
        # A list may take its levels from a style, which names another list that has them.
        through = {key: value(one, "numStyleLink") for key, one in abstract.items()}
        places = {one.get(W + "numId", ""): value(one, "abstractNumId") or "" for one in self.root.iter(W + "num")}
        read = {key: _levels_of(one) for key, one in abstract.items()}
        for number in self.root.iter(W + "num"):
            key = number.get(W + "numId", "")
            place = places[key]
            if through.get(place):
                place = places.get(self.styles.numbering_of(through[place] or "") or "", place)
            levels, starts = dict(read.get(place, {})), {}
            for change in number.iter(W + "lvlOverride"):
                level = whole(change.get(W + "ilvl"), 0)
                levels |= _levels_of(change)
                if (start := whole(value(change, "startOverride"))) is not None:
                    starts[level] = start
            self._levels[key] = (place, levels, starts)

    def mark(self, number_id: str, level: int) -> str | None:
        """What stands before the next paragraph of a list: "-" for any bullet, "3.", "b)"; None where it is no list."""
        place, levels, starts = self._levels.get(number_id, ("", {}, {}))
        here = levels.get(level)
        if here is None:
            return None
        counters = self._counters.setdefault(place, {})
        if level in starts and (number_id, level) not in self._begun:
            counters[level] = starts[level] - 1
        self._begun.add((number_id, level))
        counters[level] = counters.get(level, here.start - 1) + 1
        for deeper in [one for one in counters if one > level]:
            del counters[deeper]
        if here.format == "bullet":
            return "-"

        def counted(match: re.Match) -> str:
            number = int(match.group(1)) - 1
            at = levels.get(number, here)
            count = counters.get(number, at.start)
            return _counted(count, "decimal" if here.counts_plainly else at.format)

        return re.sub(r"%([1-9])", counted, here.text).strip() or None


def _levels_of(parent: Element) -> dict[int, _Level]:
    levels = {}
    for level in parent.iter(W + "lvl"):
        number = whole(level.get(W + "ilvl"), 0)
        levels[number] = _Level(
            format=value(level, "numFmt") or "decimal",
            start=whole(value(level, "start"), 0),
            text=(value(level, "lvlText") or "")[:100],
            counts_plainly=bool(is_on(level, "isLgl")),
        )
    return levels


def _counted(number: int, style: str) -> str:
    if style == "none":
        return ""
    if not 0 < number <= MAX_COUNTED:
        return str(number)
    if style in ("lowerRoman", "upperRoman"):
        return roman(number) if style == "lowerRoman" else roman(number).upper()
    if style in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a" if style == "lowerLetter" else "A") + (number - 1) % 26)
        return letter * ((number - 1) // 26 + 1)
    return f"{number:02}" if style == "decimalZero" else str(number)


def roman(number: int) -> str:
    """A number from 1 to 3999 in small Roman numerals."""
    numeral = ""
    for worth, letters in ROMAN:
        numeral += letters * (number // worth)
        number %= worth
    return numeral
