"""Passages into quotable units."""

import pytest

from rag.sentences import readable, sentence_ends, units


def texts(passage: str, language: str = "english") -> list[str]:
    return [unit.text for unit in units(passage, language)]


def test_a_unit_is_an_exact_span_of_its_passage():
    passage = "Lift it. Then turn.\n\n- one item\n2. Step two. More.\n\nA | B\n1 | 2"
    assert all(passage[unit.start : unit.end] == unit.text for unit in units(passage))


def test_numbers_and_abbreviations_do_not_end_a_sentence():
    assert texts("It holds 21.5 °C. See 4.2.1, e.g. the menu. It ends.") == [
        "It holds 21.5 °C.",
        "See 4.2.1, e.g. the menu.",
        "It ends.",
    ]


def test_a_step_keeps_its_number_and_loses_it_when_read_alone():
    assert texts("1. Open the lid.\n2. Press the switch. Wait.") == [
        "1. Open the lid.",
        "2. Press the switch.",
        "Wait.",
    ]
    assert [readable(unit) for unit in units("1. Open the lid.\n- Or the flap.")] == ["Open the lid.", "Or the flap."]


def test_lines_that_a_narrow_page_wrapped_are_one_sentence_again():
    wrapped = "Hosepipes may be used only to fill water butts, and\nnever between 11:00 and 16:00. Cans are free."
    assert [readable(unit) for unit in units(wrapped)] == [
        "Hosepipes may be used only to fill water butts, and never between 11:00 and 16:00.",
        "Cans are free.",
    ]
    assert all(wrapped[unit.start : unit.end] == unit.text for unit in units(wrapped))


def test_short_lines_items_and_turns_stay_apart():
    assert texts("Opening hours\nMonday to Friday") == ["Opening hours", "Monday to Friday"]
    assert texts("- water butts and cans and hoses and pipes\n- spades") == [
        "- water butts and cans and hoses and pipes",
        "- spades",
    ]
    assert texts("Customer: It stops every night.\nAgent: At which level?") == [
        "Customer: It stops every night.",
        "Agent: At which level?",
    ]


def test_a_table_row_is_read_with_its_column_names():
    table = "| Wheel | Front | Rear |\n|---|---|---|\n| 17 in | 2.5 bar | 2.4 bar |\n| 19 in | 2.7 bar | |"
    assert [readable(unit) for unit in units(table)] == [
        "17 in (Front: 2.5 bar; Rear: 2.4 bar)",
        "19 in (Front: 2.7 bar)",
    ]


def test_a_row_with_other_columns_than_the_header_is_read_as_it_stands():
    assert readable(units("A | B | C\n--- | --- | ---\n1 | 2")[0]) == "1; 2"


def test_a_row_is_no_header_unless_a_rule_follows():
    assert [readable(unit) for unit in units("| F20 | 15 A |\n| F21 | 10 A |")] == ["F20; 15 A", "F21; 10 A"]
    assert [readable(unit) for unit in units("| F20 | 15 A |\n| F21 | 10 A |", header="| Fuse | Rating |")] == [
        "F20 (Rating: 15 A)",
        "F21 (Rating: 10 A)",
    ]


def test_an_item_goes_on_from_the_line_that_ends_in_a_colon():
    found = [readable(unit) for unit in units("Do not use it on:\n\n- wet leaves;\n- gravel.\n\nIt stops by itself.")]
    assert found == [
        "Do not use it on:",
        "Do not use it on: wet leaves;",
        "Do not use it on: gravel.",
        "It stops by itself.",
    ]


def test_scripts_without_spaces_are_split_after_their_marks():
    assert texts("窯の温度を上げます。一晩冷まします。", "english") == ["窯の温度を上げます。", "一晩冷まします。"]


def test_blank_text_has_no_units():
    assert units("") == units(" \n\n\t") == ()


# sentence_ends


def sentences(text: str, language: str = "english") -> list[str]:
    ends = sentence_ends(text, language)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)])]


@pytest.mark.parametrize(
    "one",
    [
        "Leave approx. 5 mm of it. ",
        "Leave approx. five of it. ",
        "It was Dr. Smith. ",
        "See Fig. 3 (and Ch. 4) for it. ",
        "It is shown in Eq. (3) below. ",
        "Max. 7 kg, temp. 20 °C. ",
        "Rinse with water, incl. the lid. ",
        "It is 3.5 mm wide. ",
        "Mr. J. R. Smith Jr. left. ",
        "He said it (see p. 4). ",
        "2. Close the lid. ",
        "“Is it?” he asked. ",
        "Is it ready?! ",
        "他说。",
    ],
)
def test_a_sentence_ends_once_whatever_full_stops_it_holds(one: str) -> None:
    assert sentences(f"Go on. {one}Then stop.") == ["Go on. ", one, "Then stop."]


def test_a_unit_before_the_full_stop_is_no_initial() -> None:
    assert sentences("Fire it at 80 °C. Wear gloves. It takes 5 kV. Stop.") == [
        "Fire it at 80 °C. ", "Wear gloves. ", "It takes 5 kV. ", "Stop.",
    ]  # fmt: skip


def test_closing_quotes_and_brackets_stay_with_their_sentence() -> None:
    assert sentences("He said “hi.” Then he left (by bus.) She stayed. “Yes.” He left.") == [
        "He said “hi.” ", "Then he left (by bus.) She stayed. ", "“Yes.” ", "He left.",
    ]  # fmt: skip
    assert sentences("「窯は熱い。」一晩冷まします。") == ["「窯は熱い。」", "一晩冷まします。"]


def test_an_abbreviation_at_the_end_of_a_paragraph_ends_its_sentence() -> None:
    assert sentences("Ask Prof.\n\nSmith came.") == ["Ask Prof.\n\n", "Smith came."]


def test_text_that_begins_its_sentences_with_small_letters_is_split_all_the_same() -> None:
    assert sentences("it broke. then i called. they said so. fine.") == [
        "it broke. ", "then i called. ", "they said so. ", "fine.",
    ]  # fmt: skip


def test_other_languages_have_other_abbreviations() -> None:
    assert sentences("Voir M. Dupont. Il part.", "french") == ["Voir M. Dupont. ", "Il part."]
    assert sentences("Es ist z. B. gut. Ende.", "german") == ["Es ist z. B. gut. ", "Ende."]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\ud800", "x" * 10_000, "." * 10_000, "\x00. \x00"])
def test_odd_texts_are_no_trouble(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert sorted(set(sentence_ends(text))) == sentence_ends(text)


def test_a_long_text_is_read_in_parts_whose_borders_end_no_sentence() -> None:
    sentence = "the kiln cools, " * 400 + "and then it is opened. "
    assert sentences("It says: " + sentence + "Stop.") == ["It says: " + sentence, "Stop."]
    assert sentences("窯の温度を上げます。" * 2000) == ["窯の温度を上げます。"] * 2000
