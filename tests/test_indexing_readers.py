"""What somebody who asks sees while documents are written, a sync is broken off, or an index is dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from weaviate import WeaviateClient

from rag import library, writing
from rag.embedders import CachedEmbedder
from rag.environment import Environment
from rag.errors import Cancelled, ProviderError, RagError, StoreError
from rag.funnel import run_funnel
from rag.library import Failure
from rag.reading import consistent
from rag.workspace import Workspace
from tests.support import (
    StubEmbedder,
    client,
    m1,
    open_test_workspace,
    settings_for,
    stored,
    sync,
    write_files,
)

__all__ = ["client"]
SETTINGS = settings_for(answerer="extractive")


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1(), StubEmbedder("minilm", 64))


def manual(version: str, parts: int = 6) -> str:
    return "\n\n".join(f"# Part {number}\n\nKilns of {version}, part {number}." for number in range(parts))


def lists(workspace: Workspace, question: str = "kilns") -> tuple[list[str], list[str]]:
    """The texts of the dense and of the sparse list, in the funnel's own way."""
    trace = run_funnel(question, (), SETTINGS, workspace, answer=False)
    return tuple(
        [trace.chunks[hit.chunk_id].text.split("\n\n")[-1] for hit in trace.stage(name).hits]
        for name in ("dense", "sparse")
    )


def versions(workspace: Workspace) -> Counter[str]:
    """How many passages of each version both lists hold, which must agree."""
    dense, sparse = lists(workspace)
    assert sorted(dense) == sorted(sparse)
    return Counter(text.split()[2].rstrip(",") for text in dense)


def at_each_step(monkeypatch: pytest.MonkeyPatch, workspace: Workspace, look) -> list:
    """What ``look()`` gives before and after every call by which the sync changes something."""
    found = []

    def watched(owner: object, name: str) -> None:
        real = getattr(owner, name)

        def run(*arguments, **options):
            found.append(look())
            result = real(*arguments, **options)
            found.append(look())
            return result

        monkeypatch.setattr(owner, name, run)

    for name in ("write", "delete_chunks"):
        watched(workspace.store, name)
    for name in ("put_many", "delete_many"):
        watched(workspace.catalogue._records, name)
    return found


def test_a_changed_document_is_seen_whole_at_every_step(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", a_md=manual("old"), b_md=manual("other", 2))
    sync(workspace, folder, settings=SETTINGS)
    write_files(folder, a_md=manual("new", 9))
    library.add_paths(workspace.catalogue, [folder])
    seen = at_each_step(monkeypatch, workspace, lambda: versions(workspace))
    workspace.build(SETTINGS)
    assert len(seen) > 8
    old, new = {"old": 6, "other": 2}, {"new": 9, "other": 2}
    switched = seen.index(new)
    assert switched > 0 and all(one == old for one in seen[:switched]) and all(one == new for one in seen[switched:])


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda folder: (folder / "a.md").unlink(), {"other": 2}),
        (lambda folder: write_files(folder, c_md=manual("new", 3)), {"old": 6, "other": 2, "new": 3}),
    ],
)
def test_a_document_that_comes_or_goes_does_so_at_one_stroke(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change, after: dict[str, int]
) -> None:
    folder = write_files(tmp_path / "files", a_md=manual("old"), b_md=manual("other", 2))
    sync(workspace, folder, settings=SETTINGS)
    change(folder)
    library.add_paths(workspace.catalogue, [folder])
    seen = at_each_step(monkeypatch, workspace, lambda: versions(workspace))
    workspace.build(SETTINGS)
    assert {frozenset(one.items()) for one in seen} == {
        frozenset({"old": 6, "other": 2}.items()),
        frozenset(after.items()),
    }


