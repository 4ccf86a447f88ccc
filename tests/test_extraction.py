"""Quoting: which sentences, in what order, and what they look like; with the real local model."""

from dataclasses import replace

import pytest

from rag import embedders
from rag.catalogue import Statistics
from rag.environment import Environment
from rag.extraction import MOST_SENTENCES, choose, quote, score_sentences
from rag.schema import Chunk

STATISTICS = Statistics(50, {"kiln": 20, "lid": 8, "fire": 15, "glaze": 6, "cool": 9})


@pytest.fixture(scope="module")
def embedder():
    return embedders.build("minilm", Environment())


def source(text: str, heading: str = "") -> Chunk:
    return Chunk("d", "kiln.md", 0, 0, len(text), text, (heading,) if heading else ())


def answer(embedder, question: str, *sources: Chunk):
    return quote(choose(score_sentences(question, sources, embedder, "english", STATISTICS)), sources)


FIRING = source(
    "Firing\n\nThe kiln lid stays shut until the kiln has cooled to 80 °C. Opening it early cracks the glaze. "
    "Our workshop has a garden. Tea is served at four o'clock.",
    "Firing",
)
SHELVES = source("Shelves are washed once a year. The lid of the kiln may be opened below 80 °C.", "Care")


def test_the_sentence_that_answers_is_quoted_with_its_source(embedder):
    found = answer(embedder, "When may I open the kiln lid?", FIRING, SHELVES)
    assert "The lid of the kiln may be opened below 80 °C. [Source 2]" in found.text
    assert "Tea is served" not in found.text
    assert found.state == "grounded"


def test_every_quote_leads_to_a_source_that_holds_it(embedder):
    sources = (FIRING, SHELVES)
    found = answer(embedder, "When may I open the kiln lid?", *sources)
    assert {citation.number for citation in found.citations} == {1, 2}
    for citation in found.citations:
        assert citation.sentence in sources[citation.number - 1].text
        assert citation.chunk_id == sources[citation.number - 1].id


def test_the_same_sentence_in_two_sources_is_quoted_once(embedder):
    text = "The kiln lid is opened below 80 °C."
    found = answer(embedder, "When may I open the kiln lid?", source(text), source(text + " Wear gloves for it."))
    assert found.text.count("below 80") == 1


def test_there_are_at_most_six_sentences_in_reading_order(embedder):
    passages = [
        source(" ".join(f"The kiln lid number {i}{j} of hall {i} opens at {i}{j}0 °C." for j in range(4)))
        for i in range(1, 6)
    ]
    found = answer(embedder, "When does the kiln lid open?", *passages)
    numbers = [citation.number for citation in found.citations]
    assert len(numbers) <= MOST_SENTENCES and numbers == sorted(numbers)


def test_headings_captions_and_questions_are_not_quoted(embedder):
    passage = source(
        "Opening the kiln lid\n\nWhen may the kiln lid be opened?\n\nIt opens below 80 °C after the firing.",
        "Opening the kiln lid",
    )
    assert (
        answer(embedder, "When may I open the kiln lid?", passage).text
        == "It opens below 80 °C after the firing. [Source 1]"
    )


def test_a_mark_inside_a_document_is_no_citation_in_the_answer(embedder):
    found = answer(
        embedder, "When may I open the kiln lid?", source("The kiln lid opens below 80 °C [Source 9] says the maker.")
    )
    assert "‹Source 9›" in found.text and found.text.endswith("[Source 1]")


def test_a_row_of_a_table_that_a_chunk_begins_in_is_read_under_its_own_column_names(embedder):
    rows = source("| F20 | 15 A | kiln lid lock |\n| F21 | 20 A | kiln fan |")
    rows = replace(rows, header="The fuses:\n| Fuse | Rating | Circuit |\n|---|---|---|")
    scored = score_sentences("Which fuse is the kiln lid lock on?", [rows], embedder, "english", STATISTICS)
    assert quote(choose(scored), [rows]).text == "F20 (Rating: 15 A; Circuit: kiln lid lock) [Source 1]"


def test_half_a_sentence_is_quoted_only_with_the_line_it_goes_on_from(embedder):
    passage = source("The kiln lid must stay shut:\n\n- while the kiln is above 80 °C;\n- during the night.")
    found = answer(embedder, "When must the lid stay shut?", passage).text
    assert found == "The kiln lid must stay shut: during the night. [Source 1]"
    assert answer(embedder, "kiln lid", source("of the kiln lid it was said. The kiln lid is heavy to lift.")).text == (
        "The kiln lid is heavy to lift. [Source 1]"
    )


def test_a_tables_caption_is_not_quoted(embedder):
    passage = source("Table: kiln lid weights\n\n| Lid | Weight |\n|---|---|\n| Kiln lid A | 8 kg |")
    assert answer(embedder, "kiln lid weight", passage).text == "Kiln lid A (Weight: 8 kg) [Source 1]"


def test_the_nearest_sentence_brings_the_one_after_it_along(embedder):
    passage = source(
        "The kiln lid may be opened below 80 °C. Wear gloves then, since its rim stays warm.\n\nTea is at four."
    )
    assert answer(embedder, "When may the kiln lid be opened?", passage).text == (
        "The kiln lid may be opened below 80 °C. [Source 1]\n\nWear gloves then, since its rim stays warm. [Source 1]"
    )


def test_an_answer_in_a_list_of_questions_is_quoted_with_its_question(embedder):
    question = "What does hiring the kiln cost?"
    found = answer(embedder, "kiln hire", source(f"{question}\nEight pounds for half a day, gas included.", question))
    assert found.text == f"{question} Eight pounds for half a day, gas included. [Source 1]"


def test_a_scrap_is_quoted_where_there_is_nothing_else(embedder):
    assert answer(embedder, "albedo", source("albedo")).text == "albedo. [Source 1]"


def test_a_source_without_sentences_gives_nothing_to_quote(embedder):
    assert score_sentences("kiln", [source("- - -")], embedder, "english", STATISTICS) == []


def test_source_code_is_quoted_in_whole_runs_of_lines_as_a_line_alone_may_say_the_opposite(embedder):
    code = (
        'def fleet_discount(quantity):\n    """Fleet discount: 5 percent from 10 bikes, 11 percent from 50."""\n'
        "    if quantity >= 50:\n        return 0.11\n    if quantity >= 10:\n        return 0.05\n    return 0.0"
    )
    text = f"import math\n\n{code}\n\ndef unrelated():\n    return 1"
    passage = replace(source(text, "fleet_discount"), line_start=1, line_end=12)
    found = answer(embedder, "How is the fleet discount of bikes calculated?", passage).text
    assert f"{code} [Source 1]" in found
