"""How pages begin: one start for all sessions, a server that cannot be had, and one that ends under them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit as st

from pages.shared import chat, opening
from rag.environment import Environment
from rag.errors import ServerError
from rag.schema import Trace
from rag.settings import FUNNEL
from rag.weaviate import connection, server
from tests.chat_support import CAR, GUARD, PAWS, documents
from tests.page_support import Browser, fill, machine, opened_anew, use, workspace_name
from tests.support import fresh_name

__all__ = ["documents", "machine", "opened_anew", "workspace_name"]


def test_where_no_server_can_be_had_the_page_says_so_and_tries_again(
    machine: Environment, opened_anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = connection.connect

    def broken(*arguments: object) -> None:
        raise ServerError("Weaviate could not be started: no network, no Go. Set WEAVIATE_URL.")

    monkeypatch.setattr(connection, "connect", broken)
    browser = Browser()
    assert browser.errors() == ["Weaviate could not be started: no network, no Go. Set WEAVIATE_URL."]
    assert browser.press("retry_start").errors()
    monkeypatch.setattr(connection, "connect", connect)
    browser.press("retry_start")
    assert browser.errors() == []
    assert browser.app.button(key="example_1")


def test_two_sessions_that_come_first_at_once_share_one_start(
    environment: Environment, workspace_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = connection.connect
    connected = []

    def counted(*arguments: object):
        connected.append(arguments)
        return connect(*arguments)

    monkeypatch.setattr(connection, "connect", counted)
    shared = opening.Opening(environment, workspace_name)
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: shared.watch(), range(4)))
    assert len(connected) == 1 and all(one is opened[0] for one in opened)
    shared.again()
    assert shared.watch() is opened[0], "while the server answers, nothing connects anew"
    opened[0].client.close()
    shared.again()
    assert shared.watch() is not opened[0]
    shared.close()


def test_two_sessions_see_neither_each_others_turns_nor_settings(machine: Environment) -> None:
    one, two = Browser(), Browser()
    one.knob("rrf_k", 10).ask(GUARD)
    two.app.run()
    assert not two.parts(".rf-question")
    assert two.app.session_state["settings"] == FUNNEL
    two.ask(PAWS)
    assert (one.texts(".rf-question"), two.texts(".rf-question")) == ([GUARD], [PAWS])
    assert one.workspace is two.workspace


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """A server of the test's own, which may be killed, with the two documents; the pages use it."""
    environment = Environment(data_folder=tmp_path / "data")
    name = fresh_name()
    (tmp_path / "heron.md").write_text(CAR, encoding="utf-8")
    fill(environment, name, tmp_path / "heron.md")
    use(monkeypatch, environment, name)
    yield environment
    st.cache_resource.clear()
    server.stop(environment)


def kill(environment: Environment) -> None:
    """End the server alone, the hard way."""
    os.kill(server.ensure(environment).pid, signal.SIGKILL)
    while server.running(environment):
        time.sleep(0.02)


def test_after_the_server_was_killed_every_session_goes_on_with_the_next_click(own: Environment) -> None:
    browser = Browser().ask(GUARD)
    kill(own)
    begun = time.monotonic()
    browser.ask(PAWS)
    assert browser.errors() == [] and browser.texts(".rf-question") == [GUARD, PAWS]
    assert browser.texts(".rf-badge") == ["Quoted", "Quoted"]
    kill(own)
    assert Browser().ask(PAWS).texts(".rf-badge") == ["Quoted"]
    assert browser.knob("rrf_k", 10).errors() == []
    kill(own)
    browser.go("pages/4_Documents.py")
    assert browser.errors() == [] and len(browser.app.dataframe) == 1
    assert time.monotonic() - begun < 40  # three starts; one call that waited for the dead server took 63


def test_a_question_under_way_when_the_server_is_killed_is_told_and_asked_again(
    own: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser().ask(GUARD)
    run = chat.run_funnel

    def killed_first(*arguments: object, **named: object) -> Trace:
        kill(own)
        return run(*arguments, **named)

    monkeypatch.setattr(chat, "run_funnel", killed_first)
    begun = time.monotonic()
    browser.ask(PAWS)
    assert time.monotonic() - begun < 30
    [error] = browser.errors()
    assert error.startswith("Weaviate does not answer, so it could not read the catalogue: it has stopped or cannot be")
    assert browser.texts(".rf-question") == [GUARD, PAWS] and len(browser.parts(".rf-answer")) == 1
    monkeypatch.setattr(chat, "run_funnel", run)
    browser.press("retry_question_1")
    assert browser.errors() == [] and browser.texts(".rf-badge") == ["Quoted", "Quoted"]


def test_an_address_that_goes_away_is_a_sentence_on_every_page_until_it_is_back(
    own: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = server.ensure(own)
    use(
        monkeypatch,
        own,
        opening.WORKSPACE,
        weaviate_url=f"{address.host}:{address.http_port}",
        weaviate_grpc_port=address.grpc_port,
        weaviate_api_key=address.api_key,
    )
    browser = Browser().ask(GUARD)
    kill(own)
    for page in ("pages/4_Documents.py", "app.py"):
        browser.go(page)
    browser.ask(PAWS)
    assert browser.errors()[0].startswith("Weaviate does not answer, so it could not ")
    browser.go("pages/4_Documents.py")
    assert browser.errors()[0].startswith("Weaviate does not answer, so it could not ")
    browser.press("retry_page")
    assert browser.errors()[0].startswith("No Weaviate answers at http://127.0.0.1:")
    server.ensure(own)
    browser.press("retry_start")
    assert browser.errors() == [] and len(browser.app.dataframe) == 1
    browser.go("app.py")
    assert browser.press("retry_question_1").errors() == []
    assert browser.texts(".rf-badge") == ["Quoted", "Quoted"]
