"""How large a stretch of a document is: in characters, or in the tokens of an embedder."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from rag.schema import Span

# The size of ``text[start:end]``: no more than its parts' together, and no less than that of any part.
Measure = Callable[[int, int], int]
# No model reads more in a token: where it makes little of a text (runs of blanks, words that it does not know), so many
# characters count as one, so that no passage grows without end.
TOKEN_CHARACTERS = 20


def characters(start: int, end: int) -> int:
    """The number of characters."""
    return end - start


class Tokens:
    """A Measure that counts the tokens which lie at ``spans``, in order; one that is parted counts on both sides."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __call__(self, start: int, end: int) -> int:
        touched = bisect_left(self.starts, end) - bisect_right(self._ends, start)
        return max(touched, -(-(end - start) // TOKEN_CHARACTERS))


def reach(measure: Measure, end: int, size: int) -> int:
    """How many characters before ``end`` measure no more than ``size`` together."""
    if measure is characters:
        return size
    lengths = range(min(end, size * TOKEN_CHARACTERS) + 1)
    return bisect_right(lengths, size, key=lambda length: measure(end - length, end)) - 1
