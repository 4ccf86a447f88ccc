"""The semantic chunker: passages end where the meaning does, in any text, by any threshold, and within the sizes."""

from __future__ import annotations

import numpy as np
import pytest

from rag import chunkers
from rag.chunkers.semantic import jumps_of
from rag.schema import Block, Chunk, Document, Section
from rag.settings import THRESHOLDS, Settings
from tests.support import StubEmbedder, m1

KILN = "The kiln fires the clay in the kiln until the clay of the kiln is hot."
GARDEN = "A garden needs water, and garden water comes from the garden butt."
BREAD = "Bread dough rests while bread yeast lifts the dough of the bread."
EVERY = pytest.mark.parametrize("threshold", THRESHOLDS)


def cut(source: Document | str, embedder: StubEmbedder | None = None, **values: object) -> tuple[Chunk, ...]:
    source = Document("a.txt", "samples/a.txt", source) if isinstance(source, str) else source
    settings = Settings().changed({"chunker": "semantic", "chunk_size": 1000, "chunk_overlap": 0, **values})
    return chunkers.chunk(source, settings, embedder or m1())


def texts(source: Document | str, **values: object) -> list[str]:
    return [one.text for one in cut(source, **values)]


def paragraph(sentence: str, times: int) -> str:
    return " ".join([sentence] * times)


@EVERY
def test_a_passage_ends_where_the_subject_does(threshold: str) -> None:
    parts = [paragraph(KILN, 8), paragraph(GARDEN, 8), paragraph(BREAD, 8)]
    assert texts(" ".join(parts), **{"chunker.threshold": threshold}) == parts


@EVERY
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "text",
    ["Closed on Mondays.", "Yes. Yes. Yes. Yes.", "# Opening hours", "Opening hours", "One. Two", KILN + " " + BREAD],
)
def test_a_degenerate_text_is_one_passage(threshold: str, text: str) -> None:
    assert texts(text, **{"chunker.threshold": threshold}) == [text]


@EVERY
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u200d\u200b", "\x00"])
def test_a_blank_text_has_no_passage_and_sends_nothing(threshold: str, text: str) -> None:
    embedder = m1()
    assert cut(text, embedder, **{"chunker.threshold": threshold}) == ()
    assert embedder.texts == []


@EVERY
@pytest.mark.filterwarnings("error")
def test_sentences_that_all_mean_the_same_are_not_parted(threshold: str) -> None:
    assert len(texts(paragraph(KILN, 12), **{"chunker.threshold": threshold, "chunker.min_size": 0})) == 1


def test_a_single_sentence_costs_no_call() -> None:
    embedder = m1()
    assert len(cut(KILN, embedder)) == 1
    assert embedder.batches == 0


def test_each_sentence_is_embedded_once() -> None:
    embedder = m1()
    cut(f"{KILN} {GARDEN} {BREAD}", embedder)
    assert embedder.texts == [KILN, GARDEN, BREAD]


