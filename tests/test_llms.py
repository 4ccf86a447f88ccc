"""Language models through their real client: streams that end well, early, half way or with nothing."""

from __future__ import annotations

from typing import Any

import pytest

from rag import llms
from rag.environment import Environment
from rag.errors import ProviderError
from rag.llms import NO_ANSWER, Completion
from rag.llms import gemini as gemini_module
from tests.fakes.fixtures import gemini, keyed, only_this_machine, voyage_server  # noqa: F401
from tests.fakes.gemini_server import GeminiServer, chunk, error, retry_info
from tests.fakes.server import PAGE, Reply


def asked(environment: Environment, max_tokens: int = 500) -> tuple[list[str], Completion]:
    """The pieces as they came, and the completion."""
    pieces: list[str] = []

    def collecting():
        completion = yield from llms.build("gemini", environment).stream(
            "Be brief.", "How do I fire a kiln?", max_tokens
        )
        return completion

    source = collecting()
    while True:
        try:
            pieces.append(next(source))
        except StopIteration as stop:
            return pieces, stop.value


def test_the_request_carries_instruction_limits_and_little_thinking(keyed: Environment, gemini: GeminiServer) -> None:
    asked(keyed, 500)
    request = gemini.requests[0]
    assert request["path"].startswith("/v1/models/gemini-3.8-flash:streamGenerateContent")
    body = request["body"]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert [content["parts"] for content in body["contents"]] == [[{"text": "How do I fire a kiln?"}]]
    generation = body["generationConfig"]
    assert generation["maxOutputTokens"] == 500 + 2048  # the answer's own, and as much for thinking
    assert list(generation["thinkingConfig"].values()) == ["LOW"]


@pytest.mark.parametrize(
    ("model", "thinking"),
    [("gemini-2.5-flash", 1024), ("gemini-3.5-flash-lite", "LOW"), ("gemini-2.0-flash", None), ("gemma-4", None)],
)
def test_thinking_is_asked_for_in_the_model_s_own_terms(
    model: str, thinking: Any, keyed: Environment, gemini: GeminiServer
) -> None:
    completion = llms.build(f"gemini:{model}", keyed).complete("", "Hello?", 100)
    assert completion.text == "Hello"
    body = gemini.requests[0]["body"]
    assert list(body["generationConfig"].get("thinkingConfig", {}).values()) == ([thinking] if thinking else [])
    assert "systemInstruction" not in body


def test_text_comes_in_pieces_and_the_end_carries_the_tokens(keyed: Environment, gemini: GeminiServer) -> None:
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}
    gemini.chunks = [chunk("Fire"), chunk(" slowly", "STOP", usageMetadata=usage)]
    pieces, completion = asked(keyed)
    assert pieces == ["Fire", " slowly"]
    assert completion == Completion("Fire slowly", "stop", input_tokens=7, output_tokens=32, detail="STOP")
    assert completion.cut == ""


EMPTY_CONTENT = {"candidates": [{"content": {"role": "model"}}]}
THOUGHT = {"candidates": [{"content": {"parts": [{"text": "Let me think.", "thought": True}]}}]}
CALL = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}]}


