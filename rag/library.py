"""Files into a workspace's documents: only what is new or changed is loaded, and what cannot be read is named."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rag import loaders
from rag.catalogue import SAMPLES_PRESENT, SAMPLES_REMOVED, Catalogue, DocumentRecord, FileFailure
from rag.environment import SAMPLES_FOLDER
from rag.errors import LoadError
from rag.loaders.base import clean
from rag.reports import Failure, Progress, SyncReport, Tally, quiet
from rag.schema import Document

__all__ = ["Failure", "Progress", "SyncReport", "Tally", "quiet"]
# Raise it when a loader gives another text or structure than before: every file is then loaded anew.
LOADERS_VERSION = 2
SAMPLES_PREFIX = "samples/"
UPLOADS_PREFIX = "uploads/"


@dataclass(frozen=True)
class _File:
    """A file on its way in: ``known`` is the document from the same source, ``before`` the one of the same bytes
    whose file is gone.
    """

    path: Path
    name: str
    source: str
    known: DocumentRecord | None = None
    before: DocumentRecord | None = None
    pdf_loader: str = loaders.PDF

    @property
    def reader(self) -> str:
        """What a PDF is read by; the samples always by the same, whose embeddings are shipped."""
        own = self.path.suffix.lower() == ".pdf" and not self.source.startswith(SAMPLES_PREFIX)
        return self.pdf_loader if own else loaders.PDF


def source_of(path: Path) -> str:
    """What a file is known by: ``samples/...`` for the shipped ones, else its full path with links left as they are."""
    full = Path(os.path.abspath(path))
    samples = SAMPLES_FOLDER.resolve()
    try:
        place = Path(os.path.realpath(full))  # which, unlike Path.resolve, bears links that lead in a circle
    except ValueError:  # NUL, or a character that no file system takes: nothing can be there
        return clean(str(full))
    return SAMPLES_PREFIX + place.relative_to(samples).as_posix() if place.is_relative_to(samples) else str(full)


def sources_below(path: Path, sources: Iterable[str]) -> set[str]:
    """Those of the sources that are the path itself or lie in it."""
    prefix = _prefix(path)
    return {source for source in sources if source == source_of(path) or source.startswith(prefix)}


def _prefix(folder: Path) -> str:
    """What the sources of all files in the folder begin with."""
    source = source_of(folder)
    return SAMPLES_PREFIX if source == SAMPLES_PREFIX + "." else source.rstrip("/") + "/"


def add_paths(
    catalogue: Catalogue, paths: Sequence[Path], progress: Progress = quiet, pdf_loader: str = loaders.PDF
) -> SyncReport:
    """Load the files and folders that are new or changed into the workspace; what is gone from them is removed.

    A file, folder or path that cannot be read is reported by name and stops nothing; what is known of it stays. Bytes
    that are gone from one place and new in another are one renamed document. ``pdf_loader`` reads the PDFs, but for
    the samples.
    """
    known = {record.source: record for record in catalogue.documents()}
    failures = {failure.source: failure for failure in catalogue.failures()}
    tally = Tally()
    found: dict[str, _File] = {}
    gone: set[str] = set()
    unreadable: list[Path] = []
    for path in paths:
        below = sources_below(path, [*known, *failures])
        gone |= below
        try:
            files = loaders.find_files(path, unreadable, partial(progress, f"Looking through {path}", None))
        except LoadError as error:
            if not below:
                tally.lists["failed"].append(Failure(_on_one_line(error.name), error.reason))
            continue
        base = path if path.is_dir() else path.parent
        for file in files:
            source = source_of(file)
            found[source] = _File(
                file, _name(file, base, known.get(source)), source, known.get(source), pdf_loader=pdf_loader
            )
    for folder in unreadable:
        gone -= sources_below(folder, gone)
        tally.lists["failed"].append(Failure(_on_one_line(str(folder)), "this folder cannot be looked into"))
    gone -= set(found)
    renamed = _renamed({source: known[source] for source in sorted(gone) if source in known}, found)
    leaving = {known[source].id for source in gone if source in known} - {record.id for record in renamed.values()}
    for record in (record for record in known.values() if record.id in leaving):
        catalogue.remove_document(record.id)
        tally.lists["removed"].append(record.name)
    for source in gone & set(failures):
        catalogue.forget_failure(source)
    for number, (source, file) in enumerate(found.items()):
        progress(f"Reading {file.name}", number / len(found))
        _add(catalogue, replace(file, before=renamed.get(source)), failures, tally)
    if any(source.startswith(SAMPLES_PREFIX) for source in found) and catalogue.samples() != SAMPLES_PRESENT:
        catalogue.set_samples(SAMPLES_PRESENT)
    return tally.report()


def _name(file: Path, base: Path, known: DocumentRecord | None) -> str:
    """What people see: the path below the folder that was given; a document that is there, and a sample, keeps its name
    whichever folder that was.
    """
    source = source_of(file)
    if known and f"/{_on_one_line(source)}".endswith(f"/{known.name}"):
        return known.name
    return _on_one_line(
        source.removeprefix(SAMPLES_PREFIX) if source.startswith(SAMPLES_PREFIX) else file.relative_to(base).as_posix()
    )


def _on_one_line(name: str) -> str:
    """A name as lists, prompts and legends can show it: a file's may hold line ends."""
    return re.sub(r"[\n\t]", " ", clean(name))