@EVERY
@pytest.mark.filterwarnings("error")
def test_sentences_that_mean_the_opposite_give_a_distance_too(threshold: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = m1()
    monkeypatch.setattr(embedder, "vector", lambda text: np.ones(8) * (1 if text == KILN else -1))
    text = " ".join([KILN, BREAD] * 8)
    assert " ".join(one.text for one in cut(text, embedder, **{"chunker.threshold": threshold})) == text


def test_a_section_is_never_left_though_the_subject_goes_on() -> None:
    text = f"{paragraph(KILN, 5)}\n\n{paragraph(KILN, 5)}"
    middle = text.index("\n\n") + 2
    source = Document("a.txt", "a.txt", text, sections=(Section(("A",), 0, middle), Section(("B",), middle, len(text))))
    assert [one.section for one in cut(source)] == [("A",), ("B",)]


def test_no_passage_is_above_the_size_and_a_long_one_is_cut_where_the_distance_is_largest() -> None:
    parts = [paragraph(KILN, 6), paragraph(BREAD, 6)]
    # Nothing passes a threshold of 100 %, so that only the size parts them.
    settings = {"chunk_size": 600, "chunker.amount": 100}
    assert len(" ".join(parts)) > 600
    assert texts(" ".join(parts), **settings) == parts


def test_a_sentence_above_the_size_is_cut_at_words() -> None:
    pieces = texts("kiln " * 200, chunk_size=100)
    assert all(len(piece) <= 100 and set(piece.split()) == {"kiln"} for piece in pieces)
    assert sum(len(piece.split()) for piece in pieces) == 200


def test_no_passage_is_below_the_least_size() -> None:
    text = " ".join([KILN, GARDEN, BREAD] * 10)
    assert min(map(len, texts(text, **{"chunker.min_size": 300, "chunker.amount": 20}))) >= 300
    assert min(map(len, texts(text, **{"chunker.min_size": 0, "chunker.amount": 20}))) < 300


def test_a_lower_amount_parts_more() -> None:
    text = " ".join([paragraph(KILN, 2), paragraph(GARDEN, 3), paragraph(BREAD, 2), paragraph(KILN, 4)])
    few, many = (len(texts(text, **{"chunker.min_size": 0, "chunker.amount": amount})) for amount in (95, 30))
    assert few < many


def test_a_heading_goes_with_the_sentence_after_it() -> None:
    text = f"# Kilns\n\n{paragraph(KILN, 6)}\n\n# Bread\n\n{paragraph(BREAD, 6)}"
    blocks = tuple(Block("heading", text.index(one), text.index(one) + len(one)) for one in ("# Kilns", "# Bread"))
    first, second = texts(Document("a.md", "a.md", text, blocks=blocks))
    assert first.startswith("# Kilns") and second.startswith("# Bread")


# The thresholds, worked by hand over the distances 0.1 (nine times) and 0.9: mean 0.18, standard deviation 0.24.


def jumps(threshold: str, amount: float, *distances: float) -> list[int]:
    (found,) = jumps_of([np.array(distances)], threshold, amount)
    return np.flatnonzero(found).tolist()


NINE_AND_ONE = (0.1,) * 9 + (0.9,)


def test_percentile() -> None:
    assert jumps("percentile", 90, *NINE_AND_ONE) == [9]  # between the 9th and the 10th: 0.1 + 0.1 x 0.8 = 0.18
    assert jumps("percentile", 100, *NINE_AND_ONE) == []


def test_standard_deviation() -> None:
    assert jumps("standard-deviation", 2.9, *NINE_AND_ONE) == [9]  # 0.18 + 2.9 x 0.24 = 0.876
    assert jumps("standard-deviation", 3.1, *NINE_AND_ONE) == []  # 0.18 + 3.1 x 0.24 = 0.924


def test_interquartile() -> None:
    # Quartiles at places 1.25 and 3.75 of 0 to 5: 0.2 + 0.25 x 0.05 = 0.2125 and 0.3 + 0.75 x 0.05 = 0.3375.
    distances = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4)
    assert jumps("interquartile", 0.4, *distances) == [5]  # 0.3375 + 0.4 x 0.125 = 0.3875
    assert jumps("interquartile", 0.6, *distances) == []  # 0.3375 + 0.6 x 0.125 = 0.4125


def test_gradient_finds_the_peak_in_distances_that_drift() -> None:
    # A rise of 0.05 a gap hides the peak of 0.3 from a percentile of the distances, not from one of their rises.
    drifting = [0.05 * number for number in range(10)]
    drifting[3] += 0.2
    assert jumps("percentile", 90, *drifting) == [9]
    assert jumps("gradient", 90, *drifting) == [3]


def test_the_threshold_is_taken_over_all_sections_of_the_document() -> None:
    calm, torn = np.array([0.1, 0.12, 0.1]), np.array([0.1, 0.9, 0.1])
    found = jumps_of([calm, torn, np.zeros(0)], "percentile", 80)
    assert [one.tolist() for one in found] == [[False, False, False], [False, True, False], []]
