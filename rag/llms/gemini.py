"""Google's Gemini models, with GEMINI_API_KEY."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from rag.environment import Environment
from rag.errors import ProviderError
from rag.llms.base import LLM, Completion
from rag.providers import gemini_client, gemini_errors, patiently, require_gemini_key

if TYPE_CHECKING:
    from google.genai import types

# The newest stable Flash model of ai.google.dev/gemini-api/docs/models and .../deprecations, read in November 2026.
DEFAULT_MODEL = "gemini-3.8-flash"
TIMEOUT_SECONDS = 60
LIST_TIMEOUT_SECONDS = 10
# Thinking counts against the output limit; this much is added, so that the answer itself keeps all that was asked for.
THINKING_TOKENS = 2048
NOT_FOR_TEXT = re.compile(r"image|tts|live|audio|embedding|robotics|computer-use|transcribe|translate|omni")
BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "ESCALATION", "MODEL_ARMOR")


class Gemini(LLM):
    """``gemini:<model>``."""

    def __init__(self, model: str, environment: Environment) -> None:
        require_gemini_key(environment)
        self._model = model or DEFAULT_MODEL
        self.name = f"gemini:{self._model}"
        self._environment = environment

    def _stream(self, system: str, prompt: str, max_tokens: int) -> Generator[str | None, None, Completion]:
        finish, detail, usage = "", "", None
        chunks = patiently(lambda: self._opened(system, prompt, max_tokens))
        try:
            for chunk in self._told(chunks):
                usage = chunk.usage_metadata or usage
                if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
                    finish, detail = "blocked", chunk.prompt_feedback.block_reason.value
                for candidate in (chunk.candidates or [])[:1]:
                    parts = (candidate.content and candidate.content.parts) or []
                    yield "".join(part.text for part in parts if part.text and not part.thought)
                    if candidate.finish_reason:
                        finish, detail = _finish(candidate.finish_reason.value), candidate.finish_reason.value
        except ProviderError:
            if not finish:  # a connection lost after the end is no loss
                raise
        return Completion(
            "",
            finish or "broken",
            input_tokens=usage and usage.prompt_token_count,
            output_tokens=usage and (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            detail=detail,
        )

    def _told(self, chunks: Iterator[types.GenerateContentResponse]) -> Iterator[types.GenerateContentResponse]:
        with gemini_errors(self.name, self._environment):
            yield from chunks

    def _opened(self, system: str, prompt: str, max_tokens: int) -> Iterator[types.GenerateContentResponse]:
        """The stream once its first chunk is there, so that a busy service is noticed while it can be asked again."""
        from google.genai import types

        config = types.GenerateContentConfig(
            system_instruction=system or None,
            max_output_tokens=max_tokens + THINKING_TOKENS,
            thinking_config=_thinking(self._model),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
        )
        with gemini_errors(self.name, self._environment):
            client = gemini_client(self._environment, TIMEOUT_SECONDS)
            stream = client.models.generate_content_stream(model=self._model, contents=prompt, config=config)
            first = next(stream, None)
        return _chained(first, stream)


def _chained(
    first: types.GenerateContentResponse | None, rest: Iterator[types.GenerateContentResponse]
) -> Iterator[types.GenerateContentResponse]:
    if first is not None:
        yield first
        yield from rest


def _thinking(model: str) -> types.ThinkingConfig | None:
    """Little thinking, since the sources lie before the model: a level from Gemini 3 on, a budget in tokens in 2.5."""
    from google.genai import types

    if model.startswith("gemini-2.5"):
        return types.ThinkingConfig(thinking_budget=THINKING_TOKENS // 2)
    if re.match(r"gemini-([3-9]|\d\d)", model):
        return types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW)
    return None


def _finish(reason: str) -> str:
    if reason in ("MAX_TOKENS", "CONTINUATION"):
        return "length"
    return "blocked" if reason in BLOCKED else "stop" if reason == "STOP" else "broken"


def models(environment: Environment) -> list[str]:
    """``gemini:<model>`` for every model the key may use to write text, the default first; none without a key.

    Asks the service once, for at most ten seconds; where it does not answer, the default alone.
    """
    if not environment.gemini_api_key:
        return []
    names = [DEFAULT_MODEL]
    try:
        with gemini_errors("gemini", environment):
            for model in gemini_client(environment, LIST_TIMEOUT_SECONDS).models.list():
                name = (model.name or "").removeprefix("models/")
                writes = "generateContent" in (model.supported_actions or [])
                if writes and name.startswith("gemini-") and not NOT_FOR_TEXT.search(name) and name not in names:
                    names.append(name)
    except ProviderError:
        names = names[:1]  # the list is a convenience: asking will say what is wrong with the key or the network
    return [f"gemini:{name}" for name in names]
