"""Language models by name: keys, the choices there are, and what is never sent."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from rag import llms
from rag.environment import Environment
from rag.errors import ProviderError, SettingsError
from rag.llms import gemini as gemini_module
from tests.fakes.fixtures import gemini, keyed, only_this_machine, voyage_server  # noqa: F401
from tests.fakes.gemini_server import GeminiServer, chunk, error
from tests.fakes.server import Reply
from tests.test_llms import asked


def test_keys_and_names(gemini: GeminiServer) -> None:
    nothing = Environment()
    assert llms.available(nothing) == llms.models(nothing) == []
    with pytest.raises(ProviderError, match="^GEMINI_API_KEY is not set."):
        llms.build("gemini", nothing)
    with pytest.raises(SettingsError, match="There is no language model called 'gpt'. Choose one of: gemini."):
        llms.build("gpt", nothing)
    wrong = Environment(gemini_api_key="wrong", gemini_base_url=gemini.url)
    assert llms.available(wrong) == ["gemini:gemini-3.8-flash"]
    with pytest.raises(
        ProviderError, match=r"^GEMINI_API_KEY was refused \(API key not valid. Please pass a valid API key.\)"
    ):
        asked(wrong)


def test_a_blank_prompt_is_not_sent_and_odd_characters_are_taken_out(keyed: Environment, gemini: GeminiServer) -> None:
    model = llms.build("gemini", keyed)
    with pytest.raises(ProviderError, match="^The prompt is blank, so no model was asked.$"):
        model.complete("system", " \0", 10)
    assert not gemini.requests
    model.complete("sys\0tem", "a\ud800b", 10)
    body = json.dumps(gemini.requests[0]["body"])
    assert '"ab"' in body and '"system"' in body


def test_a_reader_may_leave_in_the_middle(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.chunks = [chunk(f"word{number} ") for number in range(50)]
    source = llms.build("gemini", keyed).stream("", "Talk.", 100)
    assert next(source) == "word0 "
    source.close()
    gemini.chunks = [chunk("Hello", "STOP")]
    assert asked(keyed)[0] == ["Hello"]


def test_models_are_those_that_write_text(keyed: Environment, gemini: GeminiServer) -> None:
    def listed(name: str, *actions: str) -> dict[str, Any]:
        return {"name": f"models/{name}", "supportedGenerationMethods": list(actions)}

    gemini.models = [
        listed("gemini-3.5-flash-lite", "generateContent"),
        listed("gemini-3.8-flash", "generateContent", "countTokens"),
        listed("gemini-embedding-2", "embedContent"),
        listed("gemini-3-pro-image", "generateContent"),
        listed("gemini-3.8-flash-tts", "generateContent"),
        listed("gemma-4", "generateContent"),
    ]
    assert llms.models(keyed) == ["gemini:gemini-3.8-flash", "gemini:gemini-3.5-flash-lite"]


def test_where_the_list_cannot_be_had_the_default_stands(
    monkeypatch: pytest.MonkeyPatch, keyed: Environment, gemini: GeminiServer
) -> None:
    gemini.script.append(error(500, "INTERNAL", "Oops."))
    assert llms.models(keyed) == ["gemini:gemini-3.8-flash"]
    monkeypatch.setattr(gemini_module, "LIST_TIMEOUT_SECONDS", 1)
    gemini.script.append(Reply(delay_seconds=5))
    started = time.monotonic()
    assert llms.models(keyed) == ["gemini:gemini-3.8-flash"]
    assert time.monotonic() - started < 4.5
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert llms.models(Environment(gemini_api_key="k", gemini_base_url=place)) == ["gemini:gemini-3.8-flash"]
