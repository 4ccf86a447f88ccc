"""Pieces of work in the background: their order, and what is said of how far they are."""

from __future__ import annotations

import pytest

from pages.shared import jobs
from pages.shared.jobs import Job, Lane
from rag.errors import Cancelled


def test_pieces_of_work_go_one_after_the_other_and_one_that_waits_can_be_called_off() -> None:
    lane, order = Lane(), []
    go = jobs.threading.Event()

    def first(progress: jobs.Progress) -> str:
        go.wait(10)
        order.append("first")
        return "one"

    one = lane.begin("first", first)
    two = lane.begin("second", lambda progress: order.append("second"))
    three = lane.begin("third", lambda progress: order.append("third") or "three", changes=True)
    assert lane.jobs() == (one, two, three) and two.waits and not one.waits
    two.cancel()
    two.message(10)
    assert two.failed and not order
    go.set()
    assert (one.result(), three.result()) == ("one", "three")
    assert order == ["first", "third"] and lane.jobs() == () and lane.changes == 1
    with pytest.raises(Cancelled):
        two.result()


def test_how_much_is_done_and_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(jobs.time, "monotonic", lambda: now[0])
    job = Job(lambda progress: None)
    job.report("Indexing a.md", 0.1)
    now[0] += 10
    job.report("Indexing a.md", 0.3)
    assert job.shown() == (0.3, "Indexing a.md… 30%, 23 s left")  # 0.3 in 10 s, so 0.7 in 23 s
    job.report("Indexing b.md", 0.5)
    assert job.shown() == (0.5, "Indexing b.md… 50%, 10 s left"), "another message does not begin the count anew"
    job.report("Indexing b.md: 5 of 9 chunks, 3 a second, 1 s left", 0.6)
    assert job.shown()[1] == "Indexing b.md: 5 of 9 chunks, 3 a second, 1 s left", "it says so itself"
    job.report("Indexing b.md: 8 of 9 chunks, 3 a second", 0.97)
    assert job.shown()[1] == "Indexing b.md: 8 of 9 chunks, 3 a second"
    job.report("Reading c.md", 0.99)
    assert job.shown()[1] == "Reading c.md… 99%", "never 0 s left"
    job.report("Removing", None)
    assert job.shown() == (0.0, "Removing…")
    now[0] += 5
    assert job.shown() == (0.0, "Removing… (5 s)")
