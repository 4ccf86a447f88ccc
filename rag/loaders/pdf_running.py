"""Running headers and footers of a PDF: lines at the edges of its pages that come back."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter

from rag.loaders.pdf_lines import Line

SET_APART = 2.2
PAGE_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
OUTER_NUMBER = re.compile(r"^\W*(\d{1,5})\b|\b(\d{1,5})\W*$")
NUMBER = re.compile(r"\b\d{1,5}\b")
BARE_NUMBER = re.compile(r"\W*\d{1,5}\W*$")
EDGE_LINES = 3
MAX_RUNNING_LENGTH = 120
MAX_RUNNING_SHARE = 0.25
# The first word of the keys of lines that stand apart.
APART = "apart"
# How much larger than the text type must be set for a numbered line to be a heading.
LARGER = 1.1
SMALLER = 0.95


def without_running_lines(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without their running headers and footers.

    These are lines near the top or bottom that come back, but for their numbers, at the same height of most pages; and
    outermost lines whose number grows from page to page as the pages do. Two pages are enough for a line that stands
    apart from the text, and for a page's number. "Step 4", larger than the text, is a heading even so. Where they would
    be much of the text, the pages are only alike, and keep all of it.
    """
    sizes: Counter[float] = Counter()
    for line in (line for lines in pages for line in lines):
        sizes[round(line.size, 1)] += len(line.text)
    usual = max(sizes, key=lambda size: sizes[size], default=0.0)
    keys = [_edge_keys(lines, number, usual) for number, lines in enumerate(pages)]
    seen = Counter(key for page in keys for key in {key for line in page for key in line})
    most = 0.4 * sum(1 for lines in pages if lines)
    running = {key for key, count in seen.items() if count >= max(2 if key[0] == APART else 3, most)}
    kept = [
        [line for line, line_keys in zip(lines, page) if not running.intersection(line_keys)]
        for lines, page in zip(pages, keys)
    ]
    before, after = (sum(len(line.text) for lines in these for line in lines) for these in (pages, kept))
    return kept if before - after <= MAX_RUNNING_SHARE * before else pages


def _is_heading(line: Line, usual: float) -> bool:
    """Whether a line's number belongs to its words, in type larger than the ``usual``: no page's number beside them."""
    words = re.search(r"[^\W\d_]{2}", line.text)
    return words is not None and len(line.segments) == 1 and line.size > LARGER * usual


def _edge_keys(lines: list[Line], page: int, usual: float) -> list[list[tuple[object, ...]]]:
    """What each line near the top or bottom of its page is counted under; nothing for the other lines."""
    heights = sorted(line.y for line in lines)
    heading = [_is_heading(line, usual) for line in lines]
    texts = [line.text if large else PAGE_NUMBER.sub("#", line.text) for line, large in zip(lines, heading)]
    often = Counter(texts)
    keys: list[list[tuple[object, ...]]] = []
    for line, text, large in zip(lines, texts, heading):
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
        if outside == 0 and not large and len(line.text) < MAX_RUNNING_LENGTH:
            side = "bottom" if lower == 0 else "top"
            numbers = [number for pair in OUTER_NUMBER.findall(line.text) for number in pair if number]
            keys[-1] += [(side, int(number) - page) for number in numbers]
            if inner and all(abs(y - line.y) >= SET_APART * line.size for y in inner):
                # Above the text, words with a number may also be the heading of a chapter.
                alone = side == "bottom" or any(BARE_NUMBER.match(segment.text) for segment in line.segments)
                shown = (
                    [int(number) - page for number in NUMBER.findall(line.text)]
                    if alone or line.size < SMALLER * usual
                    else []
                )
                grids = ("even", round(line.y / 4)), ("odd", round(line.y / 4 + 0.5))
                keys[-1] += [(APART, what, *grid) for what in (line.text, *shown) for grid in grids]
    return keys
