"""Work that takes seconds: watched, but done in a thread of its own, so that no click breaks it off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from pages.shared.errors import attempt
from pages.shared.text import plain

T = TypeVar("T")
Progress = Callable[[str, float | None], None]
LOOK_SECONDS = 0.1


class Job(Generic[T]):
    """One piece of work that has begun; any number of browser sessions may watch it."""

    def __init__(self, work: Callable[[Progress], T]):
        self._message, self._fraction = "", None
        self._begun = time.monotonic()
        self._future: Future[T] = Future()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[Progress], T]) -> None:
        try:
            self._future.set_result(work(self.report))
        except BaseException as error:  # handed on whole to everybody who watches
            self._future.set_exception(error)

    def report(self, message: str, fraction: float | None = None) -> None:
        """Say what is being done, and how much of it is done (0 to 1) where that is known."""
        if message != self._message:
            self._begun = time.monotonic()
        self._message, self._fraction = message, fraction

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._future.done()

    def message(self, seconds: float) -> str:
        """What it last said, as soon as it has ended, or after that many seconds."""
        wait([self._future], timeout=seconds)
        return self._message

    @property
    def failed(self) -> bool:
        """Whether it has ended with an error."""
        return self.done and self._future.exception() is not None

    def watch(self) -> T:
        """The result, waited for under a progress bar that is gone afterwards; raises what the work raised."""
        if not self.done:
            place = st.empty()
            while not self.done:
                seconds = int(time.monotonic() - self._begun)
                waited = f" ({seconds} s)" if self._fraction is None and seconds >= 2 else ""
                message = f"{self._message or 'Beginning'}…{waited}"
                place.progress(min(1.0, max(0.0, self._fraction or 0.0)), text=plain(message))
                wait([self._future], timeout=LOOK_SECONDS)
            place.empty()
        return self._future.result()


@dataclass(frozen=True)
class _Begun:
    job: Job
    then: Callable[[Any], None]


def begin(work: Callable[[Progress], T], then: Callable[[T], None]) -> None:
    """Start work for this browser session; ``then`` gets its result in the session's next run, on whatever page."""
    st.session_state["job"] = _Begun(Job(work), then)


def finish() -> None:
    """Wait for this session's work, if there is any, and show its error if it failed."""
    begun: _Begun | None = st.session_state.get("job")
    if begun is None:
        return
    result, error = attempt(begun.job.watch)
    del st.session_state["job"]
    if error:
        st.session_state["job_error"] = error
    else:
        begun.then(result)
