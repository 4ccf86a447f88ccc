"""Text on its way to a model, a store or a person."""

from __future__ import annotations

import pytest

from rag.text import safe, shortened


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("one two three", 13, "one two three"),
        ("one  two\nthree", 13, "one two three"),
        ("one two, three", 13, "one two…"),
        ("one two three four", 14, "one two three…"),
        ("one two three four", 13, "one two…"),
        ("a" * 20, 10, "a" * 9 + "…"),
        ("", 10, ""),
    ],
)
def test_a_long_text_is_cut_at_a_word(text: str, most: int, short: str) -> None:
    assert shortened(text, most) == short
    assert len(short) <= most


def test_marks_that_would_steer_a_terminal_are_shown_as_what_they_are_not() -> None:
    assert safe("a\x1b[31mb\n\tc\ud800") == "a\ufffd[31mb\n\tc\ufffd"
