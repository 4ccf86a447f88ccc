"""Documents to chunks: ``chunk(document, settings)``, by any of CHUNKERS."""

from __future__ import annotations

from rag.chunkers.base import Chunker, to_chunks
from rag.chunkers.paragraph import paragraph
from rag.chunkers.recursive import recursive
from rag.errors import SettingsError
from rag.schema import Chunk, Document
from rag.settings import Settings

CHUNKERS: dict[str, Chunker] = {"paragraph": paragraph, "recursive": recursive}


def chunk(document: Document, settings: Settings) -> tuple[Chunk, ...]:
    """The document's chunks in order, none blank, with ``document.text[start:end] == text``. Raises SettingsError."""
    return to_chunks(document, find(settings.chunker)(document, settings))


def find(name: str) -> Chunker:
    """The chunker of that name. Raises SettingsError."""
    if name not in CHUNKERS:
        raise SettingsError(f"There is no chunker called {name!r}. Choose one of: {', '.join(CHUNKERS)}.")
    return CHUNKERS[name]
