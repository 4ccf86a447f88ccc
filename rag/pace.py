"""How fast long work goes and how long it still takes, in a line for people."""

from __future__ import annotations

import time
from collections.abc import Callable

SETTLED_SECONDS = 1.0  # before, a rate would jump about
SHORTEST_SECONDS = 1.0  # less is not worth saying


class Pace:
    """Counts the chunks of a run; how many there will be in all is estimated by characters until all are cut."""

    def __init__(self, characters: int, clock: Callable[[], float] = time.monotonic):
        self._characters, self._clock = characters, clock
        self._cut_characters = self._cut_chunks = 0
        self._share = 0.0
        self._begun = clock()

    def cut(self, characters: int, chunks: int) -> None:
        """A document of so many characters was cut into so many chunks."""
        self._cut_characters += characters
        self._cut_chunks += chunks

    def share(self, done: int) -> float:
        """How much of the work is done, 0 to 1, once ``done`` chunks are; never less than it said before, though the
        number of chunks be estimated anew."""
        total = self._total()
        self._share = max(self._share, min(1.0, done / total) if total else 0.0)
        return self._share

    def message(self, name: str, done: int) -> str:
        """ "Indexing manual.pdf: 120 of 900 chunks, 31 a second, 25 s left", the last two once they can be told."""
        total = self._total()
        exact = self._cut_characters >= self._characters
        if not total:
            return f"Indexing {name}"
        text = f"Indexing {name}: {done:,} of {'' if exact else 'about '}{total:,} chunks"
        seconds = self._clock() - self._begun
        if not done or seconds < SETTLED_SECONDS:
            return text
        rate = done / seconds
        return f"{text}, {_rate(rate)} a second{left((total - done) / rate)}"

    def _total(self) -> int:
        if self._cut_characters >= self._characters or not self._cut_characters:
            return self._cut_chunks
        return round(self._cut_chunks * self._characters / self._cut_characters)


def left(seconds: float) -> str:
    """ ", 25 s left", or "" where it is as good as over."""
    return f", {span(seconds)} left" if seconds >= SHORTEST_SECONDS else ""


def span(seconds: float) -> str:
    """A length of time in words: 25 s, 3 min, 2 h 5 min."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 3 else f"{rate:.1f}"
