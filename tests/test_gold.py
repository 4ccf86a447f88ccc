"""Gold is a quoted passage: found in the loaded text whatever a loader did to it, in chunks whatever cut them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.evaluation.gold import QuoteFinder, Span, covers, missing_gold, relevant_chunks
from rag.evaluation.sets import GoldPassage, Question
from rag.schema import Chunk, Document


def document(text: str, name: str = "manual.pdf", source: str = "") -> Document:
    return Document(name=name, source=source or f"samples/{name}", text=text)


def chunk(of: Document, start: int, end: int) -> Chunk:
    return Chunk(of.id, of.name, 0, start, end, of.text[start:end])


def question(*gold: GoldPassage) -> Question:
    return Question("q07", "Which?", "feature", gold, "This.")


def found(text: str, quote: str) -> list[str]:
    return [text[span.start : span.end] for span in QuoteFinder([document(text)]).find(quote, "manual.pdf")]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Press the button twice.", "Press the button twice."),
        ("Press  the\n\nbutton\ttwice.", "Press the button twice."),
        ("Press thebutton twice.", "Press the button twice."),
        ("The charg-\ning cable is warm.", "The charging cable is warm."),
        ("The charg\u00ading cable is warm.", "The charging cable is warm."),
        ("Say \u201cHey Lapwing\u201d; it\u2019s on.", 'Say "Hey Lapwing"; it\'s on.'),
        ("Between 10\u201320 minutes \u2014 or more.", "Between 10-20 minutes - or more."),
        ("Down to \u221220 \u00b0C outside.", "down to -20 \u00b0C outside."),
        ("The \ufb01rst o\ufb03cial \ufb02ap is shut.", "The first official flap is shut."),
        ("PRESS THE BUTTON", "Press the Button"),
        ("Caf\u00e9 stra\u00dfe open.", "Cafe\u0301 STRASSE open."),
        ("Heat\u200b the\ufeff seats.", "Heat the seats."),
    ],
)
def test_a_quote_is_found_and_the_span_is_the_document_s_own_characters(text: str, quote: str) -> None:
    assert found(f"Before. {text} After.", quote) == [text]


def test_another_wording_is_not_found() -> None:
    assert found("Press the button twice.", "Press the button three times.") == []
    assert found("Press the button.", " - ") == []


def test_every_place_is_found_in_order() -> None:
    text = "Close the flap. Wait. Close the  flap."
    spans = QuoteFinder([document(text)]).find("Close the flap.", "manual.pdf")
    assert [(span.start, span.end) for span in spans] == [(0, 15), (22, 38)]


def test_a_quote_does_not_begin_or_end_inside_a_number() -> None:
    assert found("Inflate to 12.5 bar with code E-31.", "2.5 bar with code E-31") == []
    assert found("Inflate to 2.5 bar with code E-31.", "2.5 bar with code E-3") == []
    assert found("At 12.5 bar at most; 2.5 bar at most.", "2.5 bar at most") == ["2.5 bar at most"]


@settings(deadline=None)
@given(st.text(alphabet="ab c-\n\u2019\ufb01\u00e9\u00df\u00ad", min_size=1, max_size=60), st.data())
def test_any_piece_of_a_text_is_found_at_its_place(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    spans = QuoteFinder([document(text)]).find(text[start:end], "manual.pdf")
    letters = [place for place in range(start, end) if text[place].isalpha()]
    if letters:
        assert any(span.start <= letters[0] and letters[-1] < span.end for span in spans)
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)


SPAN = Span("manual.pdf", 100, 200)


@pytest.mark.parametrize(
    ("start", "end", "covered"),
    [
        (0, 300, True),  # all 100 characters
        (100, 200, True),
        (120, 180, True),  # 60
        (0, 150, True),  # 50
        (0, 149, False),  # 49
        (151, 400, False),  # 49
        (200, 300, False),
        (0, 100, False),
    ],
)
def test_a_chunk_covers_a_quote_when_it_holds_half_of_it(start: int, end: int, covered: bool) -> None:
    assert covers(Chunk("id", "manual.pdf", 0, start, end, ""), SPAN) is covered


@pytest.mark.parametrize(
    ("start", "end", "covered"),
    [
        (140, 180, True),  # 40 of 40
        (80, 120, True),  # 20 of 40
        (79, 119, False),  # 19 of 40
        (60, 100, False),
        (150, 150, False),  # an empty one
    ],
)
def test_a_chunk_too_short_to_hold_half_covers_a_quote_when_it_is_mostly_of_it(
    start: int, end: int, covered: bool
) -> None:
    assert covers(Chunk("id", "manual.pdf", 0, start, end, ""), SPAN) is covered


def test_a_chunk_of_another_document_covers_nothing() -> None:
    assert not covers(Chunk("id", "faq.csv", 0, 0, 300, ""), SPAN)
    assert not covers(Chunk("other", "manual.pdf", 0, 0, 300, ""), SPAN._replace(document_id="id"))
    assert covers(Chunk("id", "manual.pdf", 0, 0, 300, ""), SPAN._replace(document_id="id"))


TEXT = "Intro here. The guard records to a drive. It stops after ten minutes. The end of it."
MANUAL = document(TEXT)
GUARD = GoldPassage("manual.pdf", "The guard records to a drive.")
STOPS = GoldPassage("manual.pdf", "It stops after ten minutes.")


def test_each_gold_passage_has_its_own_set_of_chunks() -> None:
    first, second, both = chunk(MANUAL, 0, 41), chunk(MANUAL, 42, 84), chunk(MANUAL, 12, 69)
    sets = relevant_chunks(question(GUARD, STOPS), QuoteFinder([MANUAL]), [first, second, both])
    assert sets == [{first.id, both.id}, {second.id, both.id}]


def test_gold_survives_any_size_of_chunk() -> None:
    finder = QuoteFinder([MANUAL])
    for size in (5, 10, 20, 40, 84):
        pieces = [chunk(MANUAL, start, min(start + size, len(TEXT))) for start in range(0, len(TEXT), size)]
        (relevant,) = relevant_chunks(question(GUARD), finder, pieces)
        assert relevant, f"nothing holds the passage in chunks of {size}"
        assert all(set(range(piece.start, piece.end)) & set(range(12, 41)) for piece in pieces if piece.id in relevant)


def test_a_few_chunks_of_a_trace_are_judged_as_all_chunks_would_be() -> None:
    # The passage is characters 12 to 41; this chunk only touches it, and is not made gold by being the only one.
    assert relevant_chunks(question(GUARD), QuoteFinder([MANUAL]), [chunk(MANUAL, 36, 84)]) == [set()]


def test_an_alternative_serves_as_well_as_the_quote() -> None:
    faq = document("Where to? It writes to the USB drive.", "faq.csv")
    gold = GoldPassage(GUARD.document, GUARD.quote, (GoldPassage("faq.csv", "It writes to the USB drive."),))
    in_manual, in_faq = chunk(MANUAL, 0, 41), chunk(faq, 0, 37)
    finder = QuoteFinder([MANUAL, faq])
    assert relevant_chunks(question(gold), finder, [in_manual, in_faq]) == [{in_manual.id, in_faq.id}]


def test_two_documents_of_one_name_are_told_apart_and_texts_alone_serve() -> None:
    other = document("Something else altogether, longer than the passage's place.", source="uploads/manual.pdf")
    right, wrong = chunk(MANUAL, 12, 41), chunk(other, 12, 41)
    assert relevant_chunks(question(GUARD), QuoteFinder([other, MANUAL]), [right, wrong]) == [{right.id}]
    assert relevant_chunks(question(GUARD), QuoteFinder.from_texts({"manual.pdf": TEXT}), [right]) == [{right.id}]


def test_gold_that_is_not_there_is_reported_and_leaves_an_empty_set() -> None:
    gone = GoldPassage("manual.pdf", "It records to tape.", (GoldPassage("notes.md", "It records to tape."),))
    finder = QuoteFinder([MANUAL])
    assert missing_gold([question(GUARD, gone)], finder) == [
        "gold of q07 not found in manual.pdf: 'It records to tape.'",
        "gold of q07: there is no document notes.md",
    ]
    assert relevant_chunks(question(GUARD, gone), finder, [chunk(MANUAL, 0, 84)])[1] == set()
    assert missing_gold([question(GUARD, STOPS)], finder) == []


def test_a_long_document_is_normalised_once() -> None:
    finder = QuoteFinder([document("The quick brown fox jumps over it. " * 20_000)])
    finder.find("Never stands there.", "manual.pdf")
    began = time.perf_counter()
    for _ in range(100):
        assert finder.find("Never stands there.", "manual.pdf") == ()
    assert time.perf_counter() - began < 2
