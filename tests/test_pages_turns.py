"""Turns of the Chat page: questions that wait for each other, what failed in its place, funnels drawn when opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pages.shared import chat
from pages.shared.chat import BROKEN_OFF, Asked, ChatTurn
from pages.shared.examples import holdings
from rag.catalogue import DocumentRecord, IndexedRecord
from rag.environment import Environment
from rag.errors import StoreError
from rag.schema import Trace
from rag.settings import FUNNEL, LIMITS
from tests.chat_support import GUARD, PAWS, browser, documents
from tests.fakes.gemini_server import GeminiServer, chunk
from tests.page_support import Browser, machine, opened_anew, use, workspace_name

__all__ = ["browser", "documents", "machine", "opened_anew", "workspace_name"]
ROOF = "How much does the roof carry?"


def waiting(browser: Browser, *questions: str) -> Browser:
    """The page run once, with questions that were asked while it was busy."""
    browser.app.session_state["turns"] = [Asked(question) for question in questions]
    browser.app.run()
    return browser


def questions(browser: Browser) -> list[str]:
    """The conversation as the session holds it."""
    return [
        entry.answered.question if isinstance(entry, ChatTurn) else entry.question
        for entry in browser.app.session_state["turns"]
    ]


class Failing:
    """The funnel, which fails for some questions and counts those it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.errors: dict[str, Exception] = {}
        self.asked: list[tuple[str, list[str]]] = []
        self._run = chat.run_funnel
        monkeypatch.setattr(chat, "run_funnel", self)

    def __call__(self, question: str, history: tuple, *arguments: object, **named: object) -> Trace:
        self.asked.append((question, [turn.text for turn in history if turn.role == "user"]))
        if question in self.errors:
            raise self.errors[question]
        return self._run(question, history, *arguments, **named)


