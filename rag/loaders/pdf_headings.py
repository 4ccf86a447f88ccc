"""The headings of a PDF without an outline: short lines set apart in larger or bolder type, or numbered on and on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rag.loaders.base import heading_paths
from rag.loaders.pdf_lines import Line
from rag.loaders.pdf_outline import Place
from rag.loaders.pdf_pieces import CAPTION, SENTENCE_ENDED, Spacing, is_contents_line, same_size
from rag.loaders.pdf_tables import table_at

# In parts of the size that most of the text is set in.
LARGER = 1.1
SAME_STYLE = 0.04
HEADING_LINE_GAP = 1.7
MAX_LINES = 3
MAX_CHARACTERS = 150
MAX_BOLD_CHARACTERS = 90
MAX_LEVELS = 6
# Type that much of the text is set in is no heading's, however large.
MAX_SHARE = 0.2
MAX_HEADING_SHARE = 0.4
NUMBERED = re.compile(r"^(?:\w{3,9}\s+)?((?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:\.\d{1,3})*)[.):]?\s+(?=\S)")
NUMBER_ALONE = re.compile(r"^(?:\w{3,9}\s+)?(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:\.\d{1,3})*[.):]?$")
PLAIN_NUMBER = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+(?=[^\W\d_])")
# An option, a variable or an address alone is the term of a list.
TERM = re.compile(r"[-/<]|\S*[_/=\\]\S*$|\S+://")
LEGEND = re.compile(
    r"(?:fig(?:ure|\.)?|listing|example|equation|exhibit|abb(?:ildung|\.)?|beispiel|figura|exemple)\s*[\d.:]"
    r"|(?:note|notice|warning|caution|danger|tip|important|hinweis|achtung|warnung|gefahr|attention|remarque)s?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    """A line, or a few, that may be a heading; ``depth`` is that of its number, 0 where it has none."""

    page: int
    line: int
    count: int
    text: str
    size: float
    bold: bool
    depth: int


def find_headings(pages: Sequence[Sequence[Line]]) -> dict[int, list[Place]]:
    """The places of the headings on each page (an index from 0), with the paths that their sizes of type give them."""
    body, body_is_bold = _body(pages)
    if not body:
        return {}
    spacing = Spacing(pages)
    found: list[_Found] = []
    for number, lines in enumerate(pages):
        found += _on_page(number, lines, body, body_is_bold, spacing)
    found = _without_common_styles(found, pages)
    numbered = _numbered(pages, body, spacing)
    if len(numbered) > len(found):
        # Headings in the type of the text: what is set larger above them is the document's title.
        taken = {(one.page, one.line) for one in numbered}
        rest = [one for one in found if (one.page, one.line) not in taken and one.size >= LARGER * body]
        found = sorted([*rest, *numbered], key=lambda one: (one.page, one.line))
    levels = _levels(found)
    places: dict[int, list[Place]] = defaultdict(list)
    paths = heading_paths((number, levels[number], one.text) for number, one in enumerate(found))
    for one, (_, path) in zip(found, paths):
        places[one.page].append(Place(path, one.line, one.count))
    return dict(places)


def _body(pages: Sequence[Sequence[Line]]) -> tuple[float, bool]:
    """The size of type that most characters are set in, and whether most of those are bold."""
    characters: Counter[tuple[float, bool]] = Counter()
    for line in (line for lines in pages for line in lines):
        characters[round(line.size * 2) / 2, line.bold] += len(line.text)
    sizes: Counter[float] = Counter()
    for (size, _), count in characters.items():
        sizes[size] += count
    if not sizes:
        return 0.0, False
    size = max(sizes, key=lambda one: (sizes[one], -one))
    return size, characters[size, True] > characters[size, False]


def _on_page(page: int, lines: Sequence[Line], body: float, body_is_bold: bool, spacing: Spacing) -> list[_Found]:
    found: list[_Found] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        larger = line.size >= LARGER * body
        bold = line.bold and not body_is_bold and not line.fixed and line.size >= 0.93 * body
        alone = len(line.segments) == 1 or _is_numbered(line)
        if not alone or not (larger or bold):
            number = max(number + 1, table_at(lines, number))
            continue
        end = number + 1
        while end < len(lines) and _goes_on(lines[end - 1], lines[end]):
            end += 1
        run = lines[number:end]
        text = " ".join(one.text for one in run)
        if _is_heading(lines, number, end, text, larger, spacing):
            match = NUMBERED.match(text)
            depth = match.group(1).count(".") + 1 if match else 0
            found.append(_Found(page, number, end - number, text, line.size, line.bold, depth))
        number = end
    return found


def _is_numbered(line: Line) -> bool:
    """Whether a wide gap only sets a heading's number apart from its words."""
    return len(line.segments) == 2 and NUMBER_ALONE.match(line.segments[0].text) is not None


def _goes_on(before: Line, line: Line) -> bool:
    gap = before.y - line.y
    if len(line.segments) > 1 or not 0 < gap < HEADING_LINE_GAP * line.size or NUMBERED.match(line.text):
        return False
    starts = [before.left, *(segment.left for segment in before.segments[1:] if _is_numbered(before))]
    flush = any(abs(start - line.left) < 0.5 * line.size for start in starts)
    centred = abs(before.left + before.right - line.left - line.right) < 2 * line.size
    # Under a number that hangs, or flush right, the second line of a large title may begin anywhere.
    placed = flush or centred or not line.bold
    return placed and same_size(before, line) and before.bold == line.bold and before.turn == line.turn


