"""Transcripts and subtitles: turns by who speaks, whatever program wrote them, and prose that only has colons."""

from __future__ import annotations

import pytest

from tests.loader_support import assert_is_whole, blocks, kinds, paths, sections, write  # noqa: F401


def test_a_transcript_is_read_turn_by_turn_under_the_line_that_names_it(write) -> None:
    chat = "Customer: It is dead.\nAgent: Which light?\nIs it red?\nCustomer: Red.\nAgent: Reset it."
    document = write("chats.txt", f"Chat 12, 3 May\n\n{chat}\n\nChat 13, 4 May\n\n{chat}\n")
    assert paths(document) == [("Chat 12, 3 May",), ("Chat 13, 4 May",)]
    assert blocks(document, "heading") == ["Chat 12, 3 May", "Chat 13, 4 May"]
    assert blocks(document, "speaker-turn")[:2] == ["Customer: It is dead.", "Agent: Which light?\nIs it red?"]
    assert len(blocks(document, "speaker-turn")) == 8


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna: It is dead.", "Ben Ohm: Which light?"),
        ("[12:03] <anna> it is dead", "[12:04] <@ben> which light"),
        ("12:03 < anna> it is dead", "12:03 <+ben> which light"),
        ("<anna> it is dead", "<ben> which light"),
        ("2024-01-01 12:03:11 anna: it is dead", "2024-01-01 12:03:40 ben: which light"),
        ("2024-01-01 12:03:11\tanna\tit is dead", "2024-01-01 12:03:40\tben\twhich light"),
        ("[2024-01-01 12:03:11] <anna> it is dead", "[2024-01-01 12:03:40] <ben> which light"),
        ("12/03/2024, 14:05 - Anna: it is dead", "12/03/2024, 14:06 - Ben Ohm: which light"),
        ("[12.03.24, 14:05:10] Anna: it is dead", "[12.03.24, 14:06:10] Ben: which light"),
        ("3/12/24, 2:05 PM - Anna: it is dead", "3/12/24, 2:06 PM - Ben: which light"),
        ("00:00:05 Anna: it is dead", "00:01:15 Ben: which light"),
        ("Anna (00:05): it is dead", "Ben (01:15): which light"),
        ("Anna Ruiz  10:32 AM\nit is dead", "Ben  10:33 AM\nwhich light"),
        ("Анна: Не работает.", "Пётр: Какая лампа?"),
        ("田中：動きません。", "鈴木：どのランプですか？"),
        ("张：坏了。", "李： 哪个灯？"),
    ],
)
def test_turns_are_told_in_the_ways_that_programs_write_them(write, first: str, second: str) -> None:
    text = "\n".join([first, second, first, second]) + "\n"
    document = write("a.txt", text)
    assert (document.text, document.format) == (text, "transcript")
    assert [(block.kind, document.text[block.start : block.end]) for block in document.blocks] == [
        ("speaker-turn", first),
        ("speaker-turn", second),
    ] * 2


def test_who_came_and_went_is_kept_and_nobody_says_it(write) -> None:
    lines = [
        "--- Log opened Mon",
        "12:00 -!- anna [~a@b] has joined #kiln",
        "12:01 <@anna> the lid is stuck",
        "12:02 < ben> pull it",
        "*** carl quit",
        "12:03 <@anna> how hard",
        "12:04 Netsplit over",
        "12:05 < ben> harder",
    ]
    document = write("a.log", "\n".join(lines))
    assert blocks(document) == lines
    assert blocks(document, "speaker-turn") == [line for line in lines if "> " in line]


def test_a_turn_runs_on_over_the_lines_under_it(write) -> None:
    document = write("a.txt", "[12:03] <anna> one\nand more\n[12:04] <ben> two\n[12:05] <anna> x\n[12:06] <ben> y\n")
    assert blocks(document)[0] == "[12:03] <anna> one\nand more"


@pytest.mark.parametrize(
    "text",
    [
        "Name: Kiln\nWidth: 3 m\nHeight: 2 m\nWeight: 90 kg\n",
        "Name: Kiln\nWidth: 3 m\n\nName: Oven\nWidth: 4 m\n\nName: Pot\nWidth: 1 m\n",
        "Note: one.\n\nProse here.\n\nMore.\n",
        "Note: It is hot.\n\nNote: It is loud.\n\nWarning: Stand back.\n\nWarning: Do not open it.\n",
        "Fixed: the lid.\nAdded: a light.\nFixed: the door.\nAdded: a bell.\n",
        "12:00:01 INFO: Started.\n12:00:02 ERROR: Failed.\n12:00:03 INFO: Started.\n12:00:04 ERROR: Failed.\n",
        "It was late: ten. He said: go home.\nThere was one thing left: the door.\n\nHe went home.\n",
        "Files: *\nCopyright: 1998 A. B.\nLicense: GPL-2\n\nFiles: debian/*\nCopyright: 1999 C.\nLicense: GPL-2\n",
        "Anna: It is dead.\n\nThen a long story follows.\nIt has many lines.\n\nAnd it ends.\n",
        "See http://a.example/b: it is there.\nSee http://a.example/c: it is there.\n",
    ],
)
def test_what_only_has_colons_is_no_transcript(write, text: str) -> None:
    document = write("a.txt", text)
    assert document.format == "text"
    assert set(kinds(document)) == {"paragraph"}


