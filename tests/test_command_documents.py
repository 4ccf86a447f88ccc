"""``python -m rag documents``, ``indexes``, ``index --watch`` and overrides, as people and scripts run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import commands, library
from rag.__main__ import _parser
from rag.catalogue import WatchedFolder
from rag.environment import NAMES, Environment
from rag.errors import RagError, SettingsError
from rag.library import Failure, SyncReport, quiet
from rag.settings import FUNNEL
from rag.workspace import Workspace, open_workspace
from tests.support import client, fresh_name, write_files

__all__ = ["client"]
PROJECT = Path(__file__).resolve().parent.parent
KILNS = "# Kilns\n\nThe kiln heats clay."


class Session:
    """Commands in one workspace, run in this process; with a folder of three files, one of them empty."""

    def __init__(self, environment: Environment, client: WeaviateClient, folder: Path):
        self.environment, self.name, self.folder = environment, fresh_name(), folder
        self.workspace: Workspace = open_workspace(environment, client, self.name)
        write_files(folder, a_md=KILNS, b_txt="Glaze is glass.", empty_txt="")

    def run(self, *arguments: str) -> tuple[commands.Result, bool]:
        options = _parser().parse_args([*arguments, "--workspace", self.name])
        return getattr(commands, options.command)(options, self.environment, quiet)

    def index(self, *arguments: str) -> tuple[commands.Result, bool]:
        return self.run("index", str(self.folder), *arguments)


@pytest.fixture
def session(environment: Environment, client: WeaviateClient, tmp_path: Path) -> Session:
    return Session(environment, client, tmp_path / "files")


def test_documents_are_listed_with_their_state_and_with_what_failed(session: Session) -> None:
    session.index()
    write_files(session.folder, b_txt="Changed.")
    library.add_paths(session.workspace.catalogue, [session.folder])
    session.workspace.catalogue.save_folder(WatchedFolder(str(session.folder), 60, False))
    result, sound = session.run("documents")
    assert sound
    first, second = result.json["documents"]
    assert (first["name"], first["format"], first["chunks"], first["state"]) == ("a.md", "markdown", 1, "indexed")
    assert (second["name"], second["state"], second["chunker"]) == ("b.txt", "not yet", "recursive")
    assert [(row["name"], row["reason"]) for row in result.json["failures"]] == [("empty.txt", "no text found")]
    assert result.json["folders"][0]["path"] == str(session.folder)
    lines = result.text.splitlines()
    assert lines[0].split() == ["name", "format", "pages", "characters", "chunks", "state", "chunker", "source"]
    assert lines[1].split() == ["a.md", "markdown", "-", "29", "1", "indexed", "recursive", first["source"]]
    assert lines[3] == f"failed: empty.txt: no text found ({session.folder / 'empty.txt'})"
    assert lines[4] == f"watched: {session.folder}, every 60 s, off: not yet"


def test_documents_are_removed_with_their_chunks_and_failures_are_dismissed(session: Session) -> None:
    session.index()
    session.workspace.catalogue.save_folder(WatchedFolder(str(session.folder)))
    result, sound = session.run("documents", "remove", "a.md", "empty.txt")
    assert sound and result.json["removed"] == ("a.md", "empty.txt")
    assert f"a.md: it comes back with the next sync of the watched folder {session.folder}." in result.text
    assert session.workspace.store.count(FUNNEL.fingerprint()) == 1
    left = session.run("documents", "list")[0].json
    assert [row["name"] for row in left["documents"]] == ["b.txt"] and left["failures"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("documents", "remove"), "Name the documents to remove"),
        (("documents", "remove", "c.md"), "There is no document called 'c.md'"),
        (("documents", "list", "c.md"), "`documents list` takes no names"),
        (("indexes", "drop"), "Name the index to drop"),
        (("index", "--watch"), "No folder is watched. Name one"),
        (("documents", "--set", "override.c.md=qa"), "There is no document called 'c.md'"),
        (("documents", "--set", "chunker=cleaver"), "There is no chunker called 'cleaver'"),
    ],
)
def test_wrong_use_is_a_sentence(session: Session, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        session.run(*arguments)


def test_indexes_are_listed_with_size_and_differences_and_dropped_without_the_documents(session: Session) -> None:
    assert session.run("indexes")[0].text == "There is no index yet. `python -m rag index` builds one."
    session.index()
    result = session.index("--set", "chunk_size=400")[0]
    assert list(result.json["index"]["differences"]) == ["chunk size 1000 → 400"]
    assert "  a new index, unlike the nearest: chunk size 1000 → 400" in result.text
    rows = {row["fingerprint"]: row for row in session.run("indexes")[0].json}
    other = FUNNEL.changed({"chunk_size": 400}).fingerprint()
    assert rows.keys() == {FUNNEL.fingerprint(), other}
    assert (rows[other]["chunks"], rows[other]["documents"], rows[other]["in_use"]) == (2, 2, False)
    assert 0 < rows[other]["megabytes"] < 1
    assert rows[other]["differences"] == ("chunk size 400 → 1000",)
    assert rows[FUNNEL.fingerprint()]["in_use"] and "use it" in session.run("indexes")[0].text
    result, sound = session.run("indexes", "drop", other)
    assert sound and result.json == {"dropped": other}
    assert [row["fingerprint"] for row in session.run("indexes")[0].json] == [FUNNEL.fingerprint()]
    assert len(session.workspace.catalogue.documents()) == 2
    with pytest.raises(RagError, match=f"There is no index {other}. `python -m rag indexes` lists"):
        session.run("indexes", "drop", other)
    # And it can be built again.
    assert session.index("--set", "chunk_size=400")[0].json["index"]["stored"] == 2


def test_a_renamed_file_is_reported_as_such(session: Session) -> None:
    session.index()
    (session.folder / "a.md").rename(session.folder / "c.md")
    result, sound = session.index()
    assert not sound  # of the empty file
    assert result.json["documents"]["renamed"] == result.json["index"]["renamed"] == ("a.md → c.md",)
    assert "  renamed: a.md → c.md" in result.text and "  failed: empty.txt: no text found" in result.text


@pytest.mark.parametrize("document", ["a.md", "source", "odd=name.md"])
def test_a_document_may_have_a_chunker_of_its_own(session: Session, document: str) -> None:
    text = "First paragraph.\n\nSecond paragraph."
    write_files(session.folder, a_md=text)
    (session.folder / "odd=name.md").write_text(text + " ")
    name = str(session.folder / "a.md") if document == "source" else document
    session.index("--set", f"override.{name}=paragraph")
    source = str(session.folder / ("a.md" if document == "source" else document))
    settings = FUNNEL.changed({f"override.{source}": "paragraph"})
    indexed = session.workspace.catalogue.indexed(settings.fingerprint()).values()
    chunks = {record.name: record.chunks for record in indexed}
    changed = Path(source).name
    assert chunks == {"a.md": 1, "b.txt": 1, "odd=name.md": 1} | {changed: 2}


def test_the_teams_overrides_count_for_every_command_and_only_for_documents_that_are_there(session: Session) -> None:
    session.index()
    catalogue, source = session.workspace.catalogue, str(session.folder / "a.md")
    catalogue.set_override(source, "paragraph")
    catalogue.set_override("uploads/gone.md", "paragraph")
    assert session.workspace.settings() == FUNNEL.changed({f"override.{source}": "paragraph"})
    result = session.index()[0]
    assert list(result.json["index"]["differences"]) == ["a.md: paragraph"]
    trace = session.run("inspect", "kiln")[0].json
    assert trace["settings"][f"override.{source}"] == "paragraph"
    assert session.run("documents")[0].json["documents"][0]["chunker"] == "paragraph"
    # Taken back for one command, and for good.
    assert session.run("indexes", "--set", "override.a.md=-")[0].json[0]["in_use"] is not None
    catalogue.set_override(source, "")
    assert session.workspace.settings() == FUNNEL


@pytest.fixture
def watching(session: Session) -> Iterator[subprocess.Popen[str]]:
    """``index FOLDER --watch --json`` as a process."""
    variables = {name: value for name, value in os.environ.items() if name not in NAMES}
    variables |= {"RAG_DATA_FOLDER": str(session.environment.data_folder)}
    command = ["index", str(session.folder), "--watch", "--every", "1", "--json", "--workspace", session.name]
    with subprocess.Popen(
        [sys.executable, "-m", "rag", *command],
        cwd=PROJECT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # not ignored, as in a script's background
    ) as process:
        yield process
        process.kill()


def test_watching_prints_a_line_for_each_sync_that_changed_something_and_ends_with_ctrl_c(
    session: Session, watching: subprocess.Popen[str]
) -> None:
    first = json.loads(watching.stdout.readline())
    assert first["documents"]["added"] == ["a.md", "b.txt"]
    write_files(session.folder, a_md="# Kilns\n\nThey cool slowly.")
    assert json.loads(watching.stdout.readline())["changed"] == ["a.md"]
    (session.folder / "b.txt").rename(session.folder / "c.txt")
    assert json.loads(watching.stdout.readline())["renamed"] == ["b.txt → c.txt"]
    time.sleep(1.5)  # a look at which nothing happened
    watching.send_signal(signal.SIGINT)
    rest, errors = watching.communicate(timeout=30)
    assert ([json.loads(line) for line in rest.splitlines()], errors) == ([{"syncs": 2}], "")
    assert watching.returncode == 0
    assert session.workspace.store.count(FUNNEL.fingerprint()) == 2


def test_watching_begun_while_the_folder_is_away_keeps_its_documents(session: Session, tmp_path: Path) -> None:
    library.add_paths(session.workspace.catalogue, [session.folder])
    session.folder.rename(tmp_path / "unmounted")
    report = commands._add(session.workspace, [session.folder], lambda *told: None, watched=True)
    assert [failure.reason for failure in report.failed] == ["the folder is not there; its documents stay"]
    assert len(session.workspace.catalogue.documents()) == 2


def test_an_index_is_dropped_by_the_beginning_of_its_fingerprint(session: Session) -> None:
    session.run("index", str(session.folder), "--set", "chunker=paragraph")
    fingerprint = session.run("indexes")[0].json[0]["fingerprint"]
    assert session.run("indexes", "drop", fingerprint[:6])[0].json == {"dropped": fingerprint}


def test_asking_where_no_index_could_be_built_tells_why(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add_paths(session.workspace.catalogue, [session.folder])
    failures = tuple(Failure(name, "the model timed out. Try again.") for name in ("a.md", "b.txt"))
    monkeypatch.setattr(Workspace, "start", lambda *arguments: SyncReport(failed=failures))
    for command in ("ask", "inspect"):
        with pytest.raises(RagError) as error:
            session.run(command, "What heats clay?")
        told = "The index could not be built: a.md: the model timed out. Try again. (and 1 more)"
        assert str(error.value) == told