def _renamed(gone: Mapping[str, DocumentRecord], found: Mapping[str, _File]) -> dict[str, DocumentRecord]:
    """By new source, the document whose bytes now lie there and nowhere else that it was known from."""
    leaving: dict[str, list[DocumentRecord]] = {}
    for record in gone.values():
        if record.bytes_hash:
            leaving.setdefault(record.bytes_hash, []).append(record)
    new: dict[str, str] = {}
    for source, file in found.items() if leaving else ():
        if not file.known:
            with suppress(OSError, LoadError):  # reported when its turn comes
                new[source] = _bytes_hash(loaders.read(file.path, file.name))
    renamed: dict[str, DocumentRecord] = {}
    for only_moved in (True, False):  # a file that kept its name has the first claim
        for source in [source for source in new if source not in renamed]:
            same = leaving.get(new[source], [])
            name = found[source].path.name
            match = next((one for one in same if not only_moved or Path(one.source).name == name), None)
            if match:
                renamed[source] = match
                same.remove(match)
    return renamed


def add_upload(catalogue: Catalogue, path: Path, name: str, pdf_loader: str = loaders.PDF) -> SyncReport:
    """Load one uploaded file; an earlier upload of the same name is replaced.

    Bytes that an upload of another name already brought are not added again; a notice names that one. Bytes that a
    sample or a file of a folder has too are added, with a notice.
    """
    with catalogue.adding:
        name = _on_one_line(name)
        source = UPLOADS_PREFIX + name
        records = catalogue.documents()
        known = next((record for record in records if record.source == source), None)
        failures = {failure.source: failure for failure in catalogue.failures()}
        tally = Tally()
        same = _same_bytes(records, path, name, source)
        if same and not known and same.source.startswith(UPLOADS_PREFIX):
            _forget_failure(catalogue, source, failures)
            tally.lists["kept"].append(name)
            tally.lists["notices"].append(f"{name}: the same file is already here as {same.name}.")
            return tally.report()
        _add(catalogue, _File(path, name, source, known, pdf_loader=pdf_loader), failures, tally)
        if same and (tally.lists["added"] or tally.lists["changed"]):
            place = "" if same.source.startswith(UPLOADS_PREFIX) else f" ({_origin(same)})"
            tally.lists["notices"].append(f"{name}: the same file is also here as {same.name}{place}.")
        return tally.report()


def _same_bytes(records: Iterable[DocumentRecord], path: Path, name: str, source: str) -> DocumentRecord | None:
    """Another document that was loaded from the same bytes, an upload where there is one."""
    try:
        wanted = _bytes_hash(loaders.read(path, name))
    except (OSError, LoadError):
        return None
    same = [record for record in records if record.bytes_hash == wanted and record.source != source]
    return min(same, key=lambda record: not record.source.startswith(UPLOADS_PREFIX), default=None)


