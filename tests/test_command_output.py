"""What ``python -m rag`` leaves on stdout and stderr where something is in the way: a pipe, a disk, Ctrl-C, memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
NO_MEMORY = "rag: The memory of this machine is not enough. Close other programs, or use smaller files.\n"
# The program with other commands: how `ask` ends is all that matters here, and reading the real ones takes a second.
PROGRAM = """
import sys
from types import ModuleType, SimpleNamespace as Result
from rag import errors
from rag.__main__ import main
def ask(options, environment, progress):
    {body}
sys.modules["rag.commands"] = ModuleType("rag.commands")
sys.modules["rag.commands"].ask = ask
sys.exit(main(sys.argv[1:]))
"""
FOUND = "return Result(json={'answer': options.question}, text=options.question, aside='the lists'), True"


def command(*arguments: str, body: str = FOUND) -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(body=body), *arguments]


def run(*arguments: str, body: str = FOUND, **options) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    # Unbuffered, argparse would pass over an error in printing its help.
    variables = {**os.environ, "PYTHONUNBUFFERED": "", **streams.pop("variables", {})}
    return subprocess.run(
        command(*arguments, body=body), cwd=PROJECT, env=variables, encoding="utf-8", timeout=60, **streams
    )


@pytest.mark.parametrize("arguments", [("ask", "kiln"), ("ask", "kiln", "--json"), ("--help",)])
@pytest.mark.parametrize("times", [1, 100_000])
def test_a_reader_that_has_left_ends_the_command_quietly(arguments: tuple[str, ...], times: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = run(*arguments, body=FOUND.replace("options.question", f"options.question * {times}"), stdout=writer)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


def test_a_reader_that_leaves_in_the_middle_ends_the_command_quietly() -> None:
    body = FOUND.replace("options.question", "'kiln ' * 1_000_000")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command("ask", "kiln", "--json", body=body), cwd=PROJECT, **streams) as process:
        assert process.stdout.read(10) == b'{"answer":'
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("ask", "kiln"), ("ask", "kiln", "--json"), ("--help",)])
def test_output_that_finds_no_space_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        result = run(*arguments, stdout=full)
        assert result.stderr == "rag: The output could not be written (No space left on device).\n"
        assert result.returncode == 1
        assert run(*arguments, stdout=full, stderr=full).returncode == 1


def test_streams_that_are_closed_take_everything() -> None:
    shell = ["sh", "-c", '"$@" >&- 2>&-', "sh"]
    assert subprocess.run([*shell, *command("ask", "kiln")], cwd=PROJECT, timeout=60).returncode == 0
    failing = command("ask", "kiln", body="raise errors.RagError('Odd.')")
    assert subprocess.run([*shell, *failing], cwd=PROJECT, timeout=60).returncode == 1


def test_characters_that_the_output_cannot_show() -> None:
    question, ascii_only = "Wie heiß ist der Ofen? ✓", {"PYTHONIOENCODING": "ascii"}
    result = run("ask", question, "--json", variables=ascii_only)
    assert result.stdout.isascii() and result.returncode == 0
    assert json.loads(result.stdout) == {"answer": question}
    assert run("ask", question, variables=ascii_only).stdout == "Wie hei? ist der Ofen? ?\n"
    utf_8 = {"PYTHONIOENCODING": "utf-8"}
    assert run("ask", question, "--json", variables=utf_8).stdout == '{"answer": "Wie heiß ist der Ofen? ✓"}\n'


@pytest.mark.parametrize(
    ("body", "code", "sentence"),
    [
        ("raise errors.RagError('The server\\nis gone.')", 1, "The server is gone."),
        ("raise errors.SettingsError('rrf_k is odd.')", 2, "rrf_k is odd."),
        ("raise KeyboardInterrupt", 1, "Stopped."),
        ("raise MemoryError", 1, NO_MEMORY[5:-1]),
        ("raise RuntimeError('Exception during initialization: std::bad_alloc')", 1, NO_MEMORY[5:-1]),
        ("raise ImportError('x.so: failed to map segment from shared object')", 1, NO_MEMORY[5:-1]),
        (
            "import no_such_package",
            1,
            "No module named 'no_such_package': run `pip install -r requirements.txt` in the environment of this "
            "Python.",
        ),
        # What a compiled module makes of Ctrl-C while it is read.
        (
            "\n    try: raise KeyboardInterrupt\n    except BaseException: raise ImportError('initialization failed')",
            1,
            "Stopped.",
        ),
    ],
)
def test_a_failure_is_one_sentence_on_stderr_and_with_json_a_document_on_stdout(
    body: str, code: int, sentence: str
) -> None:
    result = run("ask", "x", body=body)
    assert (result.stdout, result.stderr, result.returncode) == ("", f"rag: {sentence}\n", code)
    result = run("ask", "x", "--json", body=body)
    assert (json.loads(result.stdout), result.stderr) == ({"error": sentence}, f"rag: {sentence}\n")
    assert result.stdout.count("\n") == 1 and result.returncode == code


def test_a_fault_of_the_program_is_not_hidden() -> None:
    result = run("ask", "x", "--json", body="raise ValueError('a fault')")
    assert result.returncode == 1 and result.stdout == "" and "Traceback" in result.stderr


@pytest.mark.parametrize(("more", "stdout"), [((), ""), (("--json",), '{"error": "Stopped."}\n')])
def test_ctrl_c_while_modules_are_read(more: tuple[str, ...], stdout: str, tmp_path: Path) -> None:
    marker = tmp_path / "here"
    (tmp_path / "numpy.py").write_text(f"open({str(marker)!r}, 'w').close()\nimport time\ntime.sleep(60)\n")
    with subprocess.Popen(
        [sys.executable, "-m", "rag", "ask", "x", *more],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # not ignored, as in a script's background
    ) as process:
        deadline = time.monotonic() + 60
        while not marker.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert (*process.communicate(timeout=30), process.returncode) == (stdout, "rag: Stopped.\n", 1)


@pytest.mark.parametrize("limit", ["-3", "0", "2.5", "all"])
def test_a_limit_below_one_is_wrong_use(limit: str) -> None:
    result = run("bench", "retrieval", "--limit", limit)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"argument --limit: must be a whole number from 1 up, not '{limit}'" in result.stderr
