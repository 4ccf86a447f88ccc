"""Kills syncs at random instants and shows that nothing is lost, doubled or seen by half.

    python -m tests.kill_sync --kills 50

Each round changes a folder of some forty files (added, changed, shortened, renamed, removed), lets a process of its own
sync it, and ends that process hard. A reader asks all the while. After the kill every document must be seen whole, as
it was or as it is; after the next start the stored chunks must be exactly those of the files.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rag import chunkers, library, loaders
from rag.environment import Environment
from rag.reading import View
from rag.schema import Chunk
from rag.weaviate import connection, server
from rag.workspace import Workspace
from tests.kill_child import PHASES, SETTINGS, open_over, sync
from tests.support import m1

PROJECT = Path(__file__).resolve().parent.parent
FILES = 40
EVERYTHING = 5000

Ids = dict[str, frozenset[str]]


# ---- the folder


def text_of(chance: random.Random, number: int, sections: int) -> str:
    """A document of so many sections; each is a chunk."""
    words = ["kiln", "clay", "glaze", "wheel", "water", "ash", "fire", "slip", "cone", "shelf"]
    return "\n\n".join(
        f"# Part {part}\n\n{number} {' '.join(chance.choices(words, k=12))} {chance.random()}."
        for part in range(sections)
    )


def change(chance: random.Random, files: Path) -> None:
    """One round of what people do to a folder."""
    names = sorted(path.name for path in files.iterdir())
    chance.shuffle(names)
    for _ in range(4):
        name = names.pop()
        (files / name).write_text(text_of(chance, chance.randrange(1000), chance.randrange(4, 9)))
    for _ in range(3):
        path = files / names.pop()
        path.write_text(path.read_text().split("\n\n# Part 1")[0])
    for _ in range(3):
        (files / names.pop()).rename(files / f"renamed-{chance.randrange(10**9)}.md")
    for _ in range(max(0, len(names) + 10 - FILES)):
        (files / names.pop()).unlink()
    for _ in range(3):
        (files / f"new-{chance.randrange(10**9)}.md").write_text(text_of(chance, chance.randrange(1000), 6))


def expected(files: Path) -> Ids:
    """By name of each file, the ids of the chunks that it ought to have."""
    found = {}
    for path in sorted(files.iterdir()):
        document = loaders.load(path, path.name, library.source_of(path))
        found[path.name] = frozenset(chunk.id for chunk in chunkers.chunk(document, SETTINGS, m1()))
    return found


# ---- the reader


def seen(workspace: Workspace) -> Ids:
    """By name of each document, the ids of its chunks that a search over everything finds, by both lists."""
    vector = m1().vector("kiln")

    def search(view: View) -> tuple[set[str], set[str], dict[str, Chunk]]:
        fingerprint = view.index.fingerprint
        dense = workspace.store.dense(fingerprint, vector, EVERYTHING, view.visible)
        sparse = workspace.store.sparse(fingerprint, ["part"], EVERYTHING, 1, view.visible)
        chunks = workspace.store.chunks(fingerprint, [hit.chunk_id for hit in dense])
        return {hit.chunk_id for hit in dense}, {hit.chunk_id for hit in sparse}, chunks

    dense, sparse, chunks = workspace.read(SETTINGS, search)
    assert dense == sparse, "the two lists are of two states"
    assert dense == chunks.keys(), "a chunk that was found cannot be read"
    by_name: dict[str, set[str]] = {}
    for chunk_id, chunk in chunks.items():
        by_name.setdefault(chunk.document, set()).add(chunk_id)
    return {name: frozenset(ids) for name, ids in by_name.items()}


def check_whole(found: Ids, before: Ids, after: Ids) -> None:
    """Every document is as it was or as it is; what is in both states is there."""
    for name, ids in found.items():
        assert ids in (before.get(name), after.get(name)), f"{name} is seen by half: {len(ids)} chunks"
    lost = (before.keys() & after.keys()) - found.keys()
    assert not lost, f"not seen: {sorted(lost)}"


def check_exact(workspace: Workspace, after: Ids) -> None:
    """What is stored, what is recorded and what is seen are exactly the chunks of the files."""
    fingerprint = SETTINGS.fingerprint()
    indexed = workspace.catalogue.indexed(fingerprint)
    stored = {indexed[key].name: frozenset(ids) for key, ids in workspace.store.all_ids(fingerprint).items()}
    assert stored == after, f"stored is not what the files say: {differing(stored, after)}"
    assert {record.name: record.chunks for record in indexed.values()} == {n: len(ids) for n, ids in after.items()}
    assert workspace.store.count(fingerprint) == sum(map(len, after.values()))
    assert workspace.catalogue.index(fingerprint).writing == ()
    assert sorted(record.name for record in workspace.catalogue.documents()) == sorted(after)
    assert seen(workspace) == after


def differing(one: Ids, other: Ids) -> list[str]:
    """Names of which the two hold other chunks."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@contextmanager
