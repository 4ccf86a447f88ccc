"""The store on a real server: right at once, every refusal read, workspaces apart, errors in plain words."""

from __future__ import annotations

import csv
import math
from collections import Counter

import numpy as np
import pytest
from weaviate import WeaviateClient

from rag.analysis import analyse
from rag.environment import SAMPLES_FOLDER, Environment
from rag.schema import Chunk
from rag.weaviate import connection
from rag.weaviate import store as store_module
from rag.weaviate.entries import Entry
from rag.weaviate.store import Store, collection_name
from tests.support import StubEmbedder, a_chunk, an_entry, client, fresh_name, m1, sample_chunks

__all__ = ["client"]
FINGERPRINT = "5" * 16
SAMPLES = ("faq.csv", "release-notes.md", "service-guide.html", "support-chats.txt")


@pytest.fixture
def store(client: WeaviateClient) -> Store:
    store = Store(client, fresh_name())
    store.prepare_index(FINGERPRINT, 1.2, 0.75)
    return store


def questions() -> list[str]:
    """The 60 questions of the shipped FAQ."""
    with (SAMPLES_FOLDER / "faq.csv").open(encoding="utf-8", newline="") as file:
        return [row["question"] for row in csv.DictReader(file)]


def plain_bm25(entries: list[Entry], terms: tuple[str, ...]) -> dict[str, float]:
    """Scores by chunk id, as this server computes them with USE_BLOCKMAX_WAND=false.

    Sum over the query's terms of idf * tf / (tf + k1 (1 - b + b * length / average)); length counts all terms of a
    passage, average is the mean number of distinct ones.
    """
    k1, b = 1.2, 0.75
    counts = {entry.chunk.id: Counter(entry.terms) for entry in entries}
    average = sum(len(count) for count in counts.values()) / len(counts)
    scores: dict[str, float] = {}
    for term in terms:
        holders = [name for name, count in counts.items() if term in count]
        idf = math.log(1 + (len(counts) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name in holders:
            tf, length = counts[name][term], counts[name].total()
            scores[name] = scores.get(name, 0) + idf * tf / (tf + k1 * (1 - b + b * length / average))
    return scores


def test_asked_right_after_the_write_sparse_is_bm25_and_dense_is_exact_cosine(store: Store) -> None:
    model = StubEmbedder("m", 64)
    entries = [an_entry(chunk, model) for chunk in sample_chunks(200, *SAMPLES)]
    assert len(entries) > 250
    assert store.write(FINGERPRINT, entries, 64) == ()
    asked = questions()
    lists = [store.sparse(FINGERPRINT, analyse(question), 50, heading_weight=0) for question in asked]
    assert store.count(FINGERPRINT) == len(entries)

    shares, differences = [], []
    for question, hits in zip(asked, lists, strict=True):
        scores = plain_bm25(entries, analyse(question))
        right = sorted(scores, key=lambda name: (-scores[name], name))[:50]
        assert len(hits) == len(right), question
        shares.append(len({hit.chunk_id for hit in hits} & set(right)) / len(right))
        differences += [abs(hit.score - scores[hit.chunk_id]) / scores[hit.chunk_id] for hit in hits]
    assert sum(shares) / len(shares) >= 0.95
    assert float(np.median(differences)) < 0.02

    matrix = np.stack([model.vector(entry.chunk.text) for entry in entries])
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    for question in asked[:20]:
        vector = model.embed_query(question)
        exact = dict(zip([entry.chunk.id for entry in entries], (matrix @ vector).tolist(), strict=True))
        hits = store.dense(FINGERPRINT, vector, 50)
        assert [hit.score for hit in hits] == pytest.approx(sorted(exact.values(), reverse=True)[:50], abs=1e-5)
        assert [exact[hit.chunk_id] for hit in hits] == pytest.approx([hit.score for hit in hits], abs=1e-5)
        assert all(hit.score == pytest.approx(1 - hit.why["distance"]) for hit in hits)
        assert [hit.rank for hit in hits] == list(range(1, 51))


def test_a_sparse_hit_says_which_terms_it_matched_and_headings_weigh_as_much_as_asked(store: Store) -> None:
    texts = ["Recorded records, recording: recordings of a drive.", "Nothing of the kind.", "The drive."]
    chunks = [a_chunk(number, text) for number, text in enumerate(texts)]
    long = "Plug the lead into the socket first and wait until the lamp beside the lid turns green."
    chunks.append(a_chunk(3, long, section=("Care of everything else", "Recording")))
    store.write(FINGERPRINT, [an_entry(chunk, m1()) for chunk in chunks], 8)
    terms = analyse("what records?")
    assert [hit.chunk_id for hit in store.sparse(FINGERPRINT, terms, 10, heading_weight=0)] == [chunks[0].id]
    light, heavy = (store.sparse(FINGERPRINT, terms, 10, heading_weight=weight) for weight in (1, 10))
    assert [hit.chunk_id for hit in light] == [chunks[0].id, chunks[3].id]
    assert [hit.chunk_id for hit in heavy] == [chunks[3].id, chunks[0].id]
    # record record record record drive: "record" four times among five terms.
    assert light[0].why["terms"] == {"record": {"frequency": 4.0, "length": 5.0}}


def test_what_asks_for_nothing_gets_nothing_without_a_call(environment: Environment) -> None:
    with connection.connected(environment) as closed:
        unused = Store(closed, fresh_name())
    assert unused.dense(FINGERPRINT, m1().vector("x"), 0) == ()
    assert unused.sparse(FINGERPRINT, ("record",), 0, 1) == ()
    assert unused.sparse(FINGERPRINT, (), 50, 1) == ()


def fifty(spoilt: dict[int, Entry]) -> list[Entry]:
    entries = [an_entry(a_chunk(number, f"Passage number {number} about kilns."), m1()) for number in range(50)]
    return [spoilt.get(number, entry) for number, entry in enumerate(entries)]


def test_three_bad_chunks_of_fifty_are_named_with_their_reasons_and_the_rest_is_stored(store: Store) -> None:
    """B16: a page that is "n/a", a vector one number short, a property of the wrong type."""
    bad_page = an_entry(a_chunk(7, "A page that is no number.", page_start="n/a", page_end="n/a"), m1())
    short = Entry(a_chunk(21, "A vector one number short."), m1().vector("x").tolist()[:7], ("vector",), ())
    wrong_type = an_entry(a_chunk(42, "A start that is a text."), m1())
    object.__setattr__(wrong_type.chunk, "start", "420000")
    rejected = store.write(FINGERPRINT, fifty({7: bad_page, 21: short, 42: wrong_type}), 8)
    assert {item.chunk.position: item.reason for item in rejected} == {
        7: "its page_start is 'n/a', not a whole number",
        21: "its vector has 7 numbers where the index has 8",
        42: "its start is '420000', not a whole number",
    }
    assert store.count(FINGERPRINT) == 47
    assert len(store.chunk_ids(FINGERPRINT, "id of a.md")) == 47
    assert store.chunks(FINGERPRINT, [short.chunk.id]) == {}


@pytest.mark.parametrize(
    ("changes", "vector", "reason"),
    [
        ({"page_start": True}, None, "its page_start is True, not a whole number"),
        ({"page_end": -1}, None, "its page_end is -1, not a whole number"),
        ({"position": None}, None, "its position is None, not a whole number"),
        ({"document": 7}, None, "its document is 7, not a text"),
        ({"text": " \n"}, None, "its text is ' \\n', not a text"),
        ({"section": ("Care", 7)}, None, "its section is ('Care', 7), not a list of texts"),
        ({"page_labels": "xii"}, None, "its page_labels is 'xii', not a list of texts"),
        ({"header": None}, None, "its header is None, not a text"),
        ({}, [math.nan] * 8, "its vector holds a number that is not finite"),
        ({}, ["one"] * 8, "its vector holds something that is no number"),
        ({"document": "bad \udcff.txt"}, None, "it holds half a character (a lone surrogate)"),
        ({}, [], "its vector has 0 numbers where the index has 8"),
    ],
)
def test_each_kind_of_bad_chunk_has_its_reason(store: Store, changes: dict, vector: list | None, reason: str) -> None:
    good = an_entry(a_chunk(0, "Sound."), m1())
    chunk = a_chunk(1, "Not sound.")
    for name, value in changes.items():
        object.__setattr__(chunk, name, value)
    bad = Entry(chunk, m1().vector("x").tolist() if vector is None else vector, ("sound",), ())
    assert [item.reason for item in store.write(FINGERPRINT, [good, bad], 8)] == [reason]
    assert store.count(FINGERPRINT) == 1


def test_what_the_server_itself_refuses_is_read_too_and_not_left_half_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "fault", lambda entry, dimensions: "")
    bad_page = an_entry(a_chunk(7, "A page that is no number.", page_start="n/a", page_end="n/a"), m1())
    short = Entry(a_chunk(21, "A vector one number short."), m1().vector("x").tolist()[:7], ("vector",), ())
    rejected = store.write(FINGERPRINT, fifty({7: bad_page, 21: short}), 8)
    reasons = {item.chunk.position: item.reason for item in rejected}
    assert reasons.keys() == {7, 21}
    assert "page_" in reasons[7] and "n/a" not in [chunk.page_start for chunk in stored(store)]
    assert "vector" in reasons[21] and "7" in reasons[21]
    assert store.count(FINGERPRINT) == 48
    assert store.sparse(FINGERPRINT, ("vector",), 10, 1) == ()


def test_where_every_chunk_is_refused_every_one_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """B16: all 50 are refused."""
    entries = [Entry(entry.chunk, entry.vector[:7], entry.terms, ()) for entry in fifty({})]
    assert len(store.write(FINGERPRINT, entries, 8)) == 50
    monkeypatch.setattr(store_module, "fault", lambda entry, dimensions: "")
    bad = [an_entry(a_chunk(number, f"Page {number}.", page_start="n/a"), m1()) for number in range(50)]
    rejected = store.write(FINGERPRINT, bad, 8)
    assert [item.chunk.position for item in rejected] == list(range(50))
    assert all(item.reason for item in rejected)
    assert store.count(FINGERPRINT) == 0


def stored(store: Store, document: str = "a.md") -> list[Chunk]:
    ids = store.chunk_ids(FINGERPRINT, f"id of {document}")
    return sorted(store.chunks(FINGERPRINT, ids).values(), key=lambda chunk: chunk.position)


def test_chunks_come_back_as_they_were_written_also_more_than_a_page_of_them(store: Store) -> None:
    full = a_chunk(
        0, 'Quotes " and \\ and 漢字 and 🚗\nnext line', section=("A > B", 'C "c"'), page_start=3, page_end=4,
        page_labels=("xii", "1"), header="| a |", line_start=2, line_end=9, window=(0, 4), paragraph=(0, 5),
        whole_section=(0, 9),
    )  # fmt: skip
    many = [full, *(a_chunk(number, f"Text {number}") for number in range(1, 1203))]
    assert store.write(FINGERPRINT, [an_entry(chunk, m1()) for chunk in many], 8) == ()
    assert stored(store) == many
    # Read anew, not from the memory of this store.
    assert Store(store._client, store.workspace).chunks(FINGERPRINT, [full.id]) == {full.id: full}


def test_chunks_read_once_are_kept_in_memory_up_to_a_bound(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "CHUNK_CACHE", 2)
    chunks = [a_chunk(number, f"Text {number}") for number in range(3)]
    store.write(FINGERPRINT, [an_entry(chunk, m1()) for chunk in chunks], 8)
    ids = [chunk.id for chunk in chunks]
    assert list(store.chunks(FINGERPRINT, ids).values()) == chunks
    asked = []
    monkeypatch.setattr(
        store._tenants, "tenant", lambda name, real=store._tenants.tenant: asked.append(name) or real(name)
    )
    assert list(store.chunks(FINGERPRINT, ids[1:]).values()) == chunks[1:]
    assert store.chunks(FINGERPRINT, []) == {}
    assert asked == []
    assert list(store.chunks(FINGERPRINT, ids[::-1]).values()) == chunks[::-1]
    assert asked == [collection_name(FINGERPRINT)]


def test_names_that_share_words_are_told_apart_to_the_letter(store: Store) -> None:
    names = ["report.txt", "annual report.txt", "report-2.txt", "Report.txt", "the.txt"]
    store.write(FINGERPRINT, [an_entry(a_chunk(0, f"What {name} says.", name), m1()) for name in names], 8)
    for name in names:
        assert [chunk.document for chunk in stored(store, name)] == [name]
    for gone in ("report.txt", "the.txt"):
        store.delete_chunks(FINGERPRINT, store.chunk_ids(FINGERPRINT, f"id of {gone}"))
        names.remove(gone)
        assert [name for name in names if stored(store, name)] == names
        assert store.count(FINGERPRINT) == len(names)
    store.delete_chunks(FINGERPRINT, [a_chunk(0, "never written").id])
    assert store.count(FINGERPRINT) == 3


def test_writing_twice_changes_nothing(store: Store) -> None:
    entries = fifty({})
    store.write(FINGERPRINT, entries, 8)
    before = store.sparse(FINGERPRINT, ("kiln", "7"), 50, 1)
    store.write(FINGERPRINT, entries, 8)
    assert store.count(FINGERPRINT) == 50
    assert store.sparse(FINGERPRINT, ("kiln", "7"), 50, 1) == before


def test_equal_texts_stand_in_the_order_of_their_ids(store: Store) -> None:
    chunks = [a_chunk(number, "The same words.") for number in range(20)]
    store.write(FINGERPRINT, [an_entry(chunk, m1()) for chunk in chunks], 8)
    in_order = sorted(chunk.id for chunk in chunks)
    for hits in (store.sparse(FINGERPRINT, ("word",), 20, 1), store.dense(FINGERPRINT, m1().vector("same words"), 20)):
        assert [hit.chunk_id for hit in hits] == in_order
        assert hits[0].rank == 1 and hits[-1].rank == 20
