"""Rows and columns of a PDF table, from the white gutters that run down between its cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag.loaders.pdf_lines import Line, Segment
from rag.loaders.pdf_rules import Rule, covers

Interval = tuple[float, float]
# In parts of the size of the type.
GUTTER = 0.6
WRAPPED = 1.45
GROUP_ROW = 2.4
BESIDE = 0.95
NEXT_ROW = 3.5
APART = 1.15
FARTHEST_RULE = 2.5
MAX_COMPARED = 200
LOOSE = 1.75
# Shares of the lines.
MANY = 0.3
FEW = 0.3


def with_rules(lines: Sequence[Line], rules: Sequence[Rule]) -> list[Line]:
    """The lines, with word of the rules that part them from what stands above them, and their segments."""
    level = sorted((rule for rule in rules if not rule.upright), key=lambda rule: rule.at)
    heights = [rule.at for rule in level]
    walls = [rule for rule in rules if rule.upright]
    if not rules:
        return list(lines)
    marked: list[Line] = []
    for number, line in enumerate(lines):
        if line.turn == 0:
            before = lines[number - 1] if number else None
            ruled = _is_ruled(line, before, level, heights)
            gaps = [(one.right, other.left) for one, other in zip(line.segments, line.segments[1:])]
            beside = [wall.at for wall in walls if wall.low <= line.y <= wall.high] if gaps else []
            boxed = bool(gaps) and all(any(low <= at <= high for at in beside) for low, high in gaps)
            line = replace(line, ruled=ruled, boxed=boxed)
        marked.append(line)
    return marked


def _is_ruled(line: Line, before: Line | None, level: Sequence[Rule], heights: Sequence[float]) -> bool:
    above = line.y + FARTHEST_RULE * line.size
    if before is not None and before.y > line.y:
        above = before.y
        if before.right < line.left or line.right < before.left:
            # A cell that reaches over several rows stands beside the rule that parts these.
            above += 0.6 * before.size
    low = min(line.y + 0.4 * line.size, above - 0.4 * line.size)
    parting = level[bisect_right(heights, low) : bisect_left(heights, above)][:MAX_COMPARED]
    if before is not None:
        # What lies close below the words above, and is no wider, underlines them.
        under, left, right = before.y - 0.35 * before.size, before.left - 1, before.right + 1
        parting = [rule for rule in parting if rule.at < under or rule.low < left or rule.high > right]
    return covers(parting, line.left + 1, line.right - 1)


def table_at(lines: Sequence[Line], start: int) -> int:
    """Where the table that begins at ``lines[start]`` ends; ``start`` where there is none."""
    gutter = GUTTER * lines[start].size
    columns = _columns(lines[start : start + 1], gutter)
    rows = 1
    if len(columns) < 2:
        # A cell of several lines may reach above the others of its row, which are centred beside it.
        beside = lines[start : start + 2]
        if len(beside) < 2 or not 0 < beside[0].y - beside[1].y < BESIDE * beside[0].size:
            return start
        if len(_columns(beside, gutter)) < 2:
            return start
        rows = 0
    end = start + 1
    for number in range(start + 1, len(lines)):
        line = lines[number]
        gap = (lines[number - 1].y - line.y) / line.size
        merged = _merged([*columns, *((segment.left, segment.right) for segment in line.segments)], gutter)
        single = len(line.segments) == 1
        if not 0 < gap < NEXT_ROW or len(merged) < 2:
            break
        if single and len(merged) > len(columns) and not columns[0][0] <= line.left <= columns[-1][1] and gap > BESIDE:
            break
        if single and len(merged) < len(columns) and not _in_cell(line, columns, lines[number - 1]):
            break
        if single and (gap > GROUP_ROW or abs(line.size - lines[start].size) > 0.08 * line.size):
            break
        columns = merged
        if not single:
            rows += 1
        if not single or gap <= WRAPPED:
            end = number + 1
    # One row alone is a table where it ends a page: its header, which the next page repeats.
    return end if rows > 1 or (len(columns) > 2 and end == len(lines)) else start


def _in_cell(line: Line, columns: Sequence[Interval], before: Line) -> bool:
    """Whether a line that bridges columns goes on with a cell, which it begins flush with, of words set far apart."""
    met = _met(line.segments[0], columns)
    flush = met and met[0] > 0 and abs(columns[met[0]][0] - line.left) < 0.5 * line.size
    return bool(flush) and before.segments[-1].right > columns[met[0]][0] and not line.ruled


def table_rows(lines: Sequence[Line], join: Callable[[str, str], str]) -> tuple[tuple[str, ...], ...]:
    """The table's rows; a cell that runs over several lines is joined to one."""
    columns = _under_their_titles(_common_columns(lines, GUTTER * lines[0].size), lines)
    cells = [_cells(line, columns) for line in lines]
    rows: list[list[str]] = []
    for number, starts in enumerate(_row_starts(lines, cells)):
        if starts:
            rows.append(cells[number])
        else:
            rows[-1] = [join(old, new) if old and new else old or new for old, new in zip(rows[-1], cells[number])]
    return tuple(map(tuple, rows))


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table whose header is the first of them."""
    lines = markdown_rows(rows)
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def markdown_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as the lines of a Markdown table, without the line under its header."""
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def _columns(lines: Sequence[Line], gutter: float) -> list[Interval]:
    """The stretches from left to right that ink of any line covers, where only gutters part them."""
    return _merged([(segment.left, segment.right) for line in lines for segment in line.segments], gutter)


