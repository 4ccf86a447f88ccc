"""``bench ingest``: how fast files get from the disk into the index, and which step takes how much of the time."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from weaviate import WeaviateClient

from rag import chunkers, embedders, library, loaders
from rag.embedders import CachedEmbedder, Embedder
from rag.environment import SAMPLES_FOLDER, Environment
from rag.errors import RagError
from rag.evaluation.bench import aligned
from rag.evaluation.benchmarks import Outcome, Progress, temporary_workspace
from rag.evaluation.ingest_files import write_folder
from rag.indexing import search_terms
from rag.settings import Settings
from rag.workspace import Workspace

STEPS = {
    "load": "files read, parsed and hashed",
    "chunk": "documents cut",
    "embed": "texts to vectors, the cache included",
    "analyse": "search terms and their frequencies",
    "write": "chunks sent to Weaviate and stored there",
    "catalogue": "documents and records kept in Weaviate",
    "other": "all else: ids, comparisons, locks",
}
MANUAL = SAMPLES_FOLDER / "lapwing-owners-manual.pdf"
REPEATS = 3
FOLDER_BYTES = 50_000_000
SAMPLE_MEGABYTES = 1
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Run:
    """Files that went into an index once: what there was, and the seconds of every step."""

    name: str
    files: int
    size: int
    chunks: int
    seconds: dict[str, float]

    @property
    def total(self) -> float:
        """Seconds end to end."""
        return sum(self.seconds.values())

    @property
    def rate(self) -> float:
        """Chunks a second end to end."""
        return self.chunks / self.total if self.total else 0.0

    def to_json(self) -> dict[str, Any]:
        """JSON types only."""
        return {**asdict(self), "total_seconds": self.total, "chunks_per_second": self.rate}


def ingest(
    environment: Environment,
    client: WeaviateClient,
    settings: Settings,
    folder: Path | None,
    limit: int | None,
    progress: Progress,
) -> Outcome:
    """Seconds per step as JSON and as text: the shipped manual, a sample of the folder, and the whole of it.

    The whole folder, which without ``folder`` is made for it, goes in with vectors that are made up at once: to embed
    it takes the longest by far, and that rate is known from the sample of ``limit`` megabytes.
    """
    inner = embedders.build(settings.embedder, environment)
    measure = _Measure(environment, client, settings, progress)
    with tempfile.TemporaryDirectory(prefix="rag-bench-") as name:
        scratch = Path(name)
        folder = folder or _made(scratch / "files", progress)
        files = loaders.find_files(folder)
        if not files:
            raise RagError(f"{folder} holds no file that can be read. Name a folder with documents.")
        part = sample(files, (limit or SAMPLE_MEGABYTES) * MEGABYTE)
        inner.embed_query("Reading the model is no part of what is measured.")
        cold, warm = [], []
        for number in range(REPEATS):
            cached = CachedEmbedder(inner, scratch / f"cache-{number}")
            cold.append(measure("manual, nothing cached", [MANUAL], cached))
            warm.append(measure("manual, embeddings cached", [MANUAL], cached))
        runs = [median(cold), median(warm)]
        runs.append(measure("sample of the folder, nothing cached", part, CachedEmbedder(inner, scratch / "sample")))
        runs.append(measure("whole folder, vectors made up", [folder], MadeUp(inner.dimensions or 384)))
    embedding = runs[2].seconds["embed"] / max(runs[2].chunks, 1) * runs[3].chunks
    whole = runs[3].total - runs[3].seconds["embed"] + embedding
    record = {
        "settings": settings.to_json(),
        "repeats": REPEATS,
        "runs": [run.to_json() for run in runs],
        "computed": {"folder_embed_seconds": embedding, "folder_seconds": whole},
    }
    return record, _text(runs, embedding, whole), False


def _made(folder: Path, progress: Progress) -> Path:
    progress("Writing the files", None)
    folder.mkdir()
    write_folder(folder, FOLDER_BYTES)
    return folder


def sample(files: Sequence[Path], size: int) -> list[Path]:
    """Files drawn at random, always the same, until they have ``size`` bytes together."""
    drawn: list[Path] = []
    left = size
    for path in random.Random(0).sample(list(files), len(files)):
        if left <= 0:
            break
        drawn.append(path)
        left -= path.stat().st_size
    return sorted(drawn)


def median(runs: Sequence[Run]) -> Run:
    """The run of the same files with the median seconds of each step."""
    steps = {step: statistics.median(run.seconds[step] for run in runs) for step in STEPS}
    return Run(runs[0].name, runs[0].files, runs[0].size, runs[0].chunks, steps)


class MadeUp(Embedder):
    """A vector for each text from a hash of it: no meaning, hardly any time."""

    name = "made-up"

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], np.ndarray]]:
        for position, text in enumerate(texts):
            chance = np.random.default_rng(zlib.crc32(text.encode("utf-8", "surrogatepass")))
            yield [position], chance.normal(size=(1, self.dimensions))


class Clock:
    """Seconds by step; a step inside another takes its time from that one."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: Counter[str] = Counter()
        self._now = now
        self._inside = [0.0]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Counts what runs inside for the step, also where it ends with an error."""
        begun = self._now()
        self._inside.append(0.0)
        try:
            yield
        finally:
            elapsed = self._now() - begun
            self.seconds[name] += elapsed - self._inside.pop()
            self._inside[-1] += elapsed


class Timed:
    """Another object whose every method is counted for one step."""

    def __init__(self, inner: Any, clock: Clock, step: str) -> None:
        self._inner, self._clock, self._step = inner, clock, step

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return value

        def timed(*arguments: Any, **named: Any) -> Any:
            with self._clock.step(self._step):
                return value(*arguments, **named)

        return timed


@dataclass(frozen=True)
class _Measure:
    environment: Environment
    client: WeaviateClient
    settings: Settings
    progress: Progress

    def __call__(self, name: str, paths: Sequence[Path], embedder: Embedder) -> Run:
        """The paths through the real sync into a workspace of their own. Raises RagError where a file fails."""
        clock = Clock()

        def tell(message: str, fraction: float | None = None) -> None:
            self.progress(f"{name}: {message}", fraction)

        with temporary_workspace(self.environment, self.client) as plain:
            catalogue = Timed(plain.catalogue, clock, "catalogue")
            timed = {self.settings.embedder: Timed(embedder, clock, "embed")}
            workspace = Workspace(self.environment, Timed(plain.store, clock, "write"), catalogue, timed)
            with clock.step("load"):
                report = library.add_paths(catalogue, paths, tell)
            with clock.step("other"):
                report += workspace.build(self.settings, tell)
            if report.failed:
                raise RagError("; ".join(f"{failure.name}: {failure.reason}" for failure in report.failed))
            self._look_inside(clock, plain, timed[self.settings.embedder], tell)
        files = [file for path in paths for file in loaders.find_files(path)]
        seconds = {step: max(0.0, clock.seconds[step]) for step in STEPS}
        return Run(name, len(files), sum(file.stat().st_size for file in files), report.stored, seconds)

    def _look_inside(self, clock: Clock, workspace: Workspace, embedder: Timed, tell: Progress) -> None:
        """Cut and analyse everything once more, and take those seconds from what is all else."""
        again = Clock()
        records = workspace.catalogue.documents()
        for number, record in enumerate(records):
            tell("cutting again", number / len(records))
            document = workspace.catalogue.document(record.id)
            with again.step("chunk"):
                chunks = chunkers.chunk(document, self.settings, Timed(embedder._inner, again, "embed"))
            with again.step("analyse"):
                for chunk in chunks:
                    search_terms(chunk, self.settings.language)
        for step in ("chunk", "analyse"):
            clock.seconds[step] = again.seconds[step]
            clock.seconds["other"] -= again.seconds[step]


def _text(runs: Sequence[Run], embedding: float, whole: float) -> str:
    heads = [f"({number})" for number in range(1, len(runs) + 1)]
    table = [["share of the time", *heads]]
    for step in STEPS:
        table.append([step, *(f"{100 * run.seconds[step] / run.total:.1f} %" for run in runs)])
    table.append(["seconds", *(f"{run.total:.1f}" for run in runs)])
    table.append(["chunks", *(f"{run.chunks}" for run in runs)])
    table.append(["chunks a second", *(f"{run.rate:.0f}" for run in runs)])
    what = [f"{head} {run.name}: {_files(run)}" for head, run in zip(heads, runs, strict=True)]
    slowest = [max(run.seconds, key=run.seconds.__getitem__) for run in runs]
    limits = ", ".join(f"{head} {step} ({STEPS[step]})" for head, step in zip(heads, slowest, strict=True))
    return "\n".join(
        [
            aligned(table),
            "",
            *what,
            f"The manual's figures are medians of {REPEATS} runs; cutting and analysing are timed a second time over.",
            f"What takes longest: {limits}.",
            f"Computed, not measured: at the sample's rate embedding the whole folder takes {embedding / 60:.1f} min, "
            f"and with it all of it {whole / 60:.1f} min.",
        ]
    )


def _files(run: Run) -> str:
    return f"{run.files} {'file' if run.files == 1 else 'files'}, {run.size / MEGABYTE:.1f} MB"
