"""How long work still takes, in a line for people."""

from __future__ import annotations

import pytest

from rag.pace import Pace, span


def test_the_line_says_how_far_how_fast_and_how_long() -> None:
    now = [100.0]
    pace = Pace(9000, lambda: now[0])
    assert pace.message("manual.pdf", 0) == "Indexing manual.pdf" and pace.share(0) == 0
    pace.cut(9000, 900)
    assert pace.message("manual.pdf", 0) == "Indexing manual.pdf: 0 of 900 chunks"
    now[0] += 0.5  # too early for a rate
    assert pace.message("manual.pdf", 10) == "Indexing manual.pdf: 10 of 900 chunks"
    now[0] += 3.5
    # 120 in 4 seconds: 30 a second, and 780 are left.
    assert pace.message("manual.pdf", 120) == "Indexing manual.pdf: 120 of 900 chunks, 30 a second, 26 s left"
    assert pace.share(120) == pytest.approx(120 / 900)
    assert pace.message("manual.pdf", 890) == "Indexing manual.pdf: 890 of 900 chunks, 222 a second", "never 0 s left"


def test_until_all_is_cut_the_number_of_chunks_is_an_estimate_by_characters() -> None:
    pace = Pace(10_000)
    pace.cut(1000, 8)
    assert pace.message("a.md", 4) == "Indexing a.md: 4 of about 80 chunks" and pace.share(4) == 0.05
    pace.cut(9000, 12)
    assert pace.message("b.md", 4) == "Indexing b.md: 4 of 20 chunks"
    assert pace.share(25) == 1.0


def test_the_share_never_goes_back_though_there_be_more_chunks_than_was_thought() -> None:
    pace = Pace(10_000)
    pace.cut(1000, 1)
    assert pace.share(1) == 0.1
    pace.cut(1000, 199)
    assert pace.share(20) == 0.1 and pace.share(200) == 0.2


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (25, "25 s"), (99, "99 s"), (150, "2 min"), (3599, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_a_length_of_time_in_words(seconds: float, words: str) -> None:
    assert span(seconds) == words
