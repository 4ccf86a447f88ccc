"""What every embedder promises, and the guards that stand once at the family's door."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rag.errors import ProviderError
from rag.text import clean, is_blank

Progress = Callable[[int, int], None]
Spans = list[tuple[int, int]]

# Chinese, Japanese and Korean characters are a token each, words of other scripts one for every four letters.
_TOKEN = re.compile(r"[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]|\w{1,4}|[^\w\s]")


class Embedder(ABC):
    """Texts to unit vectors, float32; shared by every thread, so it keeps no state of a single call.

    ``name`` is the full ``family:model``; ``dimensions`` is None until the first answer of a model that no table
    knows; ``revision`` changes when the same model would give other numbers, which makes cached ones worthless.
    A variant gives ``_batches`` and, where questions are embedded in a way of their own, ``_query``.
    """

    name: str
    dimensions: int | None = None
    revision: int = 1

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> np.ndarray:
        """[n, d]: row i belongs to ``texts[i]``; ``progress(done, total)`` after each batch. Raises ProviderError."""
        rows: list[np.ndarray | None] = [None] * len(texts)
        done = 0
        for positions, vectors in self.embed_batches(texts):
            for position, vector in zip(positions, vectors, strict=True):
                rows[position] = vector
            done += len(positions)
            if progress:
                progress(done, len(texts))
        returned = sum(row is not None for row in rows)
        if returned != len(texts):
            raise self._miscounted(returned, len(texts))
        return np.stack(rows) if rows else np.zeros((0, self.dimensions or 0), dtype=np.float32)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        """The same in the batches it is worked off in: positions in ``texts`` and their vectors [len(positions), d].

        Raises ProviderError before the first batch where a text is blank.
        """
        cleaned = [clean(text) for text in texts]
        for position, text in enumerate(cleaned):
            if is_blank(text):
                raise ProviderError(
                    f"Text {position + 1} of {len(texts)} is blank; {self.name} is sent no blank texts. Leave it out."
                )
        if cleaned:  # where a cache held everything, the model is not even loaded
            for positions, vectors in self._batches(cleaned):
                yield positions, self._checked(vectors, len(positions))

    def embed_query(self, text: str) -> np.ndarray:
        """[d] for a question. Raises ProviderError, without a call where the question is blank."""
        cleaned = clean(text)
        if is_blank(cleaned):
            raise ProviderError("The question is blank. Type a few words to search for.")
        return self._checked(self._query(cleaned), 1)[0]

    def notices(self, texts: Sequence[str]) -> dict[int, str]:
        """A sentence for each position in ``texts`` whose text is not embedded whole; nothing is sent for it."""
        return {}

    def token_spans(self, text: str) -> Spans:
        """Where the tokens of the text lie in it, (start, end) in order; blank space is none.

        Only roughly: a model behind an API has no vocabulary here, so words are taken apart every four letters (by
        whole characters in scripts such as Chinese), about as any tokenizer does on average.
        """
        return approximate_tokens(text)

    @abstractmethod
    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        """Every position of ``texts`` (none of them blank) exactly once, with vectors of any length."""

    def _query(self, text: str) -> np.ndarray:
        """[1, d] for one text that is not blank."""
        return next(vectors for _, vectors in self._batches([text]))

    def _miscounted(self, returned: int, count: int) -> ProviderError:
        return ProviderError(f"{self.name} returned {returned} vectors for {count} texts. Nothing of it was used.")

    def _checked(self, vectors: np.ndarray | Sequence[Sequence[float]], count: int) -> np.ndarray:
        if len(vectors) != count:
            raise self._miscounted(len(vectors), count)
        sizes = {len(vector) for vector in vectors}
        if len(sizes) > 1 or (self.dimensions and sizes - {self.dimensions}):
            wanted = self.dimensions or "one length for all"
            found = ", ".join(str(size) for size in sorted(sizes))
            raise ProviderError(
                f"{self.name} returned vectors of length {found}; expected {wanted}. Nothing of it was used."
            )
        array = np.asarray(vectors, dtype=np.float32)
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise ProviderError(f"{self.name} returned a vector that is not a direction (NaN, infinite or all zero).")
        if self.dimensions is None:
            self.dimensions = array.shape[1]
        return array / lengths


def approximate_tokens(text: str, start: int = 0, end: int | None = None) -> Spans:
    """Spans of about a token each in ``text[start:end]``, without any vocabulary."""
    return [match.span() for match in _TOKEN.finditer(text, start, len(text) if end is None else end)]
