"""Parts of pages that are plain functions: text, times and the line of settings."""

from __future__ import annotations

from pages.shared.funnel_view import milliseconds, settings_line, times_html
from pages.shared.text import passage_html, plain
from rag.schema import Answer, Stage, Trace
from rag.settings import FUNNEL
from rag.terminal import funnel_text
from rag.text import shortened


def test_plain_keeps_marks_and_commands() -> None:
    assert plain("*a* <b> $x$ [l](u) #1 `rag index`") == "\\*a\\* \\<b\\> \\$x\\$ \\[l\\]\\(u\\) \\#1 `rag index`"


def test_shortened_cuts_at_a_word() -> None:
    assert shortened("one two three four", 12) == "one two…"
    assert shortened("one\n two", 12) == "one two"


def test_a_row_of_bars_alone_is_a_line_and_two_are_a_table() -> None:
    assert "<table>" not in passage_html("before\na | b\nafter")
    assert passage_html("| a | b |\n|---|---|\n| 1 | <2> |").count("<tr>") == 2
    assert "&lt;2&gt;" in passage_html("| a | b |\n|---|---|\n| 1 | <2> |")


def test_milliseconds_as_people_read_them() -> None:
    assert [milliseconds(value) for value in (0.00001, 0.0001, 0.009, 1.24)] == [
        "< 0.1 ms",
        "0.1 ms",
        "9 ms",
        "1,240 ms",
    ]


def test_times_of_a_trace_where_nothing_ran() -> None:
    trace = Trace("q", FUNNEL.to_json(), {}, stages=(Stage("dense", "minilm", 0.2, reused=True),))
    assert "dense re-used" in times_html(trace)


def test_a_stage_that_failed_is_named_so_and_has_no_time() -> None:
    stages = (
        Stage("embed", "minilm", note="No dense list: no weights."),
        Stage("sparse", "bm25", 0.004, note="No keyword matched."),
        Stage("generate", "gemini:model", note="No answer: the limit is reached."),
    )
    trace = Trace("q", FUNNEL.to_json(), {}, stages=stages, answer=Answer("No answer could be written.", "failed"))
    html = times_html(trace)
    assert [part in html for part in ("embed failed", "sparse 4 ms", "answer failed")] == [True] * 3
    assert "< 0.1 ms" not in html
    assert html.count('class="rf-at-') == 1, "only what took time is part of the bar"
    assert funnel_text(trace).endswith("time: embed failed, sparse 4.0 ms, generate failed")
    declined = Trace("q", {}, {}, stages=stages[2:], answer=Answer("Not in the documents.", "refused"))
    assert not declined.has_failed(stages[2])


def test_settings_line_names_what_the_lists_were_made_with() -> None:
    line = settings_line(Trace("q", FUNNEL.changed({"dense_weight": 2}).to_json(), {}))
    assert line == (
        "recursive chunks of 1000 characters, overlap 150 · minilm · 50 dense + 50 sparse · "
        "RRF k 60, weights 2 : 1 · 4 to the prompt"
    )
