"""Whether the sources answer at all: three signals and three absences, with worked numbers."""

import pytest

from rag.catalogue import Statistics
from rag.evidence import ANSWERED, Evidence, weigh
from rag.schema import Chunk, Hit

# Of 100 chunks: "kiln" stands in 10, "lid" in 5, "open" in 40, "price" in none.
STATISTICS = Statistics(100, {"kiln": 10, "lid": 5, "open": 40, "e31": 1})


def chunk(text: str) -> Chunk:
    return Chunk("d", "kiln.md", 0, 0, len(text), text)


def hits(*ids: str) -> tuple[Hit, ...]:
    return tuple(Hit(chunk_id, rank, 1.0) for rank, chunk_id in enumerate(ids, 1))


def evidence(question: str, *texts: str, nearness: float = 0.4, dense=hits("a"), sparse=hits("b")) -> Evidence:
    return weigh(question, [chunk(text) for text in texts], nearness, dense, sparse, STATISTICS, "english")


def test_the_score_is_the_weighted_sum():
    # 0.4 + 0.3 * 0.5 + 0.8 * 0.1 = 0.63
    assert Evidence(0.4, 0.5, 0.1).score == pytest.approx(0.63)
    assert Evidence(ANSWERED, 0, 0).suffices
    assert not Evidence(ANSWERED - 0.01, 0, 0).suffices


def test_words_that_stand_together_in_question_and_source_count():
    assert evidence("open the kiln lid", "You open the kiln lid slowly.").phrases == 1
    assert evidence("open the kiln lid", "The lid is heavy. " + "Clay dries in air. " * 5 + "A kiln.").phrases == 0


def test_one_word_alone_has_no_pair_to_miss():
    assert evidence("kiln", "The kiln.").phrases == 1


def test_agreement_is_the_shared_part_of_the_first_ten():
    assert evidence("kiln", "The kiln.", dense=hits("a", "b"), sparse=hits("b", "c")).agreement == pytest.approx(0.1)
    eleven = hits(*"abcdefghijk")
    assert evidence("kiln", "The kiln.", dense=eleven, sparse=hits("k")).agreement == 0


def test_where_a_list_is_off_their_agreement_is_unknown_and_not_zero():
    assert evidence("kiln", "The kiln.", sparse=None).agreement > 0


def test_a_code_that_stands_nowhere_decides():
    assert (
        evidence("What does E-92 mean?", "E-31 means the lid is open.").absence
        == "E92 stands nowhere in the documents."
    )
    assert not evidence("What does E-31 mean?", "E-31 means the lid is open.").absence


def test_a_question_almost_all_of_whose_words_are_unknown_is_declined():
    found = evidence("How do I open the sunroof?", "Open the kiln.", nearness=0.52)
    assert "sunroof" in found.reason() and not found.suffices


def test_unknown_words_do_not_matter_where_the_meaning_is_near():
    assert evidence("How do I open the sunroof?", "Open the kiln.", nearness=0.6).suffices


@pytest.mark.parametrize(
    ("question", "without", "with_it"),
    [
        ("What is the phone number of the kiln office?", "The kiln office is open.", "Kiln office: 0123 456789."),
        ("What is the e-mail address of the kiln office?", "Write to the kiln.", "Write to kiln@example.org."),
    ],
)
def test_what_only_a_text_of_a_certain_look_can_answer(question: str, without: str, with_it: str):
    assert "no source names one" in evidence(question, without, nearness=0.6).absence
    assert not evidence(question, with_it, nearness=0.6).absence


def test_a_question_for_a_price_wants_a_source_that_names_one():
    for question in ("How much does a kiln lid cost?", "What does a kiln lid cost?", "How much is a new kiln lid?"):
        assert "price" in evidence(question, "The kiln lid is heavy.").absence
    assert not evidence("How much does a kiln lid cost?", "The kiln lid is 40 euros.").absence
    assert not evidence(
        "How much charge does the kiln lid cost me in range?", "The kiln lid takes 2 %.", nearness=0.6
    ).absence
