"""Sizes in tokens: where an embedder's tokens lie, and the chunkers that count them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag import chunkers, embedders
from rag.chunkers.characters import character_ends
from rag.embedders import CachedEmbedder, Embedder
from rag.environment import Environment
from rag.errors import SettingsError
from rag.schema import Chunk, Document
from rag.settings import Settings
from tests.support import m1

LOCAL = Environment()


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return embedders.build("minilm", LOCAL)


def cut(text: str, embedder: Embedder, **values: object) -> tuple[Chunk, ...]:
    settings = Settings().changed({"chunker": "token", "chunk_overlap": 0, **values})
    return chunkers.chunk(Document("a.txt", "samples/a.txt", text), settings, embedder)


def tokens(text: str, embedder: Embedder) -> list[str]:
    return [text[start:end] for start, end in embedder.token_spans(text)]


# Where tokens lie


def test_minilms_tokens_are_spans_of_the_text_as_it_was_given(minilm: Embedder) -> None:
    assert tokens("Fire-clay, Wörld! 窯の", minilm) == ["Fire", "-", "clay", ",", "Wörld", "!", "窯", "の"]
    assert tokens("embeddings", minilm) == ["em", "bed", "ding", "s"]


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\u200d", "\ufeff", "e\u0301", "👩\u200d👧", "  \t\n "])
def test_places_hold_after_characters_that_the_model_never_sees(minilm: Embedder, odd: str) -> None:
    assert tokens(f"{odd}clay {odd} fire", minilm)[-1] == "fire"


def test_a_word_that_no_vocabulary_holds_is_taken_apart(minilm: Embedder) -> None:
    assert tokens("x" * 402, minilm) == ["xxxx"] * 100 + ["xx"]


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_blank_text_has_no_tokens(minilm: Embedder, text: str) -> None:
    assert minilm.token_spans(text) == m1().token_spans(text) == []


def test_without_a_vocabulary_tokens_are_four_letters_or_one_character_of_chinese() -> None:
    assert tokens("Temperature: 窯の温度, 한국", m1()) == ["Temp", "erat", "ure", ":", *"窯の温度", ",", *"한국"]


def test_a_cache_passes_on_its_models_tokens(minilm: Embedder, tmp_path: Path) -> None:
    text = "Embeddings of fireclay."
    assert CachedEmbedder(minilm, tmp_path).token_spans(text) == minilm.token_spans(text) != m1().token_spans(text)


# The chunker


def test_chunks_hold_up_to_so_many_tokens_and_end_with_a_sentence(minilm: Embedder) -> None:
    sentence = "The water is cold for the whole night."  # nine tokens
    assert len(minilm.token_spans(sentence)) == 9
    chunks = cut(" ".join([sentence] * 7), minilm, **{"chunker.tokens": 20})
    assert [one.text for one in chunks] == [f"{sentence} {sentence}"] * 3 + [sentence]


def test_a_sentence_above_the_size_is_cut_between_words(minilm: Embedder) -> None:
    words = "unbelievable temperatures and fireclay embeddings " * 20
    chunks = cut(words, minilm, **{"chunker.tokens": 16})
    assert " ".join(one.text for one in chunks) == words.strip()
    assert all(len(minilm.token_spans(one.text)) <= 16 for one in chunks)


def test_text_without_blanks_is_cut_between_tokens(minilm: Embedder) -> None:
    text = "窯の温度を上げます" * 20
    chunks = cut(text, minilm, **{"chunker.tokens": 16})
    assert "".join(one.text for one in chunks) == text
    assert [len(minilm.token_spans(one.text)) for one in chunks[:-1]] == [16] * (len(chunks) - 1)


def test_each_chunk_begins_with_the_overlap(minilm: Embedder) -> None:
    words = " ".join(f"clay fire kiln {word}" for word in ("one", "two", "three", "four", "five", "six") * 5)
    chunks = cut(words, minilm, **{"chunker.tokens": 20, "chunker.overlap": 5})
    for before, after in zip(chunks, chunks[1:]):
        shared = words[after.start : before.end]
        assert len(minilm.token_spans(shared)) == 5 and before.text.endswith(shared)


@pytest.mark.parametrize("overlap", [50, 60])
def test_an_overlap_that_leaves_no_room_is_answered_with_what_to_change(minilm: Embedder, overlap: int) -> None:
    with pytest.raises(SettingsError) as error:
        cut("Text.", minilm, **{"chunker.tokens": 50, "chunker.overlap": overlap})
    assert str(error.value) == (
        f"chunker.overlap is {overlap} tokens; it must be less than chunker.tokens (50), or no chunk gets on."
    )


def test_the_largest_overlap_still_gets_on(minilm: Embedder) -> None:
    chunks = cut("clay fire kiln " * 20, minilm, **{"chunker.tokens": 8, "chunker.overlap": 7})
    assert [after.start > before.start for before, after in zip(chunks, chunks[1:])] == [True] * (len(chunks) - 1)
    assert chunks[-1].end == len("clay fire kiln " * 20) - 1


@pytest.mark.parametrize(
    "text",
    ["\u1112\u1161\u11ab" * 100, "e\u0301\u0323" * 200, "👩\u200d👩\u200d👧" * 60, "क्षत्रिय" * 50, "🇩🇪" * 100],
    ids=["Korean syllables", "accents", "families", "conjuncts", "flags"],
)
def test_no_cut_lies_inside_a_character(minilm: Embedder, text: str) -> None:
    whole = {0, *character_ends(text)}
    chunks = cut(text, minilm, **{"chunker.tokens": 8})
    assert len(chunks) > 1
    assert {place for one in chunks for place in (one.start, one.end)} <= whole


def test_a_long_run_without_tokens_makes_no_passage_without_end(minilm: Embedder) -> None:
    text = "clay" + "\u200d" * 3000 + "fire"
    chunks = cut(text, minilm, **{"chunker.tokens": 10})
    assert len(chunks) > 1 and chunks[0].start == 0 and chunks[-1].end == len(text)
    assert all(len(one.text) <= 10 * 20 for one in chunks)


# recursive, by tokens


def test_recursive_counts_tokens_where_it_is_told_to(minilm: Embedder) -> None:
    paragraph = "The water is cold for the whole night. " * 5  # 45 tokens
    text = "\n\n".join([paragraph.strip()] * 6)
    chunks = cut(text, minilm, chunker="recursive", chunk_size=100, **{"chunker.unit": "tokens"})
    assert [one.text for one in chunks] == [f"{paragraph.strip()}\n\n{paragraph.strip()}"] * 3


def test_its_overlap_counts_tokens_as_well(minilm: Embedder) -> None:
    sentence = "The water is cold for the whole night."
    values = {"chunker": "recursive", "chunk_size": 100, "chunk_overlap": 20, "chunker.unit": "tokens"}
    chunks = cut(" ".join([sentence] * 40), minilm, **values)
    for before, after in zip(chunks, chunks[1:]):
        assert before.text.endswith(f"{sentence} {sentence}") and before.end - after.start == 2 * len(sentence) + 1
    assert all(len(minilm.token_spans(one.text)) <= 100 for one in chunks)


@pytest.mark.parametrize("lead", ["", "The stock is as follows.\n\n", "在庫は次の通りです。\n\n"])
def test_a_table_is_cut_between_its_rows(minilm: Embedder, lead: str) -> None:
    rows = [f"| part-{number} | {number} | shelf {number % 7} |" for number in range(60)]
    text = lead + "\n".join(["| Part | Stock | Place |", "|---|---|---|", *rows]) + "\n"
    settings = Settings().changed({"chunker": "token", "chunker.tokens": 60})
    passages = chunkers.chunk(Document("a.md", "a.md", text), settings, minilm)
    told = [line for passage in passages for line in passage.text.split("\n") if line.strip()]
    assert told == [line for line in text.split("\n") if line]
