"""``bench ingest`` with a stub embedder: every second in one step, the same files each time, a fair sample."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import embedders
from rag.environment import Environment
from rag.errors import RagError
from rag.evaluation import ingest
from rag.evaluation.ingest_files import write_folder
from rag.library import quiet
from rag.settings import FUNNEL
from tests.support import client, m1

__all__ = ["client"]
KILN = "The kiln heats the clay to 1,280 degrees Celsius."


def test_a_clock_gives_every_second_to_one_step() -> None:
    now = [0.0]
    clock = ingest.Clock(lambda: now[0])

    def wait(seconds: float) -> None:
        now[0] += seconds

    with clock.step("load"):
        wait(1)
        with clock.step("catalogue"):
            wait(2)
            with clock.step("write"):
                wait(4)
        wait(8)
    with pytest.raises(RagError), clock.step("load"):
        wait(16)
        raise RagError("Odd.")
    assert dict(clock.seconds) == {"load": 25.0, "catalogue": 2.0, "write": 4.0}


def test_the_median_is_taken_step_by_step() -> None:
    runs = [
        ingest.Run("a", 1, 10, 6, {**dict.fromkeys(ingest.STEPS, 0.0), "embed": s, "write": 4 - s}) for s in (1, 3, 2)
    ]
    middle = ingest.median(runs)
    assert (middle.seconds["embed"], middle.seconds["write"], middle.total, middle.rate) == (2, 2, 4, 1.5)


def test_the_files_made_are_the_same_each_time_and_can_all_be_read(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        write_folder(folder, 1_500_000)
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    assert 1_500_000 <= sum(path.stat().st_size for path in first.iterdir()) < 3_000_000
    assert {Path(name).suffix for name in names} >= {".pdf", ".csv", ".md", ".txt", ".html"}


def test_a_sample_has_the_bytes_that_are_asked_for(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(10)]
    for file in files:
        file.write_text("x" * 100)
    drawn = ingest.sample(files, 250)
    assert len(drawn) == 3 and drawn == ingest.sample(files, 250) and set(drawn) < set(files)
    assert ingest.sample(files, 10_000) == files
    assert len(ingest.sample(files, 1)) == 1


def test_ingest_tells_every_step_of_every_run(
    environment: Environment, client: WeaviateClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Kilns {number}\n\n{KILN} {random.Random(number).random()}\n")
    monkeypatch.setattr(embedders, "build", lambda name, where: m1())
    monkeypatch.setattr(ingest, "MANUAL", folder / "0.md")
    settings = FUNNEL.changed({"embedder": "m1"})
    record, text, failed = ingest.ingest(environment, client, settings, folder, None, quiet)
    json.dumps(record, allow_nan=False)
    assert not failed
    cold, warm, part, whole = record["runs"]
    assert [run["chunks"] for run in record["runs"]] == [1, 1, 3, 3]
    for run in record["runs"]:
        assert set(run["seconds"]) == set(ingest.STEPS)
        assert run["total_seconds"] == pytest.approx(sum(run["seconds"].values()))
        assert run["seconds"]["write"] > 0 and run["seconds"]["catalogue"] > 0 and run["seconds"]["load"] > 0
    # 3 chunks at the sample's rate.
    assert record["computed"]["folder_embed_seconds"] == pytest.approx(part["seconds"]["embed"])
    assert "Computed, not measured" in text and "(4) whole folder, vectors made up: 3 files" in text


def test_an_empty_folder_is_refused(
    environment: Environment, client: WeaviateClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "picture.png").write_bytes(b"x")
    sample = tmp_path / "kilns.md"
    sample.write_text(KILN)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setattr(embedders, "build", lambda name, where: m1())
    monkeypatch.setattr(ingest, "MANUAL", sample)
    monkeypatch.setattr(ingest, "REPEATS", 1)
    with pytest.raises(RagError, match="holds no file that can be read"):
        ingest.ingest(environment, client, FUNNEL.changed({"embedder": "m1"}), empty, None, quiet)