def _merged(intervals: list[Interval], gutter: float) -> list[Interval]:
    merged: list[Interval] = []
    for left, right in sorted(intervals):
        if merged and left - merged[-1][1] < gutter:
            left, right = merged[-1][0], max(merged.pop()[1], right)
        merged.append((left, right))
    return merged


def _common_columns(lines: Sequence[Line], gutter: float) -> list[Interval]:
    """The columns of most lines with several cells, where those show more than all lines together.

    A cell that runs over several columns would make one of them.
    """
    columns = _columns(lines, gutter)
    several = [line for line in lines if len(line.segments) > 1]
    most = max((len(line.segments) for line in several), default=0)
    widest = [line for line in several if len(line.segments) == most]
    common = _columns(widest, gutter)
    if len(columns) < len(common) == most and len(widest) * 2 >= len(several):
        others = [(one.left, one.right) for line in lines for one in line.segments if len(_met(one, common)) == 1]
        return _merged([*common, *others], gutter)
    return columns


def _under_their_titles(columns: list[Interval], lines: Sequence[Line]) -> list[Interval]:
    """The columns, where a title that stands beside its cells, not above them, is one column with them."""
    cells = [_cells(line, columns) for line in lines]
    titled = [bool(cell) for cell in cells[0]]
    filled = [any(row[number] for row in cells[1:]) for number in range(len(columns))]
    joined: list[Interval] = []
    number = 0
    while number < len(columns):
        pair = slice(number, number + 2)
        if sorted(zip(titled[pair], filled[pair])) == [(False, True), (True, False)]:
            joined.append((columns[number][0], columns[number + 1][1]))
            number += 1
        else:
            joined.append(columns[number])
        number += 1
    return joined


def _met(segment: Segment, columns: Sequence[Interval]) -> list[int]:
    return [number for number, (left, right) in enumerate(columns) if segment.left < right and left < segment.right]


def _cells(line: Line, columns: Sequence[Interval]) -> list[str]:
    cells = [""] * len(columns)
    for segment in line.segments:
        met = _met(segment, columns)
        middle = (segment.left + segment.right) / 2
        near = min(
            range(len(columns)), key=lambda number: max(columns[number][0] - middle, middle - columns[number][1])
        )
        column = met[0] if len(met) > 1 else near
        cells[column] = f"{cells[column]} {segment.text}".strip()
    return cells


def _row_starts(lines: Sequence[Line], cells: Sequence[Sequence[str]]) -> list[bool]:
    """Whether each line begins a row: below a rule where rows are ruled off, else after a wider gap in every column
    where rows are set apart, else with a filled first cell."""
    size = lines[0].size
    gaps = [before.y - line.y for before, line in zip(lines, lines[1:])]
    beside = [gap <= BESIDE * size for gap in gaps]
    ruled = [line.ruled for line in lines[1:]]
    full = [all(row) for row in cells[1:]]
    several = [line.boxed for line in lines if len(line.segments) > 1]
    unruled = sum(one and not rule for one, rule in zip(full, ruled))
    # Rules may also part groups of rows; between the walls of boxes they part rows.
    if sum(ruled) > 1 and (unruled <= sum(ruled) or sum(several) > 0.6 * len(several)):
        return [True, *ruled]
    first = [bool(row[0]) and not near for row, near in zip(cells[1:], beside)]
    tight, apart = _apart(lines, cells)
    starts = [one and not near for one, near in zip(apart, beside)]
    merged = [one for one, start in zip(full, starts) if not start]
    continued = [cell for row, start in zip(cells[1:], starts) if not start for cell in row if cell]
    runs_on = sum(cell[0].islower() for cell in continued) > 0.5 * len(continued)
    if tight > LOOSE * size or not any(starts):
        return [True, *first]
    if not runs_on and sum(starts) <= MANY * len(starts) and sum(merged) > FEW * len(merged):
        return [True, *first]
    return [True, *_parted_by_first_cell(starts, first, lines, cells, tight)]


def _apart(lines: Sequence[Line], cells: Sequence[Sequence[str]]) -> tuple[float, list[bool]]:
    """The distance from line to line in a cell, and for each line but the first whether no cell goes on over it."""
    filled = [[number for number, row in enumerate(cells) if row[column]] for column in range(len(cells[0]))]
    steps = [(a, b, lines[a].y - lines[b].y) for column in filled for a, b in zip(column, column[1:])]
    tight = min((gap for _, _, gap in steps if gap > BESIDE * lines[0].size), default=0.0)
    goes_on = [False] * len(lines)
    for first, last, gap in steps:
        if gap <= APART * tight:
            goes_on[first + 1 : last + 1] = [True] * (last - first)
    return tight, [not one for one in goes_on[1:]]


def _parted_by_first_cell(
    starts: list[bool], first: list[bool], lines: Sequence[Line], cells: Sequence[Sequence[str]], tight: float
) -> list[bool]:
    """The starts, with more of them where a row holds several first cells that stand apart from each other."""
    filled = [number for number, row in enumerate(cells) if row[0]]
    more = list(starts)
    for before, number in zip(filled, filled[1:]):
        if first[number - 1] and lines[before].y - lines[number].y > APART * tight and not any(more[before:number]):
            more[number - 1] = True
    return more
