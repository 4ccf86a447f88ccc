"""The knobs beside the chat: kept between pages, checked, and the index they ask for."""

from __future__ import annotations

import pytest

from rag import indexing
from rag.chunkers import CHUNKERS
from rag.settings import BASELINE, FUNNEL, PARAMETERS, SIZES
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
    built = []
    monkeypatch.setattr(indexing, "build", lambda *arguments, **named: built.append(arguments))
    browser.app.button(key="preset_full").click().run()
    assert browser.sound().app.session_state["settings"] == FUNNEL, "in the same run"
    assert len(shown(browser, "dense")) == 7
    assert not built


def test_the_knobs_of_the_chosen_chunker_are_those_it_heeds(browser: Browser) -> None:
    for chunker in CHUNKERS:
        browser.widget("chunker").set_value(chunker).run()
        generation = browser.sound().generation
        drawn = {widget.key for kind in ("number_input", "selectbox") for widget in getattr(browser.app, kind)}
        for size in ("chunk_size", "chunk_overlap"):
            assert (f"_{size}_{generation}" in drawn) == (size in SIZES[chunker]), (chunker, size)
        for name, parameter in PARAMETERS.get(chunker, {}).items():
            widget = browser.widget(f"{chunker}.{name}")
            assert widget.value == parameter.default and widget.help == parameter.meaning


def test_a_parameter_of_a_chunkers_own_is_part_of_the_index_that_is_built(browser: Browser) -> None:
    browser.ask(GUARD).form(**{"recursive.unit": "tokens", "chunk_size": 100, "chunk_overlap": 0})
    settings = browser.app.session_state["settings"]
    assert settings.to_json()["chunker.unit"] == "tokens"
    assert browser.app.session_state["turns"][0].answered.settings["chunker.unit"] == "tokens"
    assert browser.widget("recursive.unit").value == "tokens"
    assert browser.workspace.catalogue.index(settings.fingerprint()) is not None


def test_a_size_that_the_chunker_does_not_heed_never_stands_in_the_way(browser: Browser) -> None:
    browser.widget("chunker").set_value("paragraph").run()
    browser.form(chunk_size=200)
    assert browser.errors() == []
    assert browser.app.session_state["settings"].chunk_size == 200


def test_what_is_handed_over_is_a_live_knob(browser: Browser) -> None:
    browser.ask(GUARD).knob("return_parent", "section")
    turn = browser.app.session_state["turns"][0]
    assert turn.funnel.settings["return_parent"] == "section"
    assert not browser.widget("parent_limit").disabled
    browser.knob("return_parent", "none")
    assert browser.widget("parent_limit").disabled


def test_presets_and_reset(browser: Browser) -> None:
    browser.knob("rrf_k", 10).press("preset_baseline")
    assert browser.app.session_state["settings"] == BASELINE
    browser.knob("prompt_chunks", 7).press("reset_search")
    kept = browser.app.session_state["settings"]
    assert (kept.chunker, kept.chunk_overlap, kept.fusion, kept.prompt_chunks) == ("paragraph", 0, "rrf", 4)
    browser.press("preset_full")
    assert browser.app.session_state["settings"] == FUNNEL
