"""The conversation: questions asked, answered one by one, and run again when a knob moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pages.shared.errors import attempt
from pages.shared.jobs import Job
from rag.answering import costs_nothing
from rag.funnel import StageMemory, run_funnel
from rag.schema import Trace, Turn
from rag.settings import Settings
from rag.text import is_blank
from rag.workspace import Workspace

# A click starts the page's next run while the last one still ends, in a thread of its own: both hold the conversation.
_LOCK = threading.Lock()
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


@dataclass(eq=False)
class Asked:
    """A question that waits for its answer, or could not be answered for the reason in ``error``.

    ``earlier`` is the turn that its answer replaces.
    """

    question: str
    earlier: ChatTurn | None = None
    error: str = ""
    _job: Job[ChatTurn] | None = None

    @property
    def waits(self) -> bool:
        """Whether it still is to be answered."""
        return not self.error

    @property
    def begun(self) -> bool:
        """Whether its answer is in the making."""
        return self._job is not None

    def answering(self, work: Callable[[Callable[[str], object]], ChatTurn]) -> Job[ChatTurn]:
        """The one job that answers it, begun by the first who asks for it."""
        with _LOCK:
            self._job = self._job or Job(work)
            return self._job


Entry = ChatTurn | Asked


def _before_answer(trace: Trace) -> tuple[object, ...]:
    knobs = tuple(trace.settings[name] for name in ("answerer", "refusal_floor", "language"))
    return (*knobs, tuple(chunk.id for chunk in trace.prompt_chunks()))


def add(entries: list[Entry], question: str) -> None:
    """Take a question in behind all others; blank ones before it, which are only pointed out, are dropped."""
    with _LOCK:
        entries[:] = [entry for entry in entries if not (isinstance(entry, Asked) and is_blank(entry.question))]
        entries.append(Asked(question))


def put(entries: list[Entry], held: Entry, wanted: Entry) -> None:
    """Put ``wanted`` in the place of ``held``, unless that stands there no more."""
    with _LOCK:
        for place, entry in enumerate(entries):
            if entry is held:
                entries[place] = wanted


def next_asked(entries: Sequence[Entry]) -> Asked | None:
    """The question that is to be answered now: the first that waits."""
    return next((entry for entry in entries if isinstance(entry, Asked) and entry.waits), None)


def live_turn(entries: Sequence[Entry]) -> ChatTurn | None:
    """The turn that follows the knobs: the last one, unless a question waits behind it."""
    for entry in reversed(entries):
        if isinstance(entry, ChatTurn):
            return entry
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


def settle(entries: list[Entry], asked: Asked, job: Job[ChatTurn]) -> None:
    """Put what became of a question in its place, once its job is done: its turn, or why there is none."""
    failed = _unanswered(asked, BROKEN_OFF)  # this stands there where the job raises something unforeseen
    put(entries, asked, failed)
    turn, error = attempt(job.watch)
    put(entries, failed, turn or _unanswered(asked, error))


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
