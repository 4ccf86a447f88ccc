"""The knobs beside the chat: kept between pages, checked, and the index they ask for."""

from __future__ import annotations

import pytest

from rag import indexing
from rag.settings import BASELINE, FUNNEL
from tests.chat_support import GUARD, browser, documents, shown
from tests.page_support import Browser, machine, workspace_name

__all__ = ["browser", "documents", "machine", "workspace_name"]


def test_settings_and_chat_survive_both_page_moves(browser: Browser) -> None:
    """B28: another chunker, top 9 and a balance of 0.2 outlive two page moves, and the answer is made with them."""
    values = {"chunker": "paragraph", "prompt_chunks": 9, "dense_weight": 0.2}
    browser.form(chunker="paragraph", chunk_overlap=0).knob("prompt_chunks", 9).knob("dense_weight", 0.2)
    browser.go("pages/4_Documents.py").go("app.py")
    browser.ask(GUARD)
    used = browser.app.session_state["turns"][0].answered.settings
    assert {name: used[name] for name in values} == values
    answer = browser.texts(".rf-answer")
    browser.go("pages/4_Documents.py").go("app.py")
    assert {name: browser.widget(name).value for name in values} == values
    assert browser.texts(".rf-answer") == answer
    assert browser.texts(".rf-question") == [GUARD]


def test_an_overlap_above_half_the_size_is_named_and_nothing_is_lost(browser: Browser) -> None:
    browser.ask(GUARD).form(chunk_size=400, chunk_overlap=300)
    assert browser.errors() == ["chunk_overlap is 300; it may be at most half of chunk_size (400)."]
    assert (browser.widget("chunk_size").value, browser.widget("chunk_overlap").value) == (400, 300)
    assert browser.app.session_state["settings"] == FUNNEL
    assert browser.texts(".rf-question") == [GUARD]
    browser.knob("rrf_k", 10)
    assert browser.widget("chunk_overlap").value == 300
    browser.form(chunk_overlap=40)
    assert browser.errors() == []
    assert browser.widget("chunk_overlap").value == browser.app.session_state["settings"].chunk_overlap == 40


def test_another_index_is_built_on_demand_and_one_that_is_there_is_used_at_once(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.ask(GUARD).form(chunk_size=200, chunk_overlap=20)
    turn = browser.app.session_state["turns"][0]
    assert turn.answered.settings["chunk_size"] == 200
    assert len(shown(browser, "dense")) > 7
    written = []
    monkeypatch.setattr(indexing._Writer, "replace", lambda *arguments: written.append(arguments))
    browser.press("preset_full")
    assert browser.app.session_state["settings"] == FUNNEL
    assert len(shown(browser, "dense")) == 7
    assert not written


def test_presets_and_reset(browser: Browser) -> None:
    browser.knob("rrf_k", 10).press("preset_baseline")
    assert browser.app.session_state["settings"] == BASELINE
    browser.knob("prompt_chunks", 7).press("reset_search")
    kept = browser.app.session_state["settings"]
    assert (kept.chunker, kept.chunk_overlap, kept.fusion, kept.prompt_chunks) == ("paragraph", 0, "rrf", 4)
    browser.press("preset_full")
    assert browser.app.session_state["settings"] == FUNNEL
