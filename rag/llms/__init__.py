"""Language models that answer, behind an API where there is a key."""

from __future__ import annotations

from collections.abc import Callable

from rag import registry
from rag.environment import Environment
from rag.llms import gemini
from rag.llms.base import LLM, NO_ANSWER, Completion
from rag.llms.gemini import Gemini

__all__ = ["LLM", "LLMS", "NO_ANSWER", "Completion", "available", "build", "models"]

LLMS: dict[str, Callable[..., LLM]] = {"gemini": Gemini}


def build(name: str, environment: Environment) -> LLM:
    """The language model that ``gemini`` or ``gemini:<model>`` names; nothing is called yet.

    Raises SettingsError for an unknown name and ProviderError where its key is missing.
    """
    return registry.build("language model", LLMS, name, environment)


def available(environment: Environment) -> list[str]:
    """The default model of every service whose key is there, without a call."""
    return [f"gemini:{gemini.DEFAULT_MODEL}"] if environment.gemini_api_key else []


def models(environment: Environment) -> list[str]:
    """Every model that the keys give access to; asks the services, so keep the answer."""
    return gemini.models(environment)