def _is_heading(lines: Sequence[Line], start: int, end: int, text: str, larger: bool, spacing: Spacing) -> bool:
    """Whether lines in larger or bolder type are a heading: short, no sentence, no title of a table."""
    if end - start > MAX_LINES or len(text) > (MAX_CHARACTERS if larger else MAX_BOLD_CHARACTERS):
        return False
    if sum(character.isalpha() for character in text) < max(2, 0.4 * len(text.replace(" ", ""))):
        return False
    if is_contents_line(lines[end - 1]) or LEGEND.match(text) or CAPTION.match(text):
        return False
    if re.search(r"[,;]$", text) or (re.search(r"[.:]$", text) and not (larger and len(text) < 60)):
        return False
    if larger:
        return True
    if TERM.match(text) or _is_term(lines, start, end):
        return False
    beside = start > 0 and abs(lines[start - 1].y - lines[start].y) < 0.5 * lines[start].size
    apart = start == 0 or spacing.parts(lines[start - 1], lines[start]) or not same_size(lines[start - 1], lines[start])
    followed = end < len(lines) and table_at(lines, end) > end and not NUMBERED.match(text)
    return apart and not beside and not followed


def _is_term(lines: Sequence[Line], start: int, end: int) -> bool:
    """Whether bold words are a term of an indented list, explained further to the right."""
    line, edge = lines[start], min(line.left for line in lines)
    indented = line.left - edge > 2.5 * line.size
    return indented and end < len(lines) and lines[end].left - line.left > line.size


def _without_common_styles(found: list[_Found], pages: Sequence[Sequence[Line]]) -> list[_Found]:
    """What was found, without the styles that much of the text is set in, be it as headings or otherwise."""
    characters: Counter[tuple[float, bool]] = Counter()
    for line in (line for lines in pages for line in lines):
        characters[round(line.size, 1), line.bold] += len(line.text)
    headings: Counter[tuple[float, bool]] = Counter()
    for one in found:
        headings[round(one.size, 1), one.bold] += len(one.text)
    every = sum(characters.values())
    common = {
        style
        for style, count in characters.items()
        if count > MAX_HEADING_SHARE * every or (count > MAX_SHARE * every and headings[style] < 0.8 * count)
    }
    return [one for one in found if (round(one.size, 1), one.bold) not in common]


def _numbered(pages: Sequence[Sequence[Line]], body: float, spacing: Spacing) -> list[_Found]:
    """Headings that only their numbers show: at least three short lines set apart that count on, with text between."""
    found: list[_Found] = []
    last: tuple[int, ...] = ()
    for page, lines in enumerate(pages):
        for number, line in enumerate(lines):
            match = PLAIN_NUMBER.match(line.text)
            if not match or len(line.text) > MAX_BOLD_CHARACTERS or SENTENCE_ENDED.search(line.text):
                continue
            if (number > 0 and not spacing.parts(lines[number - 1], line)) or line.right > 0.85 * spacing.right(line):
                continue
            follows = number + 1 < len(lines) and not PLAIN_NUMBER.match(lines[number + 1].text)
            parts = tuple(map(int, match.group(1).split(".")))
            if is_contents_line(line) or not follows or not _counts_on(last, parts):
                continue
            last = parts
            found.append(_Found(page, number, 1, line.text, body, False, len(parts)))
    # Items of a list count on as well, but a few lines apart.
    deep = any(one.depth > 1 for one in found)
    lines_between = sum(map(len, pages)) / max(1, len(found))
    return found if len(found) >= 3 and (deep or lines_between > 12) else []


def _counts_on(last: tuple[int, ...], parts: tuple[int, ...]) -> bool:
    """Whether a heading may bear the number ``parts`` after one that bears ``last``: 1.2 after 1.1, 2 after 1.4."""
    if not last:
        return parts in ((0,), (1,), (2,))
    allowed = [(*last, 1), *((*last[:depth], last[depth] + 1) for depth in range(len(last)))]
    return parts in allowed


def _levels(found: Sequence[_Found]) -> list[int]:
    """A level for each heading, from 1: larger before smaller, bold before plain, short numbers before long ones."""
    sizes: list[float] = []
    for size in sorted({one.size for one in found}, reverse=True):
        if not sizes or size < sizes[-1] * (1 - SAME_STYLE):
            sizes.append(size)
    rank = {one.size: next(n for n, size in enumerate(sizes) if one.size >= size * (1 - SAME_STYLE)) for one in found}
    shallowest: dict[tuple[int, bool], int] = {}
    for one in found:
        style = (rank[one.size], not one.bold)
        if one.depth:
            shallowest[style] = min(one.depth, shallowest.get(style, one.depth))
    keys = []
    for one in found:
        style = (rank[one.size], not one.bold)
        keys.append((*style, one.depth or shallowest.get(style, 0)))
    order = {key: level for level, key in enumerate(sorted(set(keys)), start=1)}
    return [min(order[key], MAX_LEVELS) for key in keys]
