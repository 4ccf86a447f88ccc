"""Turns of the chat: a question asked, answered, and run again when a knob moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answering import costs_nothing
from rag.funnel import StageMemory, run_funnel
from rag.schema import Trace, Turn
from rag.settings import Settings
from rag.workspace import Workspace


@dataclass(frozen=True)
class ChatTurn:
    """One question and its answer, bound for good to the trace it was written from.

    ``retrieved`` is a newer run of the retrieval alone, where a knob moved and a new answer would cost money.
    """

    answered: Trace
    retrieved: Trace | None = None

    @property
    def funnel(self) -> Trace:
        """The trace whose lists are shown: the newest."""
        return self.retrieved or self.answered

    @property
    def stands(self) -> bool:
        """Whether the answer is what the newest settings give: the same sources reach the same answerer."""
        return self.retrieved is None or _before_answer(self.retrieved) == _before_answer(self.answered)


def _before_answer(trace: Trace) -> tuple[object, ...]:
    knobs = tuple(trace.settings[name] for name in ("answerer", "refusal_floor", "language"))
    return (*knobs, tuple(chunk.id for chunk in trace.prompt_chunks()))


def history(turns: Sequence[ChatTurn]) -> tuple[Turn, ...]:
    """The conversation as the funnel takes it."""
    said = []
    for turn in turns:
        said.append(Turn("user", turn.answered.question))
        said.append(Turn("assistant", turn.answered.answer.text))
    return tuple(said)


def answered(
    question: str,
    before: Sequence[ChatTurn],
    settings: Settings,
    workspace: Workspace,
    memory: StageMemory,
    on_text: Callable[[str], object],
) -> ChatTurn:
    """The turn of a question asked now. Raises RagError."""
    return ChatTurn(run_funnel(question, history(before), settings, workspace, memory, on_text=on_text))


def refreshed(
    turn: ChatTurn, before: Sequence[ChatTurn], settings: Settings, workspace: Workspace, memory: StageMemory
) -> ChatTurn:
    """The turn under other settings: retrieval again, and the answer too where it costs nothing. Raises RagError."""
    wanted = settings.to_json()
    if turn.funnel.settings == wanted:
        return turn
    if turn.answered.settings == wanted:
        return ChatTurn(turn.answered)
    free = costs_nothing(settings, workspace)
    trace = run_funnel(turn.answered.question, history(before), settings, workspace, memory, answer=free)
    return ChatTurn(trace) if trace.answer else ChatTurn(turn.answered, trace)
