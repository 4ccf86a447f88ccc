"""Delta sync: what is stored is exactly what the files say, what did not change costs nothing, faults are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfWriter
from weaviate import WeaviateClient

from rag import chunkers, library, loaders
from rag.environment import Environment
from rag.library import Failure, SyncReport
from rag.schema import Chunk
from rag.workspace import Workspace
from tests.support import client, m1, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."


def searched(workspace: Workspace, *terms: str) -> list[str]:
    """The texts that a keyword search finds."""
    fingerprint = settings_for().fingerprint()
    hits = workspace.store.sparse(fingerprint, terms, 50, 1)
    return [chunk.text for chunk in workspace.store.chunks(fingerprint, [hit.chunk_id for hit in hits]).values()]


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1())


def test_only_what_differs_is_written(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS, b_txt=GLAZE, c_txt="Clay is earth.")
    added, built = sync(workspace, folder)
    assert added == SyncReport(added=("a.txt", "b.txt", "c.txt"))
    assert built == SyncReport(added=("a.txt", "b.txt", "c.txt"), stored=3)
    assert built.sentence() == "3 added, 0 changed, 0 kept, 0 removed, 0 failed; 3 chunks stored"

    write_files(folder, b_txt=GLAZE + " It melts.", d_txt="A wheel turns.")
    (folder / "c.txt").unlink()
    (folder / "a.txt").rename(folder / "kilns.txt")
    added, built = sync(workspace, folder)
    assert added == SyncReport(added=("d.txt",), changed=("b.txt",), removed=("c.txt",), renamed=("a.txt → kilns.txt",))
    assert built == replace(added, stored=3)
    assert built.sentence() == "1 added, 1 changed, 1 renamed, 0 kept, 1 removed, 0 failed; 3 chunks stored"
    assert stored(workspace) == [
        ("b.txt", GLAZE + " It melts."), ("d.txt", "A wheel turns."), ("kilns.txt", KILNS),
    ]  # fmt: skip


def test_what_did_not_change_costs_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS, b_txt=GLAZE)
    sync(workspace, folder)
    index = workspace.catalogue.index(settings_for().fingerprint())
    assert workspace.embedder("m1").texts == [KILNS, GLAZE]

    monkeypatch.setattr(loaders, "load", lambda *arguments: pytest.fail("loaded again"))
    monkeypatch.setattr(chunkers, "chunk", lambda *arguments: pytest.fail("chunked again"))
    monkeypatch.setattr(workspace.store, "write", lambda *arguments: pytest.fail("written again"))
    assert sync(workspace, folder) == (SyncReport(kept=("a.txt", "b.txt")), SyncReport(kept=("a.txt", "b.txt")))
    assert workspace.embedder("m1").texts == [KILNS, GLAZE]
    assert workspace.catalogue.index(settings_for().fingerprint()) == index


def test_a_changed_file_leaves_the_others_alone_and_gives_the_index_a_new_revision(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS, b_txt=GLAZE)
    sync(workspace, folder)
    before = workspace.catalogue.index(settings_for().fingerprint())
    write_files(folder, b_txt="Glaze drips.")
    added, built = sync(workspace, folder)
    assert (added.kept, added.changed, built.kept, built.changed) == (("a.txt",), ("b.txt",), ("a.txt",), ("b.txt",))
    assert workspace.embedder("m1").texts == [KILNS, GLAZE, "Glaze drips."]
    after = workspace.catalogue.index(settings_for().fingerprint())
    assert after == replace(before, revision=after.revision) and after.revision != before.revision


def test_paths_are_added_to_what_is_there_and_one_that_is_missing_stops_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    one, two = write_files(tmp_path / "one", a_txt=KILNS), write_files(tmp_path / "two", a_txt=GLAZE)
    sync(workspace, one)
    added, _ = sync(workspace, two / "a.txt")
    assert added.added == ("a.txt",)
    assert stored(workspace) == [("a.txt", GLAZE), ("a.txt", KILNS)]
    report = library.add_paths(workspace.catalogue, [tmp_path / "nowhere", one])
    assert [(failure.name, failure.reason) for failure in report.failed] == [
        (str(tmp_path / "nowhere"), "no such file or folder")
    ]
    assert report.kept == ("a.txt",) and len(stored(workspace)) == 2


def test_files_without_text_are_named_and_stop_nothing(workspace: Workspace, tmp_path: Path) -> None:
    """B06: a scan of two pages, an empty file and a blank one beside a good file."""
    folder = write_files(tmp_path / "files", empty_txt="", blank_txt=" \n\n \t\n", good_txt=KILNS)
    scan = PdfWriter()
    scan.add_blank_page(200, 200), scan.add_blank_page(200, 200)
    scan.write(folder / "scan.pdf")
    added, built = sync(workspace, folder)
    reasons = {failure.name: failure.reason for failure in added.failed}
    assert reasons.keys() == {"empty.txt", "blank.txt", "scan.pdf"}
    assert all("no text found" in reason for reason in reasons.values())
    assert "perhaps a scan" in reasons["scan.pdf"]
    assert (added.added, built.added) == (("good.txt",), ("good.txt",))
    assert [record.name for record in workspace.catalogue.documents()] == ["good.txt"]
    assert stored(workspace) == [("good.txt", KILNS)]
    # Tried again, and named again, each time.
    assert {failure.name for failure in sync(workspace, folder)[0].failed} == reasons.keys()


def test_empty_sections_are_not_sent_to_the_model(workspace: Workspace, tmp_path: Path) -> None:
    """B13: headings with nothing between them."""
    # The stub fails the test where a text is blank.
    folder = write_files(tmp_path / "files", a_md="# A\n\n## B\n\n## C\n\nText.\n", b_md="# D\n\n\n\n# E\n\nMore.\n")
    assert sync(workspace, folder)[1].failed == ()
    texts = [text for _, text in stored(workspace)]
    assert sum("Text." in text for text in texts) == 1 and sum("More." in text for text in texts) == 1
    # Each vector belongs to its own text.
    for text in texts:
        hit = workspace.store.dense(settings_for().fingerprint(), m1().embed_query(text), 1)[0]
        found = workspace.store.chunks(settings_for().fingerprint(), [hit.chunk_id])[hit.chunk_id]
        assert (found.text, hit.score) == (text, pytest.approx(1, abs=1e-5))


def test_names_that_share_words_are_removed_one_by_one(workspace: Workspace, tmp_path: Path) -> None:
    names = ["report.txt", "annual report.txt", "report-2.txt", "Report.txt", "the.txt"]
    folder = tmp_path / "files"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"What {name} says.")
    sync(workspace, folder)
    for gone in ("report.txt", "the.txt"):
        (folder / gone).unlink()
        names.remove(gone)
        assert sync(workspace, folder)[1].removed == (gone,)
        assert stored(workspace) == sorted((name, f"What {name} says.") for name in names)


def test_a_shorter_file_leaves_no_tail(workspace: Workspace, tmp_path: Path) -> None:
    def rules(count: int) -> str:
        return "\n\n".join(f"# Rule {number}\n\nOne must not exceed{number} it." for number in range(count))

    folder = write_files(tmp_path / "files", rules_md=rules(12), other_md="# Other\n\nUnmoved.")
    sync(workspace, folder)
    assert len(stored(workspace)) == 13 and len(searched(workspace, "exceed11")) == 1
    write_files(folder, rules_md=rules(3))
    assert sync(workspace, folder)[1].changed == ("rules.md",)
    assert [name for name, _ in stored(workspace)] == ["other.md", "rules.md", "rules.md", "rules.md"]
    assert searched(workspace, "exceed11") == [] and len(searched(workspace, "exceed2")) == 1
    write_files(folder, rules_md="")
    added, built = sync(workspace, folder)
    assert (added.failed, built.removed) == ((Failure("rules.md", "no text found"),), ("rules.md",))
    assert [name for name, _ in stored(workspace)] == ["other.md"] and searched(workspace, "rule") == []
    (folder / "rules.md").unlink()
    assert sync(workspace, folder)[0] == SyncReport(kept=("other.md",))
    (folder / "other.md").rename(folder / "moved.md")
    sync(workspace, folder)
    assert [name for name, _ in stored(workspace)] == ["moved.md"]
    (folder / "moved.md").unlink()
    sync(workspace, folder)
    assert stored(workspace) == []


def test_where_embedding_fails_half_way_the_old_version_stays_until_the_next_run(
    workspace: Workspace, tmp_path: Path
) -> None:
    def manual(version: str) -> str:
        return "\n\n".join(f"# Part {number}\n\nThis is {version} of part {number}." for number in range(40))

    folder = write_files(tmp_path / "files", manual_md=manual("firstversion"))
    sync(workspace, folder)
    old = stored(workspace)
    assert len(old) == 40
    model = workspace.embedder("m1")
    model.fail_from = model.batches + 2
    write_files(folder, manual_md=manual("secondversion"))
    added, built = sync(workspace, folder)
    assert added.changed == ("manual.md",)
    assert built == SyncReport(failed=(Failure("manual.md", "m1 timed out. Try again."),))
    assert stored(workspace) == old and len(searched(workspace, "firstvers")) == 40

    model.fail_from = None
    assert sync(workspace, folder) == (SyncReport(kept=("manual.md",)), SyncReport(changed=("manual.md",), stored=40))
    assert len(stored(workspace)) == 40
    assert searched(workspace, "firstvers") == [] and len(searched(workspace, "secondvers")) == 40


def test_a_new_file_whose_embedding_fails_is_not_recorded_as_indexed(workspace: Workspace, tmp_path: Path) -> None:
    workspace.embedder("m1").fail_from = 1
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    assert sync(workspace, folder)[1].failed == (Failure("a.txt", "m1 timed out. Try again."),)
    assert stored(workspace) == []
    workspace.embedder("m1").fail_from = None
    assert sync(workspace, folder)[1] == SyncReport(added=("a.txt",), stored=1)


def fifty_sections() -> str:
    return "\n\n".join(f"# Part {number}\n\nAbout part {number}." for number in range(50))


def spoil(monkeypatch: pytest.MonkeyPatch, positions: dict[int, dict[str, object]]) -> None:
    """Chunks at these positions get values that no store takes."""
    real = chunkers.chunk

    def spoilt(*arguments: object) -> tuple[Chunk, ...]:
        return tuple(replace(chunk, **positions.get(chunk.position, {})) for chunk in real(*arguments))

    monkeypatch.setattr(chunkers, "chunk", spoilt)


def test_a_file_with_refused_chunks_is_incomplete_and_tried_again(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B16: of 50 chunks the store refuses 3, and 47 are stored."""
    folder = write_files(tmp_path / "files", good_txt=KILNS, parts_md=fifty_sections())
    spoil(monkeypatch, {4: {"page_start": "n/a"}, 9: {"start": "9"}, 30: {"page_labels": ("i", 3)}})
    _, built = sync(workspace, folder)
    reason = (
        "3 of 50 chunks were refused (chunk 5: its page_start is 'n/a', not a whole number; "
        "chunk 10: its start is '9', not a whole number; chunk 31: its page_labels is ('i', 3), not a list of texts)"
    )
    assert built == SyncReport(added=("good.txt",), failed=(Failure("parts.md", reason),), stored=48, rejected=3)
    assert "1 failed; 48 chunks stored, 3 failed" in built.sentence()
    assert len(stored(workspace)) == 48
    complete = {
        record.name: record.complete for record in workspace.catalogue.indexed(settings_for().fingerprint()).values()
    }
    assert complete == {"good.txt": True, "parts.md": False}
    monkeypatch.undo()
    assert sync(workspace, folder)[1] == SyncReport(kept=("good.txt",), changed=("parts.md",), stored=50)
    assert len(stored(workspace)) == 51


