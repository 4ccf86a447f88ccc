"""The fragments of a PDF page as lines in reading order, without the running headers and footers of its pages."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rag.loaders.pdf_fragments import Fragment

# All in ems, that is, in parts of the size of the type.
SAME_BASELINE = 0.55
WORD_GAP = 0.15
CELL_GAP = 0.9
MARKER_GAP = 3.0
COLUMN_LINE_GAP = 1.7
SET_APART = 2.2
MARKER = re.compile(r"^(?:[•‣◦▪▫■□●○·∙–—*\-\uf0b7\uf0a7]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])$")
LEADERS = re.compile(r"\s*(?:[.…·_]\s?){4,}\s*")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
LEFT_TO_RIGHT_RUN = re.compile(r"[A-Za-z0-9](?:[\w.,:/%+-]*\w)?")
PAGE_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
OUTER_NUMBER = re.compile(r"^\W*(\d{1,5})\b|\b(\d{1,5})\W*$")
EDGE_LINES = 3
MAX_RUNNING_LENGTH = 120
MAX_RUNNING_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of words with no wide gap between them."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: its segments from left to right, the height of its baseline, and its main size of type."""

    segments: tuple[Segment, ...]
    y: float
    size: float
    bold: bool
    turn: int = 0

    @property
    def left(self) -> float:
        """Where its ink begins, in points."""
        return self.segments[0].left

    @property
    def right(self) -> float:
        """Where its ink ends, in points."""
        return self.segments[-1].right

    @property
    def text(self) -> str:
        """Its words on one line, a space at each gap."""
        return " ".join(segment.text for segment in self.segments)


def lines_of(fragments: Sequence[Fragment]) -> list[Line]:
    """The page's lines, column by column, those turned another way than most of the page last."""
    by_turn: dict[int, list[Fragment]] = defaultdict(list)
    for fragment in fragments:
        if fragment.size > 0.5:
            by_turn[fragment.turn].append(fragment)
    lines: list[Line] = []
    for turn in sorted(by_turn, key=lambda turn: -sum(len(fragment.text) for fragment in by_turn[turn])):
        lines += _in_columns([_line(row, turn) for row in _rows(by_turn[turn])])
    return lines


