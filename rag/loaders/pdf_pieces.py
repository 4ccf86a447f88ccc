"""The lines of a PDF page as paragraphs, lists and tables, told apart by gaps, edges and sizes of type."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.loaders.pdf_lines import Line
from rag.loaders.pdf_tables import table_at, table_rows

BULLET = re.compile(r"^(?:[•‣◦▪▫■□●○·∙\uf0b7\uf0a7]|[–—*-](?=\s))\s*")
NUMBER = re.compile(r"^(?:\(?(\d{1,3}|[a-zA-Z])[.)])\s+(?=\S)")
SENTENCE_ENDED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
ENDS_WITH_PAGE = re.compile(r" \.\.\. \S+$")
CAPTION = re.compile(r"(?:table|tabelle|tableau|tabla)\b", re.IGNORECASE)
# A word that goes on in the next line: nobody ends a line on purpose within one.
WORD_CUT = re.compile(r"[^\W\d_]{2}[-\u00ad\u2010]$")
FIGURES_CUT = re.compile(r"\d[-\u2010\u2013/]$")
# "Vor- und Nachteile": the hyphen stands for what the second word ends with.
CONJUNCTIONS = frozenset(["und", "oder", "bzw", "sowie", "and", "och", "eller", "en"])
SAME_SIZE = 0.08
PARAGRAPH_GAP = 1.15
CODE_GAP = 3.2
MAX_BLANKS = 60
INDENT = 0.8


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page that becomes one block: its kind, its text, and the lines at its two ends.

    ``rows`` are a table's; ``right`` is how far to the right its column reaches; ``joins`` says that it follows the
    piece before it closely, on a new line rather than as a new paragraph.
    """

    kind: str
    text: str
    first: Line
    last: Line
    right: float
    rows: tuple[tuple[str, ...], ...] = ()
    joins: bool = False


