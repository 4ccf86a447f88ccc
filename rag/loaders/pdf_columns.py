"""Columns of running text on a PDF page, told from the columns of a table, and read one after the other."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from rag.loaders.pdf_lines import Line, Segment, with_marker
from rag.loaders.pdf_rules import Rule

MAX_CANDIDATES = 6
MAX_DEPTH = 4
MAX_BANDS = 60
FEWEST_LINES = 3
# Fewer lines than this must show more clearly that they are running text.
FEW_LINES = 8
FEWEST_LETTERS = 18
FEWEST_WORDS = 3
# In parts of the size of the type.
FARTHEST_LINE = 2.5
RULES_APART = 16.0
SPACE = 0.25
SET_APART = 2.0
# In parts of the column's usual distance from line to line.
CLOSE = 1.2
# Rows of a table are seldom taller than this.
TALLEST_ROW = 4.5
ENDED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
ITEM = re.compile(r"(?:[•‣◦▪▫■□●○·–—*-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")


# (low, high, left, right) of a stretch of a page that level rules part into the rows of a table.
_Band = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class _Row:
    """What one column has on a line: one segment, or several of a table."""

    segments: tuple[Segment, ...]
    y: float
    size: float

    @property
    def right(self) -> float:
        return self.segments[-1].right

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def single(self) -> bool:
        return len(self.segments) == 1

    @property
    def first_word(self) -> float:
        """The width of its first word, guessed from that of its text."""
        first = self.segments[0]
        return (first.right - first.left) * len(first.text.split(" ", 1)[0]) / max(1, len(first.text))


def in_columns(lines: Sequence[Line], rules: Sequence[Rule] = ()) -> list[Line]:
    """The page's lines in reading order: a left column before the one right of it, between lines that span both."""
    ordered: list[Line] = []
    for turn, group in groupby(lines, key=lambda line: line.turn):
        turned = list(group)
        start, end = _inner(turned)
        body = turned[start:end]
        inner = _ordered(body, [] if turn else _bands(turned, rules))
        above, below = ([part for one in edge for part in _parts(one)] for edge in (turned[:start], turned[end:]))
        ordered += turned if inner == body else [*above, *inner, *below]
    return ordered


def _parts(line: Line) -> list[Line]:
    """What stands above or below columns, each part for itself but for a title and the page's number beside it."""
    numbered = any(part.text.isdigit() for part in line.segments)
    return [line] if numbered else [_part(line, (part,)) for part in line.segments]


def _inner(lines: Sequence[Line]) -> tuple[int, int]:
    """Where the lines begin and end that no wide gap sets apart at the top or bottom of the page."""
    if len(lines) <= FEWEST_LINES:
        return 0, len(lines)
    gaps = [one.y - other.y for one, other in zip(lines, lines[1:])]
    wide = SET_APART * max(median(line.size for line in lines), median(gaps))
    return int(gaps[0] > wide), len(lines) - int(gaps[-1] > wide and len(lines[-1].text) < FEWEST_LETTERS)


def _bands(lines: Sequence[Line], rules: Sequence[Rule]) -> list[_Band]:
    """Where three or more level rules follow each other closely, as wide as each other: the rows of a table."""
    size = median(line.size for line in lines)
    bands: list[_Band] = []
    by_ends: dict[tuple[int, int], set[float]] = defaultdict(set)
    for rule in (rule for rule in rules if not rule.upright):
        by_ends[round(rule.low / 2), round(rule.high / 2)].add(rule.at)
    for (low, high), found in by_ends.items():
        run: list[float] = []
        for at in [*sorted(found), float("inf")]:
            if run and at - run[-1] > RULES_APART * size:
                if len(run) > 2:
                    bands.append((run[0], run[-1], low * 2.0, high * 2.0))
                run = []
            run.append(at)
    return bands[:MAX_BANDS]


def _ordered(lines: list[Line], bands: Sequence[_Band], depth: int = 0) -> list[Line]:
    if len(lines) < FEWEST_LINES or depth > MAX_DEPTH:
        return lines
    gutter = _gutter(lines, bands)
    if gutter is not None:
        return _parted(lines, gutter, bands, depth)
    stretch = _stretch(lines, bands)
    if stretch is None:
        return lines
    start, end, gutter = stretch
    inner = _parted(lines[start:end], gutter, bands, depth)
    return [*_ordered(lines[:start], bands, depth + 1), *inner, *_ordered(lines[end:], bands, depth + 1)]


