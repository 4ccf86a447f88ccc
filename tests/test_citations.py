"""A citation's number leads to the chunk that stood under it, whatever form the model gave it."""

from __future__ import annotations

import pytest

from rag.citations import bind, check, cited_sentences, label, numbers, pages
from rag.schema import Chunk, Citation
from tests.support import a_chunk

SOURCES = tuple(a_chunk(number, f"Text of source {number + 1}.", f"{name}.md") for number, name in enumerate("AAAB"))


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("[Source 1]", [1]),
        ("[source 1]", [1]),
        ("[SOURCE 1]", [1]),
        ("[Source1]", [1]),
        ("[Source #2]", [2]),
        ("[Source: 2]", [2]),
        ("[ Source 2 ]", [2]),
        ("[Sources 1, 3]", [1, 3]),
        ("[Sources 1 and 3]", [1, 3]),
        ("[Sources 1, 2, and 4]", [1, 2, 4]),
        ("[Source 1, Source 3]", [1, 3]),
        ("[Source 1; source 3]", [1, 3]),
        ("[Sources 2-4]", [2, 3, 4]),
        ("[Sources 2–4]", [2, 3, 4]),
        ("[Source 2 to Source 4]", [2, 3, 4]),
        ("[Source 2, p. 4]", [2]),
        ("[Source 2, pp. 1, 3]", [2]),
        ("[Source 1, p. 4; Source 3, pp. 41-42]", [1, 3]),
        ('[Source 2, manual-1.pdf, "Part 3 > Tyres", p. 4 (sheet 1)]', [2]),
        ("[Source 2: 3.5 bar]", [2]),
        ("[Source 1, 2.5 bar]", [1]),
        ("[See Source 3]", [3]),
        ("(Source 3)", [3]),
        ("(Sources 1, 3)", [1, 3]),
        ("【Source 2】", [2]),
        ("［Source 2］", [2]),
        ("\\[Source 2\\]", [2]),
        ("[Source 1][Source 2]", [1, 2]),
        ("[Source 1] [Source 1]", [1]),
    ],
)
def test_every_form_that_models_write_becomes_one_form(written: str, named: list[int]) -> None:
    text, citations, unknown = bind(f"The sky is blue {written}.", SOURCES)
    marks = " ".join(f"[Source {number}]" for number in named)
    assert text.replace("][", "] [").replace(f"{marks} {marks}", marks) == f"The sky is blue {marks}."
    assert [citation.number for citation in citations] == named
    assert [citation.chunk_id for citation in citations] == [SOURCES[number - 1].id for number in named]
    assert {citation.sentence for citation in citations} == {"The sky is blue."}
    assert unknown == ()


@pytest.mark.parametrize(
    "written", ["[Source]", "[Sources: none]", "(source code)", "[1]", "[Outsource 2]", "source 2", "[Source two]"]
)
def test_what_names_no_source_stays_as_it_is(written: str) -> None:
    assert bind(f"The sky {written} is blue.", SOURCES) == (f"The sky {written} is blue.", (), ())


def test_each_number_leads_to_the_chunk_that_stood_there_in_the_prompt() -> None:
    """B24: three sources of A.md and one of B.md; the answer cites 1 and 4."""
    text, citations, unknown = bind("Blue [Source 1]. Red [Source 4].", SOURCES)
    assert (text, unknown) == ("Blue [Source 1]. Red [Source 4].", ())
    assert citations == (Citation(1, SOURCES[0].id, "Blue."), Citation(4, SOURCES[3].id, "Red."))
    assert SOURCES[3].document == "B.md"
    # After another order of the sources the same number is another chunk: the one that stands there now.
    _, citations, _ = bind("Blue [Source 1]. Red [Source 4].", SOURCES[::-1])
    assert [citation.chunk_id for citation in citations] == [SOURCES[3].id, SOURCES[0].id]


