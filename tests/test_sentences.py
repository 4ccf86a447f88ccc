"""Passages into quotable units."""

from rag.sentences import readable, units


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
