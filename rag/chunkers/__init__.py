"""Documents to chunks: ``chunk(document, settings, embedder)``, by any of CHUNKERS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.chunkers.base import Chunker, Piece, to_chunks
from rag.chunkers.by_tokens import token
from rag.chunkers.code import code
from rag.chunkers.layout import layout
from rag.chunkers.paragraph import paragraph
from rag.chunkers.qa import qa
from rag.chunkers.recommend import recommend
from rag.chunkers.recursive import recursive
from rag.chunkers.semantic import semantic
from rag.chunkers.sentence_window import sentence_window
from rag.embedders.base import Embedder
from rag.errors import SettingsError
from rag.schema import Chunk, Document, Span
from rag.settings import Settings


def recommended(document: Document, settings: Settings, embedder: Embedder) -> Sequence[Piece | Span]:
    """Cuts as the chunker does that ``recommend`` names for the document."""
    own = settings_of(document, settings)
    return find(own.chunker)(document, own, embedder)


CHUNKERS: dict[str, Chunker] = {
    "paragraph": paragraph,
    "recursive": recursive,
    "sentence-window": sentence_window,
    "semantic": semantic,
    "layout": layout,
    "qa": qa,
    "token": token,
    "code": code,
    "recommended": recommended,
}


def chunk(document: Document, settings: Settings, embedder: Embedder) -> tuple[Chunk, ...]:
    """The document's chunks in order, none blank, with ``document.text[start:end] == text``.

    By the settings' chunker, or by the document's own where they override it. ``embedder`` is asked by the chunkers
    that cut by its tokens or its vectors. Raises SettingsError, and ProviderError where the embedder fails.
    """
    own = settings_of(document, settings)
    return to_chunks(document, find(own.chunker)(document, own, embedder))


def settings_of(document: Document, settings: Settings) -> Settings:
    """The settings that this very document is cut by: its own chunker where it has one, or the recommended one."""
    own = settings.for_document(document.source)
    if own.chunker != "recommended":
        return own
    return replace(own, chunker=recommend(document).chunker, chunker_parameters=(), overrides=())


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
