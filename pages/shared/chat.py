"""The conversation: questions asked, answered one by one, and run again when a knob moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pages.shared.errors import attempt
from pages.shared.jobs import Job
from rag.answering import costs_nothing
from rag.funnel import StageMemory, run_funnel
from rag.schema import Trace, Turn
from rag.settings import Settings
from rag.workspace import Workspace

BROKEN_OFF = "The program failed before the question was answered; the reason is printed where it was started."


@dataclass(frozen=True)
class ChatTurn:
    """One question and its answer, bound for good to the trace it was written from.

    ``retrieved`` is a newer run of the retrieval alone, where a knob moved and a new answer would cost money; ``error``
    is why another answer that was asked for did not come.
    """

    answered: Trace
    retrieved: Trace | None = None
    error: str = ""

    @property
    def funnel(self) -> Trace:
        """The trace whose lists are shown: the newest."""
        return self.retrieved or self.answered

    @property
    def stands(self) -> bool:
        """Whether the answer is what the newest settings give: the same sources reach the same answerer."""
        return self.retrieved is None or _before_answer(self.retrieved) == _before_answer(self.answered)


@dataclass(frozen=True)
class Asked:
    """A question that waits for its answer, or could not be answered for the reason in ``error``.

    ``earlier`` is the turn that its answer replaces; ``job`` is the answer in the making.
    """

    question: str
    earlier: ChatTurn | None = None
    error: str = ""
    job: Job[ChatTurn] | None = field(default=None, compare=False)

    @property
    def waits(self) -> bool:
        """Whether it still is to be answered."""
        return not self.error


Entry = ChatTurn | Asked


def _before_answer(trace: Trace) -> tuple[object, ...]:
    knobs = tuple(trace.settings[name] for name in ("answerer", "refusal_floor", "language"))
    return (*knobs, tuple(chunk.id for chunk in trace.prompt_chunks()))


def next_place(entries: Sequence[Entry]) -> int | None:
    """The place of the question that is to be answered now: the first that waits."""
    return next((place for place, entry in enumerate(entries) if isinstance(entry, Asked) and entry.waits), None)


def live_place(entries: Sequence[Entry]) -> int | None:
    """The place of the turn that follows the knobs: the last one, unless a question waits behind it."""
    for place, entry in reversed(list(enumerate(entries))):
        if isinstance(entry, ChatTurn):
            return place
        if entry.waits:
            return None
    return None


def history(entries: Sequence[Entry]) -> tuple[Turn, ...]:
    """The conversation as the funnel takes it: what was answered."""
    said = []
    for entry in entries:
        if isinstance(entry, ChatTurn):
            said.append(Turn("user", entry.answered.question))
            said.append(Turn("assistant", entry.answered.answer.text))
    return tuple(said)


def answered(
    question: str,
    before: Sequence[Entry],
    settings: Settings,
    workspace: Workspace,
    memory: StageMemory,
    on_text: Callable[[str], object],
) -> ChatTurn:
    """The turn of a question asked now. Raises RagError."""
    return ChatTurn(run_funnel(question, history(before), settings, workspace, memory, on_text=on_text))


def settle(entries: list[Entry], place: int) -> None:
    """Put what became of the question at ``place`` there, once its job is done: its turn, or why there is none."""
    asked = entries[place]
    entries[place] = _unanswered(asked, BROKEN_OFF)  # what stands there where the next line raises something unforeseen
    turn, error = attempt(asked.job.watch)
    entries[place] = turn or _unanswered(asked, error)


def _unanswered(asked: Asked, error: str) -> Entry:
    return replace(asked.earlier, error=error) if asked.earlier else Asked(asked.question, error=error)


def refreshed(turn: ChatTurn, settings: Settings, workspace: Workspace, memory: StageMemory) -> ChatTurn:
    """The turn under other settings: retrieval again, and the answer too where it costs nothing. Raises RagError."""
    wanted = settings.to_json()
    if turn.funnel.settings == wanted:
        return turn
    if turn.answered.settings == wanted:
        return ChatTurn(turn.answered)
    free = costs_nothing(settings, workspace)
    trace = run_funnel(turn.answered.question, turn.answered.history, settings, workspace, memory, answer=free)
    return ChatTurn(trace) if trace.answer else ChatTurn(turn.answered, trace)
