"""Cutting at sentences, in any script; and sentence-window: a sentence is found, what stands around it is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag import chunkers
from rag.loaders import load
from rag.schema import Block, Chunk, Document
from rag.settings import Settings
from tests.support import m1

BY_SENTENCES = ("paragraph", "recursive", "sentence-window", "semantic", "layout", "qa")
SCRIPTS = {
    "Japanese": ("窯の温度を上げます。一晩冷まします。扉を開けます。", "。"),
    "Japanese, question and exclamation": ("火は消えたか？はい！", "？！"),
    "Japanese, quoted": ("「窯は熱いです。」「はい！」", "」"),
    "Chinese, quoted": ("他说：“窑很热。”她走了。", "”。"),
    "Arabic": ("هل تعمل الساعة؟", "؟"),
    "Urdu": ("بھٹی گرم ہے۔", "۔"),
    "Hindi": ("भट्ठी गरम है।", "।"),
    "Sanskrit": ("भट्ठी गरम है॥", "॥"),
    "Burmese": ("မီးဖိုပူသည်။", "။"),
    "Khmer": ("ឡក្តៅ។", "។"),
    "Armenian": ("Վառարանը տաք է։", "։"),
    "Ethiopic": ("ምድጃው ሞቃት ነው።", "።"),
    "Tibetan": ("ཐབ་ཚ་པོ་འདུག།", "།"),
}


def document(text: str, **parts: object) -> Document:
    return Document("a.txt", "samples/a.txt", text, **parts)


def cut(source: Document, chunker: str = "sentence-window", **values: object) -> tuple[Chunk, ...]:
    settings = Settings().changed({"chunker": chunker, "chunk_size": 200, "chunk_overlap": 0, **values})
    return chunkers.chunk(source, settings, m1())


def texts(text: str, **values: object) -> list[str]:
    return [one.text for one in cut(document(text), **values)]


def windows(source: Document, **values: object) -> list[str]:
    return [source.text[slice(*one.window)] for one in cut(source, **values) if one.window]


@pytest.mark.parametrize("chunker", BY_SENTENCES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_sentences_of_scripts_without_spaces_end_at_their_own_marks(chunker: str, script: str) -> None:
    sentence, marks = SCRIPTS[script]
    text = sentence * 60
    pieces = texts(text, chunker=chunker)
    assert "".join(pieces) == text
    assert len(pieces) > 1
    assert all(piece[-1] in marks and piece[0] not in marks and len(piece) <= 200 for piece in pieces)


@pytest.mark.parametrize("chunker", BY_SENTENCES)
def test_thai_which_has_no_marks_is_cut_at_its_spaces(chunker: str) -> None:
    clause = "เตาเผาต้องเย็นลงทั้งคืน"
    pieces = texts(" ".join([clause] * 60), chunker=chunker)
    assert " ".join(pieces) == " ".join([clause] * 60)
    assert all(set(piece.split(" ")) == {clause} and len(piece) <= 200 for piece in pieces)


@pytest.mark.parametrize("chunker", BY_SENTENCES)
@pytest.mark.parametrize(
    "sentence",
    [
        "Use a soft material, e.g. felt or wool, under the shelf that touches the wall.",
        "The new shelf was seen by Dr. Smith and by Prof. Jones on the first day of May.",
        "Between the wall and the shelf leave approx. 5 mm on either side of the board.",
        "The shelf that touches the wall is the one shown in Fig. 3 on the page before it.",
        "Every board is 3.5 mm thick, and none of them may be longer than 1.25 m in all.",
        "“Does the shelf touch the wall?” he asked once more, and nobody could tell him.",
    ],
)
def test_no_piece_begins_inside_a_sentence_after_an_abbreviation_a_number_or_a_quote(
    chunker: str, sentence: str
) -> None:
    assert len(sentence) < 100
    pieces = texts(" ".join([sentence] * 9), chunker=chunker)
    assert len(pieces) > 3
    assert all(piece.startswith(sentence) for piece in pieces)


# sentence-window


def test_each_sentence_is_a_passage_and_knows_its_neighbours_within_the_section(tmp_path: Path) -> None:
    names = ("first", "second", "third", "fourth", "fifth")
    lines = [f"This is the {name} sentence of the whole section." for name in names]
    path = tmp_path / "a.md"
    path.write_text(
        f"# A\n\n{' '.join(lines[:3])}\n\n{' '.join(lines[3:])}\n\n# B\n\nAnother section says other things.\n"
    )
    source = load(path)
    first, second, third, fourth, fifth, other = cut(source, **{"chunker.window": 1})
    assert [one.text for one in (first, second, fifth)] == ["# A\n\n" + lines[0], lines[1], lines[4]]
    assert source.text[slice(*first.window)] == f"# A\n\n{lines[0]} {lines[1]}"
    assert source.text[slice(*third.window)] == f"{lines[1]} {lines[2]}\n\n{lines[3]}"
    assert source.text[slice(*fifth.window)] == f"{lines[3]} {lines[4]}"
    assert source.text[slice(*other.window)] == other.text
    assert source.text[slice(*fourth.paragraph)] == " ".join(lines[3:])


def test_a_window_of_none_is_the_sentence_itself() -> None:
    source = document("The kiln must cool for a whole night before it is opened. " * 3)
    assert windows(source, **{"chunker.window": 0}) == [one.text for one in cut(source)]


def test_very_short_sentences_are_joined_to_the_next_and_the_last_to_the_one_before() -> None:
    long = "The kiln must cool for a whole night before it is opened."
    assert texts(f"Yes. No. {long} {long} See below.") == [f"Yes. No. {long}", f"{long} See below."]
    assert texts("Yes. Yes. Yes. Yes.") == ["Yes. Yes. Yes. Yes."]


def test_a_joined_sentence_never_passes_the_size() -> None:
    long = "x" * 97 + "."
    assert texts(f"Yes. {long} Yes.", chunk_size=100) == ["Yes.", long, "Yes."]


def test_a_sentence_above_the_size_is_cut_at_words() -> None:
    pieces = texts("word " * 100, chunk_size=100)
    assert all(len(piece) <= 100 and set(piece.split()) == {"word"} for piece in pieces)
    assert sum(len(piece.split()) for piece in pieces) == 100


def test_a_table_is_indexed_by_its_rows_each_with_the_column_names_and_the_first_with_the_line_above() -> None:
    rows = [f"| part-{number} | 21 | shelf {number} |" for number in range(4)]
    head = "| Part | Stock | Place |\n|---|---|---|"
    source = document(f"What is in stock:\n\n{head}\n" + "\n".join(rows))
    chunks = cut(source, **{"chunker.window": 1})
    assert [one.text for one in chunks] == [f"What is in stock:\n\n{head}\n{rows[0]}", *rows[1:]]
    assert [one.header for one in chunks] == ["", *["| Part | Stock | Place |"] * 3]
    assert source.text[slice(*chunks[2].window)] == "\n".join(rows[1:4])


def test_code_is_indexed_by_its_lines_and_a_list_by_its_items() -> None:
    code = "opened = kiln.temperature < 80  # degrees. Not below.\nprint('the door may be opened now. Go on.')"
    items = "- Water butts and cans and hoses and pipes\n- Spades and forks and rakes and all the rest"
    source = document(f"{code}\n\n{items}", blocks=(Block("code", 0, len(code)),))
    assert [one.text for one in cut(source)] == [*code.split("\n"), *items.split("\n")]


def test_lines_that_a_narrow_page_wrapped_are_one_sentence() -> None:
    wrapped = "Hosepipes may be used only to fill water butts, and\nnever between 11:00 and 16:00."
    assert texts(f"{wrapped} Cans are free at every hour of the day and night.") == [
        wrapped,
        "Cans are free at every hour of the day and night.",
    ]


def test_the_language_of_the_index_decides_what_an_abbreviation_is() -> None:
    sentences = [
        "Das gilt auch am Sonntag, d. h. am ganzen Wochenende und an Feiertagen.",
        "Danach ist das Haus wieder für alle geöffnet.",
    ]
    assert texts(" ".join(sentences), language="german") == sentences


@pytest.mark.parametrize("chunker", ["sentence-window", "semantic"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("stock.csv", "Part,Stock,Place\n" + "".join(f"bolt-{i},{i},shelf {i}\n" for i in range(6))),
        ("lager.tsv", "Teil\tZahl\n" + "".join(f"Schraube {i}\t{i}\n" for i in range(6))),
        ("stock.jsonl", "".join(f'{{"part": "bolt-{i}", "stock": {i}}}\n' for i in range(6))),
    ],
)
def test_no_passage_begins_or_ends_inside_a_row_of_a_table_file(
    tmp_path: Path, chunker: str, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    document = load(tmp_path / name)
    starts, ends = {block.start for block in document.blocks}, {block.end for block in document.blocks}
    passages = chunkers.chunk(document, Settings(chunker=chunker, embedder="m1"), m1())
    assert all(passage.start in starts and passage.end in ends for passage in passages)
    assert len(passages) == 6 or chunker == "semantic"  # which may find that rows belong together
