"""What each command of ``python -m rag`` does: a result for people and the same as JSON, and whether all went well."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rag import indexing, library, listing, terminal, watching
from rag.catalogue import SAMPLES_REMOVED, WatchedFolder
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError, ServerError, SettingsError
from rag.funnel import run_funnel
from rag.library import SyncReport
from rag.settings import FUNNEL, OVERRIDE, Settings, parse_assignments
from rag.weaviate import connection
from rag.weaviate import server as local_server
from rag.workspace import IndexSize, Workspace, open_workspace

Progress = Callable[[str, float | None], None]
POLL_SECONDS = 0.2


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
    """The workspace and the settings: the team's own, changed by --set, overrides of documents yet left out."""
    plain = [text for text in options.set if not text.lstrip().startswith(OVERRIDE)]
    parse_assignments(plain, FUNNEL)  # what is wrong in them needs no server to be found
    with connection.connected(environment, progress) as client:
        workspace = open_workspace(environment, client, options.workspace)
        yield workspace, parse_assignments(plain, workspace.settings())


def _with_overrides(options: argparse.Namespace, workspace: Workspace, settings: Settings) -> Settings:
    """The settings with ``--set override.DOCUMENT=CHUNKER``; the document by name, path or source."""
    for text in (text.strip() for text in options.set):
        if text.startswith(OVERRIDE):
            name, _, chunker = text.removeprefix(OVERRIDE).rpartition("=")
            source = listing.named(workspace.catalogue.documents(), name.strip())[0].source
            settings = settings.changed({f"{OVERRIDE}{source}": chunker.strip()})
    indexing.validate(settings)
    return settings


