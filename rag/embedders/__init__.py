"""Texts to vectors: one local model, and those behind an API where there is a key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rag import registry
from rag.embedders import gemini, voyage
from rag.embedders.base import Embedder, Progress
from rag.embedders.cache import CachedEmbedder
from rag.embedders.gemini import GeminiEmbedder
from rag.embedders.minilm import MiniLM
from rag.embedders.voyage import Voyage
from rag.environment import SAMPLES_FOLDER, Environment

__all__ = ["EMBEDDERS", "CachedEmbedder", "Embedder", "Progress", "available", "build", "cached"]

EMBEDDERS: dict[str, Callable[..., Embedder]] = {"minilm": MiniLM, "voyage": Voyage, "gemini": GeminiEmbedder}


def build(name: str, environment: Environment) -> Embedder:
    """The embedder that ``minilm``, ``voyage``, ``voyage:<model>``, ... names; nothing is loaded or called yet.

    Raises SettingsError for an unknown name and ProviderError where its key is missing.
    """
    return registry.build("embedder", EMBEDDERS, name, environment)


def cached(name: str, environment: Environment) -> CachedEmbedder:
    """The same with the cache in the data folder, and the embeddings shipped with the samples, in front of it."""
    embedder = build(name, environment)
    return CachedEmbedder(embedder, environment.data_folder, shipped_files(embedder))


def shipped_files(embedder: Embedder) -> list[Path]:
    """Where the samples' ready-made embeddings for this model lie; the file need not exist."""
    return [SAMPLES_FOLDER / "embeddings" / f"{embedder.name.replace(':', '-')}.npz"]


def available(environment: Environment) -> list[str]:
    """Names to choose from, the default first; the models of a service only where there is its key. Makes no call."""
    names = ["minilm"]
    if environment.voyage_api_key:
        names += [f"voyage:{model}" for model in voyage.MODELS]
    if environment.gemini_api_key:
        names += [f"gemini:{model}" for model in gemini.MODELS]
    return names
