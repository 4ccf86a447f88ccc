"""Uploads, renames and files that fail: nothing is doubled, nothing is lost, and what failed stays visible."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library, loaders
from rag.catalogue import Catalogue, FileFailure
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import SettingsError
from rag.library import Failure, SyncReport, add_paths, add_upload
from rag.listing import remove
from rag.workspace import Workspace
from tests.support import client, m1, open_test_workspace, settings_for, stored, sync, write_files

__all__ = ["client"]
KILNS = "The kiln heats clay to a thousand degrees."
GLAZE = "Glaze is ground glass in water."


@pytest.fixture
def workspace(client: WeaviateClient, environment: Environment) -> Workspace:
    return open_test_workspace(client, environment, m1())


@pytest.fixture
def catalogue(workspace: Workspace) -> Catalogue:
    return workspace.catalogue


def upload(catalogue: Catalogue, folder: Path, name: str, text: str) -> SyncReport:
    path = folder / f"sent{Path(name).suffix}"
    path.write_text(text, encoding="utf-8")
    return add_upload(catalogue, path, name)


def names(catalogue: Catalogue) -> list[str]:
    return [record.name for record in catalogue.documents()]


def test_the_same_bytes_are_uploaded_once_under_whatever_name(catalogue: Catalogue, tmp_path: Path) -> None:
    assert upload(catalogue, tmp_path, "a.txt", KILNS) == SyncReport(added=("a.txt",))
    assert upload(catalogue, tmp_path, "a.txt", KILNS) == SyncReport(kept=("a.txt",))
    again = upload(catalogue, tmp_path, "b.txt", KILNS)
    assert again == SyncReport(kept=("b.txt",), notices=("b.txt: the same file is already here as a.txt.",))
    assert names(catalogue) == ["a.txt"]
    assert upload(catalogue, tmp_path, "b.txt", GLAZE) == SyncReport(added=("b.txt",))
    # Another file under a name that is taken replaces it, also where its bytes are there under a third name.
    replaced = upload(catalogue, tmp_path, "a.txt", GLAZE)
    assert replaced == SyncReport(changed=("a.txt",), notices=("a.txt: the same file is also here as b.txt.",))


def test_the_same_bytes_uploaded_by_many_at_once_are_there_once(catalogue: Catalogue, tmp_path: Path) -> None:
    def send(number: int) -> SyncReport:
        folder = tmp_path / str(number)
        folder.mkdir()
        return upload(catalogue, folder, f"{number}.txt", KILNS)

    with ThreadPoolExecutor(6) as pool:
        reports = list(pool.map(send, range(6)))
    assert sum(len(report.added) for report in reports) == 1 and len(names(catalogue)) == 1


def test_an_upload_of_a_file_from_a_folder_or_of_a_sample_is_added_with_a_notice(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    add_paths(catalogue, [folder, SAMPLES_FOLDER / "faq.csv"])
    report = upload(catalogue, tmp_path, "mine.txt", KILNS)
    place = folder / "a.txt"
    assert report == SyncReport(
        added=("mine.txt",), notices=(f"mine.txt: the same file is also here as a.txt ({place}).",)
    )
    faq = add_upload(catalogue, SAMPLES_FOLDER / "faq.csv", "my faq.csv")
    assert faq.notices == ("my faq.csv: the same file is also here as faq.csv (a sample).",)
    assert sorted(names(catalogue)) == ["a.txt", "faq.csv", "mine.txt", "my faq.csv"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.txt", "b.txt"),
        ("report.txt", "Report.txt"),
        (unicodedata.normalize("NFC", "café.txt"), unicodedata.normalize("NFD", "café.txt")),
        ("100%_a*.txt", "'quoted' \"name\".txt"),
        ("the.txt", "a.md"),
    ],
)
def test_the_same_bytes_under_another_name_are_one_renamed_document(
    workspace: Workspace, tmp_path: Path, old: str, new: str
) -> None:
    folder = write_files(tmp_path / "files", z_txt=GLAZE)
    (folder / old).write_text(KILNS)
    sync(workspace, folder)
    workspace.catalogue.set_override(library.source_of(folder / old), "paragraph")
    (folder / old).rename(folder / new)
    added, built = sync(workspace, folder)
    assert added == SyncReport(kept=("z.txt",), renamed=(f"{old} → {new}",))
    assert (built.renamed, built.added, built.removed) == (added.renamed, (), ())
    assert stored(workspace) == sorted([(new, KILNS), ("z.txt", GLAZE)])
    # A document's own chunker goes with it.
    assert workspace.catalogue.overrides() == {library.source_of(folder / new): "paragraph"}
    assert sync(workspace, folder)[0].kept == tuple(sorted([new, "z.txt"], key=str.lower))


def test_a_renamed_file_is_not_parsed_again(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "files", a_md="# Kilns\n\nHot.")
    sync(workspace, folder)
    (folder / "a.md").rename(folder / "b.md")
    with monkeypatch.context() as context:
        context.setattr(loaders, "parse", lambda *arguments: pytest.fail("parsed again"))
        add_paths(workspace.catalogue, [folder])
    (record,) = workspace.catalogue.documents()
    moved = workspace.catalogue.document(record.id)
    assert moved == loaders.load(folder / "b.md", "b.md", library.source_of(folder / "b.md"))


def test_a_document_keeps_its_name_whichever_of_its_folders_is_synced(workspace: Workspace, tmp_path: Path) -> None:
    outer = write_files(tmp_path / "outer", a_txt=GLAZE)
    inner = write_files(outer / "inner", b_txt=KILNS)
    sync(workspace, outer)
    for path, kept in (
        (inner, ("inner/b.txt",)),
        (inner / "b.txt", ("inner/b.txt",)),
        (outer, ("a.txt", "inner/b.txt")),
    ):
        assert sync(workspace, path)[0] == SyncReport(kept=kept)
    assert [name for name, _ in stored(workspace)] == ["a.txt", "inner/b.txt"]


def test_of_several_files_with_the_same_bytes_each_is_renamed_once(workspace: Workspace, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS, b_txt=KILNS)
    write_files(folder / "old", c_txt=KILNS)
    sync(workspace, folder)
    (folder / "new").mkdir()
    (folder / "old" / "c.txt").rename(folder / "new" / "c.txt")
    (folder / "a.txt").rename(folder / "d.txt")
    (folder / "e.txt").write_text(KILNS)
    report = sync(workspace, folder)[0]
    assert set(report.renamed) == {"a.txt → d.txt", "old/c.txt → new/c.txt"}
    assert (report.added, report.kept, report.removed) == (("e.txt",), ("b.txt",), ())
    assert [name for name, _ in stored(workspace)] == ["b.txt", "d.txt", "e.txt", "new/c.txt"]


def test_files_that_fail_are_remembered_until_they_load_go_or_are_dismissed(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "files", empty_txt="", blank_txt=" ", gone_txt="", good_txt=KILNS)
    add_paths(catalogue, [folder])
    upload(catalogue, tmp_path, "mine.txt", "")
    assert [(failure.name, failure.reason) for failure in catalogue.failures()] == [
        (name, "no text found") for name in ("blank.txt", "empty.txt", "gone.txt", "mine.txt")
    ]
    assert names(catalogue) == ["good.txt"]
    write_files(folder, empty_txt=GLAZE)
    (folder / "gone.txt").unlink()
    add_paths(catalogue, [folder])
    assert [failure.name for failure in catalogue.failures()] == ["blank.txt", "mine.txt"]
    catalogue.forget_failure(library.source_of(folder / "blank.txt"))
    upload(catalogue, tmp_path, "mine.txt", "Now with text.")
    assert catalogue.failures() == () and names(catalogue) == ["empty.txt", "good.txt", "mine.txt"]


def test_a_document_whose_file_cannot_be_read_any_more_is_out_and_named(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", a_txt=KILNS)
    add_paths(catalogue, [folder])
    write_files(folder, a_txt="")
    assert add_paths(catalogue, [folder]).failed == (Failure("a.txt", "no text found"),)
    source = library.source_of(folder / "a.txt")
    assert catalogue.failures() == (FileFailure(source, "a.txt", "no text found"),) and names(catalogue) == []


def test_documents_are_removed_by_name_or_source_to_the_letter(catalogue: Catalogue, tmp_path: Path) -> None:
    odd = ["report.txt", "annual report.txt", "Report.txt", "the.txt", "100%_*.txt", 'it\'s "x".txt']
    folder = tmp_path / "files"
    folder.mkdir()
    for name in odd:
        (folder / name).write_text(f"What {name} says.")
    add_paths(catalogue, [folder])
    for name in ("report.txt", "100%_*.txt", "the.txt"):
        assert remove(catalogue, [name]) == SyncReport(removed=(name,))
        odd.remove(name)
        assert sorted(names(catalogue)) == sorted(odd)
    for wrong in ("REPORT.TXT", "report", "*", "%", "", "report.txt"):
        with pytest.raises(SettingsError, match=r"There is no document called .* `python -m rag documents` lists them"):
            remove(catalogue, [wrong])
    with pytest.raises(SettingsError):
        remove(catalogue, ["Report.txt", "nobody.txt"])  # all or none
    assert sorted(names(catalogue)) == sorted(odd)
    assert remove(catalogue, [str(folder / "Report.txt"), "annual report.txt"]).removed == (
        "Report.txt",
        "annual report.txt",
    )


def test_a_name_that_several_documents_bear_is_refused_with_their_sources(catalogue: Catalogue, tmp_path: Path) -> None:
    one, two = write_files(tmp_path / "one", a_txt=KILNS), write_files(tmp_path / "two", a_txt=GLAZE)
    add_paths(catalogue, [one, two])
    with pytest.raises(SettingsError) as caught:
        remove(catalogue, ["a.txt"])
    assert str(caught.value) == (
        f"2 documents are called 'a.txt'. Name one by its source: {one / 'a.txt'}; {two / 'a.txt'}."
    )
    assert remove(catalogue, [str(one / "a.txt")]).removed == ("a.txt",)
    assert [record.source for record in catalogue.documents()] == [str(two / "a.txt")]


def test_a_name_typed_in_another_normal_form_is_found(catalogue: Catalogue, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / unicodedata.normalize("NFD", "café.txt")).write_text(KILNS)
    add_paths(catalogue, [folder])
    assert len(remove(catalogue, [unicodedata.normalize("NFC", "café.txt")]).removed) == 1
    assert names(catalogue) == []


def test_samples_that_load_otherwise_in_this_version_are_loaded_anew_at_the_start_and_only_those(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag import workspace as workspace_module

    samples = write_files(tmp_path / "samples", a_txt=KILNS, b_txt=GLAZE)
    for module in (library, workspace_module):
        monkeypatch.setattr(module, "SAMPLES_FOLDER", samples)
    sync(workspace, samples)
    remove(workspace.catalogue, ["b.txt"])
    monkeypatch.setattr(library, "LOADERS_VERSION", 1000)
    assert workspace.start(settings_for()).changed == ("a.txt",)
    assert names(workspace.catalogue) == ["a.txt"]
    assert workspace.start(settings_for()).changed == ()
