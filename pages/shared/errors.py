"""Where the errors of the library are caught: once, for every page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rag.errors import RagError

T = TypeVar("T")


def attempt(work: Callable[[], T]) -> tuple[T | None, str]:
    """The result and "", or None and the sentence that says what went wrong and what to do."""
    try:
        return work(), ""
    except RagError as error:
        return None, str(error)