def _parted(lines: list[Line], gutter: float, bands: Sequence[_Band], depth: int) -> list[Line]:
    """The lines with what is left of the gutter before what is right of it, between lines that span both."""
    ordered, left, right = list[Line](), list[Line](), list[Line]()
    # A page's number stands in the middle of the gap, and in neither column.
    edge = max((one.right for line in lines for one in line.segments[:-1] if one.right <= gutter), default=gutter)
    for line in lines:
        alone = len(line.segments) == 1 and edge < line.left and line.right < gutter
        if alone or _spans(line, gutter, bands):
            ordered += [*_ordered(left, bands, depth + 1), *_ordered(right, bands, depth + 1), line]
            left, right = [], []
            continue
        before, after = _sides(line, gutter)
        left += [_part(line, before)] if before else []
        right += [_part(line, after)] if after else []
    return [*ordered, *_ordered(left, bands, depth + 1), *_ordered(right, bands, depth + 1)]


def _spans(line: Line, gutter: float, bands: Sequence[_Band]) -> bool:
    """Whether a line runs over the gutter, or belongs to a table that does."""
    if any(segment.left < gutter < segment.right for segment in line.segments):
        return True
    return any(left < gutter < right and low < line.y < high for low, high, left, right in bands)


def _sides(line: Line, gutter: float) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    before = [segment for segment in line.segments if segment.right <= gutter]
    after = [segment for segment in line.segments if segment.right > gutter]
    return with_marker(before, line.size), with_marker(after, line.size)


def _part(line: Line, segments: tuple[Segment, ...]) -> Line:
    """Some of a line's segments as a line of its own: its neighbours in another column were set for themselves."""
    if segments == line.segments:
        return line
    y, size, bold, fixed = max(segments, key=lambda one: len(one.text)).look
    return replace(line, segments=segments, y=y, size=size, bold=bold, fixed=fixed)


def _candidates(lines: Sequence[Line]) -> list[float]:
    """Places just left of where many segments begin, in the middle half of the page."""
    if not lines:
        return []
    starts = Counter(round(segment.left) for line in lines for segment in line.segments[1:])
    starts.update(round(line.left) for line in lines)
    low, high = min(line.left for line in lines), max(line.right for line in lines)
    inside = [start for start, _ in starts.most_common() if 0.25 < (start - 2 - low) / max(1.0, high - low) < 0.75]
    return [start - 2.0 for start in inside[:MAX_CANDIDATES]]


def _gutter(lines: Sequence[Line], bands: Sequence[_Band], depth: int = 0) -> float | None:
    """The middle of the gap between two columns of running text, or None; the columns of a table are none such."""
    for gutter in _candidates(lines):
        beside = [line for line in lines if not _spans(line, gutter, bands)]
        if len(beside) >= 0.6 * len(lines) and _divides(beside, gutter, depth):
            return gutter
    return None


def _stretch(lines: Sequence[Line], bands: Sequence[_Band]) -> tuple[int, int, float] | None:
    """The longest run of lines that a gutter divides, and the gutter, on a page whose other lines run over it."""
    best: tuple[int, int, float] | None = None
    for gutter in _candidates(lines):
        start = 0
        for spans, group in groupby(lines, key=lambda line: _spans(line, gutter, bands)):
            end = start + len(list(group))
            longer = best is None or end - start > best[1] - best[0]
            if not spans and longer and end - start < len(lines) and _divides(lines[start:end], gutter, 0):
                best = start, end, gutter
            start = end
    return best


def _divides(lines: Sequence[Line], gutter: float, depth: int) -> bool:
    """Whether there is running text on both sides of the gutter, and not row for row."""
    sides = [_sides(line, gutter) for line in lines]
    left, right = ([_row(parts[side]) for parts in sides if parts[side]] for side in (0, 1))
    if min(len(left), len(right)) < FEWEST_LINES:
        # A column that ends after a line or two stands beside a long one.
        short, long = sorted((left, right), key=len)
        return len(long) >= FEW_LINES and _ends_early(short, long) and _runs_on(long, clearly=True)
    clearly = min(len(left), len(right)) < FEW_LINES
    if not (_reads(left, depth, clearly) and _reads(right, depth, clearly)):
        return False
    return not _in_step(left, right, FEWEST_LINES - 1 if not clearly else 1)


def _row(segments: tuple[Segment, ...]) -> _Row:
    # Columns may each have baselines of their own.
    return _Row(segments, *max(segments, key=lambda one: len(one.text)).look[:2])