# Subtitles


def srt(*cues: tuple[str, str, str]) -> str:
    return "\n".join(f"{n}\n{start} --> {end}\n{text}\n" for n, (start, end, text) in enumerate(cues, start=1))


def test_cues_become_sentences_without_numbers_and_times(write) -> None:
    document = write(
        "a.srt",
        srt(
            ("00:00:01,000", "00:00:03,000", "<i>Welcome to the</i>\nkiln course."),
            ("00:00:03,200", "00:00:05,000", "{\\an8}Today we"),
            ("00:00:05,000", "00:00:06,000", "fire 42 pots."),
            ("00:00:20,000", "00:00:22,000", "Now wait."),
        ),
    )
    assert blocks(document) == ["Welcome to the kiln course. Today we fire 42 pots.", "Now wait."]
    assert set(kinds(document)) == {"speaker-turn"}
    assert paths(document) == [("00:00:01-00:00:22",)]


def test_sections_bear_the_time_they_cover(write) -> None:
    cues = [(f"01:{n:02}:00,000", f"01:{n:02}:09,000", f"Minute {n}.") for n in range(5)]
    document = write("a.srt", srt(*cues))
    assert sections(document) == {
        ("01:00:00-01:01:09",): "Minute 0.\n\nMinute 1.",
        ("01:02:00-01:03:09",): "Minute 2.\n\nMinute 3.",
        ("01:04:00-01:04:09",): "Minute 4.",
    }
    assert_is_whole(document)


def test_voices_of_webvtt_are_speakers_and_its_notes_are_left_out(write) -> None:
    document = write(
        "a.vtt",
        "WEBVTT - Course\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE by us\nfor us\n\nintro\n"
        "00:01.000 --> 00:03.000 align:start\n<v Anna Ruiz>Good <c.big>morning</c> &amp; welcome.\n\n"
        "00:03.000 --> 00:05.000\n<v Ben>Is 3 < 5?\n<v Anna Ruiz>Yes,\n\nNOTE\nnot said\n\n"
        "00:05.000 --> 00:06.000\n<v Anna Ruiz>it is.\n",
    )
    assert blocks(document) == ["Anna Ruiz: Good morning & welcome.", "Ben: Is 3 < 5?", "Anna Ruiz: Yes, it is."]


def test_names_and_dashes_in_subtitles_tell_who_speaks(write) -> None:
    document = write(
        "a.srt",
        srt(
            ("00:00:01,000", "00:00:02,000", "ANNA: Is it"),
            ("00:00:02,000", "00:00:03,000", "hot?"),
            ("00:00:03,000", "00:00:04,000", "BEN: Time: ten."),
            ("00:00:04,000", "00:00:05,000", "ANNA: Oh."),
            ("00:00:05,000", "00:00:06,000", "BEN: Yes."),
            ("00:00:06,000", "00:00:07,000", "- Who?\n- Me."),
        ),
    )
    assert blocks(document) == ["ANNA: Is it hot?", "BEN: Time: ten.", "ANNA: Oh.", "BEN: Yes.", "Who?", "Me."]


def test_captions_that_roll_say_each_line_once_and_an_answer_given_twice_stays(write) -> None:
    rolling = [f"00:00:{n:02}.000 --> 00:00:{n + 1:02}.000\nline {n}\nline {n + 1}\n" for n in range(6)]
    rolled = write("a.vtt", "WEBVTT\n\n" + "\n".join(rolling))
    assert rolled.text == " ".join(f"line {n}" for n in range(7))
    cues = [
        (f"00:00:0{n},000", f"00:00:0{n},900", text) for n, text in enumerate(["So?", "No.", "No.", "Why?", "Well."])
    ]
    assert write("b.srt", srt(*cues)).text == "So? No. No. Why? Well."


@pytest.mark.parametrize(
    "times", ["00:00:01.5 --> 00:00:02.25", "0:00:01,000-->0:00:02,000", "00:01,000 -> 00:02,000 X1:1 X2:2"]
)
def test_times_written_carelessly_are_times(write, times: str) -> None:
    document = write("a.srt", f"{times}\nHello.\n\n7\n{times}\nGood bye.\n")
    assert document.text == "Hello. Good bye."


def test_a_file_of_subtitles_without_times_is_plain_text(write) -> None:
    assert write("a.srt", "No times here.\n").format == "text"
