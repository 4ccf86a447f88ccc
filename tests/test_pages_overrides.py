"""A chunker for one document or for all, chosen on the Documents page: what is built for it and what is said of it."""

from __future__ import annotations

import pytest
import streamlit as st

from rag.settings import BASELINE, FUNNEL
from tests.documents_support import PAGE, documents_page, listed, table
from tests.page_support import Browser

__all__ = ["documents_page"]


@pytest.fixture
def browser(documents_page: Browser) -> Browser:
    """A new session on the Documents page of a new workspace, whose samples are two small files."""
    return documents_page


def test_a_document_gets_a_chunker_of_its_own_and_everybody_begins_with_it(browser: Browser) -> None:
    [lapwing] = [record for record in browser.workspace.catalogue.documents() if record.name == "lapwing.md"]
    browser.app.selectbox(key="_document").set_value(lapwing.id).run()
    assert any(text.value.startswith("Cut by **recursive**, as the index.") for text in browser.app.markdown)
    browser.app.selectbox(key=f"_own_{lapwing.id}_").set_value("paragraph").run()
    browser.press("use_own")
    wanted = FUNNEL.changed({f"override.{lapwing.source}": "paragraph"})
    assert browser.app.session_state["settings"] == wanted
    assert said(browser) == ["lapwing.md is now cut by paragraph."] and table(browser, "report") == []
    assert {row["Document"]: row["Chunker"] for row in table(browser, "documents")} == {
        "faq.csv": "recursive",
        "lapwing.md": "paragraph",
    }
    assert set(listed(browser).values()) == {"indexed"}
    assert Browser().app.session_state["settings"] == wanted
    st.cache_resource.clear()  # as after a restart of the app
    again = Browser().go(PAGE)
    assert again.app.session_state["settings"] == wanted
    again.app.selectbox(key="_document").set_value(lapwing.id).run()
    again.app.selectbox(key=f"_own_{lapwing.id}_paragraph").set_value("").run()
    again.press("use_own")
    assert again.app.session_state["settings"] == FUNNEL
    assert again.workspace.catalogue.overrides() == {}
    assert said(again) == ["lapwing.md is now cut by recursive again, as the index is."]


def said(browser: Browser) -> list[str]:
    return [text.value.replace("\\", "") for text in browser.app.success]


def test_the_recommended_chunker_is_one_press_away(browser: Browser) -> None:
    [faq] = [record for record in browser.workspace.catalogue.documents() if record.name == "faq.csv"]
    browser.app.selectbox(key="_document").set_value(faq.id).run()
    assert browser.app.selectbox(key=f"_own_{faq.id}_").value == "qa"
    assert browser.app.button(key="use_own").label == "Use qa for this document"
    browser.press("use_own")
    assert browser.app.session_state["settings"] == FUNNEL.changed({f"override.{faq.source}": "qa"})
    assert browser.app.button(key="use_own").disabled


def test_only_the_index_of_the_session_is_built_and_the_one_that_sessions_begin_with_when_one_does(
    browser: Browser,
) -> None:
    browser.go("app.py").press("preset_baseline").go(PAGE)
    [faq] = [record for record in browser.workspace.catalogue.documents() if record.name == "faq.csv"]
    own = {f"override.{faq.source}": "qa"}
    browser.app.selectbox(key="_document").set_value(faq.id).run()
    browser.press("use_own")
    catalogue = browser.workspace.catalogue
    built = {FUNNEL.fingerprint(), BASELINE.fingerprint(), BASELINE.changed(own).fingerprint()}
    assert {index.fingerprint for index in catalogue.indexes()} == built
    later = Browser().settle()
    assert later.app.session_state["settings"] == browser.workspace.settings() == FUNNEL.changed(own)
    assert {index.fingerprint for index in catalogue.indexes()} == built | {FUNNEL.changed(own).fingerprint()}
    assert "five doors" in later.ask("How many doors has the Lapwing?").texts(".rf-answer .rf-text")[0]


def test_a_chunker_is_taken_for_all_documents_from_one_of_them(browser: Browser) -> None:
    [lapwing] = [record for record in browser.workspace.catalogue.documents() if record.name == "lapwing.md"]
    browser.app.selectbox(key="_document").set_value(lapwing.id).run()
    browser.app.selectbox(key=f"_own_{lapwing.id}_").set_value("paragraph").run()
    browser.press("use_for_all")
    assert browser.app.session_state["settings"] == FUNNEL.changed({"chunker": "paragraph"})