def test_where_all_chunks_are_refused_the_file_fails_and_the_old_version_stays(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B16: of 50 chunks the store refuses all."""
    folder = write_files(tmp_path / "files", parts_md=fifty_sections())
    with monkeypatch.context() as spoilt:
        spoil(spoilt, {number: {"page_start": "n/a"} for number in range(50)})
        _, built = sync(workspace, folder)
        assert (built.stored, built.rejected, built.failed[0].name) == (0, 50, "parts.md")
        assert built.failed[0].reason.startswith("50 of 50 chunks were refused (chunk 1: its page_start is 'n/a'")
        assert stored(workspace) == []
    sync(workspace, folder)
    old = stored(workspace)
    write_files(folder, parts_md=fifty_sections().replace("About", "On"))
    with monkeypatch.context() as spoilt:
        spoil(spoilt, {number: {"page_start": "n/a"} for number in range(50)})
        assert sync(workspace, folder)[1].rejected == 50
        assert stored(workspace) == old
        statistics = workspace.catalogue.statistics(workspace.catalogue.index(settings_for().fingerprint()))
        assert (statistics.chunks, statistics.document_frequencies["part"]) == (50, 50)
    assert sync(workspace, folder)[1] == SyncReport(changed=("parts.md",), stored=50)
    assert len(stored(workspace)) == 50


def test_what_an_older_version_loaded_is_written_once(workspace: Workspace, tmp_path: Path) -> None:
    """Its hash of the content was made otherwise: that the text was indexed is told by the hash of the record."""
    sync(workspace, write_files(tmp_path / "files", a_txt=KILNS))
    (record,) = workspace.catalogue.documents()
    records = workspace.catalogue._records
    stored_record = records.get("document", record.id)
    records.put("document", record.id, {**stored_record.summary, "content_hash": "older"}, stored_record.body)
    assert workspace.build(settings_for()).changed == ("a.txt",)
    assert workspace.build(settings_for()) == SyncReport(kept=("a.txt",))


def test_a_text_that_changes_between_listing_and_reading_is_known_as_the_one_that_was_read(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    library.add_paths(workspace.catalogue, [folder])
    recorded = workspace.catalogue.recorded

    def changed_first(document_id: str):
        monkeypatch.setattr(workspace.catalogue, "recorded", recorded)
        library.add_paths(workspace.catalogue, [write_files(folder, a_txt=GLAZE)])
        return recorded(document_id)

    monkeypatch.setattr(workspace.catalogue, "recorded", changed_first)
    workspace.build(settings_for())
    assert stored(workspace) == [("a.txt", GLAZE)]
    assert workspace.build(settings_for()) == SyncReport(kept=("a.txt",))