def _rows(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Fragments that share a baseline, from the top of the page down; raised and lowered type joins its line."""
    rows: list[list[Fragment]] = []
    main = None
    for fragment in sorted(fragments, key=lambda fragment: (-fragment.y, fragment.left)):
        if main is None or main.y - fragment.y > SAME_BASELINE * max(main.size, fragment.size):
            rows.append([])
            main = fragment
        rows[-1].append(fragment)
        main = max(main, fragment, key=lambda one: one.size)
    return rows


def _line(row: list[Fragment], turn: int) -> Line:
    row = sorted(row, key=lambda fragment: fragment.left)
    length = {size: sum(len(one.text) for one in row if one.size == size) for size in {one.size for one in row}}
    size = max(length, key=lambda size: (length[size], size))
    segments: list[Segment] = []
    previous = None
    for fragment in row:
        text = " ".join(fragment.text.split())
        gap = fragment.left - previous.right if previous else 0.0
        if previous is None or gap > CELL_GAP * size:
            segments.append(Segment(text, fragment.left, fragment.right))
        elif text == previous.text.strip() and abs(fragment.left - previous.left) < 0.1 * size:
            # Painted twice, a hair apart, to look bold.
            continue
        else:
            spaced = gap > WORD_GAP * size or previous.text[-1:].isspace() or fragment.text[:1].isspace()
            last = segments[-1]
            text = last.text + (" " if spaced else "") + text
            segments[-1] = Segment(text, last.left, max(last.right, fragment.right))
        previous = fragment
    return Line(_tidied(segments, size), max(row, key=lambda one: one.size).y, size, all(one.bold for one in row), turn)


def _tidied(segments: list[Segment], size: float) -> tuple[Segment, ...]:
    """Segments with a list's marker joined to its words, and a row of dots to the words and number at its ends."""
    text = " ".join(segment.text for segment in segments)
    whole = Segment(text, segments[0].left, segments[-1].right)
    if RIGHT_TO_LEFT.search(text):
        return (replace(whole, text=_right_to_left(text)),)
    if LEADERS.search(text) and len(LEADERS.split(text)) == 2:
        return (replace(whole, text=LEADERS.sub(" ... ", text).strip()),)
    near = len(segments) == 2 and segments[1].left - segments[0].right < MARKER_GAP * size
    if near and MARKER.match(segments[0].text):
        return (whole,)
    return tuple(segments)


def _right_to_left(text: str) -> str:
    """The words in reading order: PDFs paint them in the order of the eye, from left to right."""
    if len(RIGHT_TO_LEFT.findall(text)) * 2 < sum(character.isalpha() for character in text):
        return text
    return LEFT_TO_RIGHT_RUN.sub(lambda run: run.group()[::-1], text[::-1])


def _in_columns(lines: list[Line]) -> list[Line]:
    """The lines with those of a left column before those of the column right of it, between lines that span both."""
    gutter = _gutter(lines)
    if gutter is None:
        return lines
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        before = tuple(segment for segment in line.segments if segment.right <= gutter)
        after = tuple(segment for segment in line.segments if segment.left >= gutter)
        if len(before) + len(after) < len(line.segments):
            ordered += [*_in_columns(left), *_in_columns(right), line]
            left, right = [], []
            continue
        left += [replace(line, segments=before)] if before else []
        right += [replace(line, segments=after)] if after else []
    return [*ordered, *_in_columns(left), *_in_columns(right)]


def _gutter(lines: list[Line]) -> float | None:
    """The middle of the gap between two columns of running text, or None; the columns of a table are none such."""
    starts = Counter(round(segment.left) for line in lines for segment in line.segments[1:])
    starts.update(round(line.left) for line in lines)
    if not lines:
        return None
    low, high = min(line.left for line in lines), max(line.right for line in lines)
    for start, count in starts.most_common(6):
        gutter = start - 2.0
        if count < 8 or not 0.25 < (gutter - low) / (high - low) < 0.75:
            continue
        left = [segment for line in lines for segment in line.segments if segment.right <= gutter]
        right = [segment for line in lines for segment in line.segments if segment.left >= gutter]
        crossing = sum(1 for line in lines for segment in line.segments if segment.left < gutter < segment.right)
        if crossing > 0.4 * len(lines) or not (_runs_on(left, lines) and _runs_on(right, lines)):
            continue
        return gutter
    return None


def _runs_on(segments: list[Segment], lines: list[Line]) -> bool:
    """Whether the segments are running text: many, mostly as wide as their column, mostly one line below the other."""
    if len(segments) < 8 or median(len(segment.text) for segment in segments) < 18:
        return False
    widest = max(segment.right for segment in segments) - min(segment.left for segment in segments)
    full = sum(1 for segment in segments if segment.right - segment.left > 0.85 * widest)
    mine = set(segments)
    heights = [(line.y, line.size) for line in lines if mine.intersection(line.segments)]
    close = sum(1 for (y, size), (next_y, _) in zip(heights, heights[1:]) if y - next_y < COLUMN_LINE_GAP * size)
    return full > 0.5 * len(segments) and close > 0.7 * (len(heights) - 1)


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without their running headers and footers.

    These are lines near the top or bottom that come back, but for their numbers, at the same height of most pages; and
    outermost lines whose number grows from page to page as the pages do. Where they would be much of the text, the
    pages are only alike, and keep all of it.
    """
    keys = [_edge_keys(lines, number) for number, lines in enumerate(pages)]
    seen = Counter(key for page in keys for key in {key for line in page for key in line})
    most = max(3, 0.4 * sum(1 for lines in pages if lines))
    running = {key for key, count in seen.items() if count >= most}
    kept = [
        [line for line, line_keys in zip(lines, page) if not running.intersection(line_keys)]
        for lines, page in zip(pages, keys)
    ]
    before, after = (sum(len(line.text) for lines in these for line in lines) for these in (pages, kept))
    return kept if before - after <= MAX_RUNNING_SHARE * before else pages


def _edge_keys(lines: list[Line], page: int) -> list[list[tuple[object, ...]]]:
    """What each line near the top or bottom of its page is counted under; nothing for the other lines."""
    heights = sorted(line.y for line in lines)
    texts = [PAGE_NUMBER.sub("#", line.text) for line in lines]
    often = Counter(texts)
    keys: list[list[tuple[object, ...]]] = []
    for line, text in zip(lines, texts):
        lower, higher = bisect_left(heights, line.y - 1), bisect_right(heights, line.y + 1)
        outside = min(lower, len(heights) - higher)
        # The rows of a table are alike too, and its header comes back on each page: they stand close to other rows.
        inner = heights[lower - 1 : lower] if lower > len(heights) - higher else heights[higher : higher + 1]
        is_row = often[text] > 2 or (
            len(line.segments) > 1 and any(abs(y - line.y) < SET_APART * line.size for y in inner)
        )
        keys.append([])
        if outside < EDGE_LINES and not is_row:
            # Two grids of heights, so that a small wobble never parts the same line from itself.
            keys[-1] += [(text, "even", round(line.y / 4)), (text, "odd", round(line.y / 4 + 0.5))]
        if outside == 0 and len(line.text) < MAX_RUNNING_LENGTH:
            numbers = [number for pair in OUTER_NUMBER.findall(line.text) for number in pair if number]
            keys[-1] += [("page number", int(number) - page) for number in numbers]
    return keys
