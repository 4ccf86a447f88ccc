"""Documents to chunks: ``chunk(document, settings, embedder)``, by any of CHUNKERS."""

from __future__ import annotations

from collections.abc import Sequence

from rag.chunkers.base import Chunker, to_chunks
from rag.chunkers.paragraph import paragraph
from rag.chunkers.recursive import recursive
from rag.embedders.base import Embedder
from rag.errors import SettingsError
from rag.schema import Chunk, Document
from rag.settings import Settings

CHUNKERS: dict[str, Chunker] = {"paragraph": paragraph, "recursive": recursive}


def chunk(document: Document, settings: Settings, embedder: Embedder) -> tuple[Chunk, ...]:
    """The document's chunks in order, none blank, with ``document.text[start:end] == text``.

    By the settings' chunker, or by the document's own where they override it. ``embedder`` is asked by the chunkers
    that cut by its tokens or its vectors. Raises SettingsError, and ProviderError where the embedder fails.
    """
    own = settings_of(document, settings)
    return to_chunks(document, find(own.chunker)(document, own, embedder))


def settings_of(document: Document, settings: Settings) -> Settings:
    """The settings that this very document is cut by: its own chunker where it has one."""
    return settings.for_document(document.source)


def indexed_texts(document: Document, chunks: Sequence[Chunk], settings: Settings) -> list[str]:
    """What is embedded for each chunk: its text below its header; ``layout`` puts the heading path before both."""
    with_path = settings_of(document, settings).chunker == "layout"
    paths = [" > ".join(chunk.section) if with_path else "" for chunk in chunks]
    return [f"{path}\n{chunk.reading}" if path else chunk.reading for path, chunk in zip(paths, chunks)]


def find(name: str) -> Chunker:
    """The chunker of that name. Raises SettingsError."""
    if name not in CHUNKERS:
        raise SettingsError(f"There is no chunker called {name!r}. Choose one of: {', '.join(CHUNKERS)}.")
    return CHUNKERS[name]