def test_a_number_that_was_not_supplied_is_taken_out_and_reported() -> None:
    text, citations, unknown = bind("Blue [Source 5]. Red [Sources 1, 7]. Green [Source 0].", SOURCES)
    assert text == "Blue. Red [Source 1]. Green."
    assert [(citation.number, citation.sentence) for citation in citations] == [(1, "Red.")]
    assert unknown == (5, 7, 0)
    assert bind("Flour [Source 1].", ()) == ("Flour.", (), (1,))
    assert bind(f"Blue [Source {'9' * 30}].", SOURCES)[0] == "Blue."
    assert bind("Blue [Sources 1-999999999].", SOURCES)[1] == ()  # no such range was given to anybody


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Blue sky [Source 1]. Red rose [Source 2].", [("Blue sky.", [1]), ("Red rose.", [2])]),
        ("Blue sky. [Source 1] Red rose. [Source 2]", [("Blue sky.", [1]), ("Red rose.", [2])]),
        ("Blue sky. [Source 1] [Source 3] Red rose.", [("Blue sky.", [1, 3])]),
        ("[Source 1] says it is blue. Red rose.", [("says it is blue.", [1])]),
        ("It is known. [Source 2] says it is blue.", [("It is known.", []), ("says it is blue.", [2])][1:]),
        ("Here it is:\n[Source 1] Blue sky.\n- Red rose [Source 2]", [("Blue sky.", [1]), ("- Red rose", [2])]),
        ("Blue sky.\n[Source 1]", [("Blue sky.", [1])]),
        ("窯は熱い。[Source 1]扉を開ける。[Source 2]", [("窯は熱い。", [1]), ("扉を開ける。", [2])]),
        ("[Source 1]", []),
        ("No mark at all.", []),
    ],
)
def test_a_citation_belongs_to_the_sentence_it_stands_in_or_follows(text: str, expected: list) -> None:
    assert cited_sentences(text) == expected


def test_numbers_of_one_bracket() -> None:
    assert numbers("[Sources 1, 1, 3-4]") == [1, 3, 4]
    assert numbers("[Source 4-2]") == []


def paged(first: int, last: int, *labels: str) -> Chunk:
    return a_chunk(
        0, "Text.", "manual.pdf", section=("Tyre pressures",), page_start=first, page_end=last, page_labels=labels
    )


def test_a_source_is_named_by_file_section_and_the_pages_printed_on_the_paper() -> None:
    assert label(2, paged(41, 42, "41", "42")) == '[Source 2] manual.pdf, "Tyre pressures", pp. 41-42'
    assert label(1, a_chunk(0, "Text.", "notes.txt")) == "[Source 1] notes.txt"
    assert label(3, a_chunk(0, "Text.", "a.md", section=("Care", "Wheels"))) == '[Source 3] a.md, "Care > Wheels"'


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (paged(3, 3, "3"), "p. 3"),
        (paged(1, 2, "1", "2"), "pp. 1-2"),
        (paged(18, 18, "12"), "p. 12 (sheet 18)"),
        (paged(18, 20, "12", "13", "14"), "pp. 12-14 (sheets 18-20)"),
        (paged(6, 7, "vi", "1"), "pp. vi-1 (sheets 6-7)"),
        (paged(5, 5), "p. 5"),
        (a_chunk(0, "Text."), ""),
    ],
)
def test_pages_show_the_printed_number_and_the_sheet_where_it_differs(chunk: Chunk, expected: str) -> None:
    """B09: among others, a passage over a page break."""
    assert pages(chunk) == expected


def checked(sentence: str, source: Chunk) -> tuple[bool | None, str]:
    weights = {"pump": 3.0}
    (result,) = check([Citation(1, source.id, sentence)], [source], "english", lambda term: weights.get(term, 1.0))
    assert (result.number, result.chunk_id, result.sentence) == (1, source.id, sentence)
    return result.supported, result.why


def test_a_citation_is_supported_where_the_source_holds_half_of_the_sentence_by_weight() -> None:
    source = a_chunk(0, "Drain the pump before frost.")
    # pump 3 of pump 3 + garden 1 + hose 1 + summer 1 = 3 / 6.
    assert checked("Pumps and garden hoses in summer.", source) == (True, "50% of its words stand in the source")
    # pump 3 of 7.
    assert checked("Pumps, garden hoses, big trees in summer.", source) == (
        False,
        "38% of its words stand in the source",
    )
    assert checked("Flour and egg.", source) == (False, "0% of its words stand in the source")
    assert checked("It is so.", source) == (False, "0% of its words stand in the source")
    headed = a_chunk(0, "Drain it before frost.", section=("Pump",))
    assert checked("The pump.", headed) == (True, "100% of its words stand in the source")


def test_a_number_that_the_source_does_not_hold_is_never_supported() -> None:
    source = a_chunk(0, "Inflate the front tyres to 2.5 bar when the car is loaded.")
    assert checked("Inflate the front tyres to 2.5 bar when loaded.", source)[0] is True
    assert checked("Inflate the front tyres to 2.9 bar when loaded.", source) == (False, "the source does not say 2.9")
    battery = a_chunk(0, "The 12V battery and code E31.")
    assert checked("The 12 V battery and code E-31.", battery)[0] is True
    assert checked("The 14 V battery and code E-13.", battery) == (False, "the source does not say 13, 14")
