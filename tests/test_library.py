"""Files and folders as people keep them: links, devices, folders that cannot be read, files that went away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library, loaders
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError, SettingsError
from rag.library import Failure, add_paths
from rag.workspace import Workspace
from tests.support import client, m1, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1())


def test_a_link_that_left_its_folder_takes_its_document_along(workspace: Workspace, tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", a_txt=KILNS)
    folder = write_files(tmp_path / "folder", b_txt=GLAZE)
    (folder / "link.txt").symlink_to(outside / "a.txt")
    sync(workspace, folder)
    assert stored(workspace) == [("b.txt", GLAZE), ("link.txt", KILNS)]
    (folder / "link.txt").unlink()
    assert sync(workspace, folder)[0].removed == ("link.txt",)
    assert stored(workspace) == [("b.txt", GLAZE)]


def test_a_single_file_that_is_gone_is_removed_when_it_is_named_again(workspace: Workspace, tmp_path: Path) -> None:
    file = write_files(tmp_path / "files", a_txt=KILNS) / "a.txt"
    sync(workspace, file)
    file.unlink()
    assert sync(workspace, file)[0].removed == ("a.txt",)
    assert stored(workspace) == []


def test_a_folder_that_cannot_be_looked_into_keeps_its_documents(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "folder", a_txt=KILNS)
    locked = write_files(folder / "locked", b_txt=GLAZE)
    sync(workspace, folder)
    scandir = os.scandir

    def refusing(path):
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    report = add_paths(workspace.catalogue, [folder])
    assert report.failed == (Failure(str(locked), "this folder cannot be looked into"),)
    assert report.removed == () and len(workspace.catalogue.documents()) == 2


def test_a_file_that_cannot_be_read_for_now_keeps_its_document(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "folder", a_txt=KILNS)
    sync(workspace, folder)

    def refuse(path: Path, name: str) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(loaders, "read", refuse)
    report = add_paths(workspace.catalogue, [folder])
    assert report.failed == (Failure("a.txt", "cannot be read (Permission denied)"),)
    assert len(workspace.catalogue.documents()) == 1


def test_what_is_no_file_is_never_opened(workspace: Workspace, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    huge = tmp_path / "huge.iso"
    huge.touch()
    os.truncate(huge, 50_000_000_000)
    report = add_paths(workspace.catalogue, [tmp_path / "pipe.txt", huge])
    assert [failure.name for failure in report.failed] == ["pipe.txt", "huge.iso"]
    assert report.failed[0].reason == "not a file"
    assert "files of this kind cannot be read" in report.failed[1].reason


def test_samples_keep_their_names_whichever_folder_is_given(workspace: Workspace) -> None:
    add_paths(workspace.catalogue, [SAMPLES_FOLDER / "faq.csv"])
    report = add_paths(workspace.catalogue, [SAMPLES_FOLDER / "faq.csv", SAMPLES_FOLDER])
    assert "faq.csv" in report.kept
    assert {record.name for record in workspace.catalogue.documents()} == {
        path.name for path in loaders.find_files(SAMPLES_FOLDER)
    }


def test_chunks_that_the_store_lost_are_written_again(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "folder", a_txt=KILNS, b_txt=GLAZE)
    sync(workspace, folder)
    fingerprint = settings_for().fingerprint()
    (lost,) = (record for record in workspace.catalogue.documents() if record.name == "a.txt")
    workspace.store.delete_chunks(fingerprint, workspace.store.chunk_ids(fingerprint, lost.id))
    built = sync(workspace, folder)[1]
    assert (built.changed, built.kept, built.stored) == (("a.txt",), ("b.txt",), 1)
    assert stored(workspace) == [("a.txt", KILNS), ("b.txt", GLAZE)]


def test_a_rebuild_writes_every_document_anew(workspace: Workspace, tmp_path: Path) -> None:
    sync(workspace, write_files(tmp_path / "folder", a_txt=KILNS, b_txt=GLAZE))
    assert workspace.build(settings_for()).kept == ("a.txt", "b.txt")
    built = workspace.build(settings_for(), rebuild=True)
    assert (built.changed, built.stored) == (("a.txt", "b.txt"), 2)


@pytest.mark.parametrize("change", [{"language": "klingon"}, {"chunker": "cleaver"}])
def test_an_unknown_language_or_chunker_leaves_no_index(workspace: Workspace, tmp_path: Path, change: dict) -> None:
    add_paths(workspace.catalogue, [write_files(tmp_path / "folder", a_txt=KILNS)])
    with pytest.raises(SettingsError, match=f"'{next(iter(change.values()))}'"):
        workspace.build(settings_for(**change))
    assert workspace.catalogue.indexes() == ()


def test_only_the_default_workspace_is_given_the_samples(workspace: Workspace) -> None:
    assert workspace.start(settings_for()) == library.SyncReport()
    assert workspace.catalogue.documents() == ()


def test_an_empty_path_is_refused(environment: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    from rag.__main__ import _parser
    from rag.commands import index

    options = _parser().parse_args(["index", "", "--workspace", "nobody"])
    with pytest.raises(RagError, match="An empty path was given"):
        index(options, environment, library.quiet)


def test_line_ends_in_a_file_name_are_no_line_ends_in_lists_and_prompts(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    (folder / "a.txt").rename(folder / "a\n\t[Source 1].txt")
    assert sync(workspace, folder)[0].added == ("a  [Source 1].txt",)
    assert sync(workspace, folder)[0].kept == ("a  [Source 1].txt",)
    assert stored(workspace) == [("a  [Source 1].txt", KILNS)]


def test_a_path_that_cannot_be_is_reported_and_stops_nothing(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    (folder / "circle.txt").symlink_to(folder / "circle.txt")
    paths = [folder / "circle.txt", folder / "nul\0.txt", folder / "half\ud800.txt", folder / ("x" * 300), folder]
    added, built = sync(workspace, *paths)
    assert [failure.reason for failure in added.failed] == [
        *["no such file or folder"] * 3, "cannot be read (File name too long)",
    ]  # fmt: skip
    assert added.added == built.added == ("a.txt",)
