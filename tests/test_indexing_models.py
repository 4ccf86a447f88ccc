"""Which vectors may stand in an index, samples that stay away, and several that build at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import indexing, leases, library
from rag import workspace as workspace_module
from rag.catalogue import SAMPLES_REMOVED
from rag.environment import Environment
from rag.errors import Cancelled, IndexMismatchError, RagError, SettingsError
from rag.library import SyncReport
from rag.weaviate import connection
from rag.workspace import Workspace
from tests.support import client, fresh_name, m1, m2, m3, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1(), m2(), m3())


def test_a_first_run_whose_model_fails_leaves_no_index_of_a_wrong_size(workspace: Workspace, tmp_path: Path) -> None:
    model = workspace.embedder("m1")
    model.dimensions, model.fail_from = None, 1  # the size is known only with the first answer
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    assert sync(workspace, folder)[1].failed[0].reason == "m1 timed out. Try again."
    assert workspace.catalogue.indexes() == ()
    with pytest.raises(RagError, match="There is no index for these settings yet"):
        workspace.index(settings_for())
    model.fail_from = None
    assert sync(workspace, folder)[1].stored == 1
    assert workspace.index(settings_for()).dimensions == 8


def test_another_model_is_stopped_before_anything_is_written(workspace: Workspace, tmp_path: Path) -> None:
    """B14: m1 gives 8 numbers, m2 gives 12, and m3 gives 8 but is another model."""
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    sync(workspace, folder)
    write_files(folder, b_txt=GLAZE)
    library.add_paths(workspace.catalogue, [folder])
    for name, size in (("m2", 12), ("m3", 8)):
        with pytest.raises(IndexMismatchError) as caught:
            workspace.build(settings_for(name))
        assert str(caught.value) == (
            f"The documents are indexed with m1 (8 numbers a vector); {name} ({size} numbers) needs an index of "
            "its own. Nothing was written. Press Build index on the page, or run "
            f"`python -m rag index --rebuild --set embedder={name}`."
        )
        with pytest.raises(IndexMismatchError, match=f"indexed with m1 .*; {name} "):
            workspace.index(settings_for(name))
        assert workspace.embedder(name).texts == []
        assert not workspace.store.has_index(settings_for(name).fingerprint())
    assert stored(workspace) == [("a.txt", KILNS)]

    built = workspace.build(settings_for("m2"), rebuild=True)
    assert built == SyncReport(added=("a.txt", "b.txt"), stored=2, differences=("embedder m1 → m2",))
    assert workspace.index(settings_for("m2")).dimensions == 12
    with pytest.raises(IndexMismatchError, match="m3"):
        workspace.build(settings_for("m3"))


def test_a_model_that_changes_its_size_under_the_same_name_is_stopped(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    sync(workspace, folder)
    write_files(folder, b_txt=GLAZE)
    for known in (12, None):  # the size may show only with the first answer
        changed = m2()
        changed.name, changed.dimensions = "m1", known
        workspace._embedders["m1"] = changed
        library.add_paths(workspace.catalogue, [folder])
        with pytest.raises(
            IndexMismatchError, match=r"built with m1 \(8 numbers a vector\), which now gives 12\. Nothing was"
        ):
            workspace.build(settings_for())
        assert stored(workspace) == [("a.txt", KILNS)]
    assert workspace.build(settings_for(), rebuild=True).stored == 2
    assert workspace.index(settings_for()).dimensions == 12


def test_settings_that_share_no_plan_have_indexes_of_their_own(workspace: Workspace, tmp_path: Path) -> None:
    sync(workspace, write_files(tmp_path / "files", a_md=f"# A\n\n{KILNS}\n\n{GLAZE}"))
    paragraphs = settings_for(chunker="paragraph", chunk_overlap=0)
    assert workspace.build(paragraphs).stored == 2
    assert len(stored(workspace)) == 1 and len(stored(workspace, paragraphs)) == 2


def test_samples_come_by_themselves_once_and_never_again_when_removed(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = write_files(tmp_path / "samples", a_txt=KILNS, b_txt=GLAZE)
    monkeypatch.setattr(library, "SAMPLES_FOLDER", samples)
    monkeypatch.setattr(workspace_module, "SAMPLES_FOLDER", samples)
    monkeypatch.setattr(workspace_module, "DEFAULT_WORKSPACE", workspace.store.workspace)
    assert workspace.start(settings_for()).stored == 2
    own = write_files(tmp_path / "own", c_txt="Clay is earth.")
    sync(workspace, own)
    assert library.remove_samples(workspace.catalogue).removed == ("a.txt", "b.txt")
    assert workspace.catalogue.samples() == SAMPLES_REMOVED
    for _ in range(2):
        workspace.start(settings_for())
        assert stored(workspace) == [("c.txt", "Clay is earth.")]
    sync(workspace, samples)  # named by a person, they come back
    assert len(stored(workspace)) == 3


def test_two_that_build_at_once_both_end_with_the_same_whole_index(environment: Environment, tmp_path: Path) -> None:
    texts = {f"f{number}_txt": f"File {number}. {KILNS}" for number in range(12)}
    folder, name = write_files(tmp_path / "files", **texts), fresh_name()

    def build(_: int) -> SyncReport:
        with connection.connected(environment) as own:
            return sync(open_test_workspace(own, environment, m1(), name=name), folder)[1]

    with ThreadPoolExecutor(3) as pool:
        reports = list(pool.map(build, range(3)))
    assert [report.failed for report in reports] == [(), (), ()]
    with connection.connected(environment) as own:
        assert len(stored(open_test_workspace(own, environment, m1(), name=name))) == 12


def test_who_waits_for_another_sync_says_so_and_can_be_cancelled(workspace: Workspace, tmp_path: Path) -> None:
    sync(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    told: list[str] = []

    def stop(message: str, fraction: float | None = None) -> None:
        told.append(message)
        raise Cancelled

    with indexing.only_one(workspace.environment.data_folder, workspace.store.workspace), pytest.raises(Cancelled):
        workspace.build(settings_for(), stop)
    assert told == ["Waiting for another sync of these documents"]
    assert workspace.build(settings_for()).kept == ("a.txt",)


def test_another_machine_that_is_syncing_is_waited_for_and_one_that_died_only_for_its_lease(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    assert workspace.catalogue.writer()[1] == 0.0  # given back
    workspace.catalogue.set_writer("another machine", time.time() + 1.2)
    told: list[str] = []
    assert workspace.build(settings_for(), lambda message, fraction=None: told.append(message)).kept == ("a.txt",)
    assert set(told) == {"Waiting for another machine's sync of these documents"} and 2 <= len(told) <= 4
    # A sync of this machine that was killed holds up nobody here.
    own = leases.holder_of(workspace.environment.data_folder)
    workspace.catalogue.set_writer(own, time.time() + 100)
    told.clear()
    workspace.build(settings_for(), lambda message, fraction=None: told.append(message))
    assert told == []
    monkeypatch.setattr(leases, "PATIENCE_SECONDS", 0.1)
    workspace.catalogue.set_writer("another machine", time.time() + 100)
    with pytest.raises(RagError, match="Another machine has been syncing these documents"):
        workspace.drop(settings_for().fingerprint())
    assert len(stored(workspace)) == 1


def test_a_lease_is_renewed_while_the_work_goes_on(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.05)
    with leases.leased(workspace.catalogue, "me", lambda *arguments: None):
        first = workspace.catalogue.writer()
        time.sleep(0.5)
        holder, until = workspace.catalogue.writer()
        assert holder == first[0] == "me" and until > first[1] > time.time()
    assert workspace.catalogue.writer() == ("me", 0.0)


def test_a_file_name_that_is_no_text_is_cleaned(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    try:
        (folder / "caf\udce9.txt").write_text(KILNS)
    except OSError:  # a file system that takes only UTF-8 has no such names
        (folder / "caf.txt").write_text(KILNS)
    added, built = sync(workspace, folder)
    assert (added.added, built.stored) == (("caf.txt",), 1)
    assert stored(workspace) == [("caf.txt", KILNS)]
    assert sync(workspace, folder) == (SyncReport(kept=("caf.txt",)), SyncReport(kept=("caf.txt",)))


def test_b15_a_text_that_the_model_does_not_read_whole_is_named_in_the_report(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = workspace.embedder("m1")
    monkeypatch.setattr(
        model, "notices", lambda texts: {0: f"m1 reads only the first 9 of these {len(texts[0])} characters."}
    )
    built = sync(workspace, write_files(tmp_path / "files", a_txt=KILNS))[1]
    assert built.notices == (f"a.txt, chunk 1: m1 reads only the first 9 of these {len(KILNS)} characters.",)
    assert built.added == ("a.txt",) and not built.failed


def test_settings_that_cannot_be_are_told_at_once_and_not_document_by_document(
    workspace: Workspace, tmp_path: Path
) -> None:
    settings = settings_for(**{"chunker": "token", "chunker.tokens": 8, "chunker.overlap": 8})
    with pytest.raises(SettingsError, match="chunker.overlap is 8 tokens; it must be less than chunker.tokens"):
        sync(workspace, write_files(tmp_path / "files", a_txt=KILNS), settings=settings)
    assert workspace.catalogue.index(settings.fingerprint()) is None
    assert sync(workspace, tmp_path / "files")[1].added == ("a.txt",)
