"""One state of an index for one question: what is being written at that moment is seen whole, as it was or as it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rag.catalogue import Catalogue, IndexRecord
from rag.errors import StoreError
from rag.schema import digest

PATIENCE_SECONDS = 10.0
FEWEST_TRIES = 20  # one search alone may take longer than the patience where a model far away is asked
PAUSE_SECONDS = 0.02
T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """An index at one moment: ``visible`` has, by id of each document that is being written, the chunks to be seen.

    The index's ``revision`` depends on these too, so that what is remembered under it holds for this very state.
    """

    index: IndexRecord
    visible: Mapping[str, frozenset[str]] = field(default_factory=dict)


def view(catalogue: Catalogue, index: IndexRecord) -> View:
    """The state that the index is in; costs no call where nothing is being written."""
    if not index.writing:
        return View(index)
    while True:
        records = catalogue.indexed(index.fingerprint, index.writing)
        visible = catalogue.visible(index.fingerprint, records.values())
        if len(visible) == len(records):
            break  # else one was switched between the two calls
    states = sorted((name, record.revision) for name, record in records.items())
    return View(
        replace(index, revision=digest(index.revision, *states)[:32]),
        {name: visible.get(name, frozenset()) for name in index.writing},
    )


def consistent(current: Callable[[], View | None], work: Callable[[View], T]) -> T | None:
    """What ``work`` makes of one state of the index, done anew where that changed meanwhile; None without an index.

    A failing search is an error only where the index is still there and the same.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    tries = 0
    before = current()
    while before is not None:
        failure = None
        try:
            result = work(before)
        except StoreError as error:
            failure = error
        after = current()
        if after == before:
            if failure:
                raise failure
            return result
        tries += 1
        if tries >= FEWEST_TRIES and time.monotonic() > deadline:
            raise StoreError(
                "The index is being written faster than it can be read. Ask again in a moment."
            ) from failure
        before = after
        time.sleep(PAUSE_SECONDS)
    return None
