"""The command line: ``python -m rag index | documents | indexes | ask | inspect | bench | server``."""

# ruff: noqa: E402
from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress


def _end_at_once(number: int, frame: object) -> None:
    """What Ctrl-C does while modules are read: an exception among half imported ones would show as anything."""
    with suppress(OSError):
        if "--json" in sys.argv:
            os.write(1, b'{"error": "Stopped."}\n')
        os.write(2, b"rag: Stopped.\n")
    os._exit(FAILED)


SUCCEEDED, FAILED, WRONG_USE = 0, 1, 2
if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end_at_once)

import argparse
import io
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from rag.errors import RagError, SettingsError
from rag.settings import DEFAULT_WORKSPACE
from rag.text import safe

NO_MEMORY = re.compile(r"bad_alloc|failed to map segment|cannot allocate memory|can't start new thread", re.IGNORECASE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 where it succeeded, 1 where it failed (one sentence on stderr), 2 for wrong use."""
    _make_streams_usable()
    try:
        options = _options(arguments)
    except SystemExit as end:
        return _written("", "", end.code)
    return _written(*_outcome(options))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command's options; a collection may also stand after them, which argparse alone does not see."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if options.command == "bench" and options.collection is None and len(rest) == 1 and not rest[0].startswith("-"):
        options.collection, rest = Path(rest[0]), []
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def _outcome(options: argparse.Namespace) -> tuple[str, str, int]:
    """What to print on stdout and on stderr, and the exit code."""
    try:
        result, sound = _run(options)
        code = SUCCEEDED if sound else FAILED
        return (_json(result.json), "", code) if options.json else (result.text, result.aside, code)
    except SettingsError as error:
        return _failure(options, str(error), WRONG_USE)
    except RagError as error:
        return _failure(options, str(error))
    except ModuleNotFoundError as error:
        return _failure(options, f"{error}: run `pip install -r requirements.txt` in the environment of this Python.")
    except (Exception, KeyboardInterrupt) as error:
        sentence = _circumstance(error)
        if not sentence:
            raise
        warnings.simplefilter("ignore", ResourceWarning)  # what was interrupted is left open
        return _failure(options, sentence)


def _circumstance(error: BaseException) -> str:
    """The sentence for an error that is no fault of the program, "" for one that is; compiled modules give either
    another name."""
    links = list(_chain(error))
    if any(isinstance(link, KeyboardInterrupt) for link in links):
        return "Stopped."
    if any(isinstance(link, MemoryError) or NO_MEMORY.search(str(link)) for link in links):
        return "The memory of this machine is not enough. Close other programs, or use smaller files."
    return ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _run(options: argparse.Namespace) -> tuple[Any, bool]:
    from rag import commands, environment  # a second or more

    if signal.getsignal(signal.SIGINT) is _end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return getattr(commands, options.command)(options, environment.read(), _progress(options))


def _failure(options: argparse.Namespace, message: str, code: int = FAILED) -> tuple[str, str, int]:
    sentence = safe(" ".join(message.split()))
    return _json({"error": sentence}) if options.json else "", f"rag: {sentence}", code


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
        return text
    except UnicodeEncodeError:
        return json.dumps(value)


def _written(text: str, aside: str, code: int) -> int:
    """The exit code, once the texts are on stdout and stderr; 1, and without a word, where nobody reads them to the
    end."""
    try:
        for part, stream in ((text, sys.stdout), (aside, sys.stderr)):
            print(part, end="\n" if part else "", file=stream, flush=True)
        return code
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except OSError as error:
        with suppress(OSError):
            print(f"rag: The output could not be written ({error.strerror}).", file=sys.stderr, flush=True)
    for stream in (sys.stdout, sys.stderr):
        _abandon(stream)
    return FAILED


def _abandon(stream: IO[str]) -> None:
    """Let what is still in the stream's buffer go nowhere, or Python would complain of it when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _make_streams_usable() -> None:
    """A stream that was closed by the caller swallows its text, and a character it cannot show becomes "?"."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.BytesIO(), "utf-8"))
    sys.stdout.reconfigure(errors="replace")


def _progress(options: argparse.Namespace) -> Callable[[str, float | None], None]:
    """One line on a terminal's stderr that overwrites itself; nothing where stderr is no terminal."""

    def show(message: str, fraction: float | None = None) -> None:
        if sys.stderr.isatty():
            share = f" {fraction:4.0%}" if fraction is not None else ""
            print(f"\r\x1b[K{message}{share}", end="\r", file=sys.stderr, flush=True)

    return show


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rag", description="Index documents, ask them, and see why.")
    commands_of = parser.add_subparsers(dest="command", required=True)

    def add(name: str, text: str, knobs: bool = True, workspace: bool = True) -> argparse.ArgumentParser:
        command = commands_of.add_parser(name, help=text, description=text)
        command.add_argument(
            "--json", action="store_true", help="print one JSON document on stdout, and nothing else there"
        )
        if knobs:
            command.add_argument(
                "--set",
                action="append",
                default=[],
                metavar="KNOB=VALUE",
                help="set a knob; may be given several times",
            )
        if workspace:
            command.add_argument(
                "--workspace", default=DEFAULT_WORKSPACE, metavar="NAME", help="the workspace (default: default)"
            )
        return command

    index = add("index", "Add files or folders and bring the index up to date; without a path, the samples.")
    index.add_argument("paths", nargs="*", metavar="PATH")
    index.add_argument(
        "--rebuild", action="store_true", help="write every document anew, also where the embedder changed"
    )
    index.add_argument(
        "--watch", action="store_true", help="then sync the paths (none: the watched folders) until Ctrl-C"
    )
    index.add_argument(
        "--every", type=_positive, default=60, metavar="SECONDS", help="how often --watch looks (default: 60)"
    )
    documents = add("documents", "List the documents, or remove some by name or source.")
    documents.add_argument("action", nargs="?", choices=("list", "remove"), default="list")
    documents.add_argument("names", nargs="*", metavar="NAME_OR_SOURCE")
    indexes = add("indexes", "List the indexes with their sizes, or drop one; the documents stay.")
    indexes.add_argument("action", nargs="?", choices=("list", "drop"), default="list")
    indexes.add_argument("fingerprint", nargs="?", metavar="FINGERPRINT")
    for name, text in (
        ("ask", "Answer a question: answer and sources on stdout, the funnel's lists on stderr."),
        ("inspect", "Show the funnel's lists for a question, without answering it."),
    ):
        command = add(name, text)
        command.add_argument("question", metavar="QUESTION")
    bench = add(
        "bench",
        "Measure: `bench retrieval [DIR]` over a folder in BEIR layout or the shipped questions, `bench answers`, "
        "`bench chunking DIR` over Chroma's chunking evaluation, `bench ingest [DIR]` over files of any kind.",
        workspace=False,  # what it asks is indexed in a workspace of its own
    )
    bench.add_argument("what", choices=("retrieval", "answers", "chunking", "ingest"))
    bench.add_argument("collection", nargs="?", type=Path, metavar="DIR")
    bench.add_argument(
        "--limit", type=_positive, metavar="N", help="ask only the first N questions; ingest: embed N MB of the folder"
    )
    server = add("server", "Start, stop or show the local Weaviate server.", False, False)
    server.add_argument("action", choices=("start", "stop", "status"))
    return parser


def _positive(text: str) -> int:
    with suppress(ValueError):
        if int(text) >= 1:
            return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 up, not {text!r}")


if __name__ == "__main__":
    exit_code = main()
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _end_at_once):
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is said: of Python's own ending nothing is to be shown
    sys.exit(exit_code)
