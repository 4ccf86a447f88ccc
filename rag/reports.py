"""What a sync did, as a record for pages, terminals and scripts, and how its progress is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, float | None], None]
LISTS = ("added", "changed", "kept", "removed", "failed", "notices", "renamed", "differences")


def quiet(message: str, fraction: float | None = None) -> None:
    """Progress for nobody."""


@dataclass(frozen=True)
class Failure:
    """One file or document that did not get in whole, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, in document names; ``stored`` and ``rejected`` count chunks written in this run.

    ``notices`` are sentences about what did get in, but not as it stands: a text cut by a model's limit. ``renamed``
    are the same bytes under another path, as "old → new", and in no other list. ``differences`` say why a new index
    was built: what its plan has otherwise than the nearest index there was.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    stored: int = 0
    rejected: int = 0
    renamed: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    def __add__(self, other: SyncReport) -> SyncReport:
        return SyncReport(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def did_something(self) -> bool:
        """Whether anything is otherwise than before."""
        return bool(self.added or self.changed or self.renamed or self.removed or self.stored)

    def sentence(self, chunks: bool = True) -> str:
        """One line for a terminal or a page, with or without the count of chunks."""
        names = ("added", "changed", *(("renamed",) if self.renamed else ()), "kept", "removed", "failed")
        counts = [f"{len(getattr(self, name))} {name}" for name in names]
        written = f"; {self.stored} chunks stored" + (f", {self.rejected} failed" if self.rejected else "")
        return ", ".join(counts) + (written if chunks else "")


@dataclass
class Tally:
    """A report in the making."""

    lists: dict[str, list] = field(default_factory=lambda: {name: [] for name in LISTS})
    stored: int = 0
    rejected: int = 0

    def report(self) -> SyncReport:
        """What was counted so far."""
        return SyncReport(
            **{name: tuple(items) for name, items in self.lists.items()}, stored=self.stored, rejected=self.rejected
        )