def _ends_early(short: Sequence[_Row], long: Sequence[_Row]) -> bool:
    """Whether the rows begin beside the first of the long column, and are words as that is."""
    if not short or not all(row.single for row in short) or not _is_wordy(short):
        return False
    width, whole = (max(row.right - row.segments[0].left for row in rows) for rows in (short, long))
    beside = abs(short[0].y - long[0].y) < long[0].size
    return beside and width > 0.6 * whole and short[0].y - short[-1].y < FARTHEST_LINE * long[0].size


def _is_wordy(rows: Sequence[_Row]) -> bool:
    """Whether most rows hold several words; some scripts set no spaces between theirs."""
    words = median(FEWEST_WORDS if UNSPACED.search(row.text) else row.text.count(" ") + 1 for row in rows)
    return median(len(row.text) for row in rows) >= FEWEST_LETTERS and words >= FEWEST_WORDS


def _reads(rows: Sequence[_Row], depth: int, clearly: bool) -> bool:
    """Whether the rows of a column are running text, or columns of it."""
    if _runs_on(rows, clearly):
        return True
    if depth > 1 or sum(len(row.segments) for row in rows) < 2 * FEWEST_LINES:
        return False
    return _gutter([Line(row.segments, row.y, row.size, False) for row in rows], (), depth + 1) is not None


def _runs_on(rows: Sequence[_Row], clearly: bool) -> bool:
    """Whether rows are lines of running text: long, one close below the other, and broken where the next word would
    not have fitted."""
    single = [row for row in rows if row.single]
    if len(single) < 0.6 * len(rows) or not _is_wordy(single):
        return False
    pitch = _pitch(rows)
    pairs = [(one, other) for one, other in zip(rows, rows[1:]) if 0 < one.y - other.y < CLOSE * pitch]
    if not pairs or pitch > FARTHEST_LINE * rows[0].size:
        return False
    left = min(row.segments[0].left for row in single)
    # A line may stick out.
    edge = sorted(row.right for row in single)[-1 - len(single) // 20]
    full = sum(row.right - left > 0.85 * (edge - left) for row in single)
    if not clearly and full > 0.5 * len(rows) and len(pairs) > 0.7 * (len(rows) - 1):
        return True
    wrapped, fits = [], 0
    for row, following in pairs:
        if row.single and following.single and not ITEM.match(following.text):
            if row.right + following.first_word + SPACE * row.size > edge - 0.02 * (edge - left):
                wrapped.append(following.text)
            elif not ENDED.search(row.text):
                fits += 1
    # Cells begin as sentences do, or with signs.
    inside = sum(text[:1].isalpha() and not text[:1].isupper() for text in wrapped)
    share = 0.8 if clearly else 0.65
    return (
        len(wrapped) >= max(FEWEST_LINES - 1, 0.35 * len(rows))
        and len(wrapped) >= share * (len(wrapped) + fits)
        and inside >= (0.6 if clearly else 0.4) * len(wrapped)
    )


def _pitch(rows: Sequence[_Row]) -> float:
    """The usual distance from line to line: of distances about as common, the smallest."""
    gaps = [one.y - other.y for one, other in zip(rows, rows[1:])]
    counts = Counter(round(gap, 1) for gap in gaps if gap > 0.5 * rows[0].size)
    most = max(counts.values(), default=0)
    return min((gap for gap, count in counts.items() if 2 * count >= most), default=0.0)


def _in_step(left: Sequence[_Row], right: Sequence[_Row], fewest: int) -> bool:
    """Whether the columns' parts stand beside each other, as the cells of a table's rows do."""
    parts = _cells(left), _cells(right)
    reach = 0.3 * left[0].size
    # Cells are set at the top of their row or in its middle.
    ways = [[[place(part) for part in side] for side in parts] for place in (lambda part: part[0], sum)]
    shared = max(sum(any(abs(y - other) < reach for other in ys[1]) for y in ys[0]) for ys in ways)
    rows_each = max(len(left), len(right)) / max(1, shared)
    return shared > max(fewest, 0.75 * (max(map(len, parts)) - 1)) and rows_each <= TALLEST_ROW


def _cells(rows: Sequence[_Row]) -> list[tuple[float, float]]:
    """The heights of the first and the last line of each part of a column that wider gaps set apart."""
    pitch = _pitch(rows)
    starts = [0, *(n for n in range(1, len(rows)) if rows[n - 1].y - rows[n].y > CLOSE * pitch), len(rows)]
    return [(rows[start].y, rows[end - 1].y) for start, end in zip(starts, starts[1:])]