class Spelling:
    """Joins lines of a paragraph; a hyphen at a line's end goes, unless the word stands with it elsewhere."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._words = Counter(
            word for line in lines for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text.lower())
        )

    def join(self, before: str, after: str) -> str:
        """The two texts as one line."""
        if before.endswith("\u00ad"):
            return before[:-1] + after
        if before.endswith("\u2010"):
            before = before[:-1] + "-"
        start = re.search(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$", before)
        end = re.match(r"[^\W\d_]+", after)
        if start and end and end.group()[0].islower():
            whole, hyphenated = (start.group(1) + middle + end.group() for middle in ("", "-"))
            if end.group() in CONJUNCTIONS and not self._words[whole.lower()]:
                return f"{before} {after}"
            keeps = self._words[hyphenated.lower()] > self._words[whole.lower()]
            return before + after if keeps else before[:-1] + after
        whole = (end and re.search(r"\w[-/]$", before)) or cuts_figures(before, after)
        return before + after if whole else f"{before} {after}"


def cuts_figures(before: str, after: str) -> bool:
    """Whether a span of figures, "2020-2021", runs over the end of a line."""
    return FIGURES_CUT.search(before) is not None and after[:1].isdigit()


class Spacing:
    """For each size of type in a document, in points: the usual distance from line to line, and the right edge."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        gaps: dict[float, Counter[float]] = defaultdict(Counter)
        for lines in pages:
            for line, following in zip(lines, lines[1:]):
                gap = line.y - following.y
                if same_size(line, following) and 0.9 * line.size < gap < 2 * line.size:
                    gaps[round(line.size, 1)][round(gap, 1)] += 1
        # Of gaps about as common, the smaller one parts lines and the larger one paragraphs.
        self._usual = {
            size: min(gap for gap, count in counts.items() if count >= 0.5 * max(counts.values()))
            for size, counts in gaps.items()
            if sum(counts.values()) >= 3
        }
        fixed = sum(len(line.text) for lines in pages for line in lines if line.fixed)
        # A document set by typewriter is no code.
        self.prose_is_fixed = fixed > 0.5 * sum(len(line.text) for lines in pages for line in lines)
        rights: dict[float, list[float]] = defaultdict(list)
        for line in (line for lines in pages for line in lines):
            rights[round(line.size, 1)].append(line.right)
        self._right = {size: sorted(found)[int(0.95 * (len(found) - 1))] for size, found in rights.items()}
        ratios = sorted(gap / size for size, gap in self._usual.items())
        self._ratio = ratios[len(ratios) // 2] if ratios else 1.2

    def right(self, line: Line) -> float:
        """How far to the right lines of this size reach in the document, but for a few."""
        return self._right.get(round(line.size, 1), line.right)

    def parts(self, line: Line, following: Line) -> bool:
        """Whether the gap between the lines is wider than between lines of a paragraph (or runs back up the page)."""
        usual = self._usual.get(round(line.size, 1), self._ratio * line.size)
        return not -0.5 * line.size < line.y - following.y <= PARAGRAPH_GAP * usual + 0.05 * line.size


def same_size(line: Line, other: Line) -> bool:
    """Whether two lines are set in about the same size of type."""
    return abs(line.size - other.size) <= SAME_SIZE * max(line.size, other.size)


def is_contents_line(line: Line) -> bool:
    """Whether a line is one of a table of contents: a title, a row of dots and a page."""
    return ENDS_WITH_PAGE.search(line.text) is not None


def ends_short(line: Line, following: Line, right: float) -> bool:
    """Whether the first word of the next line would easily have fitted on this one: then it was ended on purpose."""
    if is_contents_line(line):
        return True
    if (WORD_CUT.search(line.text) and following.text[:1].islower()) or cuts_figures(line.text, following.text):
        return False
    word = following.text.split(" ", 1)[0]
    width = (following.right - following.left) * len(word) / max(1, len(following.text))
    # Its width is guessed from the line's, so there must be room to spare.
    return line.right + 0.8 * line.size + 1.4 * width < right


def pieces_of(lines: Sequence[Line], spacing: Spacing, spelling: Spelling) -> list[Piece]:
    """The lines, in order, as pieces."""
    pieces: list[Piece] = []
    start = number = 0
    while number < len(lines):
        end = _code_end(lines, number, spacing)
        if end > number:
            pieces += _prose(lines[start:number], spacing, spelling)
            pieces.append(_code(lines[number:end]))
            start = number = end
            continue
        end = table_at(lines, number)
        if end == number:
            number += 1
            continue
        pieces += _prose(lines[start:number], spacing, spelling)
        rows = table_rows(lines[number:end], spelling.join)
        right = max(line.right for line in lines[number:end])
        pieces.append(Piece("table", "", lines[number], lines[end - 1], right, rows))
        start = number = end
    return pieces + _prose(lines[start:], spacing, spelling)


def _code_end(lines: Sequence[Line], start: int, spacing: Spacing) -> int:
    """Where the code that begins at ``lines[start]`` ends; ``start`` where there is none."""
    end = start
    while end < len(lines) and lines[end].fixed and lines[end].turn == lines[start].turn:
        gap = lines[end - 1].y - lines[end].y
        if end > start and not 0 < gap < CODE_GAP * lines[end].size:
            break
        end += 1
    if not spacing.prose_is_fixed and end == start + 1:
        # A line of a paragraph may hold nothing but a name set as code.
        before = start == 0 or spacing.parts(lines[start - 1], lines[start])
        after = end == len(lines) or spacing.parts(lines[start], lines[end])
        return end if before and after else start
    return start if spacing.prose_is_fixed else end


def _code(lines: Sequence[Line]) -> Piece:
    """Lines of letters that are all as wide, with their indents and gaps as spaces."""
    edge = min(line.left for line in lines)
    longest = max((segment for line in lines for segment in line.segments), key=lambda segment: len(segment.text))
    width = max((longest.right - longest.left) / len(longest.text), 0.1)
    written = []
    for line in lines:
        text = ""
        for segment in line.segments:
            blanks = min(round((segment.left - edge) / width) - len(text), MAX_BLANKS)
            text += " " * max(blanks, 1 if text else 0) + segment.text
        written.append(text)
    return Piece("code", "\n".join(written), lines[0], lines[-1], max(line.right for line in lines))


def _prose(lines: Sequence[Line], spacing: Spacing, spelling: Spelling) -> list[Piece]:
    pieces: list[Piece] = []
    run: list[Line] = []
    for line in lines:
        if run and (spacing.parts(run[-1], line) or not same_size(run[-1], line) or run[-1].turn != line.turn):
            pieces += _run(run, spelling)
            run = []
        run.append(line)
    return pieces + (_run(run, spelling) if run else [])


def _run(run: list[Line], spelling: Spelling) -> list[Piece]:
    """The pieces of lines that follow each other at the usual distance."""
    right = max(line.right for line in run)
    pieces: list[Piece] = []
    start = 0
    for number in range(1, len(run) + 1):
        if number < len(run) and not _breaks(run, start, number, right):
            continue
        lines = run[start:number]
        text = lines[0].text
        for line in lines[1:]:
            text = spelling.join(text, line.text)
        marked = _marker(run, start, right) is not None
        indented = start > 0 and not marked and run[start].left - run[start - 1].left > INDENT * run[start].size
        kind = "list" if marked else "paragraph"
        text = BULLET.sub("- ", text).rstrip() if marked else text
        # A sentence that ends short of the edge, after a full line, ends a paragraph.
        parted = indented or (bool(pieces) and pieces[-1].first is not pieces[-1].last and _sentence_ended(pieces[-1]))
        pieces.append(Piece(kind, text, lines[0], lines[-1], right, joins=start > 0 and not parted))
        start = number
    return pieces


def _breaks(run: list[Line], start: int, number: int, right: float) -> bool:
    """Whether a new piece begins at ``run[number]``, where the present one began at ``run[start]``."""
    before, line = run[number - 1], run[number]
    if _marker(run, number, right) is not None or ends_short(before, line, right):
        return True
    shift = (line.left - before.left) / line.size
    hanging = number - start == 1 and _marker(run, start, right) is not None
    if shift > INDENT:
        return not hanging
    # Back to the left edge: a paragraph's second line, or the end of a list item.
    return shift < -INDENT and (number - start > 1 or hanging)


def _marker(run: list[Line], number: int, right: float) -> str | None:
    """The bullet or number that ``run[number]`` opens a list item with, or None.

    A number or a dash may also stand at the start of a line by chance, so it must begin the run, follow an item or a
    colon, or follow a line that was ended on purpose.
    """
    text = run[number].text
    bullet, numbered = BULLET.match(text), NUMBER.match(text)
    if not bullet and not numbered:
        return None
    marker = bullet.group() if bullet else numbered.group()
    if number == 0 or (bullet and marker[0] not in "–—*-"):
        return marker
    before = run[number - 1]
    aligned = any(
        abs(earlier.left - run[number].left) < 2 and (BULLET.match(earlier.text) or NUMBER.match(earlier.text))
        for earlier in run[max(0, number - 8) : number]
    )
    return marker if aligned or before.text.endswith(":") or ends_short(before, run[number], right) else None


def continues(piece: Piece, following: Piece, spacing: Spacing) -> bool:
    """Whether a piece at the top of a page goes on with the sentence that the last piece of the page before began."""
    if following.kind != "paragraph" or piece.kind not in ("paragraph", "list"):
        return False
    if not same_size(piece.last, following.first) or piece.last.bold != following.first.bold:
        return False
    if _sentence_ended(piece) or BULLET.match(following.text) or NUMBER.match(following.text):
        return False
    # A word alone on its page is no sentence that was cut off.
    if len(piece.last.text.split()) < 4 and len(piece.last.text) < 25:
        return False
    if not ends_short(piece.last, following.first, spacing.right(piece.last)):
        return True
    # In a box, lines end before the page's own edge.
    several = piece.first is not piece.last
    return several and following.text[0].islower() and not ends_short(piece.last, following.first, piece.right)


def _sentence_ended(piece: Piece) -> bool:
    return SENTENCE_ENDED.search(piece.text) is not None


def follows_closely(piece: Piece, following: Piece) -> bool:
    """Whether a paragraph is only a new line of the one before: an address, or lines of a table of contents."""
    return following.joins or (is_contents_line(piece.last) and is_contents_line(following.first))


def is_caption(piece: Piece, following: Piece) -> bool:
    """Whether a piece is the title of the table that follows, and so stays with it."""
    if piece.kind != "paragraph" or following.kind != "table" or piece.last.y - following.first.y > 4 * piece.last.size:
        return False
    return piece.first is piece.last and (piece.first.bold or CAPTION.match(piece.text) is not None)