def asking(workspace: Workspace, before: Ids, after: Ids) -> Iterator[list[int]]:
    """A reader that asks all the while; raises what it found wrong. Its number of answers is in the list."""
    done, answers, errors = threading.Event(), [0], []

    def ask() -> None:
        try:
            while not done.is_set():
                check_whole(seen(workspace), before, after)
                answers[0] += 1
        except BaseException as error:  # handed on whole to the thread that waits
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join()
    if errors:
        raise errors[0]


# ---- a round


class Rounds:
    """One folder and one workspace, changed, killed and checked round after round."""

    def __init__(self, environment: Environment, client, name: str, folder: Path, seed: int):
        self.environment, self.name, self.folder = environment, name, folder
        self.chance = random.Random(seed)
        self.workspace = open_over(client, environment, name)
        self.files = folder / "files"
        self.files.mkdir()
        for number in range(FILES):
            (self.files / f"file-{number}.md").write_text(text_of(self.chance, number, self.chance.randrange(2, 9)))
        sync(self.workspace, self.files)
        self.before = expected(self.files)
        check_exact(self.workspace, self.before)
        self.answers, self.seconds = 0, 1.0
        self.calls: Counter[str] = Counter()

    def run(self, kill_at: str = "", kill: bool = True) -> str:
        """One round; the phase that the kill fell in, "between" where it fell in none, "" where there was none."""
        change(self.chance, self.files)
        after = expected(self.files)
        log = self.folder / f"log-{self.chance.randrange(10**9)}"
        with asking(self.workspace, self.before, after) as answers:
            self._run_child(log, kill_at, kill)
        self.answers += answers[0]
        check_whole(seen(self.workspace), self.before, after)
        lines = log.read_text().splitlines()
        if not kill:
            self.calls = Counter(line[2:] for line in lines if line.startswith(">"))
        sync(self.workspace, self.files)
        check_exact(self.workspace, after)
        self.before = after
        if lines[-1] == "end":
            return ""
        return lines[-1][2:] if lines[-1].startswith(">") else "between"

    def _run_child(self, log: Path, kill_at: str, kill: bool) -> None:
        arguments = [str(self.environment.data_folder), str(self.files), self.name, str(log), kill_at]
        with subprocess.Popen([sys.executable, "-m", "tests.kill_child", *arguments], cwd=PROJECT) as process:
            while not (log.exists() and log.stat().st_size) and process.poll() is None:
                time.sleep(0.001)
            begun = time.monotonic()
            if kill and not kill_at:
                try:
                    process.wait(self.chance.uniform(0, 0.8 * self.seconds))
                except subprocess.TimeoutExpired:
                    process.kill()
            code = process.wait(120)
            if not kill:
                self.seconds = time.monotonic() - begun
        assert code in (0, -signal.SIGKILL), f"the sync ended with {code}"


def main(kills: int, seed: int) -> None:
    """Kill so many syncs, half of them at a random instant and half in a phase and call chosen at random."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = Environment(data_folder=folder / "data")
        try:
            with connection.connected(environment) as client:
                rounds = Rounds(environment, client, "kills", folder, seed)
                rounds.run(kill=False)
                print(f"{FILES} files; an undisturbed sync takes {rounds.seconds:.2f} s.", flush=True)
                while counts.total() < kills:
                    phase = min(PHASES, key=lambda one: counts[one])
                    call = rounds.chance.randrange(1, max(rounds.calls[phase], 1) + 1)
                    aimed = f"{phase}:{call}{rounds.chance.choice(['', ':half', ':moment'])}"
                    hit = rounds.run(aimed if counts.total() % 2 else "")
                    counts[hit] += bool(hit)
                    print(f"kill {counts.total()}: {hit or 'came too late'}", flush=True)
                print(report(counts, rounds.answers))
        finally:
            server.stop(environment)


def report(counts: Mapping[str, int], answers: int) -> str:
    """The kills by phase, and what they did not do."""
    kinds = ", ".join(f"{counts[name]} {name}" for name in (*PHASES, "between") if counts[name])
    return f"{sum(counts.values())} kills ({kinds}); {answers} questions meanwhile; nothing lost, doubled or half seen."


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    main(chosen.kills, chosen.seed)
