"""Files into a workspace's documents: only what is new or changed is loaded, and what cannot be read is named."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rag import loaders
from rag.catalogue import SAMPLES_PRESENT, SAMPLES_REMOVED, Catalogue, DocumentRecord
from rag.environment import SAMPLES_FOLDER
from rag.errors import LoadError
from rag.loaders.base import clean

Progress = Callable[[str, float | None], None]
# Raise it when a loader gives another text or structure than before: every file is then loaded anew.
LOADERS_VERSION = 1
SAMPLES_PREFIX = "samples/"
UPLOADS_PREFIX = "uploads/"


@dataclass(frozen=True)
class Failure:
    """One file or document that did not get in whole, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class SyncReport:
    """What a sync did, in document names; ``stored`` and ``rejected`` count chunks written in this run.

    ``notices`` are sentences about what did get in, but not as it stands: a text cut by a model's limit.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    stored: int = 0
    rejected: int = 0

    def __add__(self, other: SyncReport) -> SyncReport:
        return SyncReport(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def sentence(self, chunks: bool = True) -> str:
        """One line for a terminal or a page, with or without the count of chunks."""
        counts = [f"{len(getattr(self, name))} {name}" for name in ("added", "changed", "kept", "removed", "failed")]
        written = f"; {self.stored} chunks stored" + (f", {self.rejected} failed" if self.rejected else "")
        return ", ".join(counts) + (written if chunks else "")


@dataclass
class Tally:
    """A report in the making."""

    lists: dict[str, list] = field(
        default_factory=lambda: {n: [] for n in ("added", "changed", "kept", "removed", "failed", "notices")}
    )
    stored: int = 0
    rejected: int = 0

    def report(self) -> SyncReport:
        """What was counted so far."""
        return SyncReport(
            **{name: tuple(items) for name, items in self.lists.items()}, stored=self.stored, rejected=self.rejected
        )


def quiet(message: str, fraction: float | None = None) -> None:
    """Progress for nobody."""


def source_of(path: Path) -> str:
    """What a file is known by: ``samples/...`` for the shipped ones, else its full path with links left as they are."""
    full = Path(os.path.abspath(path))
    samples = SAMPLES_FOLDER.resolve()
    place = full.resolve()
    return SAMPLES_PREFIX + place.relative_to(samples).as_posix() if place.is_relative_to(samples) else str(full)


def _prefix(folder: Path) -> str:
    """What the sources of all files in the folder begin with."""
    source = source_of(folder)
    return SAMPLES_PREFIX if source == SAMPLES_PREFIX + "." else source.rstrip("/") + "/"


def add_paths(catalogue: Catalogue, paths: Sequence[Path], progress: Progress = quiet) -> SyncReport:
    """Load the files and folders that are new or changed into the workspace; what is gone from them is removed.

    A file, folder or path that cannot be read is reported by name and stops nothing; what is known of it stays.
    """
    known = {record.source: record for record in catalogue.documents()}
    tally = Tally()
    found: dict[str, tuple[Path, str]] = {}
    gone: set[str] = set()
    unreadable: list[Path] = []
    for path in paths:
        prefix = _prefix(path)
        below = {source for source in known if source == source_of(path) or source.startswith(prefix)}
        try:
            files = loaders.find_files(path, unreadable)
        except LoadError as error:
            gone |= below
            if not below:
                tally.lists["failed"].append(Failure(clean(error.name), error.reason))
            continue
        base = path if path.is_dir() else path.parent
        found |= {source_of(file): (file, _name(file, base)) for file in files}
        gone |= below
    for folder in unreadable:
        gone = {source for source in gone if not source.startswith(_prefix(folder))}
        tally.lists["failed"].append(Failure(clean(str(folder)), "this folder cannot be looked into"))
    for source in sorted(gone - set(found)):
        catalogue.remove_document(known[source].id)
        tally.lists["removed"].append(known[source].name)
    for number, (source, (file, name)) in enumerate(found.items()):
        progress(f"Reading {name}", number / len(found))
        _add(catalogue, file, name, source, known.get(source), tally)
    if any(source.startswith(SAMPLES_PREFIX) for source in found):
        catalogue.set_samples(SAMPLES_PRESENT)
    return tally.report()


def _name(file: Path, base: Path) -> str:
    """What people see: the path below the folder that was given; a sample keeps its name whichever folder that was."""
    source = source_of(file)
    return clean(
        source.removeprefix(SAMPLES_PREFIX) if source.startswith(SAMPLES_PREFIX) else file.relative_to(base).as_posix()
    )


def add_upload(catalogue: Catalogue, path: Path, name: str) -> SyncReport:
    """Load one uploaded file; an earlier upload of the same name is replaced."""
    source = UPLOADS_PREFIX + name
    known = next((record for record in catalogue.documents() if record.source == source), None)
    tally = Tally()
    _add(catalogue, path, name, source, known, tally)
    return tally.report()


def _add(catalogue: Catalogue, file: Path, name: str, source: str, known: DocumentRecord | None, tally: Tally) -> None:
    try:
        data = loaders.read(file, name)
    except OSError as error:
        return tally.lists["failed"].append(Failure(name, f"cannot be read ({error.strerror or error})"))
    except LoadError as error:
        return tally.lists["failed"].append(Failure(name, error.reason))
    file_hash = hashlib.sha256(f"{LOADERS_VERSION} {name} ".encode() + data).hexdigest()
    if known and known.file_hash == file_hash:
        return tally.lists["kept"].append(name)
    try:
        document = loaders.parse(data, file, name, source)
    except LoadError as error:
        if known:
            # What the file used to say is no longer so; an old text must not be quoted.
            catalogue.remove_document(known.id)
        return tally.lists["failed"].append(Failure(name, error.reason))
    catalogue.save_document(document, file_hash)
    tally.lists["changed" if known else "added"].append(name)


def remove_samples(catalogue: Catalogue) -> SyncReport:
    """Take the shipped samples out of the workspace for good."""
    samples = [record for record in catalogue.documents() if record.source.startswith(SAMPLES_PREFIX)]
    catalogue.set_samples(SAMPLES_REMOVED)
    for record in samples:
        catalogue.remove_document(record.id)
    return SyncReport(removed=tuple(record.name for record in samples))
