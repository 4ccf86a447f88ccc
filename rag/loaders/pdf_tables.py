"""Rows and columns of a PDF table, from the white gutters that run down between its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag.loaders.pdf_lines import Line

Interval = tuple[float, float]
# In parts of the size of the type.
GUTTER = 0.6
WRAPPED = 1.45
GROUP_ROW = 2.4
BESIDE = 0.95
NEXT_ROW = 3.5


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
        if not 0 < gap < NEXT_ROW or len(merged) < 2 or (single and len(merged) < len(columns)):
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


def table_rows(lines: Sequence[Line], join: Callable[[str, str], str]) -> tuple[tuple[str, ...], ...]:
    """The table's rows; a cell that runs over several lines is joined to one."""
    columns = _columns(lines, GUTTER * lines[0].size)
    cells = [_cells(line, columns) for line in lines]
    rows: list[list[str]] = []
    for number, starts in enumerate(_row_starts(lines, cells)):
        if starts:
            rows.append(cells[number])
        else:
            rows[-1] = [join(old, new) if old and new else old or new for old, new in zip(rows[-1], cells[number])]
    return tuple(map(tuple, rows))


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


def _cells(line: Line, columns: Sequence[Interval]) -> list[str]:
    cells = [""] * len(columns)
    for segment in line.segments:
        middle = (segment.left + segment.right) / 2
        column = next(number for number, (_, right) in enumerate(columns) if middle <= right)
        cells[column] = f"{cells[column]} {segment.text}".strip()
    return cells


def _row_starts(lines: Sequence[Line], cells: Sequence[Sequence[str]]) -> list[bool]:
    """Whether each line begins a row: after a wider gap where rows are set apart, else with a filled first cell."""
    gaps = [before.y - line.y for before, line in zip(lines, lines[1:])]
    tight = min((gap for gap in gaps if gap > BESIDE * lines[0].size), default=0.0)
    wide = [gap > 1.25 * tight for gap in gaps]
    wrapped = [row for row, apart in zip(cells[1:], wide) if not apart]
    full = sum(1 for row in wrapped if all(row))
    apart = sum(wide) > 0.35 * len(wide) or (any(wide) and full <= 0.3 * len(wrapped))
    if apart and tight <= WRAPPED * lines[0].size:
        return [True, *wide]
    return [True, *(bool(row[0]) and gap > BESIDE * lines[0].size for row, gap in zip(cells[1:], gaps))]
