"""The command line: ``python -m rag index | ask | inspect | bench | server``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rag import commands, environment
from rag.errors import RagError, SettingsError
from rag.terminal import safe
from rag.weaviate.tenants import DEFAULT_WORKSPACE

SUCCEEDED, FAILED, WRONG_USE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 where it succeeded, 1 where it failed (one sentence on stderr), 2 for wrong use."""
    options = _parser().parse_args(arguments)
    try:
        result, sound = options.run(options, environment.read(), _progress(options))
    except SettingsError as error:
        return _say(str(error), WRONG_USE)
    except RagError as error:
        return _say(str(error), FAILED)
    except KeyboardInterrupt:
        return _say("Stopped.", FAILED)
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    if options.json:
        print(json.dumps(result.json, ensure_ascii=False))
    else:
        if result.text:
            print(result.text)
        if result.aside:
            print(result.aside, file=sys.stderr)
    return SUCCEEDED if sound else FAILED


def _say(message: str, code: int) -> int:
    print(f"rag: {safe(' '.join(message.split()))}", file=sys.stderr)
    return code


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

    def add(name: str, run: Callable[..., Any], text: str, knobs: bool = True) -> argparse.ArgumentParser:
        command = commands_of.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
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
            command.add_argument(
                "--workspace", default=DEFAULT_WORKSPACE, metavar="NAME", help="the workspace (default: default)"
            )
        return command

    index = add(
        "index", commands.index, "Add files or folders and bring the index up to date; without a path, the samples."
    )
    index.add_argument("paths", nargs="*", metavar="PATH")
    index.add_argument("--rebuild", action="store_true", help="build a new index where the embedder changed")
    for name, run, text in (
        ("ask", commands.ask, "Answer a question: answer and sources on stdout, the funnel's lists on stderr."),
        ("inspect", commands.inspect, "Show the funnel's lists for a question, without answering it."),
    ):
        command = add(name, run, text)
        command.add_argument("question", metavar="QUESTION")
    bench = add(
        "bench",
        commands.bench,
        "Measure: `bench retrieval [COLLECTION]`, a folder in BEIR layout or the shipped questions.",
    )
    bench.add_argument("what", choices=("retrieval", "answers"))
    bench.add_argument("collection", nargs="?", type=Path, metavar="COLLECTION")
    bench.add_argument("--limit", type=int, metavar="N", help="ask only the first N questions")
    server = add("server", commands.server, "Start, stop or show the local Weaviate server.", knobs=False)
    server.add_argument("action", choices=("start", "stop", "status"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
