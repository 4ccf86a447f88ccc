"""What a broken-off run or a careless hand left behind is found at the next sync and put right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library, reconciling
from rag.catalogue import IndexedRecord
from rag.environment import Environment
from rag.library import SyncReport
from rag.weaviate.store import Store, collection_name
from rag.workspace import Workspace
from tests.support import a_chunk, an_entry, client, m1, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."
BOTH = [("a.txt", KILNS), ("b.txt", GLAZE)]
FINGERPRINT = settings_for().fingerprint()


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment, tmp_path: Path) -> Workspace:
    """With two documents in its index."""
    workspace = open_test_workspace(client, environment, m1())
    sync(workspace, write_files(tmp_path / "files", a_txt=KILNS, b_txt=GLAZE))
    return workspace


def ids(workspace: Workspace, name: str) -> set[str]:
    (record,) = (record for record in workspace.catalogue.documents() if record.name == name)
    return workspace.store.chunk_ids(FINGERPRINT, record.id)


def test_nothing_is_looked_through_where_the_counts_agree(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "all_ids", lambda *arguments: pytest.fail("every id was read"))
    before = workspace.catalogue.index(FINGERPRINT)
    assert workspace.build(settings_for()) == SyncReport(kept=("a.txt", "b.txt"))
    assert workspace.catalogue.index(FINGERPRINT) == before


def test_chunks_of_a_document_nobody_knows_go(workspace: Workspace) -> None:
    stray = [an_entry(a_chunk(number, f"Stray {number}.", "stray.md"), m1()) for number in range(3)]
    workspace.store.write(FINGERPRINT, stray, 8)
    assert workspace.build(settings_for()).kept == ("a.txt", "b.txt")
    assert stored(workspace) == BOTH


def test_chunks_that_no_version_shows_go_also_where_the_sum_is_right(workspace: Workspace) -> None:
    """One chunk lost and one too many: only that something was being written tells."""
    (record,) = (record for record in workspace.catalogue.documents() if record.name == "a.txt")
    workspace.store.delete_chunks(FINGERPRINT, ids(workspace, "b.txt"))
    tail = replace(a_chunk(5, "An old tail.", "a.txt"), document_id=record.id)
    workspace.store.write(FINGERPRINT, [an_entry(tail, m1())], 8)
    workspace.catalogue.save_index(replace(workspace.catalogue.index(FINGERPRINT), writing=(record.id,)))
    built = workspace.build(settings_for())
    assert (built.kept, built.changed, built.stored) == (("a.txt",), ("b.txt",), 1)
    assert stored(workspace) == BOTH and workspace.catalogue.index(FINGERPRINT).writing == ()


def test_what_was_being_written_is_told_of_as_finished_once_it_is(workspace: Workspace) -> None:
    workspace.catalogue.save_index(replace(workspace.catalogue.index(FINGERPRINT), writing=("nobody",)))
    assert workspace.build(settings_for()).kept == ("a.txt", "b.txt")
    assert workspace.catalogue.index(FINGERPRINT).writing == ()


def test_an_index_whose_collection_vanished_is_built_anew(workspace: Workspace, client: WeaviateClient) -> None:
    other = settings_for(chunk_size=500)
    workspace.build(other)
    for settings in (settings_for(), other):
        workspace.store.drop_index(settings.fingerprint())
    built = workspace.build(settings_for())
    assert built.stored == 2 and stored(workspace) == BOTH
    # The other one is known no more, so nobody is sent to search it.
    assert [index.fingerprint for index in workspace.catalogue.indexes()] == [FINGERPRINT]
    assert workspace.catalogue.indexed(other.fingerprint()) == {}


def test_records_without_an_index_do_not_pass_for_one(workspace: Workspace) -> None:
    workspace.catalogue.forget_index(FINGERPRINT)
    (record,) = (record for record in workspace.catalogue.documents() if record.name == "a.txt")
    left = IndexedRecord(record.id, record.name, record.content_hash, 1, True)
    workspace.catalogue.save_indexed(FINGERPRINT, left, {}, ["gone"])
    assert workspace.build(settings_for()).added == ("a.txt", "b.txt")
    assert stored(workspace) == BOTH


@pytest.mark.parametrize("step", ["store.drop_index", "catalogue.forget_index"])
def test_a_drop_that_is_broken_off_is_finished_by_the_next_sync(
    workspace: Workspace, client: WeaviateClient, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    other = settings_for(chunk_size=500).fingerprint()
    workspace.build(settings_for(chunk_size=500))
    owner, name = step.split(".")

    def die(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(getattr(workspace, owner), name, die)
        with pytest.raises(KeyboardInterrupt):
            workspace.drop(other)
    # Nobody is told of it from the first step on.
    assert [index.fingerprint for index in workspace.catalogue.indexes()] == [FINGERPRINT]
    assert workspace.catalogue.dropped() == (other,)
    workspace.build(settings_for())
    assert workspace.catalogue.dropped() == () and not client.collections.exists(collection_name(other))
    assert workspace.catalogue.indexed(other) == {} and stored(workspace) == BOTH


def test_what_was_removed_leaves_every_index_at_once_and_without_a_model(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = settings_for(chunk_size=500)
    workspace.build(other)
    (record,) = (record for record in workspace.catalogue.documents() if record.name == "a.txt")
    workspace.catalogue.remove_document(record.id)
    monkeypatch.setattr(workspace, "embedder", lambda name: pytest.fail("a model was asked for"))
    workspace.prune()
    for settings in (settings_for(), other):
        assert stored(workspace, settings) == [("b.txt", GLAZE)]
        assert workspace.catalogue.statistics(workspace.catalogue.index(settings.fingerprint())).chunks == 1


def test_a_sync_of_one_index_takes_removed_documents_out_of_the_others(workspace: Workspace, tmp_path: Path) -> None:
    other = settings_for(chunk_size=500)
    workspace.build(other)
    (tmp_path / "files" / "b.txt").unlink()
    library.add_paths(workspace.catalogue, [tmp_path / "files"])
    workspace.build(other)
    assert stored(workspace) == stored(workspace, other) == [("a.txt", KILNS)]


def test_the_whole_of_a_large_index_is_read_page_by_page(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [an_entry(a_chunk(number, f"Text {number}.", "many.md"), m1()) for number in range(250)]
    workspace.store.write(FINGERPRINT, entries, 8)
    monkeypatch.setattr("rag.weaviate.store.SCAN_PAGE", 100)
    found = workspace.store.all_ids(FINGERPRINT)
    assert found["id of many.md"] == {entry.chunk.id for entry in entries} and len(found) == 3
    index, damaged = reconciling.reconcile(workspace.store, workspace.catalogue, workspace.catalogue.index(FINGERPRINT))
    assert damaged == set() and index.writing == () and workspace.store.count(FINGERPRINT) == 2
