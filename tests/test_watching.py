"""Watched folders: what changed in them is in the index soon after, and a folder that vanished takes nothing along."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag.catalogue import WatchedFolder
from rag.environment import Environment
from rag.errors import IndexMismatchError
from rag.library import Failure, SyncReport
from rag.watching import Watcher, sync_folders
from rag.workspace import Workspace
from tests.support import client, m1, open_test_workspace, settings_for, stored, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1())


def watched(workspace: Workspace, folder: Path, **changes: object) -> None:
    workspace.catalogue.save_folder(WatchedFolder(str(folder), **{"seconds": 1, **changes}))


def wait_for(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


def test_the_folders_that_are_on_are_synced_and_their_outcome_is_kept(workspace: Workspace, tmp_path: Path) -> None:
    one, two = write_files(tmp_path / "one", a_txt=KILNS, bad_txt=""), write_files(tmp_path / "two", b_txt=GLAZE)
    watched(workspace, one)
    watched(workspace, two, on=False)
    begun = time.time()
    report = sync_folders(workspace, settings_for())
    assert (report.added, report.stored) == (("a.txt",), 1)
    assert report.failed == (Failure("bad.txt", "no text found"),)
    first, second = workspace.catalogue.folders()
    assert begun <= first.last <= time.time()
    assert first.outcome == "1 added, 0 changed, 0 kept, 0 removed, 1 failed (bad.txt: no text found)"
    assert (second.last, second.outcome) == (0.0, "")
    assert stored(workspace) == [("a.txt", KILNS)]
    watched(workspace, two)
    assert sync_folders(workspace, settings_for()).added == ("b.txt",)
    workspace.catalogue.forget_folder(str(one))
    assert [folder.path for folder in workspace.catalogue.folders()] == [str(two)]
    assert len(stored(workspace)) == 2  # no longer watched, still there


@pytest.mark.parametrize(
    ("vanish", "words"),
    [
        (shutil.rmtree, "the folder is not there; its documents stay"),
        (
            lambda folder: [path.unlink() for path in folder.iterdir()],
            "the folder is empty, perhaps a disk that is not ",
        ),
    ],
)
def test_a_folder_that_vanished_keeps_its_documents_and_is_named(
    workspace: Workspace, tmp_path: Path, vanish, words: str
) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS, b_txt=GLAZE)
    watched(workspace, folder)
    sync_folders(workspace, settings_for())
    vanish(folder)
    (failure,) = sync_folders(workspace, settings_for()).failed
    assert failure.name == str(folder) and failure.reason.startswith(words)
    assert words in workspace.catalogue.folders()[0].outcome
    assert len(stored(workspace)) == 2
    # One file alone that goes is no such case.
    write_files(folder, a_txt=KILNS)
    assert sync_folders(workspace, settings_for()).removed == ("b.txt",)
    assert stored(workspace) == [("a.txt", KILNS)]


def test_a_sync_of_the_folders_puts_right_what_was_left_unfinished(workspace: Workspace, tmp_path: Path) -> None:
    watched(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    sync_folders(workspace, settings_for())
    fingerprint = settings_for().fingerprint()
    workspace.store.delete_chunks(
        fingerprint, [one for ids in workspace.store.all_ids(fingerprint).values() for one in ids]
    )
    assert sync_folders(workspace, settings_for()).stored == 1
    assert stored(workspace) == [("a.txt", KILNS)]


def test_a_sync_whose_index_cannot_be_built_says_so_with_the_folder(workspace: Workspace, tmp_path: Path) -> None:
    watched(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    sync_folders(workspace, settings_for())
    write_files(tmp_path / "files", a_txt=GLAZE)
    workspace.embedder("m1").dimensions = 12
    with pytest.raises(IndexMismatchError, match="built with m1"):
        sync_folders(workspace, settings_for())
    assert "0 added, 1 changed" in workspace.catalogue.folders()[0].outcome
    assert "; not indexed: The index was built with m1 (8 numbers" in workspace.catalogue.folders()[0].outcome


def test_the_watcher_notices_changes_tells_of_them_and_stops(workspace: Workspace, tmp_path: Path) -> None:
    folder, told = write_files(tmp_path / "files", a_txt=KILNS), []
    watched(workspace, folder)
    watcher = Watcher(workspace, settings_for, told.append).start()
    wait_for(lambda: told)
    assert told == [SyncReport(added=("a.txt",), stored=1)] and watcher.running
    write_files(folder, a_txt=GLAZE, bad_txt="")
    wait_for(lambda: len(told) == 2)
    assert (told[1].changed, told[1].failed) == (("a.txt",), (Failure("bad.txt", "no text found"),))
    last = workspace.catalogue.folders()[0].last
    wait_for(lambda: workspace.catalogue.folders()[0].last > last)
    assert len(told) == 2  # nothing changed, and the same failure is told once
    watcher.stop()
    assert not watcher.running
    write_files(folder, a_txt=KILNS)
    time.sleep(1.5)
    assert stored(workspace) == [("a.txt", GLAZE)]


def test_a_watcher_that_is_stopped_in_the_middle_of_a_sync_ends_at_its_next_step(
    workspace: Workspace, tmp_path: Path
) -> None:
    model, reached, go_on = workspace.embedder("m1"), threading.Event(), threading.Event()
    real = model.vector

    def slow(text: str):
        reached.set()
        go_on.wait(20)
        return real(text)

    model.vector = slow
    watched(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    watcher = Watcher(workspace, settings_for).start()
    assert reached.wait(20)
    watcher.stop(seconds=0)
    go_on.set()
    wait_for(lambda: not watcher._thread.is_alive())
    assert workspace.catalogue.indexes() == ()  # cancelled before anything was written
    model.vector = real
    assert sync_folders(workspace, settings_for()).stored == 1


def test_a_sync_that_fails_is_told_and_the_watcher_goes_on(workspace: Workspace, tmp_path: Path) -> None:
    folder, told = write_files(tmp_path / "files", a_txt=KILNS), []
    sync_folders(workspace, settings_for(), folders=[WatchedFolder(str(folder))])
    watched(workspace, folder)
    workspace.embedder("m1").dimensions = 12
    watcher = Watcher(workspace, settings_for, told.append).start()
    wait_for(lambda: watcher.error)
    assert "built with m1 (8 numbers a vector), which now gives 12" in watcher.error
    workspace.embedder("m1").dimensions = 8
    write_files(folder, a_txt=GLAZE)
    wait_for(lambda: told)
    assert watcher.error == "" and watcher.running
    watcher.stop()
