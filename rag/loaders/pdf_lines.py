"""The fragments of a PDF page as lines."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag.loaders.pdf_fragments import CELL_GAP, WORD_GAP, Fragment

# All in ems, that is, in parts of the size of the type.
SAME_BASELINE = 0.55
MARKER_GAP = 3.0
MARKER = re.compile(r"^(?:[•‣◦▪▫■□●○·∙–—*\-\uf0b7\uf0a7]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])$")
LEADERS = re.compile(r"\s*(?:[.…·_]\s?){4,}\s*")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
LEFT_TO_RIGHT_RUN = re.compile(r"[A-Za-z0-9](?:[\w.,:/%+-]*\w)?")
MAX_COMPARED = 60
# Accents that stand alone, some of them combining ones, and what combines with a letter.
ACCENTS = dict(zip("´`¨ˆ˜˚ˇ¸¯˘˙˝˛", "\u0301\u0300\u0308\u0302\u0303\u030a\u030c\u0327\u0304\u0306\u0307\u030b\u0328"))
ACCENTS |= {accent: accent for accent in ACCENTS.values()}
DOTLESS = {"ı": "i", "ȷ": "j"}
OVERPRINTED = 0.6


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of words with no wide gap between them, and what its line is like where it is all that there is of it."""

    text: str
    left: float
    right: float
    look: tuple[float, float, bool, bool] = (0.0, 0.0, False, False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page: its segments from left to right, the height of its baseline, and its main size of type.

    ``fixed`` says that its letters are all as wide, as in code; ``ruled`` that a rule parts it from the line above,
    ``boxed`` that upright rules part its segments.
    """

    segments: tuple[Segment, ...]
    y: float
    size: float
    bold: bool
    fixed: bool = False
    turn: int = 0
    ruled: bool = False
    boxed: bool = False

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
    """The page's lines from the top down, over all of its columns, those turned another way than most of it last."""
    by_turn: dict[int, list[Fragment]] = defaultdict(list)
    for fragment in fragments:
        if fragment.size > 0.5:
            by_turn[fragment.turn].append(fragment)
    lines: list[Line] = []
    for turn in sorted(by_turn, key=lambda turn: -sum(len(fragment.text) for fragment in by_turn[turn])):
        lines += [_line(row, turn) for row in _rows(by_turn[turn])]
    return lines


def _rows(fragments: Iterable[Fragment]) -> list[list[Fragment]]:
    """Fragments that share a baseline, from the top of the page down; raised and lowered type joins its line."""
    rows: list[list[Fragment]] = []
    main = None
    for fragment in sorted(fragments, key=lambda fragment: (-fragment.y, fragment.left)):
        reach = SAME_BASELINE * max(main.size, fragment.size) if main else 0.0
        if main is None or main.y - fragment.y > reach or _is_below(fragment, rows[-1]):
            rows.append([])
            main = fragment
        rows[-1].append(fragment)
        main = max(main, fragment, key=lambda one: one.size)
    return rows


def _is_below(fragment: Fragment, row: Sequence[Fragment]) -> bool:
    """Whether a fragment stands under one of the row, as in columns whose baselines differ."""
    for other in row[-MAX_COMPARED:]:
        shared = min(fragment.right, other.right) - max(fragment.left, other.left)
        narrow = min(fragment.right - fragment.left, other.right - other.left)
        lower = other.y - fragment.y > 0.4 * min(fragment.size, other.size)
        if lower and shared > 0.5 * narrow and narrow > min(fragment.size, other.size):
            return True
    return False


def _line(row: list[Fragment], turn: int) -> Line:
    row = sorted(row, key=lambda fragment: fragment.left)
    size = _main_size(row)
    segments: list[Segment] = []
    parts: list[list[Fragment]] = []
    previous = None
    for fragment in row:
        text = " ".join(fragment.text.split())
        gap = fragment.left - previous.right if previous else 0.0
        if previous is None or gap > CELL_GAP * size:
            segments.append(Segment(text, fragment.left, fragment.right))
            parts.append([fragment])
        elif text == previous.text.strip() and abs(fragment.left - previous.left) < 0.1 * size:
            # Painted twice, a hair apart, to look bold.
            continue
        elif (accented := _accented(segments[-1].text, previous, fragment)) is not None:
            last = segments[-1]
            segments[-1] = Segment(accented, last.left, max(last.right, fragment.right))
            parts[-1].append(fragment)
            if fragment.right < previous.right:
                continue
        else:
            spaced = gap > WORD_GAP * size or previous.text[-1:].isspace() or fragment.text[:1].isspace()
            last = segments[-1]
            text = last.text + (" " if spaced else "") + text
            segments[-1] = Segment(text, last.left, max(last.right, fragment.right))
            parts[-1].append(fragment)
        previous = fragment
    segments = [replace(segment, look=_look(part)) for segment, part in zip(segments, parts)]
    y, _, bold, fixed = _look(row)
    return Line(_tidied(segments, size), y, size, bold, fixed, turn)


def _accented(before: str, previous: Fragment, fragment: Fragment) -> str | None:
    """The two texts with an accent set on its letter, where the one is painted over the other."""
    text, under = fragment.text.strip(), previous.text.strip()
    shared = min(previous.right, fragment.right) - fragment.left
    if under[-1] in ACCENTS and shared > OVERPRINTED * (previous.right - previous.left) / len(under):
        letter = _composed(text[0], under[-1])
        return before[:-1] + letter + text[1:] if letter else None
    if text in ACCENTS and shared > OVERPRINTED * (fragment.right - fragment.left) and before.endswith(under):
        share = (fragment.left + fragment.right - 2 * previous.left) / 2 / (previous.right - previous.left)
        place = len(before) - len(under) + max(0, min(int(share * len(under)), len(under) - 1))
        letter = _composed(before[place], text)
        return before[:place] + letter + before[place + 1 :] if letter else None
    return None


def _composed(letter: str, accent: str) -> str | None:
    """The letter with its accent; None where there is none such."""
    letter = unicodedata.normalize("NFC", DOTLESS.get(letter, letter) + ACCENTS[accent])
    return letter if len(letter) == 1 else None


def _main_size(row: Sequence[Fragment]) -> float:
    length: Counter[float] = Counter()
    for one in row:
        length[one.size] += len(one.text)
    return max(length, key=lambda size: (length[size], size))


def _look(row: Sequence[Fragment]) -> tuple[float, float, bool, bool]:
    """(height of the baseline, main size, whether bold, whether of fixed width) of what stands on one line."""
    y = max(row, key=lambda one: one.size).y
    return y, _main_size(row), all(one.bold for one in row), all(one.fixed for one in row)


def _tidied(segments: list[Segment], size: float) -> tuple[Segment, ...]:
    """Segments with a list's marker joined to its words, and a row of dots to the words and number at its ends."""
    text = " ".join(segment.text for segment in segments)
    whole = Segment(text, segments[0].left, segments[-1].right, segments[-1].look)
    if RIGHT_TO_LEFT.search(text):
        return (replace(whole, text=_right_to_left(text)),)
    if LEADERS.search(text) and len(LEADERS.split(text)) == 2:
        return (replace(whole, text=LEADERS.sub(" ... ", text).strip()),)
    return with_marker(segments, size)


def with_marker(segments: Sequence[Segment], size: float) -> tuple[Segment, ...]:
    """The segments of a line, with a list's marker joined to its words."""
    if len(segments) == 2 and segments[1].left - segments[0].right < MARKER_GAP * size:
        first, last = segments
        if MARKER.match(first.text):
            return (Segment(f"{first.text} {last.text}", first.left, last.right, last.look),)
    return tuple(segments)


def _right_to_left(text: str) -> str:
    """The words in reading order: PDFs paint them in the order of the eye, from left to right."""
    if len(RIGHT_TO_LEFT.findall(text)) * 2 < sum(character.isalpha() for character in text):
        return text
    return LEFT_TO_RIGHT_RUN.sub(lambda run: run.group()[::-1], text[::-1])
