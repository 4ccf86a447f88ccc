"""CSV and TSV: pairs of question and answer, none invented, none swallowed, every bad row named."""

from __future__ import annotations

import pytest

from rag.errors import LoadError
from tests.loader_support import blocks, kinds, paths, write  # noqa: F401


def test_each_pair_is_a_block_and_a_section_named_after_its_question(write) -> None:
    document = write("faq.csv", "ID,Question,ANSWER\n1,How to pay?,Card\n2,Open on Monday?,No\n")
    assert document.text == "How to pay?\nCard\n\nOpen on Monday?\nNo"
    assert kinds(document) == ["question-answer"] * 2
    assert paths(document) == [("How to pay?",), ("Open on Monday?",)]
    assert document.notices == ("read as questions and answers, without the columns ID",)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "q,a\nWhy?,So\n"),
        ("a.csv", "Frage;Antwort\nWhy?;So\n"),
        ("a.csv", "sep=;\nQuestion;Answer\nWhy?;So\n"),
        ("a.tsv", "Answers\tQuestions\nSo\tWhy?\n"),
        ("a.csv", "\n\nquestion|answer\nWhy?|So\n"),
        ("a.tsv", "question,answer\nWhy?,So\n"),
        ("a.csv", "question\tanswer\nWhy?\tSo\n"),
    ],
)
def test_the_columns_are_known_by_several_names_in_any_order(write, name: str, content: str) -> None:
    assert blocks(write(name, content)) == ["Why?\nSo"]


UNCLOSED = 'question\tanswer\nHow wide?\t"12 in" is standard\nHow long?\t"30 in\nHow tall?\t18 in\nWeight?\t4 kg\n'


@pytest.mark.parametrize("content", [UNCLOSED, UNCLOSED.replace("\t", ",")])
def test_a_quote_that_is_never_closed_swallows_no_row(write, content: str) -> None:
    document = write("a.tsv" if "\t" in content else "a.csv", content)
    pairs = ['How wide?\n"12 in" is standard', 'How long?\n"30 in', "How tall?\n18 in", "Weight?\n4 kg"]
    assert blocks(document) == pairs
    assert document.notices == ()


def test_a_quote_that_a_later_row_happens_to_close_swallows_no_row(write) -> None:
    document = write("a.csv", 'question,answer\nHow long?,"30 in\nHow tall?,18"\nWeight?,4 kg\n')
    assert blocks(document) == ['How long?\n"30 in', 'How tall?\n18"', "Weight?\n4 kg"]


def test_a_quoted_answer_may_run_over_several_lines(write) -> None:
    document = write("a.csv", 'question,answer\nHow?,"First, open it.\n\nThen, ""gently"", close it."\nWhy?,So\n')
    assert blocks(document) == ['How?\nFirst, open it.\nThen, "gently", close it.', "Why?\nSo"]


def test_a_comma_nobody_quoted_stays_in_the_answer(write) -> None:
    document = write("a.csv", "question,answer\nHow to pay?,By card, cash or transfer\n")
    assert blocks(document) == ["How to pay?\nBy card, cash or transfer"]
    assert document.notices == ("rows with more cells than the header, joined to the answer: line 2",)


def test_rows_that_a_late_quote_makes_one_are_named(write) -> None:
    document = write("a.csv", 'question,answer\nOpening hours,"9 to 5\nParking,free"\nPets,no\n')
    assert blocks(document) == ["Opening hours\n9 to 5\nParking,free", "Pets\nno"]
    assert document.notices == ("read as one row, up to where its quote mark is closed: lines 2-3",)


def test_a_quote_left_open_in_the_middle_of_a_long_file_takes_no_row_along(write) -> None:
    lines = [f"Question {n}?,Answer {n}" for n in range(3000)]
    lines[1500] = 'Question 1500?,"Answer 1500'
    document = write("a.csv", "\n".join(["question,answer", *lines]))
    assert len(document.blocks) == 3000
    assert blocks(document)[1500:1502] == ['Question 1500?\n"Answer 1500', "Question 1501?\nAnswer 1501"]


def test_a_cell_may_be_as_long_as_an_article(write) -> None:
    answer = "It is long, very long. " * 10_000
    assert len(blocks(write("a.csv", f'question,answer\nWhy?,"{answer}"\n'))[0]) > 200_000


def test_a_file_in_which_every_pair_is_bad_is_refused_with_its_lines(write) -> None:
    with pytest.raises(LoadError, match=r"^a.csv: 2 of 2 rows left out: line 2 \(no answer\), line 3 \(no question\)$"):
        write("a.csv", "question,answer\nWhy?,\n,So\n")


def test_pairs_and_rows_left_out_add_up_to_the_rows_of_the_file(write) -> None:
    document = write("a.csv", 'question,answer\nWhy?,So\nHow?,\n,Lost\n\n"Two\nlines?",Yes\nAlone\n')
    assert blocks(document) == ["Why?\nSo", "Two\nlines?\nYes"]
    left_out = "3 of 5 rows left out: line 3 (no answer), line 4 (no question), line 8 (no answer)"
    assert document.notices == (left_out,)


def test_a_table_of_other_columns_is_told_row_by_row(write) -> None:
    document = write("a.csv", "Part,Stock,\nbolt,21,x\nnut,,y\n")
    assert document.text == "Part: bolt\nStock: 21\ncolumn 3: x\n\nPart: nut\ncolumn 3: y"
    assert document.notices == ("no question and answer columns: each row is read as column: value lines",)


def test_an_endless_column_name_is_cut_as_every_row_tells_it(write) -> None:
    document = write("a.csv", f"{'h' * 100_000},colour\n" + "1,red\n" * 1000)
    first = blocks(document)[0]
    assert first.startswith("hhh") and first.endswith("…: 1\ncolour: red")
    assert len(document.text) < 1000 * 400
