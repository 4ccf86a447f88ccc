"""What every language model promises: a stream of text whose end says why it ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

from rag.errors import ProviderError
from rag.text import clean, is_blank

NO_ANSWER = "The model stopped before writing an answer (output limit)"
CUT = {
    "length": "The answer is cut off here: the model reached its output limit.",
    "blocked": "The answer is cut off here: the model's filter stopped it.",
    "broken": "The answer is cut off here: the connection broke.",
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished text, never blank: ``finish`` is stop, or why it is only a part: length, blocked or broken.

    Tokens are None where the service did not say; output counts the model's thinking too. ``detail`` is the word
    that the service itself used.
    """

    text: str
    finish: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    detail: str = ""

    @property
    def cut(self) -> str:
        """The sentence to show under a text that is only a part, "" under a whole one."""
        return CUT.get(self.finish, "")


class LLM(ABC):
    """A language model, shared by every thread; ``name`` is the full ``family:model``.

    A variant gives ``_stream``, whose text may be empty or missing and whose end need not have any.
    """

    name: str

    def stream(self, system: str, prompt: str, max_tokens: int) -> Generator[str, None, Completion]:
        """Yields the text in pieces, none empty, and returns its Completion, as ``yield from`` gives it.

        Where the stream breaks or is stopped after the first piece, that part is the completion. Raises ProviderError
        where there is no text at all; closing the generator ends the call.
        """
        if is_blank(clean(prompt)):
            raise ProviderError("The prompt is blank, so no model was asked.")
        pieces: list[str] = []
        with closing(self._stream(clean(system), clean(prompt), max_tokens)) as source:
            while True:
                try:
                    piece = next(source)
                except StopIteration as stop:
                    ending = stop.value
                    break
                except ProviderError as error:
                    if not "".join(pieces).strip():
                        raise
                    ending = Completion("", "broken", detail=str(error))
                    break
                if piece:
                    pieces.append(piece)
                    yield piece
        text = "".join(pieces)
        if not text.strip():
            raise ProviderError(self._nothing(ending))
        return Completion(text, ending.finish, ending.input_tokens, ending.output_tokens, ending.detail)

    def complete(self, system: str, prompt: str, max_tokens: int) -> Completion:
        """The same in one go."""
        source = self.stream(system, prompt, max_tokens)
        while True:
            try:
                next(source)
            except StopIteration as stop:
                return stop.value

    @abstractmethod
    def _stream(self, system: str, prompt: str, max_tokens: int) -> Generator[str | None, None, Completion]:
        """Pieces as they come, and a Completion of which everything but the text is filled in."""

    def _nothing(self, ending: Completion) -> str:
        if ending.finish == "blocked":
            return f"{self.name} declined to answer ({ending.detail}). Reword the question, or choose another answerer."
        return NO_ANSWER
