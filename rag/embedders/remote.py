"""What embedders behind an API share: requests within the service's limits, and texts that are too long for them."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag.embedders.base import Embedder
from rag.providers import patiently

QUESTION_ATTEMPTS = 3  # somebody waits: 1 + 2 seconds
DOCUMENT_ATTEMPTS = 6  # limits count by the minute: 1 + 2 + 4 + 8 + 16 seconds
# An English letter or space counts half a token, every other byte a whole one. That is more than any tokenizer makes of
# ordinary text (about 4.5 characters a token), and needs no vocabulary.
_HALF_TOKENS = b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one model takes: tokens in a text, tokens and texts in a request, numbers in a vector (None: not known)."""

    text_tokens: int
    request_tokens: int
    request_texts: int
    dimensions: int | None


class TooLargeError(Exception):
    """The service found a request too large that was thought to fit; half of it is sent instead."""


class RemoteEmbedder(Embedder):
    """Sends documents in requests within ``limits``, in order, and asks again where the service is only busy.

    A variant gives ``_request(texts, question)``: one vector a text, or BusyError, TooLargeError or ProviderError.
    """

    limits: Limits

    def notices(self, texts: Sequence[str]) -> dict[int, str]:
        """One sentence for each text that is longer than the model reads."""
        kept = {position: len(self._cut(text)) for position, text in enumerate(texts)}
        return {
            position: f"{self.name} reads only the first {kept[position]:,} of these {len(text):,} characters."
            for position, text in enumerate(texts)
            if kept[position] < len(text)
        }

    @abstractmethod
    def _request(self, texts: list[str], question: bool) -> Sequence[Sequence[float]]:
        """Vectors of ``texts``, in their order; ``question`` says they are searched with, not searched."""

    def _query(self, text: str) -> np.ndarray:
        return self._vectors([self._cut(text)], True)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        cut = [self._cut(text) for text in texts]
        for positions in packed(cut, self.limits):
            yield positions, self._vectors([cut[position] for position in positions], False)

    def _vectors(self, texts: list[str], question: bool) -> np.ndarray:
        try:
            # Checked here as well, so that two halves cannot make up for each other's missing and surplus vectors.
            attempts = QUESTION_ATTEMPTS if question else DOCUMENT_ATTEMPTS
            return self._checked(patiently(lambda: self._request(texts, question), attempts), len(texts))
        except TooLargeError:
            middle = len(texts) // 2
            return np.concatenate([self._vectors(texts[:middle], question), self._vectors(texts[middle:], question)])

    def _cut(self, text: str) -> str:
        limit = self.limits.text_tokens
        if estimated_tokens(text) <= limit:
            return text
        return text[: bisect_right(range(1, len(text) + 1), limit, key=lambda end: estimated_tokens(text[:end]))]


def estimated_tokens(text: str) -> int:
    """An upper bound for ordinary text, from its characters alone."""
    data = text.encode("utf-8", "ignore")
    whole = len(data.translate(None, _HALF_TOKENS))
    return whole + (len(data) - whole + 1) // 2


def packed(texts: Sequence[str], limits: Limits) -> Iterator[list[int]]:
    """Positions of ``texts`` in order, in as few runs as keep within a request's tokens and texts."""
    run: list[int] = []
    used = 0
    for position, text in enumerate(texts):
        tokens = estimated_tokens(text)
        if run and (len(run) == limits.request_texts or used + tokens > limits.request_tokens):
            yield run
            run, used = [], 0
        run.append(position)
        used += tokens
    if run:
        yield run
