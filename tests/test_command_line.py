"""``python -m rag`` as people and scripts run it: real processes, a real server, real exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from weaviate import WeaviateClient

from rag.environment import NAMES, Environment
from rag.schema import Trace
from rag.settings import FUNNEL
from tests.support import client, fresh_name, write_files

__all__ = ["client"]
PROJECT = Path(__file__).resolve().parent.parent
KILNS = "# Kilns\n\nThe kiln heats clay to 1,280 degrees.\n\n# Lids\n\nThe lid of the kiln closes with a latch."


@pytest.fixture(scope="module")
def rag(environment: Environment, client: WeaviateClient):
    """Runs one command against the test server, without keys."""
    variables = {name: value for name, value in os.environ.items() if name not in NAMES}
    variables |= {"RAG_DATA_FOLDER": str(environment.data_folder)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rag", *arguments]
        return subprocess.run(command, cwd=PROJECT, env=variables, capture_output=True, encoding="utf-8", timeout=120)

    return run


def document(result: subprocess.CompletedProcess[str]) -> Any:
    """The one JSON document on stdout."""
    assert result.stdout.count("\n") == 1 and result.stdout.endswith("\n"), result.stderr
    return json.loads(result.stdout)


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr, where stdout is empty."""
    assert result.stdout == "" and result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr.strip()


@pytest.fixture(scope="module")
def indexed(rag, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """A workspace with one good file and one without text, and what indexing them said."""
    name, folder = fresh_name(), write_files(tmp_path_factory.mktemp("files"), kilns_md=KILNS, blank_txt="  \n")
    return name, rag("index", str(folder), "--json", "--workspace", name)


def test_a_failed_file_is_named_the_good_one_is_in_and_the_exit_code_is_1(indexed: tuple[str, Any]) -> None:
    _, result = indexed
    report = document(result)
    assert result.returncode == 1 and result.stderr == ""
    assert report["documents"]["added"] == ["kilns.md"]
    assert report["documents"]["failed"] == [{"name": "blank.txt", "reason": "no text found"}]
    assert (report["index"]["added"], report["index"]["stored"], report["index"]["failed"]) == (["kilns.md"], 2, [])


def test_ask_as_json_is_the_whole_trace_under_the_knobs_that_were_set(rag, indexed: tuple[str, Any]) -> None:
    question = "How hot does the kiln heat clay?"
    result = rag("ask", question, "--json", "--workspace", indexed[0], "--set", "rrf_k=10", "--set", "prompt_chunks=1")
    trace = Trace.from_json(document(result))
    assert result.returncode == 0, result.stderr
    assert (trace.question, trace.settings) == (question, FUNNEL.changed({"rrf_k": 10, "prompt_chunks": 1}).to_json())
    assert "1,280 degrees. [Source 1]" in trace.answer.text and trace.answer.state == "grounded"
    # First in both lists: 1 / 11 + 1 / 11.
    assert trace.stage("fused").hits[0].score == pytest.approx(2 / 11)
    assert [chunk.document for chunk in trace.prompt_chunks()] == ["kilns.md"]


def test_ask_for_people_has_the_answer_and_legend_on_stdout_and_the_lists_on_stderr(
    rag, indexed: tuple[str, Any]
) -> None:
    result = rag("ask", "How hot does the kiln heat clay?", "--workspace", indexed[0])
    assert result.returncode == 0, result.stderr
    assert "1,280 degrees. [Source 1]" in result.stdout
    assert '[Source 1] kilns.md, "Kilns"' in result.stdout
    assert "No language model is configured" in result.stdout
    for part in (
        "dense (minilm; cosine similarity, -1 to 1): 2 chunks",
        "sparse (bm25;",
        "fused (rrf;",
        "prompt: [Source 1]",
        " ms",
    ):
        assert part in result.stderr, part
    assert "fused (" not in result.stdout


def test_inspect_as_json_ends_at_the_prompt(rag, indexed: tuple[str, Any]) -> None:
    result = rag("inspect", "lid latch", "--json", "--workspace", indexed[0], "--set", "dense_candidates=0")
    trace = Trace.from_json(document(result))
    assert (result.returncode, trace.answer) == (0, None)
    assert [stage.name for stage in trace.stages] == ["sparse", "fused", "prompt"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("ask", "x", "--set", "rrf_k=ten"), 2, "rag: rrf_k is 'ten'; it must be a whole number."),
        (
            ("inspect", "x", "--workspace", "no such"),
            2,
            "rag: A workspace name has 1 to 64 letters, digits, - or _; 'no such' does not fit.",
        ),
        (("index", "no/such/path", "--workspace", "nothing-here"), 1, "rag: no/such/path: no such file or folder"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_an_exit_code(rag, arguments: tuple, code: int, message: str) -> None:
    result = rag(*arguments)
    assert (result.returncode, sentence(result)) == (code, message)
    result = rag(*arguments, "--json")
    assert document(result) == {"error": message.removeprefix("rag: ")}
    assert (result.returncode, result.stderr) == (code, f"{message}\n")


def test_wrong_use_has_exit_code_2(rag) -> None:
    result = rag("ask")
    assert (
        result.returncode == 2
        and result.stdout == ""
        and "the following arguments are required: QUESTION" in result.stderr
    )


def test_bench_which_has_workspaces_of_its_own_takes_none(rag) -> None:
    result = rag("bench", "retrieval", "--workspace", "mine")
    assert result.returncode == 2 and "unrecognized arguments: --workspace mine" in result.stderr
    assert "--workspace" not in rag("bench", "--help").stdout
    assert "--workspace" in rag("index", "--help").stdout


def test_server_status_as_json_names_the_address_and_no_key(rag, environment: Environment) -> None:
    result = rag("server", "status", "--json")
    status = document(result)
    assert (result.returncode, status["ready"], status["in_use"]) == (0, True, True)
    assert status["data_folder"] == str(environment.data_folder) and status["address"]["version"] == "1.35.2"
    assert "api_key" not in status["address"]


def test_two_commands_that_index_at_once_both_succeed(rag, tmp_path: Path) -> None:
    name, folder = fresh_name(), write_files(tmp_path / "files", kilns_md=KILNS)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: rag("index", str(folder), "--json", "--workspace", name), range(2)))
    assert [result.returncode for result in results] == [0, 0], [result.stderr for result in results]
    assert sum(document(result)["index"]["stored"] for result in results) == 2


def test_bench_takes_its_collection_before_or_after_the_options() -> None:
    from rag.__main__ import _options

    for arguments in (["bench", "retrieval", "folder", "--json"], ["bench", "retrieval", "--json", "folder"]):
        assert _options(arguments).collection == Path("folder")
    with pytest.raises(SystemExit):
        _options(["bench", "retrieval", "folder", "--json", "another"])
