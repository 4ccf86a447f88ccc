"""The embedding cache: nothing is computed twice, a kill loses one batch, and no state of the file is fatal."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag import embedders
from rag.embedders import minilm
from rag.embedders.base import Embedder
from rag.embedders.cache import QUERIES_KEPT, CachedEmbedder, read_shipped, text_key, write_shipped
from rag.environment import PROJECT_FOLDER, Environment
from rag.errors import ProviderError
from tests.fakes.server import vector_of


class Counting(Embedder):
    """Keeps what it was asked, two texts to a batch; fails on the text "boom"."""

    def __init__(self, name: str = "stub:m", dimensions: int | None = 8) -> None:
        self.name = name
        self.dimensions = dimensions
        self.size = dimensions or 8
        self.asked: list[str] = []

    def _batches(self, texts):
        for first in range(0, len(texts), 2):
            part = list(texts[first : first + 2])
            if "boom" in part:
                raise ProviderError("the service is gone")
            self.asked += part
            yield list(range(first, first + len(part))), np.stack([vector_of(text, self.size) for text in part])


def unit(text: str, dimensions: int = 8) -> np.ndarray:
    vector = vector_of(text, dimensions)
    return vector / np.linalg.norm(vector)


def test_only_what_is_missing_is_computed_and_order_is_kept(tmp_path: Path) -> None:
    inner = Counting()
    first = CachedEmbedder(inner, tmp_path)
    first.embed_documents(["a", "b", "c"])
    second = CachedEmbedder(inner, tmp_path)
    seen: list[tuple[int, int]] = []
    vectors = second.embed_documents(["d", "b", "d", "a", "e"], lambda done, total: seen.append((done, total)))
    assert inner.asked == ["a", "b", "c", "d", "e"]
    assert np.allclose(vectors, np.stack([unit(text) for text in "dbdae"]), atol=1e-6)
    assert seen == [(2, 5), (5, 5)]  # a and b were there; d (twice) and e came in one batch
    assert second.path == tmp_path / "cache" / "embeddings" / "stub-m.sqlite"
    assert (second.name, second.dimensions, second.trouble) == ("stub:m", 8, "")


def test_a_kept_vector_is_the_computed_one_to_the_last_bit(tmp_path: Path) -> None:
    computed = CachedEmbedder(Counting(), tmp_path).embed_documents(["a", "b"])
    kept = CachedEmbedder(Counting(), tmp_path).embed_documents(["a", "b"])
    assert computed.tobytes() == kept.tobytes()


def test_models_and_revisions_do_not_mix(tmp_path: Path) -> None:
    CachedEmbedder(Counting("stub:m1"), tmp_path).embed_documents(["a"])
    other = Counting("stub:m2")
    CachedEmbedder(other, tmp_path).embed_documents(["a"])
    later = Counting("stub:m1")
    later.revision = 2
    CachedEmbedder(later, tmp_path).embed_documents(["a"])
    assert other.asked == later.asked == ["a"]


def test_what_was_finished_before_a_failure_is_kept(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    with pytest.raises(ProviderError, match="the service is gone"):
        cached.embed_documents(["a", "b", "c", "boom"])
    inner.asked.clear()
    cached.embed_documents(["a", "b", "c", "d"])
    assert inner.asked == ["c", "d"]


PROGRAM = """
import os, sys
from pathlib import Path
from tests.test_embedder_cache import Counting
from rag.embedders.cache import CachedEmbedder
texts = sys.argv[3].split(",")
stop = (lambda done, total: os._exit(9)) if sys.argv[2] == "kill" else None
CachedEmbedder(Counting(), Path(sys.argv[1])).embed_documents(texts, stop)
"""


def program(folder: Path, mode: str, texts: list[str]) -> subprocess.Popen:
    command = [sys.executable, "-c", PROGRAM, str(folder), mode, ",".join(texts)]
    return subprocess.Popen(command, cwd=PROJECT_FOLDER)


def test_a_kill_loses_at_most_the_batch_it_falls_into(tmp_path: Path) -> None:
    assert program(tmp_path, "kill", ["a", "b", "c", "d"]).wait() == 9
    inner = Counting()
    CachedEmbedder(inner, tmp_path).embed_documents(["a", "b", "c", "d"])
    assert inner.asked == ["c", "d"]


def test_processes_and_threads_share_one_file(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(120)]
    processes = [program(tmp_path, "run", texts[start : start + 60]) for start in (0, 30, 60)]
    with ThreadPoolExecutor(4) as pool:
        cached = CachedEmbedder(Counting(), tmp_path)
        list(pool.map(lambda start: cached.embed_documents(texts[start : start + 60]), (0, 20, 40, 60)))
    assert [process.wait() for process in processes] == [0, 0, 0]
    inner = Counting()
    vectors = CachedEmbedder(inner, tmp_path).embed_documents(texts)
    assert inner.asked == [] and cached.trouble == ""
    assert np.allclose(vectors, np.stack([unit(text) for text in texts]), atol=1e-6)


def damage_start(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def damage_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [damage_start, damage_middle])
def test_a_damaged_file_is_set_aside_and_rebuilt(damage, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(100)]
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    cached.embed_documents(texts)
    damage(cached.path)
    inner.asked.clear()
    vectors = cached.embed_documents(texts)
    assert sorted(inner.asked) == sorted(texts) and cached.trouble == ""
    assert np.allclose(vectors[7], unit("text 7"), atol=1e-6)
    assert cached.path.with_name("stub-m.sqlite.damaged").is_file()
    inner.asked.clear()
    cached.embed_documents(texts)
    assert inner.asked == []


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b"xyz",
        "text",
        np.ones(5, "<f4").tobytes(),
        np.full(8, np.nan, "<f4").tobytes(),
        np.zeros(8, "<f4").tobytes(),
    ],
)
def test_a_row_that_cannot_be_a_vector_of_this_model_is_computed_again(odd: object, tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    cached.embed_documents(["a", "b"])
    with sqlite3.connect(cached.path) as connection:
        connection.execute("UPDATE embeddings SET vector = ? WHERE key = ?", (odd, text_key(cached, "a")))
    connection.close()
    inner.asked.clear()
    vectors = cached.embed_documents(["a", "b"])
    assert inner.asked == ["a"]
    assert np.allclose(vectors[0], unit("a"), atol=1e-6)


def test_where_nothing_can_be_kept_embedding_goes_on(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    cached = CachedEmbedder(Counting(), tmp_path)
    assert np.allclose(cached.embed_documents(["a"])[0], unit("a"), atol=1e-6)
    assert cached.trouble.startswith("Embeddings are not kept between runs: ")


def test_guards_stand_before_the_cache_as_well(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    with pytest.raises(ProviderError, match="Text 2 of 2 is blank"):
        cached.embed_documents(["a", " "])
    with pytest.raises(ProviderError, match="The question is blank"):
        cached.embed_query("")
    assert inner.asked == []
    cached.embed_documents(["a\0", "a"])
    assert inner.asked == ["a"]


def test_a_model_whose_texts_are_all_known_is_not_even_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedders.cached("minilm", Environment(data_folder=tmp_path)).embed_documents(["a"])
    monkeypatch.setattr(minilm, "_load", None)
    assert embedders.cached("minilm", Environment(data_folder=tmp_path)).embed_documents(["a"]).shape == (1, 384)


def test_dimensions_are_learnt_through_the_cache(tmp_path: Path) -> None:
    cached = CachedEmbedder(Counting(dimensions=None), tmp_path)
    assert cached.dimensions is None
    cached.embed_documents(["a"])
    again = CachedEmbedder(Counting(dimensions=None), tmp_path)
    again.embed_documents(["a"])
    assert cached.dimensions == again.dimensions == again.inner.dimensions == 8


def test_a_question_is_embedded_once(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    first, second = cached.embed_query("q"), cached.embed_query("q")
    assert inner.asked == ["q"] and first.tobytes() == second.tobytes()
    for number in range(QUERIES_KEPT):
        cached.embed_query(f"other {number}")
    cached.embed_query("q")
    assert inner.asked.count("q") == 2
    cached.embed_query("q")[:] = 0
    assert np.allclose(cached.embed_query("q"), unit("q"), atol=1e-6)


# --- the shipped caches


def test_shipped_embeddings_are_used_and_are_the_fresh_ones_but_for_rounding(tmp_path: Path) -> None:
    texts = [f"Chapter {number}: how to charge the car at {number} kW." for number in range(40)]
    fresh = embedders.build("minilm", Environment()).embed_documents(texts)
    shipped = tmp_path / "minilm.npz"
    write_shipped(shipped, embedders.build("minilm", Environment()), texts, fresh)
    assert shipped.stat().st_size < 40 * (384 * 2 + 16) + 1000
    cached = CachedEmbedder(
        embedders.build("minilm", Environment()), tmp_path / "data", [tmp_path / "absent.npz", shipped]
    )
    cached.inner._batches = None  # nothing may be computed
    vectors = cached.embed_documents(texts)
    assert ((vectors * fresh).sum(axis=1) > 0.9999).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_the_same_texts_give_the_same_file_in_any_order(tmp_path: Path) -> None:
    inner = Counting()
    vectors = inner.embed_documents(["a", "b"])
    write_shipped(tmp_path / "1.npz", inner, ["a", "b"], vectors)
    write_shipped(tmp_path / "2.npz", inner, ["b", "a", "b"], vectors[[1, 0, 1]])
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()
    assert len(read_shipped(tmp_path / "1.npz", inner)) == 2


def test_a_shipped_file_that_does_not_fit_costs_time_and_says_so(tmp_path: Path) -> None:
    inner = Counting()
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04torn")
    write_shipped(tmp_path / "other.npz", Counting(dimensions=4), ["a"], np.ones((1, 4), np.float32))
    for name in ("torn", "other"):
        cached = CachedEmbedder(inner, tmp_path / name, [tmp_path / f"{name}.npz"])
        assert np.allclose(cached.embed_documents(["a"])[0], unit("a"), atol=1e-6)
        assert f"{name}.npz cannot be read and are computed instead" in cached.trouble


def test_cached_by_name_lies_in_the_data_folder(tmp_path: Path) -> None:
    cached = embedders.cached("minilm", Environment(data_folder=tmp_path))
    assert cached.path == tmp_path / "cache" / "embeddings" / "minilm.sqlite"
    assert [path.name for path in embedders.shipped_files(cached)] == ["minilm.npz"]
    assert not cached.path.exists()
