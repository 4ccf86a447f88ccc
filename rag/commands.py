"""What each command of ``python -m rag`` does: a result for people and the same as JSON, and whether all went well."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag import library, terminal
from rag.catalogue import SAMPLES_REMOVED
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError, SettingsError
from rag.funnel import run_funnel
from rag.settings import FUNNEL, Settings, parse_assignments
from rag.weaviate import connection
from rag.weaviate import server as local_server
from rag.workspace import Workspace, open_workspace

Progress = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Result:
    """``json`` for --json; otherwise ``text`` on stdout and ``aside`` on stderr."""

    json: Any
    text: str
    aside: str = ""


@contextmanager
def _workspace(
    options: argparse.Namespace, environment: Environment, progress: Progress
) -> Iterator[tuple[Workspace, Settings]]:
    settings = parse_assignments(options.set, FUNNEL)
    with connection.connected(environment, progress) as client:
        yield open_workspace(environment, client, options.workspace), settings


def index(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """Add the given paths (none: the samples, and what is there already) and build; not sound where anything failed."""
    with _workspace(options, environment, progress) as (workspace, settings):
        if any(not path.strip() for path in options.paths):
            raise SettingsError("An empty path was given. Name a file or a folder; . is the current one.")
        paths = [Path(path).expanduser() for path in options.paths]
        if not options.rebuild and paths:
            workspace.check(settings)
        report = library.SyncReport()
        if paths:
            report = library.add_paths(workspace.catalogue, paths, progress)
            if report == library.SyncReport(failed=report.failed):
                raise RagError("; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed))
        elif workspace.catalogue.samples() != SAMPLES_REMOVED:
            report = library.add_paths(workspace.catalogue, [SAMPLES_FOLDER], progress)
        elif not workspace.catalogue.documents():
            raise RagError(
                f"The samples were removed and nothing else is there. Name a path; {SAMPLES_FOLDER} brings them back."
            )
        built = workspace.build(settings, progress, rebuild=options.rebuild)
        if not workspace.catalogue.samples():
            # Own documents came first: the samples were never wanted.
            workspace.catalogue.set_samples(SAMPLES_REMOVED)
    both = {"documents": asdict(report), "index": asdict(built)}
    failed = (*report.failed, *built.failed)
    lines = [f"Documents: {report.sentence(chunks=False)}", f"Index: {built.sentence()}"]
    lines += [f"  failed: {failure.name}: {failure.reason}" for failure in failed]
    lines += [f"  note: {notice}" for notice in built.notices]
    return Result(both, terminal.safe("\n".join(lines))), not failed


def ask(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The whole Trace with its answer; not sound where the answer failed."""
    with _workspace(options, environment, progress) as (workspace, settings):
        workspace.start(settings, progress)
        trace = run_funnel(options.question, (), settings, workspace)
    result = Result(trace.to_json(), terminal.answer_text(trace), terminal.funnel_text(trace))
    return result, trace.answer.state != "failed"


def inspect(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The Trace up to the prompt."""
    with _workspace(options, environment, progress) as (workspace, settings):
        workspace.start(settings, progress)
        trace = run_funnel(options.question, (), settings, workspace, answer=False)
    return Result(trace.to_json(), "", terminal.funnel_text(trace)), True


def bench(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The figures of the shipped questions or a collection; not sound where a question failed."""
    from rag.evaluation import benchmarks

    if options.what == "answers" and options.collection:
        raise SettingsError("bench answers takes no collection: it measures the shipped questions.")
    settings = parse_assignments(options.set, FUNNEL)
    with connection.connected(environment, progress) as client:
        run = benchmarks.answers if options.what == "answers" else benchmarks.retrieval
        record, text, failed = run(environment, client, settings, options.collection, options.limit, progress)
    return Result(record, text), not failed


def server(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """Start, stop or show the local server."""
    if options.action == "start":
        local_server.start(environment, progress)
    elif options.action == "stop":
        local_server.stop(environment)
    status = local_server.status(environment)
    record = terminal.server_record(status)
    return Result(record, terminal.server_text(status)), True
