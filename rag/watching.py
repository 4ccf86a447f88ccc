"""Watched folders: synced on a schedule, by one thread, until told to stop.

A folder that is not there, or where there were documents and now is no file at all, is taken for a disk that is not
mounted: it is reported as failed and its documents stay. Naming it to ``python -m rag index`` removes them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rag import library, loaders
from rag.catalogue import WatchedFolder
from rag.errors import Cancelled, LoadError, RagError
from rag.reports import Failure, Progress, SyncReport, quiet
from rag.settings import Settings
from rag.workspace import Workspace

LOOK_SECONDS = 1.0
FEWEST_SECONDS = 1


def sync_folders(
    workspace: Workspace,
    settings: Settings,
    progress: Progress = quiet,
    folders: Sequence[WatchedFolder] | None = None,
) -> SyncReport:
    """Load what changed in the folders (by default all that are watched and on) and bring the index of these settings
    in line, reconciliation included.

    When and with what outcome each folder was synced is kept in the catalogue, also where the index could not be
    built; that error is raised.
    """
    catalogue = workspace.catalogue
    chosen = [folder for folder in catalogue.folders() if folder.on] if folders is None else list(folders)
    report, outcomes = SyncReport(), {}
    for folder in chosen:
        one = load_folder(workspace, Path(folder.path), progress)
        outcomes[folder.path] = _outcome(one)
        report += one
    try:
        if catalogue.documents() or catalogue.index(settings.fingerprint()):
            built = workspace.build(settings, progress)
            report += replace(built, added=(), changed=(), kept=(), removed=(), renamed=())
    except RagError as error:
        outcomes = {path: f"{outcome}; not indexed: {error}" for path, outcome in outcomes.items()}
        raise
    finally:
        _note(workspace, outcomes)
    return report


def load_folder(workspace: Workspace, path: Path, progress: Progress = quiet) -> SyncReport:
    """Load what changed in one folder, unless it is missing or empty where there were documents: these then stay."""
    records = workspace.catalogue.documents()
    known = library.sources_below(path, [record.source for record in records])
    try:
        files = loaders.find_files(path, unreadable := [], partial(progress, f"Looking through {path}", None))
    except LoadError:
        return SyncReport(failed=(Failure(str(path), "the folder is not there; its documents stay"),))
    if known and not files and not unreadable:
        reason = (
            f"the folder is empty, perhaps a disk that is not mounted; its {len(known)} documents stay "
            "(`python -m rag index` with this path removes them)"
        )
        return SyncReport(failed=(Failure(str(path), reason),))
    return workspace.add_paths([path], progress)


def _outcome(report: SyncReport) -> str:
    failed = "; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed)
    return report.sentence(chunks=False) + (f" ({failed})" if failed else "")


def _note(workspace: Workspace, outcomes: dict[str, str]) -> None:
    """Keep the outcomes with the folders that are still watched; what a person changed meanwhile stays."""
    for folder in workspace.catalogue.folders():
        if folder.path in outcomes:
            workspace.catalogue.save_folder(replace(folder, last=time.time(), outcome=outcomes[folder.path]))


class Watcher:
    """A thread that syncs folders whenever one is due, by default those watched in the catalogue; one sync at a time.

    ``settings`` is asked before each sync, so that the team's choices of the moment count; ``workspace.settings`` will
    do. ``told`` hears of each sync that changed something or failed in another way than the one before; ``error`` is
    "" or why the last one did not come to its end.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: Callable[[], Settings],
        told: Callable[[SyncReport], object] = lambda report: None,
        folders: Callable[[], Sequence[WatchedFolder]] | None = None,
    ):
        self.error = ""
        self._workspace, self._settings, self._told = workspace, settings, told
        self._folders = folders or workspace.catalogue.folders
        self._last: dict[str, float] = {}
        self._failed: tuple[Failure, ...] = ()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watched folders", daemon=True)

    def start(self) -> Watcher:
        """Begin; folders that were never synced are due at once."""
        self._thread.start()
        return self

    def stop(self, seconds: float = 10.0) -> None:
        """End: a sync that runs is cancelled at its next step, and waited for so many seconds."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    @property
    def running(self) -> bool:
        """Whether it watches."""
        return self._thread.is_alive() and not self._stop.is_set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._look()
            except Cancelled:
                return
            except RagError as error:
                self.error = str(error)
            self._stop.wait(LOOK_SECONDS)

    def _look(self) -> None:
        now = time.time()
        due = [folder for folder in self._folders() if folder.on and self._is_due(folder, now)]
        if not due:
            return
        self._last.update((folder.path, now) for folder in due)
        report = sync_folders(self._workspace, self._settings(), self._progress, due)
        self.error = ""
        if report.did_something or report.failed != self._failed:
            self._told(report)
        self._failed = report.failed

    def _is_due(self, folder: WatchedFolder, now: float) -> bool:
        # Another process may have done it meanwhile; where it failed, the time is kept here alone.
        last = max(folder.last, self._last.get(folder.path, 0.0))
        return last + max(folder.seconds, FEWEST_SECONDS) <= now

    def _progress(self, message: str, fraction: float | None = None) -> None:
        if self._stop.is_set():
            raise Cancelled
