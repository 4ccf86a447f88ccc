"""Reported faults of syncs and deletions, with the very inputs and others of their kind: from files to answers."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library
from rag.environment import Environment
from rag.errors import IndexMismatchError, ProviderError
from rag.funnel import run_funnel
from rag.listing import remove
from rag.workspace import Workspace
from tests.support import client, m1, m2, m3, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
NAMES = {
    "of the report": ["report.txt", "annual report.txt", "report-2.txt", "Report.txt", "the.txt"],
    "patterns": ["100%.txt", "100_.txt", "*.txt", "100.txt", "?.txt", "[1].txt"],
    "quotes": ["it's.txt", 'say "hi".txt', "say hi.txt", "back\\slash.txt", "its.txt"],
    "normal forms": [unicodedata.normalize(form, "café.txt") for form in ("NFC", "NFD")] + ["cafe.txt"],
    "stop words": ["and.txt", "or not.txt", "not.txt", "a.txt", "the a.txt"],
}


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1(), m2(), m3())


def found(workspace: Workspace, question: str) -> list[str]:
    """The texts that both lists of the funnel find, the sparse list's first."""
    trace = run_funnel(question, (), settings_for(), workspace, answer=False)
    return [trace.chunks[hit.chunk_id].text for name in ("sparse", "dense") for hit in trace.stage(name).hits]


@pytest.mark.parametrize("other", ["m2", "m3"])
def test_b14_another_model_is_stopped_before_anything_is_written_or_asked(
    workspace: Workspace, client: WeaviateClient, tmp_path: Path, other: str
) -> None:
    sync(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    collections = set(client.collections.list_all())
    write_files(tmp_path / "files", b_txt="Glaze is glass.")
    library.add_paths(workspace.catalogue, [tmp_path / "files"])
    size = workspace.embedder(other).dimensions
    words = rf"indexed with m1 \(8 numbers a vector\); {other} \({size} numbers\) needs an index of its own"
    for attempt in (
        lambda: workspace.build(settings_for(other)),
        lambda: run_funnel("kiln", (), settings_for(other), workspace),
    ):
        with pytest.raises(IndexMismatchError, match=words):
            attempt()
    assert set(client.collections.list_all()) == collections
    assert stored(workspace) == [("a.txt", KILNS)]
    # Offered and taken: an index of its own, beside the other.
    assert workspace.build(settings_for(other), other_embedder=True).stored == 2
    assert workspace.build(settings_for()).added == ("b.txt",) and len(stored(workspace)) == 2


@pytest.mark.parametrize("kind", NAMES)
def test_b17_exactly_the_named_file_goes_and_a_filter_finds_exactly_one(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    names = list(NAMES[kind])
    folder = tmp_path / "files"
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_text(f"Kilns of number{number}.")
    texts = {name: f"Kilns of number{number}." for number, name in enumerate(names)}
    sync(workspace, folder)
    fingerprint = settings_for().fingerprint()
    while names:
        for name in names:
            document_id = next(record.id for record in workspace.catalogue.documents() if record.name == name)
            for hits in (
                workspace.store.dense(fingerprint, m1().vector("kilns"), 50, documents=[document_id]),
                workspace.store.sparse(fingerprint, ("kiln",), 50, 1, documents=[document_id]),
            ):
                chunks = workspace.store.chunks(fingerprint, [hit.chunk_id for hit in hits]).values()
                assert [(chunk.document, chunk.text) for chunk in chunks] == [(name, texts[name])]
        gone = names.pop(0)
        assert remove(workspace.catalogue, [gone]).removed == (gone,)
        workspace.prune()
        assert stored(workspace) == sorted((name, texts[name]) for name in names)
        assert sorted(set(found(workspace, "kilns"))) == sorted(texts[name] for name in names)


def test_b18_what_is_no_longer_in_the_files_is_not_found(workspace: Workspace, tmp_path: Path) -> None:
    def rules(count: int) -> str:
        return "\n\n".join(f"# Rule {number}\n\nNever exceed limit{number}." for number in range(count))

    folder = write_files(tmp_path / "files", rules_md=rules(12), other_md="# Other\n\nUnmoved limits.")
    sync(workspace, folder)
    assert len(stored(workspace)) == 13 and "limit11" in found(workspace, "limit11")[0]
    for step, left in (
        (lambda: write_files(folder, rules_md=rules(3)), 3),
        (lambda: write_files(folder, rules_md=""), 0),
        (lambda: (folder / "rules.md").unlink(), 0),
        (lambda: (folder / "other.md").rename(folder / "moved.md"), 0),
    ):
        step()
        sync(workspace, folder)
        names = [name for name, _ in stored(workspace)]
        assert names.count("rules.md") == left and len(names) == left + 1
        assert not any("limit11" in text for text in found(workspace, "limit11"))
    assert names == ["moved.md"]


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_b19_a_failed_reindex_leaves_the_old_version_and_is_not_taken_for_done(
    workspace: Workspace, tmp_path: Path, batch: int
) -> None:
    def manual(version: str) -> str:
        return "\n\n".join(f"# Part {number}\n\nThe {version} of part {number}." for number in range(40))

    folder = write_files(tmp_path / "files", manual_md=manual("original"), other_md="# Other\n\nText.")
    sync(workspace, folder)
    before, model = stored(workspace), workspace.embedder("m1")
    write_files(folder, manual_md=manual("revision"))
    library.add_paths(workspace.catalogue, [folder])
    model.fail_from = model.batches + batch
    for _ in range(2):  # the failed run is not taken for done by the next
        report = workspace.build(settings_for())
        assert [failure.name for failure in report.failed] == ["manual.md"] and report.kept == ("other.md",)
        assert stored(workspace) == before
    held = {
        record.name: record.content_hash
        for record in workspace.catalogue.indexed(settings_for().fingerprint()).values()
    }
    now = {record.name: record.content_hash for record in workspace.catalogue.documents()}
    assert held["manual.md"] != now["manual.md"] and held["other.md"] == now["other.md"]
    with pytest.raises(ProviderError):
        model.embed_documents(["still broken"])
    model.fail_from = None
    assert workspace.build(settings_for()).changed == ("manual.md",)
    assert len(stored(workspace)) == 41
    assert not any("original" in text for text in found(workspace, "the original"))
