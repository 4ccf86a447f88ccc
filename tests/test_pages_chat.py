"""The Chat page, run in this process on a real server with the real local model: answers, sources, funnel."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pages.shared import chat
from rag.citations import label
from rag.environment import Environment
from rag.errors import StoreError
from rag.schema import Trace
from rag.settings import FUNNEL
from tests.chat_support import GUARD, HOSTILE_NAME, PAWS, browser, documents, shown, times
from tests.fakes.gemini_server import GeminiServer, chunk
from tests.page_support import Browser, machine, opened_anew, use, workspace_name

__all__ = ["browser", "documents", "machine", "opened_anew", "workspace_name"]


def test_four_examples_are_offered_and_one_press_asks(browser: Browser) -> None:
    assert len([button for button in browser.app.button if button.key.startswith("example_")]) == 4
    browser.press("example_1")
    assert browser.texts(".rf-question") == [PAWS]
    assert not [button for button in browser.app.button if button.key.startswith("example_")]


def test_an_answer_is_cited_and_its_legend_opens_to_the_passage(browser: Browser) -> None:
    browser.ask(GUARD)
    assert browser.texts(".rf-badge") == ["Quoted"]
    assert browser.texts(".rf-note") == [
        "No language model is configured: these are sentences quoted from the documents."
    ]
    assert "sounds the siren, but it saves no clips. [Source 1]" in browser.texts(".rf-answer .rf-text")[0]
    trace = browser.app.session_state["turns"][0].answered
    first = trace.prompt_chunks()[0]
    assert browser.texts("details.rf-cited summary")[0] == label(1, first)
    assert label(1, first) == '[Source 1] heron.md, "Heron handbook > Perch Guard"'
    assert "Without a USB drive, Perch Guard still sounds the siren" in browser.texts("details.rf-cited .rf-passage")[0]
    given = len(browser.parts("details.rf-source"))
    assert given == 4 == FUNNEL.prompt_chunks
    assert len(browser.parts("details.rf-uncited")) == given - len(
        {citation.number for citation in trace.answer.citations}
    )


def test_the_funnel_shows_three_lists_each_with_its_unit(browser: Browser) -> None:
    browser.ask(GUARD)
    assert browser.texts(".rf-column h4") == ["Dense by meaning 7", "Sparse by shared words 1", "Fused both joined 7"]
    assert browser.texts(".rf-unit") == [
        "Cosine similarity, −1 to 1",
        "BM25 sum over shared words, 0 and up, unbounded",
        "RRF, the sum of weight / (60 + rank)",
    ]
    assert [len(browser.parts(f'section[data-stage="{name}"]')) for name in ("dense", "sparse", "fused")] == [1, 1, 1]
    first = browser.texts('[data-stage="fused"] tr')[0]
    assert re.fullmatch(r"1 Perch Guard 0\.0328 .* heron\.md dense #1 sparse #1 Source 1", first)
    assert set(times(browser)) == {"embed", "dense", "sparse", "fused", "prompt", "generate"}


def test_a_chunk_absent_from_a_list_is_marked_and_never_a_zero(browser: Browser) -> None:
    browser.ask(GUARD)
    funnel = browser.parts(".rf-funnel")[-1]
    sparse = set(shown(browser, "sparse"))
    absent = [row for row in funnel.select('[data-stage="fused"] tr') if row["data-chunk"] not in sparse]
    assert absent
    for row in absent:
        assert row.select_one(".rf-none").get_text() == "sparse —"
        assert row.select_one(".rf-none")["title"] == "shares no word with the question"
        assert "sparse #0" not in row.get_text()
    assert browser.texts('[data-stage="sparse"] .rf-absent') == ["Sources 2, 3, 4 share no word with the question."]


def test_a_moved_knob_changes_the_lists_and_reuses_what_it_did_not_touch(browser: Browser) -> None:
    browser.ask(GUARD)
    before = browser.texts('[data-stage="fused"] tr')
    assert "re-used" not in times(browser).values()
    browser.knob("rrf_k", 10)
    after = browser.texts('[data-stage="fused"] tr')
    assert before[0].split()[3] == "0.0328" and after[0].split()[3] == "0.1818"  # 1/61 + 1/61 and 1/11 + 1/11
    assert [name for name, time in times(browser).items() if time == "re-used"] == [
        "embed",
        "dense",
        "sparse",
        "prompt",
        "generate",
    ]
    browser.knob("fusion", "sparse")
    assert shown(browser, "fused") == shown(browser, "sparse") != shown(browser, "dense")
    assert browser.texts(".rf-unit")[2] == "BM25 sum over shared words, 0 and up, unbounded"
    assert len(browser.app.session_state["turns"]) == 1


def test_a_leg_switched_off_says_so(browser: Browser) -> None:
    browser.ask(GUARD).knob("sparse_candidates", 0)
    assert browser.texts('[data-stage="sparse"] .rf-absent') == ["Switched off: 0 candidates."]
    assert browser.texts('[data-stage="sparse"] .rf-empty') == ["No passages."]
    assert "sparse" not in browser.texts('[data-stage="fused"] tr')[0]


def test_earlier_turns_keep_their_answer_numbers_and_lists(browser: Browser) -> None:
    """B24: the numbers of an old turn lead where they led when it was written."""
    browser.ask(GUARD)
    browser.ask(PAWS)
    first_turn = browser.app.session_state["turns"][0]
    first_html = [str(part) for part in browser.parts(".rf-answer, .rf-legend, .rf-funnel")][:3]
    browser.knob("fusion", "dense").knob("prompt_chunks", 1)
    assert browser.app.session_state["turns"][0] == first_turn
    assert [str(part) for part in browser.parts(".rf-answer, .rf-legend, .rf-funnel")][:3] == first_html
    assert len(browser.app.session_state["turns"][1].answered.prompt_chunks()) == 1


def test_a_question_on_another_subject_is_declined_with_the_reason(browser: Browser) -> None:
    browser.ask("Who won the cup final last night?")
    assert browser.texts(".rf-badge") == ["Not in the documents"]
    assert browser.texts(".rf-answer .rf-text") == ["I don't have that in the documents."]
    assert browser.texts(".rf-note")[0].startswith("Declined: ")
    assert browser.texts(".rf-group") == ["Nearest passages, none cited"]
    assert not browser.parts("details.rf-cited")


def test_a_blank_question_is_an_error_and_the_chat_stays(browser: Browser) -> None:
    browser.ask(GUARD).ask("   ")
    assert browser.errors() == ["The question is blank. Type a few words to search for."]
    assert browser.texts(".rf-question") == [GUARD]
    browser.ask(PAWS)
    assert browser.errors() == []
    assert browser.texts(".rf-question") == [GUARD, PAWS]


def test_an_error_of_the_library_is_shown_and_costs_neither_chat_nor_settings(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.knob("rrf_k", 10).ask(GUARD)

    def broken(*arguments: object, **named: object) -> Trace:
        raise StoreError("Weaviate could not search: *no answer* from <b>it</b>.")

    with monkeypatch.context() as patch:
        patch.setattr(chat, "run_funnel", broken)
        browser.ask(PAWS)
        assert browser.errors() == ["Weaviate could not search: *no answer* from <b>it</b>."]
        assert browser.app.error[0].value.startswith("Weaviate could not search\\: \\*no answer\\*")
        assert browser.texts(".rf-question") == [GUARD, PAWS]
        assert len(browser.parts(".rf-answer")) == 1
        browser.knob("rrf_k", 20)
        assert browser.texts(".rf-question")[0] == GUARD and browser.errors()
    browser.press("retry_question_1")
    assert browser.errors() == []
    assert browser.texts(".rf-question") == [GUARD, PAWS]
    assert browser.app.session_state["settings"].rrf_k == 20


def test_clear_chat_forgets_the_turns_and_keeps_the_settings(browser: Browser) -> None:
    browser.knob("rrf_k", 10).ask(GUARD).press("clear_chat")
    assert not browser.parts(".rf-question")
    assert browser.app.button(key="example_1")
    assert browser.app.session_state["settings"].rrf_k == 10


def test_marks_in_documents_and_questions_are_shown_as_text(browser: Browser) -> None:
    browser.ask("What is the glazier's *fee* for <b>glass</b>?")
    assert browser.texts(".rf-question") == ["What is the glazier's *fee* for <b>glass</b>?"]
    answer = browser.texts(".rf-answer .rf-text")[0]
    assert 'The glazier\'s *fee* is $5 <script>document.title = "owned"</script> for `glass`' in answer
    legend = browser.texts("details.rf-cited summary")[0]
    assert HOSTILE_NAME in legend and "The <b>glass</b> & $x^2$ section" in legend
    assert not browser.parts("script, i:not([class]), b:not([class]):not(.rf-column b)")
    assert "[Source 9]" not in browser.texts(".rf-answer .rf-cite")


def test_a_table_in_a_passage_is_drawn_as_one(browser: Browser) -> None:
    browser.ask("What is the tyre pressure at the rear for 18 inch?")
    table = browser.parts(".rf-passage table")[0]
    assert [cell.get_text() for cell in table.select("th")] == ["Tyre", "Front", "Rear"]
    assert [cell.get_text() for cell in table.select("tr")[-1].select("td")] == ["18 inch", "260 kPa", "270 kPa"]


@pytest.fixture
def gemini() -> Iterator[GeminiServer]:
    """A language model behind the wire format of Gemini."""
    with GeminiServer() as server:
        server.chunks = [chunk("It sounds the siren "), chunk("but saves no clips [Source 1].", "STOP")]
        yield server


def test_a_paid_answer_is_written_once_and_again_only_on_demand(
    environment: Environment,
    workspace_name: str,
    gemini: GeminiServer,
    opened_anew: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, environment, workspace_name, gemini_api_key="right-key", gemini_base_url=gemini.url)
    browser = Browser().ask(GUARD)
    assert browser.texts(".rf-answer .rf-text") == ["It sounds the siren but saves no clips [Source 1] ."]
    assert browser.texts(".rf-badge") == ["Grounded"]
    assert len(gemini.requests) == 1
    browser.knob("rrf_k", 10)
    assert len(gemini.requests) == 1
    assert any("so the answer stands" in caption.value for caption in browser.app.caption)
    assert not [button for button in browser.app.button if button.key == "again_0"]
    browser.knob("prompt_chunks", 1)
    assert len(gemini.requests) == 1
    assert len(browser.parts("details.rf-source")) == 4, "the legend belongs to the answer that was written"
    assert browser.texts(".rf-column h4 b") and len(browser.parts('[data-stage="fused"] tr.rf-kept')) == 1
    browser.press("again_0")
    assert len(gemini.requests) == 2
    assert len(browser.parts("details.rf-source")) == 1
    assert not [button for button in browser.app.button if button.key == "again_0"]