@pytest.fixture
def funnel(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """The real funnel, with errors where a test puts them."""
    return Failing(monkeypatch)


def test_questions_asked_at_once_are_all_answered_in_their_order(browser: Browser, funnel: Failing) -> None:
    waiting(browser, PAWS, GUARD, ROOF).sound()
    assert browser.texts(".rf-question") == [PAWS, GUARD, ROOF]
    assert [part.select_one(".rf-badge").get_text() for part in browser.parts(".rf-answer")] == ["Quoted"] * 3
    assert funnel.asked == [(PAWS, []), (GUARD, [PAWS]), (ROOF, [PAWS, GUARD])]
    assert len(browser.parts(".rf-funnel")) == 1, "the lists of the last"


def test_a_question_that_fails_stands_in_its_place_and_the_next_goes_on(browser: Browser, funnel: Failing) -> None:
    funnel.errors[GUARD] = StoreError("Weaviate could not search.")
    waiting(browser, PAWS, GUARD, ROOF).sound()
    assert browser.texts(".rf-question") == [PAWS, GUARD, ROOF]
    assert browser.errors() == ["Weaviate could not search."]
    assert funnel.asked == [(PAWS, []), (GUARD, [PAWS]), (ROOF, [PAWS])]
    assert questions(browser) == [PAWS, GUARD, ROOF]
    last = browser.app.session_state["turns"][2]

    browser.press("retry_question_1")
    assert browser.errors() == ["Weaviate could not search."], "it failed again"
    del funnel.errors[GUARD]
    browser.press("retry_question_1")
    assert browser.errors() == []
    assert browser.texts(".rf-question") == [PAWS, GUARD, ROOF]
    assert len(browser.parts(".rf-answer")) == 3
    assert funnel.asked[-1] == (GUARD, [PAWS])
    assert browser.app.session_state["turns"][2] is last
    assert not [button for button in browser.app.button if button.key.startswith("retry_")]


def test_an_answer_in_the_making_is_not_begun_again_by_what_is_asked_meanwhile(
    browser: Browser, funnel: Failing
) -> None:
    browser.ask(PAWS)
    turn = browser.app.session_state["turns"][0]
    begun = Asked(PAWS)
    begun.answering(lambda report: turn)
    funnel.asked.clear()
    browser.app.session_state["turns"] = [begun, Asked(GUARD)]
    browser.app.run()
    assert browser.sound().texts(".rf-question") == [PAWS, GUARD]
    assert funnel.asked == [(GUARD, [PAWS])]
    assert browser.app.session_state["turns"][0] is turn


def test_a_fault_of_the_program_is_loud_once_and_holds_up_nothing(browser: Browser, funnel: Failing) -> None:
    funnel.errors[GUARD] = ZeroDivisionError("division by zero")
    waiting(browser, GUARD, PAWS)
    assert browser.app.exception
    browser.app.run()
    assert browser.sound().errors() == [BROKEN_OFF]
    assert browser.texts(".rf-question") == [GUARD, PAWS] and len(browser.parts(".rf-answer")) == 1
    del funnel.errors[GUARD]
    browser.press("retry_question_0")
    assert browser.errors() == [] and len(browser.parts(".rf-answer")) == 2


def test_a_blank_question_is_pointed_out_until_the_next(browser: Browser) -> None:
    waiting(browser, PAWS, " \u200b", GUARD).sound()
    assert browser.errors() == ["The question is blank. Type a few words to search for."]
    assert browser.texts(".rf-question") == [PAWS, GUARD]
    assert not [button for button in browser.app.button if button.key.startswith("retry_")]
    assert browser.ask(ROOF).errors() == []
    assert questions(browser) == [PAWS, GUARD, ROOF]


def test_clear_chat_forgets_what_waits_and_what_failed(browser: Browser, funnel: Failing) -> None:
    funnel.errors[GUARD] = StoreError("Weaviate could not search.")
    waiting(browser, GUARD).press("clear_chat")
    assert browser.app.session_state["turns"] == [] and browser.errors() == []
    assert browser.app.button(key="example_1")


def test_the_funnel_of_an_earlier_turn_is_drawn_when_it_is_opened_and_is_its_own(browser: Browser) -> None:
    """B24: what an old turn shows is what it was written from."""
    browser.knob("rrf_k", 10).ask(PAWS)
    own = browser.parts(".rf-funnel")[0].get_text()
    browser.ask(GUARD).knob("rrf_k", 20)
    assert len(browser.parts(".rf-funnel")) == 1
    browser.app.session_state["funnel_0_folded"] = True
    browser.app.run()
    first, second = browser.sound().parts(".rf-funnel")
    assert first.get_text() == own
    assert "(10 + rank)" in first.get_text() and "(20 + rank)" in second.get_text()
    browser.app.session_state["funnel_1_open"] = False
    browser.app.run()
    assert len(browser.parts(".rf-funnel")) == 1


@pytest.fixture
def gemini() -> Iterator[GeminiServer]:
    """A language model behind the wire format of Gemini."""
    with GeminiServer() as server:
        server.chunks = [chunk("It sounds the siren [Source 1].", "STOP")]
        yield server


def test_an_answer_that_was_paid_stays_where_another_fails(
    environment: Environment,
    workspace_name: str,
    gemini: GeminiServer,
    opened_anew: None,
    monkeypatch: pytest.MonkeyPatch,
    funnel: Failing,
) -> None:
    use(monkeypatch, environment, workspace_name, gemini_api_key="right-key", gemini_base_url=gemini.url)
    browser = Browser().ask(GUARD).knob("prompt_chunks", 1)
    answer = browser.texts(".rf-answer")
    funnel.errors[GUARD] = StoreError("Weaviate could not search.")
    browser.press("again_0")
    assert browser.errors() == ["Weaviate could not search."]
    assert (browser.texts(".rf-question"), browser.texts(".rf-answer")) == ([GUARD], answer)
    del funnel.errors[GUARD]
    browser.press("again_0")
    assert browser.errors() == [] and len(gemini.requests) == 2
    assert len(browser.parts("details.rf-source")) == 1


def test_two_runs_of_the_page_that_overlap_answer_a_question_once() -> None:
    """Streamlit starts the next run beside the one that a click has overtaken."""
    turn, other = ChatTurn(Trace("q", {}, {})), ChatTurn(Trace("r", {}, {}))
    asked = Asked("q")
    entries = [asked, Asked("r")]
    job = asked.answering(lambda report: turn)
    assert asked.answering(lambda report: other) is job
    for _ in range(2):
        chat.settle(entries, asked, job)
        assert entries[0] is turn and entries[1].waits
    chat.put(entries, asked, other)
    assert entries[0] is turn
    chat.settle([], asked, job)  # the chat was cleared meanwhile


def test_the_turn_that_follows_the_knobs_is_the_last_unless_a_question_waits_behind_it() -> None:
    turn, waits, failed = ChatTurn(Trace("q", {}, {})), Asked("w"), Asked("f", error="no")
    for entries, live, following in (
        ([], None, None),
        ([turn], turn, None),
        ([turn, waits], None, waits),
        ([turn, failed], turn, None),
        ([failed, waits, turn, failed], turn, waits),
        ([waits, Asked("v")], None, waits),
    ):
        assert chat.live_turn(entries) is live and chat.next_asked(entries) is following


class Catalogue:
    """A catalogue and workspace of documents with these lengths, the first few of them indexed."""

    def __init__(self, lengths: dict[str, int], indexed: int):
        self.catalogue = self
        self._records = [DocumentRecord(n, n, n, "", "", length, 0, 0) for n, length in lengths.items()]
        self._indexed = {record.id: IndexedRecord(record.id, "", "", 1, True) for record in self._records[:indexed]}

    def documents(self) -> list[DocumentRecord]:
        return self._records

    def indexed(self, fingerprint: str) -> dict[str, IndexedRecord]:
        assert fingerprint == FUNNEL.fingerprint()
        return self._indexed


def test_the_corpus_in_one_sentence() -> None:
    lengths = {"a.md": 10, "long.pdf": 900, "c.csv": 20}
    assert holdings(Catalogue(lengths, 3), FUNNEL) == "3 documents are indexed: long.pdf and 2 more."
    assert holdings(Catalogue(lengths, 1), FUNNEL) == "1 document is indexed: a.md."
    assert holdings(Catalogue(lengths, 0), FUNNEL) == "No document is indexed for these settings yet."
    assert holdings(Catalogue({"x" * 200: 1}, 1), FUNNEL) == f"1 document is indexed: {'x' * 59}…."


def test_a_fresh_chat_says_what_is_indexed(browser: Browser) -> None:
    sentences = [text.value.replace("\\", "") for text in browser.app.markdown]
    assert "2 documents are indexed: heron.md and 1 more." in sentences
    browser.ask(PAWS)
    assert not [text for text in browser.app.markdown if "indexed" in text.value]


def test_the_weight_of_headings_is_a_whole_number_within_its_limits(browser: Browser) -> None:
    slider = browser.widget("heading_weight")
    assert (slider.min, slider.max, slider.step, slider.value) == (*LIMITS["heading_weight"], 1, FUNNEL.heading_weight)
    browser.knob("heading_weight", 10)
    assert browser.app.session_state["settings"] == replace(FUNNEL, heading_weight=10)