def index(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """Add the given paths (none: the samples, and what is there already) and build; not sound where anything failed.

    With --watch it then syncs them, or the watched folders, until Ctrl-C.
    """
    with _workspace(options, environment, progress) as (workspace, settings):
        if any(not path.strip() for path in options.paths):
            raise SettingsError("An empty path was given. Name a file or a folder; . is the current one.")
        paths = [Path(path).expanduser() for path in options.paths]
        if options.watch and not paths:
            return _watch(options, workspace, _with_overrides(options, workspace, settings), ())
        if not options.rebuild and paths:
            workspace.check(settings)
        report = _add(workspace, paths, progress, options.watch)
        settings = _with_overrides(options, workspace, settings)
        built = workspace.build(settings, progress, rebuild=options.rebuild)
        if not workspace.catalogue.samples():
            # Own documents came first: the samples were never wanted.
            workspace.catalogue.set_samples(SAMPLES_REMOVED)
        new = {*report.added, *report.changed}
        told = [f"{one.name}: {n}" for one in workspace.catalogue.documents() if one.name in new for n in one.notices]
        report = replace(report, notices=(*report.notices, *told))
        both = {"documents": asdict(report), "index": asdict(built)}
        result = Result(both, terminal.sync_text(report, built)), not (report.failed or built.failed)
        if not options.watch:
            return result
        _say(options, both, result[0].text)
        return _watch(options, workspace, settings, paths)


def _add(workspace: Workspace, paths: list[Path], progress: Progress, watched: bool) -> library.SyncReport:
    if watched:
        return sum((watching.load_folder(workspace, path, progress) for path in paths), library.SyncReport())
    if paths:
        report = workspace.add_paths(paths, progress)
        if report == library.SyncReport(failed=report.failed):
            raise RagError("; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed))
        return report
    if workspace.catalogue.samples() != SAMPLES_REMOVED:
        return workspace.add_paths([SAMPLES_FOLDER], progress)
    if not workspace.catalogue.documents():
        raise RagError(
            f"The samples were removed and nothing else is there. Name a path; {SAMPLES_FOLDER} brings them back."
        )
    return library.SyncReport()


def _watch(
    options: argparse.Namespace, workspace: Workspace, settings: Settings, paths: Sequence[Path]
) -> tuple[Result, bool]:
    """A line for each sync that changed something, until Ctrl-C; then how many there were."""
    given = [WatchedFolder(os.path.abspath(path), options.every, last=time.time()) for path in paths]
    if not given and not any(folder.on for folder in workspace.catalogue.folders()):
        raise SettingsError("No folder is watched. Name one: `python -m rag index FOLDER --watch`.")
    told: list[SyncReport] = []

    def tell(report: SyncReport) -> None:
        told.append(report)
        _say(options, asdict(report), f"{time.strftime('%H:%M:%S')}  {terminal.line(report)}")

    watcher = watching.Watcher(workspace, lambda: settings, tell, (lambda: given) if given else None).start()
    said = ""
    with suppress(KeyboardInterrupt):
        while watcher.running:
            time.sleep(POLL_SECONDS)
            if watcher.error != said:
                said = watcher.error
                print(f"rag: {said}" if said else "rag: Going on.", file=sys.stderr, flush=True)
                if said and not workspace.store.answers:
                    watcher.stop()
                    raise ServerError("Stopped watching: the Weaviate server has ended. Start the command again.")
    watcher.stop()
    return Result(
        {"syncs": len(told)}, f"Stopped watching after {len(told)} sync{'s' * (len(told) != 1)} that changed something."
    ), True


def _say(options: argparse.Namespace, record: Any, text: str) -> None:
    print(json.dumps(record) if options.json else text, flush=True)


def documents(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """List the documents and the files that failed, or take some out of every index."""
    with _workspace(options, environment, progress) as (workspace, settings):
        settings = _with_overrides(options, workspace, settings)
        if options.action == "remove":
            if not options.names:
                raise SettingsError("Name the documents to remove, as `python -m rag documents` lists them.")
            report = listing.remove(workspace.catalogue, options.names)
            workspace.prune()
            return Result(asdict(report), terminal.removal_text(report)), True
        if options.names:
            raise SettingsError("`documents list` takes no names; `documents remove NAME` removes one.")
        catalogue = workspace.catalogue
        rows = [asdict(record) for record in catalogue.documents()]
        indexed, overrides = catalogue.indexed(settings.fingerprint()), dict(settings.overrides)
        for row in rows:
            held = indexed.get(row["id"])
            row |= {"chunks": held.chunks if held else 0, "state": listing.state(row["content_hash"], held)}
            row |= {"chunker": overrides.get(row["source"], settings.chunker)}
        record = {"documents": rows, "failures": [asdict(failure) for failure in catalogue.failures()]}
        record["folders"] = [asdict(folder) for folder in catalogue.folders()]
    return Result(record, terminal.documents_text(record)), True


def indexes(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """List the indexes with their sizes and in what they differ from these settings, or drop one."""
    with _workspace(options, environment, progress) as (workspace, settings):
        settings = _with_overrides(options, workspace, settings)
        if options.action == "drop":
            if not options.fingerprint:
                raise SettingsError("Name the index to drop, as `python -m rag indexes` lists them.")
            known = [index.fingerprint for index in workspace.catalogue.indexes()]
            meant = [fingerprint for fingerprint in known if fingerprint.startswith(options.fingerprint)]
            fingerprint = meant[0] if len(meant) == 1 else options.fingerprint
            workspace.drop(fingerprint)
            return Result({"dropped": fingerprint}, f"Index {fingerprint} is dropped."), True
        sizes = workspace.index_sizes()
        rows = [
            {
                "fingerprint": index.fingerprint,
                "plan": index.plan,
                **asdict(sizes.get(index.fingerprint, IndexSize(0, 0.0))),
                "documents": len(workspace.catalogue.indexed(index.fingerprint)),
                "in_use": index.fingerprint == settings.fingerprint(),
                "differences": indexing.differences(index.plan, settings.plan()),
            }
            for index in workspace.catalogue.indexes()
        ]
    return Result(rows, terminal.indexes_text(rows)), True


def _start(workspace: Workspace, settings: Settings, progress: Progress) -> None:
    """See to it that there is an index to ask; raises RagError with the reason where none could be built."""
    report = workspace.start(settings, progress)
    if report.failed and workspace.catalogue.documents() and not workspace.catalogue.index(settings.fingerprint()):
        first, *others = report.failed
        more = f" (and {len(others)} more)" if others else ""
        raise RagError(f"The index could not be built: {first.name}: {first.reason}{more}")


def ask(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The whole Trace with its answer; not sound where the answer failed."""
    with _workspace(options, environment, progress) as (workspace, settings):
        settings = _with_overrides(options, workspace, settings)
        _start(workspace, settings, progress)
        trace = run_funnel(options.question, (), settings, workspace)
    result = Result(trace.to_json(), terminal.answer_text(trace), terminal.funnel_text(trace))
    return result, trace.answer.state != "failed"


def inspect(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The Trace up to the prompt."""
    with _workspace(options, environment, progress) as (workspace, settings):
        settings = _with_overrides(options, workspace, settings)
        _start(workspace, settings, progress)
        trace = run_funnel(options.question, (), settings, workspace, answer=False)
    return Result(trace.to_json(), "", terminal.funnel_text(trace)), True


def bench(options: argparse.Namespace, environment: Environment, progress: Progress) -> tuple[Result, bool]:
    """The figures of the shipped questions, a collection or a folder; not sound where a question failed."""
    from rag.evaluation import benchmarks, chunking, ingest

    if options.what == "answers" and options.collection:
        raise SettingsError("bench answers takes no collection: it measures the shipped questions.")
    if options.what == "chunking" and not options.collection:
        raise SettingsError("bench chunking needs a folder with questions_df.csv and corpora/. Name it after chunking.")
    runs = {
        "retrieval": benchmarks.retrieval,
        "answers": benchmarks.answers,
        "chunking": chunking.chunking,
        "ingest": ingest.ingest,
    }
    settings = parse_assignments(options.set, chunking.BASE if options.what == "chunking" else FUNNEL)
    indexing.validate(settings)
    chosen = None if options.what == "chunking" and not options.set else settings
    with connection.connected(environment, progress) as client:
        record, text, failed = runs[options.what](
            environment, client, chosen, options.collection, options.limit, progress
        )
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
