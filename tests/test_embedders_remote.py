"""Embedders behind an API, through their real clients, against servers that keep the services' limits."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from rag import embedders
from rag.embedders import voyage
from rag.embedders.remote import Limits, estimated_tokens, packed
from rag.environment import Environment
from rag.errors import ProviderError
from tests.fakes import gemini_server
from tests.fakes.fixtures import gemini, keyed, only_this_machine, voyage_server  # noqa: F401
from tests.fakes.gemini_server import GeminiServer
from tests.fakes.server import PAGE, Reply, vector_of
from tests.fakes.voyage_server import VoyageServer

# --- limits of a request


def test_tokens_are_bounded_from_characters() -> None:
    assert estimated_tokens("abcd efg") == 4  # eight letters and spaces, half a token each
    assert estimated_tokens("E-31") == 4  # one letter rounded up, three others whole
    assert estimated_tokens("né") == 3  # n, and é as two bytes
    assert estimated_tokens("") == 0


def test_texts_are_packed_by_count_and_by_tokens() -> None:
    limits = Limits(text_tokens=50, request_tokens=10, request_texts=3, dimensions=None)
    texts = ["a" * 8, "a" * 8, "a" * 8, "b", "b", "b", "b"]  # 4, 4, 4, 1, 1, 1, 1 tokens
    assert list(packed(texts, limits)) == [[0, 1], [2, 3, 4], [5, 6]]
    assert list(packed(["a" * 90], limits)) == [[0]]
    assert list(packed([], limits)) == []


# --- Voyage


def test_voyage_sends_what_its_reference_asks_for(keyed: Environment, voyage_server: VoyageServer) -> None:
    embedder = embedders.build("voyage:voyage-3.5", keyed)
    assert embedder.dimensions == 1024
    vectors = embedder.embed_documents(["one", "two"])
    question = embedder.embed_query("three")
    first, second = (request["body"] for request in voyage_server.requests)
    assert (first["input"], first["model"], first["input_type"]) == (["one", "two"], "voyage-3.5", "document")
    assert (second["input"], second["input_type"]) == (["three"], "query")
    for text, vector in zip(["one", "two", "three"], [*vectors, question], strict=True):
        expected = vector_of(text, 1024)
        assert np.allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


@pytest.mark.parametrize("model", ["voyage-4", "voyage-4-large"])
def test_voyage_takes_many_long_texts_in_several_requests(
    model: str, keyed: Environment, voyage_server: VoyageServer
) -> None:
    """B15: 200 texts of a thousand tokens at 120,000 a request, and one of 40,000 tokens."""
    voyage_server.request_tokens = voyage.MODELS[model].request_tokens
    texts = [f"w{number} " * 1000 for number in range(200)] + ["x " * 40_000]
    embedder = embedders.build(f"voyage:{model}", keyed)
    vectors = embedder.embed_documents(texts)
    assert len(voyage_server.requests) > 1
    sent = [text for request in voyage_server.requests for text in request["body"]["input"]]
    assert sent[:200] == texts[:200] and texts[200].startswith(sent[200]) and len(sent[200].split()) == 32_000
    expected = np.stack([vector_of(text, 1024) for text in sent])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert embedder.notices(texts) == {200: f"voyage:{model} reads only the first 64,000 of these 80,000 characters."}


def test_a_request_that_is_too_large_after_all_is_halved(keyed: Environment, voyage_server: VoyageServer) -> None:
    voyage_server.request_tokens = 7
    vectors = embedders.build("voyage", keyed).embed_documents([f"a b c {number}" for number in range(5)])
    assert vectors.shape == (5, 1024)
    accepted = [r["body"]["input"] for r in voyage_server.requests if len(r["body"]["input"]) == 1]
    assert accepted == [[f"a b c {number}"] for number in range(5)]


def test_an_import_is_more_patient_than_a_question(keyed: Environment, voyage_server: VoyageServer) -> None:
    voyage_server.script.extend([Reply(429, {"detail": "3 RPM."})] * 5)
    assert len(embedders.build("voyage", keyed).embed_documents(["a"])) == 1
    assert len(voyage_server.requests) == 6


def test_voyage_counts_what_comes_back(keyed: Environment, voyage_server: VoyageServer) -> None:
    data = [{"embedding": voyage_server.encoded(text), "index": index} for index, text in enumerate("abc")]
    voyage_server.script.append(Reply(200, {"data": data, "usage": {"total_tokens": 3}}))
    with pytest.raises(
        ProviderError, match="^voyage:voyage-4 returned 3 vectors for 4 texts. Nothing of it was used.$"
    ):
        embedders.build("voyage", keyed).embed_documents(list("abcd"))


def test_voyage_waits_as_long_as_it_is_asked_to(keyed: Environment, voyage_server: VoyageServer) -> None:
    voyage_server.script.append(Reply(429, {"detail": "Rate limit."}, {"Retry-After": "1"}))
    voyage_server.script.append(Reply(503, {}))
    embedders.build("voyage", keyed).embed_query("x")
    assert voyage_server.times[1] - voyage_server.times[0] >= 1 and len(voyage_server.times) == 3


@pytest.mark.parametrize(
    ("replies", "message", "calls"),
    [
        (
            [Reply(429, {"detail": "Over 3 RPM."}, {"Retry-After": "600"})],
            "voyage:voyage-4 is over its rate limit (Over 3 RPM.). The service asks to wait 600 seconds.",
            1,
        ),
        (
            [Reply(429, {"detail": "No."})] * 4,
            "voyage:voyage-4 is over its rate limit (No.). Try again in a minute.",
            3,
        ),
        ([Reply(500, {})] * 4, "voyage:voyage-4 is unavailable at the moment (500). Try again in a minute.", 3),
        (
            [Reply(400, {"detail": "Model x is not supported."})],
            "voyage:voyage-4 refused the request (Model x is not supported.).",
            1,
        ),
        (
            [Reply(200, "<html>proxy</html>")],
            "voyage:voyage-4: ADDRESS answered a web page: is VOYAGE_BASE_URL right?",
            1,
        ),
        (
            [Reply(501, PAGE.format("Error response"))],
            "voyage:voyage-4: ADDRESS answered 501: is VOYAGE_BASE_URL right?",
            1,
        ),
        (
            [Reply(404, {"detail": "Not Found"})],
            "voyage:voyage-4: ADDRESS answered 404: is VOYAGE_BASE_URL right?",
            1,
        ),
        (
            [Reply(400, PAGE.format("Bad request"))],
            "voyage:voyage-4 refused the request (400: Bad request).",
            1,
        ),
        (
            [Reply(429, PAGE.format("Slow down"), {"Retry-After": "600"})],
            "voyage:voyage-4 is over its rate limit (429: Slow down). The service asks to wait 600 seconds.",
            1,
        ),
        # The client itself would add the body and all headers to these words.
        ([Reply(409, {"detail": "Odd."})], "voyage:voyage-4 refused the request (Odd.).", 1),
        ([Reply(200, {"unexpected": 1})], "voyage:voyage-4 sent an answer that cannot be read (data). Try again.", 1),
    ],
)
def test_voyage_failures_in_plain_words(
    replies: list[Reply], message: str, calls: int, keyed: Environment, voyage_server: VoyageServer
) -> None:
    voyage_server.script.extend(replies)
    with pytest.raises(ProviderError) as caught:
        embedders.build("voyage", keyed).embed_query("x")
    assert str(caught.value) == message.replace("ADDRESS", voyage_server.url.rstrip("/"))
    assert len(voyage_server.requests) == calls


def test_a_wrong_key_is_named_and_not_shown(voyage_server: VoyageServer, gemini: GeminiServer) -> None:
    wrong = Environment(
        voyage_api_key="wrong-1",
        voyage_base_url=voyage_server.url,
        gemini_api_key="wrong-2",
        gemini_base_url=gemini.url,
    )
    with pytest.raises(
        ProviderError, match="^VOYAGE_API_KEY was refused. Check the key at https://dashboard.voyageai.com.$"
    ):
        embedders.build("voyage", wrong).embed_query("x")
    with pytest.raises(ProviderError, match="^GEMINI_API_KEY was refused .*Check the key at") as caught:
        embedders.build("gemini", wrong).embed_query("x")
    assert "wrong-2" not in str(caught.value)
    assert len(voyage_server.requests) == len(gemini.requests) == 1


def test_a_dead_network_is_one_sentence(voyage_server: VoyageServer, gemini: GeminiServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{free.getsockname()[1]}"
    dead = Environment(voyage_api_key="k", voyage_base_url=place, gemini_api_key="k", gemini_base_url=place)
    with pytest.raises(ProviderError, match=f"^voyage:voyage-4: the connection to {place} failed. Check the network.$"):
        embedders.build("voyage", dead).embed_query("x")
    with pytest.raises(
        ProviderError, match=f"^gemini:gemini-embedding-2: the connection to {place} failed .*network.$"
    ):
        embedders.build("gemini", dead).embed_query("x")
    voyage_server.script.append(Reply(drop=True))
    with pytest.raises(ProviderError, match="Check the network.$"):
        embedders.build("voyage", Environment(voyage_api_key="k", voyage_base_url=voyage_server.url)).embed_query("x")


def test_a_silent_service_is_given_up(
    monkeypatch: pytest.MonkeyPatch, keyed: Environment, voyage_server: VoyageServer
) -> None:
    monkeypatch.setattr(voyage, "READ_SECONDS", 0.2)
    voyage_server.script.extend([Reply(delay_seconds=1)] * 3)
    with pytest.raises(ProviderError, match="^voyage:voyage-4 did not answer within 0.2 seconds. Try again.$"):
        embedders.build("voyage", keyed).embed_query("x")
    assert len(voyage_server.requests) == 3


# --- Gemini


def test_gemini_puts_the_task_where_the_model_looks_for_it(keyed: Environment, gemini: GeminiServer) -> None:
    new, old = embedders.build("gemini", keyed), embedders.build("gemini:gemini-embedding-001", keyed)
    for embedder in (new, old):
        embedder.embed_documents(["one", "two"])
        embedder.embed_query("three")
    sent = [
        [(part["content"]["parts"][0]["text"], part.get("taskType")) for part in request["body"]["requests"]]
        for request in gemini.requests
    ]
    assert sent == [
        [("title: none | text: one", None), ("title: none | text: two", None)],
        [("task: search result | query: three", None)],
        [("one", "RETRIEVAL_DOCUMENT"), ("two", "RETRIEVAL_DOCUMENT")],
        [("three", "RETRIEVAL_QUERY")],
    ]
    assert all(
        len(part["content"]["parts"]) == 1 for request in gemini.requests for part in request["body"]["requests"]
    )


def test_gemini_takes_at_most_a_hundred_texts_a_request(keyed: Environment, gemini: GeminiServer) -> None:
    """B15: a service that takes 100 texts a request."""
    embedder = embedders.build("gemini:gemini-embedding-001", keyed)
    texts = [f"text {number}" for number in range(250)] + ["x " * 40_000]
    vectors = embedder.embed_documents(texts)
    assert [len(request["body"]["requests"]) for request in gemini.requests] == [100, 100, 51]
    expected = vector_of("text 249", 3072)
    assert np.allclose(vectors[249], expected / np.linalg.norm(expected), atol=1e-6)
    assert embedder.notices(texts) == {
        250: "gemini:gemini-embedding-001 reads only the first 4,096 of these 80,000 characters."
    }


def test_gemini_waits_as_long_as_it_is_asked_to(keyed: Environment, gemini: GeminiServer) -> None:
    busy = gemini_server.error(429, "RESOURCE_EXHAUSTED", "Quota.", gemini_server.retry_info("0.3s"))
    gemini.script.extend([busy, gemini_server.error(503, "UNAVAILABLE", "Overloaded.")])
    embedders.build("gemini", keyed).embed_query("x")
    assert gemini.times[1] - gemini.times[0] >= 0.3 and len(gemini.times) == 3


def test_gemini_counts_what_comes_back(keyed: Environment, gemini: GeminiServer) -> None:
    gemini.script.append(Reply(200, {"embeddings": [{"values": [0.1] * 3072}]}))
    with pytest.raises(ProviderError, match="^gemini:gemini-embedding-2 returned 1 vectors for 2 texts."):
        embedders.build("gemini", keyed).embed_documents(["a", "b"])
    gemini.script.append(Reply(200, {}))
    with pytest.raises(ProviderError, match="returned 0 vectors for 1 texts"):
        embedders.build("gemini", keyed).embed_query("a")
