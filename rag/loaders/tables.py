"""CSV and TSV: question-answer pairs, or rows told column by column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.errors import LoadError
from rag.loaders.base import Assembly, Content, decode, one_block, sections_from, some
from rag.text import shortened

QUESTION_NAMES = ("question", "q", "frage", "prompt", "query")
ANSWER_NAMES = ("answer", "a", "antwort", "response", "reply")
DELIMITERS = ",;\t|"
MAX_LINES_OF_ROW = 1000
MAX_NAME_CHARACTERS = 300

# A cell may hold a whole article; the csv module gives up at 131,072 characters.
csv.field_size_limit(100_000_000)


@dataclass(frozen=True)
class Row:
    """The cells of one row, and its first and last line in the file, from 1.

    ``is_doubtful`` says that each line of it but the first could be a row: perhaps a quote mark was closed too late.
    """

    first: int
    last: int
    cells: list[str]
    is_doubtful: bool = False


def load_table(data: bytes, name: str) -> Content:
    """Each question and its answer as one block and one section, or each row as ``column: value`` lines.

    Rows without a question or an answer are left out and named in the notices.
    """
    lines = decode(data, name).split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return Content("")
    is_tabbed = name.lower().endswith(".tsv") and "\t" in lines[first]
    delimiter = "\t" if is_tabbed else _delimiter(lines[first])
    if told := re.fullmatch(r"\s*sep=([^\w\s\"]|\t)\s*", lines[first]):
        # Spreadsheet programs write their delimiter into a line of its own.
        delimiter, first = told.group(1), first + 1
    rows = _rows(lines, delimiter, first)
    names = next(rows, None)
    header = [name.strip() for name in names.cells] if names else []
    question, answer = _column(header, QUESTION_NAMES), _column(header, ANSWER_NAMES)
    assembly = Assembly()
    marks: list[tuple[int, tuple[str, ...]]] = []
    notices: list[str] = []
    if question is None or answer is None or question == answer:
        _add_rows(assembly, header, rows, delimiter)
        if assembly.blocks:
            notices.append("no question and answer columns: each row is read as column: value lines")
    else:
        notices += _add_pairs(assembly, marks, header, rows, delimiter, question, answer)
        if not assembly.blocks and " left out: " in "".join(notices[:1]):
            raise LoadError(name, notices[0])
    text = assembly.text
    return Content(text, sections_from(text, marks), (), tuple(assembly.blocks), tuple(notices), "table")


def _add_pairs(
    assembly: Assembly,
    marks: list[tuple[int, tuple[str, ...]]],
    header: list[str],
    rows: Iterator[Row],
    delimiter: str,
    question: int,
    answer: int,
) -> list[str]:
    bad: list[str] = []
    joined: list[str] = []
    doubtful: list[str] = []
    for row in rows:
        line, cells = row.first, row.cells
        if len(cells) > len(header):
            # A comma nobody quoted: the answer is where prose stands, so what is too much belongs to it.
            surplus = len(cells) - len(header)
            cells[answer : answer + surplus + 1] = [delimiter.join(cells[answer : answer + surplus + 1])]
            joined.append(f"line {line}")
        pair = [one_block(cells[column]) if column < len(cells) else "" for column in (question, answer)]
        if all(pair):
            block = assembly.add("question-answer", "\n".join(pair))
            marks.append((block.start, (" ".join(pair[0].split()),)))
            if row.is_doubtful:
                doubtful.append(f"lines {line}-{row.last}")
        else:
            bad.append(f"line {line} (no {'answer' if pair[0] else 'question'})")
    notices = []
    if bad:
        notices.append(f"{len(bad)} of {len(bad) + len(assembly.blocks)} rows left out: {some(bad)}")
    if joined:
        notices.append(f"rows with more cells than the header, joined to the answer: {some(joined)}")
    if doubtful:
        notices.append(f"read as one row, up to where its quote mark is closed: {some(doubtful)}")
    if unused := [column for number, column in enumerate(header) if column and number not in (question, answer)]:
        notices.append(f"read as questions and answers, without the columns {some(unused)}")
    return notices


def _add_rows(assembly: Assembly, header: list[str], rows: Iterator[Row], delimiter: str) -> None:
    # Cut, for a name is told with every row: one of a megabyte would make a table of a thousand rows a thousand.
    names = [shortened(name, MAX_NAME_CHARACTERS) or f"column {number}" for number, name in enumerate(header, start=1)]
    for row in rows:
        cells = row.cells
        if len(cells) > len(header):
            cells[len(header) - 1 :] = [delimiter.join(cells[len(header) - 1 :])]
        told = [f"{name}: {value}" for name, value in zip(names, map(one_block, cells)) if value]
        if told:
            assembly.add("paragraph", "\n".join(told))


def _delimiter(line: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=unquoted.count)


def _column(header: list[str], names: Sequence[str]) -> int | None:
    """The column with one of the names, else the first that begins with one of the longer names."""
    folded = [" ".join(re.findall(r"\w+", column.casefold().replace("_", " "))) for column in header]
    for name in names:
        if name in folded:
            return folded.index(name)
    for number, column in enumerate(folded):
        words = column.split()
        if words and words[0].rstrip("s") in names and words[-1] not in ("id", "date", "number", "by"):
            return number
    return None


def _rows(lines: list[str], delimiter: str, number: int) -> Iterator[Row]:
    """Every row that is not blank, from ``lines[number]`` on.

    A quoted cell may run over several lines; a quote mark that is never closed is read as a character of its cell,
    and takes no other row along.
    """
    columns = 0
    while number < len(lines):
        first = number
        cells, number = _row(lines, number, delimiter, columns)
        inner = lines[first + 1 : number]
        is_doubtful = bool(inner) and all(_could_be_row(line, delimiter, columns) for line in inner)
        columns = columns or len(cells)
        if any(cell.strip() for cell in cells):
            yield Row(first + 1, number, cells, is_doubtful)


def _row(lines: list[str], first: int, delimiter: str, columns: int) -> tuple[list[str], int]:
    """The cells of the row that begins at ``lines[first]``, and the line after it."""
    quotes = 0
    for last in range(first, min(first + MAX_LINES_OF_ROW, len(lines))):
        quotes += lines[last].count('"')
        if last > first and _is_row_of_its_own(lines[last], delimiter, columns):
            break
        if quotes % 2:
            continue
        try:
            rows = list(csv.reader(["\n".join(lines[first : last + 1])], delimiter=delimiter, strict=True))
        except csv.Error:
            break
        return (rows[0] if rows else []), last + 1
    return lines[first].split(delimiter), first + 1


def _is_row_of_its_own(line: str, delimiter: str, columns: int) -> bool:
    """Whether a line that a quoted cell runs over would make a whole row: then the cell's quote was never closed."""
    if not _could_be_row(line, delimiter, columns):
        return False
    return delimiter == "\t" or line.split(delimiter)[0].rstrip(' "').endswith(("?", "？"))


def _could_be_row(line: str, delimiter: str, columns: int) -> bool:
    cells = line.split(delimiter)
    return len(cells) == columns > 1 and cells[0].count('"') % 2 == 0