def test_empty_chunks_and_thoughts_are_not_text(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.chunks = [
        chunk("Fire"),
        chunk(None),
        None,
        {},
        {"candidates": []},
        EMPTY_CONTENT,
        THOUGHT,
        CALL,
        chunk(""),
        chunk(" slowly", "STOP"),
        {"usageMetadata": {"promptTokenCount": 1}},
    ]
    pieces, completion = asked(keyed)
    assert pieces == ["Fire", " slowly"] and completion.text == "Fire slowly" and completion.finish == "stop"


@pytest.mark.parametrize(
    "chunks",
    [
        [{"usageMetadata": {"promptTokenCount": 9}}],
        [],
        [{"candidates": []}],
        [chunk(None, "MAX_TOKENS")],
        [chunk("", "MAX_TOKENS")],
        [chunk(" \n", "MAX_TOKENS")],
        [THOUGHT, chunk(None, "MAX_TOKENS")],
        [chunk(None, "STOP")],
    ],
)
def test_no_text_at_all_is_one_sentence(chunks: list, keyed: Environment, gemini: GeminiServer) -> None:
    gemini.chunks = chunks
    with pytest.raises(ProviderError) as caught:
        asked(keyed)
    assert str(caught.value) == NO_ANSWER == "The model stopped before writing an answer (output limit)"


def test_a_part_is_kept_and_marked_as_cut(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.chunks = [chunk("Fire slowly and", "MAX_TOKENS")]
    pieces, completion = asked(keyed)
    assert pieces == ["Fire slowly and"]
    assert (completion.text, completion.finish) == ("Fire slowly and", "length")
    assert completion.cut == "The answer is cut off here: the model reached its output limit."


def test_a_blocked_question_and_a_blocked_answer(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.chunks = [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}]
    with pytest.raises(
        ProviderError, match=r"^gemini:gemini-3.8-flash declined to answer \(PROHIBITED_CONTENT\). Reword the"
    ):
        asked(keyed)
    gemini.chunks = [chunk(None, "SAFETY")]
    with pytest.raises(ProviderError, match=r"declined to answer \(SAFETY\)"):
        asked(keyed)
    gemini.chunks = [chunk("Take the"), chunk(None, "RECITATION")]
    _, completion = asked(keyed)
    assert (completion.text, completion.finish, completion.detail) == ("Take the", "blocked", "RECITATION")
    assert completion.cut == "The answer is cut off here: the model's filter stopped it."


def test_a_stream_that_breaks_half_way_keeps_its_part(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.breaks = True
    gemini.chunks = [chunk("Fire"), chunk(" slow")]
    pieces, completion = asked(keyed)
    assert pieces == ["Fire", " slow"]
    assert (completion.text, completion.finish) == ("Fire slow", "broken")
    assert "the connection to" in completion.detail
    assert completion.cut == "The answer is cut off here: the connection broke."


def test_a_connection_lost_after_the_end_or_before_the_start(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.breaks = True
    _, completion = asked(keyed)
    assert (completion.text, completion.finish) == ("Hello", "stop")
    gemini.chunks = [chunk(None)]
    with pytest.raises(
        ProviderError, match="^gemini:gemini-3.8-flash: the connection to .* failed .*Check the network.$"
    ):
        asked(keyed)
    gemini.breaks = False
    gemini.chunks = [chunk("Fire")]  # a clean end that no reason was given for
    assert asked(keyed)[1].finish == "broken"


def test_a_busy_service_is_asked_again_after_its_own_delay(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.script.append(error(429, "RESOURCE_EXHAUSTED", "Quota.", retry_info("0.3s")))
    gemini.script.append(error(503, "UNAVAILABLE", "The model is overloaded."))
    pieces, _ = asked(keyed)
    assert pieces == ["Hello"]
    assert gemini.times[1] - gemini.times[0] >= 0.3 and len(gemini.times) == 3


@pytest.mark.parametrize(
    ("reply", "message", "calls"),
    [
        (
            error(429, "RESOURCE_EXHAUSTED", "You exceeded your quota.", retry_info("55s")),
            "gemini:gemini-3.8-flash is over its rate limit or quota (You exceeded your quota.). "
            "The service asks to wait 55 seconds.",
            1,
        ),
        (
            error(503, "UNAVAILABLE", "The model is overloaded."),
            "gemini:gemini-3.8-flash is unavailable at the moment (503: The model is overloaded.). "
            "Try again in a minute.",
            3,
        ),
        (
            error(404, "NOT_FOUND", "models/x is not found."),
            "Gemini does not know the model in 'gemini:gemini-3.8-flash' (models/x is not found.). Choose another.",
            1,
        ),
        (
            error(403, "PERMISSION_DENIED", "Denied."),
            "GEMINI_API_KEY was refused (Denied.). Check the key at https://aistudio.google.com/apikey.",
            1,
        ),
        (error(400, "INVALID_ARGUMENT", "Bad."), "gemini:gemini-3.8-flash refused the request (400: Bad.).", 1),
        (
            Reply(502, "<html>bad gateway</html>"),
            "gemini:gemini-3.8-flash is unavailable at the moment (502). Try again in a minute.",
            3,
        ),
        (
            Reply(503, PAGE.format("Busy &amp; down")),
            "gemini:gemini-3.8-flash is unavailable at the moment (503: Busy & down). Try again in a minute.",
            3,
        ),
        (
            Reply(403, PAGE.format("No entry")),
            "GEMINI_API_KEY was refused (No entry). Check the key at https://aistudio.google.com/apikey.",
            1,
        ),
        (Reply(400, {"detail": "Bad."}), "gemini:gemini-3.8-flash refused the request (400: Bad.).", 1),
        (error(501, "UNIMPLEMENTED", "No."), "gemini:gemini-3.8-flash refused the request (501: No.).", 1),
    ],
)
def test_failures_in_plain_words(
    reply: Reply, message: str, calls: int, keyed: Environment, gemini: GeminiServer
) -> None:
    gemini.script.extend([reply] * calls)
    with pytest.raises(ProviderError) as caught:
        asked(keyed)
    assert str(caught.value).startswith(message)
    assert len(gemini.requests) == calls


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply(501, PAGE.format("Error response")), "501"),  # what `python -m http.server` says to a question
        (Reply(404, PAGE.format("Not Found")), "404"),
        (Reply(405, {"detail": "Method Not Allowed"}), "405"),
        (Reply(200, PAGE.format("Welcome")), "a web page"),
    ],
)
def test_what_is_no_gemini_at_all_leads_to_the_address(
    reply: Reply, answer: str, keyed: Environment, gemini: GeminiServer
) -> None:
    gemini.script.append(reply)
    with pytest.raises(ProviderError) as caught:
        asked(keyed)
    assert str(caught.value) == f"gemini:gemini-3.8-flash: {gemini.url} answered {answer}: is GEMINI_BASE_URL right?"
    assert len(gemini.requests) == 1


def test_an_answer_that_is_no_json(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.script.append(Reply(200, "data: {broken\n\n", {"Content-Type": "text/event-stream; x"}))
    with pytest.raises(ProviderError, match="^gemini:gemini-3.8-flash sent an answer that cannot be read"):
        asked(keyed)


def test_a_silent_service_is_given_up(
    monkeypatch: pytest.MonkeyPatch, keyed: Environment, gemini: GeminiServer
) -> None:
    monkeypatch.setattr(gemini_module, "TIMEOUT_SECONDS", 1)
    gemini.script.extend([Reply(delay_seconds=1.5)] * 3)
    with pytest.raises(ProviderError, match="^gemini:gemini-3.8-flash did not answer in time. Try again.$"):
        asked(keyed)