def _origin(record: DocumentRecord) -> str:
    return "a sample" if record.source.startswith(SAMPLES_PREFIX) else record.source


def _add(catalogue: Catalogue, file: _File, failures: Mapping[str, FileFailure], tally: Tally) -> None:
    def fail(reason: str) -> None:
        tally.lists["failed"].append(Failure(file.name, reason))
        failure = FileFailure(file.source, file.name, reason)
        if failures.get(file.source) != failure:
            catalogue.save_failure(failure)

    known, before = file.known, file.before
    try:
        data = loaders.read(file.path, file.name)
    except OSError as error:
        return fail(f"cannot be read ({error.strerror or error})")
    except LoadError as error:
        return fail(error.reason)
    file_hash = _file_hash(data, file.name, file.reader)
    if known and known.file_hash == file_hash:
        _forget_failure(catalogue, file.source, failures)
        return tally.lists["kept"].append(file.name)
    try:
        document = _moved(catalogue, file, data) or loaders.parse(data, file.path, file.name, file.source, file.reader)
    except LoadError as error:
        for record in (record for record in (known, before) if record):
            # What the file used to say is no longer so; an old text must not be quoted.
            catalogue.remove_document(record.id)
        return fail(error.reason)
    catalogue.save_document(document, file_hash, _bytes_hash(data))
    _forget_failure(catalogue, file.source, failures)
    if before:
        _take_over(catalogue, before, file.source)
        same_name = before.name == file.name
        old, new = (before.source, file.source) if same_name else (before.name, file.name)
        return tally.lists["renamed"].append(f"{old} → {new}")
    tally.lists["changed" if known else "added"].append(file.name)


def _moved(catalogue: Catalogue, file: _File, data: bytes) -> Document | None:
    """The document as it was loaded from the same bytes under another name; None where it must be loaded."""
    before = file.before
    if before is None or before.notices or Path(before.source).suffix.lower() != file.path.suffix.lower():
        return None  # a notice may bear the name, and another ending another loader
    document = catalogue.document(before.id) if before.file_hash == _file_hash(data, before.name, file.reader) else None
    return document and replace(document, name=file.name, source=file.source)


def _take_over(catalogue: Catalogue, before: DocumentRecord, source: str) -> None:
    """Let the renamed document keep its own chunker, and forget the one it was."""
    chunker = catalogue.overrides().get(before.source)
    if chunker:
        catalogue.set_override(source, chunker)
        catalogue.set_override(before.source, "")
    catalogue.remove_document(before.id)


def _forget_failure(catalogue: Catalogue, source: str, failures: Mapping[str, FileFailure]) -> None:
    if source in failures:
        catalogue.forget_failure(source)


def _bytes_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _file_hash(data: bytes, name: str, pdf_loader: str) -> str:
    by = f" {pdf_loader}" if pdf_loader != loaders.PDF else ""
    return hashlib.sha256(f"{LOADERS_VERSION}{by} {name} ".encode() + data).hexdigest()


def refresh_samples(catalogue: Catalogue, progress: Progress = quiet) -> SyncReport:
    """Load those samples anew that are in the workspace and that came otherwise with this version of the program."""
    sources = [record.source for record in catalogue.documents() if record.source.startswith(SAMPLES_PREFIX)]
    files = [SAMPLES_FOLDER / source.removeprefix(SAMPLES_PREFIX) for source in sources]
    return replace(add_paths(catalogue, files, progress), kept=()) if files else SyncReport()


def remove_samples(catalogue: Catalogue) -> SyncReport:
    """Take the shipped samples out of the workspace for good."""
    samples = [record for record in catalogue.documents() if record.source.startswith(SAMPLES_PREFIX)]
    catalogue.set_samples(SAMPLES_REMOVED)
    for record in samples:
        catalogue.remove_document(record.id)
    for failure in catalogue.failures():
        if failure.source.startswith(SAMPLES_PREFIX):
            catalogue.forget_failure(failure.source)
    return SyncReport(removed=tuple(record.name for record in samples))
