"""Work that takes seconds or minutes: done in a thread of its own, so that neither a click nor a closed tab breaks it
off, and shown to every session of the workspace that it works on."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from pages.shared.errors import attempt
from pages.shared.text import plain
from rag.errors import Cancelled
from rag.pace import left
from rag.workspace import Workspace

T = TypeVar("T")
Progress = Callable[[str, float | None], None]
LOOK_SECONDS = 0.1
# What ends so soon is shown in the run that began it, without a progress line that only flickers.
SOON_SECONDS = 0.4
TOLD_SHARE = 0.02  # of the work, before which nobody knows how long the rest will take
_NUMBERS = itertools.count(1)
_LOCK = threading.Lock()
_LANES: dict[tuple[str, str], Lane] = {}


class Job(Generic[T]):
    """One piece of work that has begun; any number of browser sessions may watch it or call it off.

    ``fingerprint`` names the index that it builds and ``files`` what it adds, where it does; it waits for those
    ``after`` which it is to begin.
    """

    def __init__(
        self,
        work: Callable[[Progress], T],
        label: str = "",
        fingerprint: str = "",
        files: tuple[str, ...] = (),
        after: tuple[Job, ...] = (),
    ):
        self.number, self.label, self.fingerprint, self.files = next(_NUMBERS), label, fingerprint, files
        self.waits = bool(after)
        self.cancelled = False
        self._message, self._fraction = "", None
        self._begun = time.monotonic()
        self._from = 0.0
        self._future: Future[T] = Future()
        threading.Thread(target=self._run, args=(work, after), daemon=True).start()

    def _run(self, work: Callable[[Progress], T], after: tuple[Job, ...]) -> None:
        try:
            for job in after:
                while not job.done:
                    self.report("Waits for its turn")
                    wait([job._future], timeout=LOOK_SECONDS)
            self.waits = False
            self._future.set_result(work(self.report))
        except BaseException as error:  # handed on whole to everybody who watches
            self._future.set_exception(error)

    def report(self, message: str, fraction: float | None = None) -> None:
        """Say what is being done, and how much of it is done (0 to 1) where that is known. Raises Cancelled where the
        work was called off."""
        if self.cancelled:
            raise Cancelled("This was called off; what was there before is as it was.")
        if message != self._message and fraction is None or fraction is not None and fraction < (self._fraction or 0.0):
            self._begun, self._from = time.monotonic(), fraction or 0.0
        self._message, self._fraction = message, fraction

    def cancel(self) -> None:
        """Have the work end at the next step that can be left."""
        self.cancelled = True

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._future.done()

    @property
    def failed(self) -> bool:
        """Whether it has ended with an error."""
        return self.done and self._future.exception() is not None

    def message(self, seconds: float) -> str:
        """What it last said, as soon as it has ended, or after that many seconds."""
        wait([self._future], timeout=seconds)
        return self._message

    def result(self) -> T:
        """What the work gave, waited for; raises what it raised."""
        return self._future.result()

    def shown(self) -> tuple[float, str]:
        """How much is done (0 to 1), and in words what is being done and how long it will still take."""
        if self.cancelled:
            return self._fraction or 0.0, "Ending…"
        message, fraction = self._message or "Beginning", self._fraction
        seconds = time.monotonic() - self._begun
        done = (fraction or 0.0) - self._from
        paced = message.endswith((" left", " a second"))  # it says so itself
        words = message if paced else f"{message}…"
        if not paced and seconds >= 2:
            share = f"{fraction:.0%}{left(seconds * (1 - fraction) / done)}" if done > TOLD_SHARE else ""
            words += f" {share or f'({seconds:.0f} s)'}"
        return min(1.0, max(0.0, fraction or 0.0)), words

    def watch(self) -> T:
        """The result, waited for under a progress bar that is gone afterwards; raises what the work raised."""
        if not self.done:
            place = st.empty()
            while not self.done:
                fraction, words = self.shown()
                place.progress(fraction, text=plain(words))
                wait([self._future], timeout=LOOK_SECONDS)
            place.empty()
        return self._future.result()


class Lane:
    """The work on one workspace, whoever began it: one piece after the other, in the order in which they were begun.

    ``changes`` counts the pieces that ended well and changed the documents.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._jobs: tuple[Job, ...] = ()
        self._lock = threading.Lock()

    def begin(
        self,
        label: str,
        work: Callable[[Progress], T],
        builds: str = "",
        files: tuple[str, ...] = (),
        changes: bool = False,
    ) -> Job[T]:
        """Take a piece of work in behind the others. The index ``builds`` is not built once more while it is."""

        def counted(progress: Progress) -> T:
            result = work(progress)
            self.changes += changes
            return result

        with self._lock:
            for job in self.jobs():
                if builds and not (changes or job.cancelled) and (job.fingerprint, job.label) == (builds, label):
                    return job
            job: Job[T] = Job(counted, label, builds, files, self.jobs())
            self._jobs = (*self.jobs(), job)
            return job

    def note_change(self) -> None:
        """The documents were changed by somebody else than a piece of work here: a watched folder."""
        self.changes += 1

    def jobs(self) -> tuple[Job, ...]:
        """What has not ended: the piece that is worked on, and those behind it."""
        return tuple(job for job in self._jobs if not job.done)


def lane(workspace: Workspace) -> Lane:
    """The one lane of this workspace in this process, which outlives a lost connection."""
    environment = workspace.environment
    key = (environment.weaviate_url or str(environment.data_folder), workspace.store.workspace)
    with _LOCK:
        return _LANES.setdefault(key, Lane())


@dataclass(frozen=True, eq=False)
class _Begun:
    job: Job
    then: Callable[[Any], None]


def begin(workspace: Workspace, label: str, work: Callable[[Progress], T], then: Callable[[T], None], **named) -> None:
    """Start work on the workspace; ``then`` gets its result in this session's next run after its end, on whatever page.

    ``named`` is what ``Lane.begin`` takes.
    """
    job = lane(workspace).begin(label, work, **named)
    with _LOCK:
        begun = st.session_state.setdefault("jobs", [])
        begun[:] = [entry for entry in begun if entry.job is not job] + [_Begun(job, then)]
    wait([job._future], timeout=SOON_SECONDS)


def settle() -> None:
    """Hand on what became of this session's work, once it has ended: each result to who waits for it, an error to the
    page's notices."""
    with _LOCK:  # a run that still ends and the one that follows it both come here
        begun = st.session_state.setdefault("jobs", [])
        ended = [entry for entry in begun if entry.job.done]
        begun[:] = [entry for entry in begun if entry not in ended]
    for entry in ended:
        if entry.job.cancelled and entry.job.failed:
            st.toast(f"Called off: {plain(entry.job.label)}.", icon=":material/cancel:")
            continue
        result, error = attempt(entry.job.result)
        if error:
            st.session_state.setdefault("job_errors", []).append(error)
        else:
            entry.then(result)


def has_ended() -> bool:
    """Whether work of this session has ended that was not settled yet."""
    return any(entry.job.done for entry in st.session_state.get("jobs", ()))