def test_a_renamed_document_is_never_missing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", a_md=manual("old"))
    sync(workspace, folder, settings=SETTINGS)
    (folder / "a.md").rename(folder / "A.md")
    sent = len(workspace.embedder("m1").texts)
    cached = CachedEmbedder(workspace.embedder("m1"), tmp_path)
    cached.embed_documents([chunk for _, chunk in stored(workspace, SETTINGS)])
    workspace._embedders["m1"] = cached
    assert library.add_paths(workspace.catalogue, [folder]).renamed == ("a.md → A.md",)
    seen = at_each_step(monkeypatch, workspace, lambda: versions(workspace))
    built = workspace.build(SETTINGS)
    assert (built.renamed, built.added, built.removed) == (("a.md → A.md",), (), ())
    assert all(one["old"] in (6, 12) for one in seen) and seen[-1] == {"old": 6}
    assert len(cached.inner.texts) == sent + 6  # those that filled the cache, and none for the new name


def test_the_list_is_full_although_better_places_are_held_by_what_may_not_be_seen(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty new passages that fit the question best are stored and not yet switched to."""
    folder = write_files(
        tmp_path / "files", a_md=manual("old", 3), b_md="\n\n".join(f"# {n}\n\nOven {n}." for n in range(30))
    )
    sync(workspace, folder, settings=SETTINGS)
    few = SETTINGS.changed({"dense_candidates": 8, "sparse_candidates": 8})
    write_files(folder, a_md="\n\n".join(f"# {n}\n\nOven kilns, kilns and kilns {n}." for n in range(40)))
    library.add_paths(workspace.catalogue, [folder])

    def broken(*arguments: object) -> None:
        raise StoreError("The switch was broken off.")

    with monkeypatch.context() as context:
        context.setattr(workspace.catalogue, "switch", broken)
        with pytest.raises(StoreError, match="broken off"):
            workspace.build(SETTINGS)
    assert workspace.store.count(SETTINGS.fingerprint()) == 73
    trace = run_funnel("Oven kilns?", (), few, workspace, answer=False)
    assert [len(trace.stage(name).hits) for name in ("dense", "sparse")] == [8, 8]
    assert not any("Oven kilns" in chunk.text for chunk in trace.chunks.values())
    statistics = workspace.catalogue.statistics(workspace.catalogue.index(SETTINGS.fingerprint()))
    assert statistics.chunks == 33 and statistics.document_frequencies["oven"] == 30
    # The next run takes it up.
    assert workspace.build(SETTINGS).changed == ("a.md",)
    assert len(stored(workspace, SETTINGS)) == 70


def test_stages_kept_of_one_state_are_not_used_for_the_next(workspace: Workspace, tmp_path: Path) -> None:
    from rag.funnel import StageMemory

    folder, memory = write_files(tmp_path / "files", a_md=manual("old")), StageMemory()
    sync(workspace, folder, settings=SETTINGS)
    for version in ("old", "new"):
        write_files(folder, a_md=manual(version))
        sync(workspace, folder, settings=SETTINGS)
        for reused in (False, True):
            trace = run_funnel("kilns", (), SETTINGS, workspace, memory, answer=False)
            assert trace.stage("dense").reused is reused
            assert all(version in chunk.text for chunk in trace.chunks.values())


class Picky(StubEmbedder):
    """Fails for texts that hold the word "poison", and counts its calls."""

    calls = 0

    def embed_documents(self, texts: Sequence[str], progress=None) -> np.ndarray:
        self.calls += 1
        if any("poison" in text for text in texts):
            raise ProviderError("m1 refuses this text.")
        return super().embed_documents(texts, progress)


def test_b19_only_the_guilty_document_fails_of_many_that_are_embedded_at_once(
    client: WeaviateClient, environment: Environment, tmp_path: Path
) -> None:
    model = Picky("m1", 8)
    workspace = open_test_workspace(client, environment, model)
    texts = {f"f{number:02}_txt": f"File {number} on kilns." for number in range(30)}
    folder = write_files(tmp_path / "files", **texts)
    assert sync(workspace, folder)[1].stored == 30 and model.calls == 1
    edited = {name: text + " Edited." for name, text in texts.items()}
    write_files(folder, **{**edited, "f07_txt": "Now with poison."})
    built = sync(workspace, folder)[1]
    assert built.failed == (Failure("f07.txt", "m1 refuses this text."),)
    assert len(built.changed) == 29
    # The guilty one is still there as it was, and is tried again.
    assert ("f07.txt", "File 7 on kilns.") in stored(workspace) and len(stored(workspace)) == 30
    write_files(folder, f07_txt="Cured.")
    assert sync(workspace, folder)[1].changed == ("f07.txt",)
    assert ("f07.txt", "Cured.") in stored(workspace) and len(stored(workspace)) == 30


def test_a_sync_that_is_cancelled_keeps_what_was_finished_and_the_next_goes_on(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "GROUP_DOCUMENTS", 1)
    names = ("a_md", "b_md", "c_md")
    folder = write_files(tmp_path / "files", **{name: manual("old") for name in names})
    sync(workspace, folder, settings=SETTINGS)
    write_files(folder, **{name: manual("new", 15) for name in names})
    library.add_paths(workspace.catalogue, [folder])
    told: list[str] = []

    def stop(message: str, fraction: float | None = None) -> None:
        told.append(message)
        if message.startswith("Indexing b.md: 30 of about 45"):
            raise Cancelled

    with pytest.raises(Cancelled, match="What was finished stays"):
        workspace.build(SETTINGS, stop)
    assert versions(workspace) == Counter(new=15, old=12)
    assert workspace.catalogue.index(SETTINGS.fingerprint()).writing == ()
    assert told[0] == "Indexing a.md" and "Indexing a.md: 15 of about 45 chunks" in told
    assert workspace.build(SETTINGS).changed == ("b.md", "c.md")
    assert len(stored(workspace, SETTINGS)) == 45


@pytest.mark.parametrize("step", ["Reading a.txt", "Indexing a.txt"])
def test_a_first_sync_that_is_cancelled_leaves_nothing_half_done(
    workspace: Workspace, tmp_path: Path, step: str
) -> None:
    folder = write_files(tmp_path / "files", a_txt="The kiln.")

    def stop(message: str, fraction: float | None = None) -> None:
        if message.startswith(step):
            raise Cancelled

    with pytest.raises(Cancelled):
        library.add_paths(workspace.catalogue, [folder], stop)
        workspace.build(SETTINGS, stop)
    assert workspace.catalogue.indexes() == ()
    assert sync(workspace, folder, settings=SETTINGS)[1].stored == 1


def test_an_index_that_is_dropped_while_somebody_asks_is_a_sentence(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(workspace, write_files(tmp_path / "files", a_md=manual("old")), settings=SETTINGS)
    real = workspace.store.dense

    def late(*arguments: object) -> tuple:
        workspace.drop(SETTINGS.fingerprint())
        return real(*arguments)

    monkeypatch.setattr(workspace.store, "dense", late)
    with pytest.raises(RagError, match=r"^There is no index for these settings yet\. Press Build index"):
        run_funnel("kilns", (), SETTINGS, workspace)
    assert len(workspace.catalogue.documents()) == 1
    monkeypatch.undo()
    assert workspace.build(SETTINGS).stored == 6 and versions(workspace) == {"old": 6}


def test_a_search_that_fails_is_an_error_only_where_the_state_is_still_the_same() -> None:
    states, asked = iter(["one", "two", "two"]), []

    def work(state: str) -> str:
        asked.append(state)
        if state == "one":
            raise StoreError("gone")
        return f"found in {state}"

    assert consistent(lambda: next(states), work) == "found in two" and asked == ["one", "two"]
    with pytest.raises(StoreError, match="gone"):
        consistent(lambda: "one", work)
    assert consistent(lambda: None, work) is None


def test_what_was_found_while_the_state_changed_is_looked_for_again() -> None:
    states = iter(["one", "two", "two", "three"])
    assert consistent(lambda: next(states), lambda state: f"found in {state}") == "found in two"
    assert list(states) == ["three"]
