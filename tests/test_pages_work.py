"""Work in the background: an index that is built while one asks on, seen by every session, called off or failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pages.shared import documents
from rag import indexing
from rag.catalogue import Catalogue
from rag.errors import StoreError
from rag.settings import BASELINE, FUNNEL
from tests.documents_support import OWL, PAGE, documents_page, listed, send, table
from tests.page_support import Browser, Held

__all__ = ["documents_page"]
DOORS = "How many doors has the Lapwing?"


@pytest.fixture
def browser(documents_page: Browser) -> Browser:
    """A new session on the Chat page, whose index is there."""
    return documents_page.go("app.py")


@pytest.fixture
def held(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """From now on every build waits for the test."""
    builds = Held(monkeypatch)
    yield builds
    builds.release()
    browser.settle()


def begin(browser: Browser, key: str) -> Browser:
    """Press a button that begins work, and do not wait for it."""
    browser.app.button(key=key).click().run()
    return browser.sound()


def in_hand(browser: Browser) -> list[str]:
    """What the sidebar says is being done, run anew as it does by itself."""
    browser.app.run()
    shown = [caption.value.replace("\\", "") for caption in browser.sound().app.sidebar.caption]
    return [text for text in shown if not text.startswith(("One that was built before", "Answers still come from"))]


def progress(browser: Browser) -> list[str]:
    return [bar.text.replace("\\", "") for bar in browser.app.sidebar.get("progress")]


def cancel(browser: Browser) -> str:
    """The key of the button that calls the first piece of work off."""
    return next(button.key for button in browser.app.sidebar.button if button.key.startswith("cancel_"))


def test_while_an_index_is_built_one_asks_on_and_then_the_new_one_is_taken(browser: Browser, held: Held) -> None:
    browser.ask(DOORS)
    begin(browser, "preset_baseline")
    assert in_hand(browser) == ["Building the index: paragraph"]
    assert progress(browser)[0].startswith("Indexing heron.md…")
    assert browser.app.session_state["settings"] == FUNNEL
    browser.app.chat_input(key="_question").set_value("How many seats are there?").run()
    turns = browser.sound().app.session_state["turns"]
    assert [turn.answered.settings["chunker"] for turn in turns] == ["recursive", "recursive"]
    assert not browser.errors()

    held.release()
    browser.settle()
    assert browser.app.session_state["settings"] == BASELINE
    assert in_hand(browser) == [] and progress(browser) == []
    assert browser.app.session_state["turns"][1].funnel.settings["chunker"] == "paragraph"
    assert browser.app.session_state["turns"][0].funnel.settings["chunker"] == "recursive"


def test_beside_the_button_stands_how_far_the_index_is_and_what_answers_come_from(browser: Browser, held: Held) -> None:
    still = "Answers still come from recursive · 1000 characters · overlap 150 · minilm · english."

    def said() -> bool:
        return still in [caption.value.replace("\\", "") for caption in browser.sound().app.sidebar.caption]

    assert not said()
    browser.widget("chunker").set_value("layout").run()
    assert said()
    begin(browser, "build_index")
    browser.app.run()
    assert said() and len(progress(browser)) == 2
    held.release()
    browser.settle()
    assert not said() and progress(browser) == []


def test_a_knob_moved_while_an_index_is_built_stays_where_it_was_put(browser: Browser, held: Held) -> None:
    begin(browser, "preset_baseline")
    browser.knob("prompt_chunks", 7)
    held.release()
    browser.settle()
    assert browser.app.session_state["settings"] == BASELINE.changed({"prompt_chunks": 7})


def test_of_two_indexes_chosen_the_later_choice_holds_though_the_other_is_built_after_it(
    browser: Browser, held: Held
) -> None:
    begin(browser, "preset_baseline")
    begin(browser, "preset_full")
    assert browser.app.session_state["settings"] == FUNNEL, "its index is there"
    held.release()
    browser.settle()
    assert browser.app.session_state["settings"] == FUNNEL
    assert browser.workspace.catalogue.index(BASELINE.fingerprint()), "built all the same: the next choice is quick"
    browser.press("preset_baseline")
    assert browser.app.session_state["settings"] == BASELINE


def test_chunkers_given_to_two_documents_at_once_and_to_the_index_meanwhile_all_hold(
    browser: Browser, held: Held
) -> None:
    browser.go(PAGE)
    records = browser.workspace.catalogue.documents()
    for record in records:
        browser.app.selectbox(key="_document").set_value(record.id).run()
        browser.app.selectbox(key=f"_own_{record.id}_").set_value("sentence-window").run()
        begin(browser, "use_own")
    begin(browser.go("app.py"), "preset_baseline")
    held.release()
    browser.settle()
    own = {f"override.{record.source}": "sentence-window" for record in records}
    assert browser.app.session_state["settings"] == BASELINE.changed(own)
    assert browser.workspace.settings() == FUNNEL.changed(own)
    assert set(listed(browser.go(PAGE)).values()) == {"indexed"}


def test_what_a_button_or_a_part_of_the_page_cannot_do_is_a_sentence_until_it_can(
    documents_page: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise StoreError("Weaviate does <b>not</b> answer.")

    send(documents_page, blank_md=b" ")
    documents_page.settle()
    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "forget_failure", broken)
        documents_page.press("dismiss_0")
    assert documents_page.errors() == ["Weaviate does <b>not</b> answer."]
    documents_page.press("dismiss_errors").press("dismiss_0")
    assert documents_page.errors() == []
    with monkeypatch.context() as patch:
        patch.setattr(documents, "rows", broken)
        assert documents_page.part("Documents").errors() == ["Weaviate does <b>not</b> answer."]
    documents_page.press("retry_draw_documents")
    assert documents_page.errors() == [] and set(listed(documents_page).values()) == {"indexed"}


def test_work_called_off_leaves_everything_as_it_was(browser: Browser, held: Held) -> None:
    browser.ask(DOORS)
    begin(browser, "preset_baseline")
    begin(browser, cancel(browser))
    browser.settle()
    assert browser.app.session_state["settings"] == FUNNEL
    assert browser.errors() == [] and in_hand(browser) == []
    assert browser.workspace.catalogue.index(BASELINE.fingerprint()) is None
    held.release()
    browser.press("preset_baseline")
    assert browser.app.session_state["settings"] == BASELINE, "it can be begun anew"


def test_work_that_fails_says_why_and_leaves_everything_as_it_was(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise StoreError("Weaviate could not write: <b>the disk</b> is full.")

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "build", broken)
        browser.press("preset_baseline")
    assert browser.errors() == ["Weaviate could not write: <b>the disk</b> is full."]
    assert browser.app.session_state["settings"] == FUNNEL
    assert browser.go(PAGE).errors(), "on every page, until it was read"
    assert browser.press("dismiss_errors").errors() == []


def test_the_work_is_seen_and_called_off_by_another_session_and_begun_only_once(browser: Browser, held: Held) -> None:
    second = Browser()
    begin(browser, "preset_baseline")
    begin(second, "preset_baseline")
    assert in_hand(browser) == in_hand(second) == ["Building the index: paragraph"]
    assert len(held.begun) == 1
    third = Browser()
    assert in_hand(third) == ["Building the index: paragraph"]
    begin(third, cancel(third))
    for session in (browser, second, third):
        session.settle()
        assert session.app.session_state["settings"] == FUNNEL and session.errors() == []


def test_both_sessions_that_wanted_an_index_take_it_and_no_other_does(browser: Browser, held: Held) -> None:
    second, third = Browser(), Browser()
    begin(browser, "preset_baseline")
    begin(second, "preset_baseline")
    held.release()
    taken = [session.settle().app.session_state["settings"] for session in (browser, second, third)]
    assert taken == [BASELINE, BASELINE, FUNNEL]


def test_an_upload_goes_on_though_the_page_is_left_and_the_tab_closed(browser: Browser, held: Held) -> None:
    browser.go(PAGE)
    send(browser, owl_md=OWL.encode())
    assert in_hand(browser) == ["Adding owl.md"]
    assert listed(browser)["owl.md"] in ("being added", "being indexed")
    assert listed(browser)["lapwing.md"] == "indexed"
    browser.go("app.py").app.chat_input(key="_question").set_value(DOORS).run()
    assert "five doors. [Source 1]" in browser.sound().texts(".rf-answer .rf-text")[0]
    del browser.app  # the tab is closed
    other = Browser()
    assert in_hand(other) == ["Adding owl.md"]
    held.release()
    other.settle().go(PAGE)
    assert listed(other) == {name: "indexed" for name in ("faq.csv", "lapwing.md", "owl.md")}
    browser.app = other.app


def test_an_upload_called_off_keeps_what_was_read_and_offers_to_go_on(browser: Browser, held: Held) -> None:
    browser.go(PAGE)
    send(browser, owl_md=OWL.encode())
    begin(browser, cancel(browser))
    browser.settle()
    assert listed(browser)["owl.md"] == "not in this index yet" and listed(browser)["lapwing.md"] == "indexed"
    assert browser.errors() == []
    held.release()
    browser.press("catch_up")
    assert set(listed(browser).values()) == {"indexed"}


def test_the_same_upload_from_two_tabs_at_once_is_there_once(browser: Browser, held: Held) -> None:
    second = Browser().go(PAGE)
    browser.go(PAGE)
    send(browser, owl_md=OWL.encode())
    send(second, owl_md=OWL.encode())
    assert len(in_hand(second)) == 2
    held.release()
    browser.settle()
    second.settle()
    happened = {row["Document"]: row["What happened"] for row in table(second, "report")}
    assert happened == {"owl.md": "already here, unchanged"}
    assert table(browser, "report") == [{"Document": "owl.md", "What happened": "added"}]
    records = browser.workspace.catalogue.documents()
    assert [record.name for record in records].count("owl.md") == 1
    held_chunks = browser.workspace.catalogue.indexed(FUNNEL.fingerprint()).values()
    assert browser.workspace.store.count(FUNNEL.fingerprint()) == sum(record.chunks for record in held_chunks) == 3


def test_a_session_with_another_index_gets_what_the_others_upload(browser: Browser) -> None:
    other = Browser().press("preset_baseline")
    browser.go(PAGE)
    send(browser, owl_md=OWL.encode())
    browser.settle()
    other.app.run()
    other.settle().go(PAGE)
    assert other.app.session_state["settings"] == BASELINE
    assert listed(other)["owl.md"] == "indexed"


def test_a_session_whose_index_is_gone_has_it_built_again(browser: Browser) -> None:
    browser.workspace.drop(FUNNEL.fingerprint())
    late = Browser().settle()
    assert late.ask(DOORS).errors() == []
    assert "five doors. [Source 1]" in late.texts(".rf-answer .rf-text")[0]
