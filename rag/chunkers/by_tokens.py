"""By the tokens of the embedder's own tokenizer: as much as the model is to read, in whatever language."""

from __future__ import annotations

from functools import partial

from rag.chunkers.base import CHARACTER_END, WORD_END, Boundary
from rag.chunkers.characters import character_ends
from rag.chunkers.measures import Tokens
from rag.chunkers.recursive import packed
from rag.embedders.base import Embedder
from rag.errors import SettingsError
from rag.schema import Document, Span
from rag.sentences import sentence_ends
from rag.settings import Settings


def token(document: Document, settings: Settings, embedder: Embedder) -> list[Span]:
    """Chunks of at most ``tokens`` tokens inside one section, that begin with up to ``overlap`` of the one before.

    They end with a sentence; one that is longer is cut at lines, as a table is between its rows, then at words, or in
    scripts without blanks at tokens. Raises SettingsError where the overlap leaves no room.
    """
    size, overlap = int(settings.parameter("tokens")), int(settings.parameter("overlap"))
    if overlap >= size:
        raise SettingsError(
            f"chunker.overlap is {overlap} tokens; it must be less than chunker.tokens ({size}), or no chunk gets on."
        )
    sentences = partial(sentence_ends, language=settings.language)
    boundaries = (sentences, r"\n", WORD_END, _token_ends(embedder), CHARACTER_END, "")
    measure = Tokens(embedder.token_spans(document.text))
    return packed(document, boundaries, size, overlap, settings.language, measure)


def _token_ends(embedder: Embedder) -> Boundary:
    """The places before tokens, besides those inside a character."""

    def ends(text: str) -> list[int]:
        whole = set(character_ends(text))
        return [start for start, _ in embedder.token_spans(text) if start in whole]

    return ends
