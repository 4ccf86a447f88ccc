"""Chunkers: one section a chunk, packed up to the size, overlapping by whole sentences, every place known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag.chunkers import CHUNKERS
from rag.errors import SettingsError
from rag.loaders import load
from rag.schema import Block, Document, Page, Section
from rag.settings import Settings
from tests.support import cut as chunk

ALL = pytest.mark.parametrize("chunker", CHUNKERS)


def document(text: str, **parts: object) -> Document:
    return Document("a.txt", "samples/a.txt", text, **parts)


def knobs(chunker: str = "recursive", size: int = 200, overlap: int = 0) -> Settings:
    return Settings(chunker=chunker, chunk_size=size, chunk_overlap=overlap)


def texts(source: Document, **options: object) -> list[str]:
    return [one.text for one in chunk(source, knobs(**options))]


def markdown(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    return load(path)


@ALL
@pytest.mark.parametrize("text", ["", " ", "\n\n\n", " \n\t \n\n "])
def test_blank_text_gives_no_chunk(chunker: str, text: str) -> None:
    assert chunk(document(text), knobs(chunker)) == ()


@ALL
def test_a_text_below_the_size_is_one_chunk(chunker: str) -> None:
    source = document("\n  Closed on Mondays.\n")
    (only,) = chunk(source, knobs(chunker))
    assert (only.text, only.start, only.end, only.position) == ("Closed on Mondays.", 3, 21, 0)
    assert (only.document, only.document_id) == ("a.txt", source.id)
    assert (only.section, only.page_start, only.page_end, only.page_labels) == ((), None, None, ())


def test_an_unknown_chunker_is_answered_with_the_choices() -> None:
    with pytest.raises(SettingsError) as error:
        chunk(document("Text."), Settings(chunker="layuot"))
    assert str(error.value) == f"There is no chunker called 'layuot'. Choose one of: {', '.join(CHUNKERS)}."


# Provenance


def test_a_chunk_names_the_pages_it_touches_and_no_other() -> None:
    text = "First page ends here.\n\nIt goes on over the break. The third page."
    second, third = text.index("It goes"), text.index("The third")
    pages = (
        Page(1, "i", 0, second),
        Page(2, "ii", second, third),
        Page(3, "1", third, len(text)),
    )
    over_the_breaks = chunk(document(text, pages=pages), knobs(size=100))
    assert [(one.page_start, one.page_end, one.page_labels) for one in over_the_breaks] == [(1, 3, ("i", "ii", "1"))]
    each = chunk(document(text, pages=pages), knobs("paragraph"))
    assert [(one.page_start, one.page_end, one.page_labels) for one in each] == [(1, 1, ("i",)), (2, 3, ("ii", "1"))]


def test_without_sections_a_recursive_chunk_keeps_to_the_page_that_begins_with_its_paragraph() -> None:
    text = "One.\n\nTwo goes on over the break.\n\nThree."
    second, break_in_two, third = text.index("Two"), text.index("over"), text.index("Three")
    pages = tuple(
        Page(number, str(number), start, end)
        for number, (start, end) in enumerate([(0, second), (second, break_in_two), (break_in_two, len(text))], start=1)
    )
    paragraphs = (Block("paragraph", 0, 4), Block("paragraph", second, third - 2), Block("paragraph", third, len(text)))
    chunks = chunk(document(text, pages=pages, blocks=paragraphs), knobs(size=100))
    assert [(one.text, one.page_start, one.page_end) for one in chunks] == [
        ("One.", 1, 1),
        ("Two goes on over the break.\n\nThree.", 2, 3),
    ]


def test_a_chunk_that_only_ends_in_the_blank_lines_of_a_page_is_not_on_it() -> None:
    text = "One.\n\nTwo."
    pages = (Page(1, "1", 0, 5), Page(2, "2", 5, 10))
    assert [(one.page_start, one.page_end) for one in chunk(document(text, pages=pages), knobs("paragraph"))] == [
        (1, 1),
        (2, 2),
    ]


def test_a_chunk_shows_the_section_that_holds_most_of_it() -> None:
    # A heading that stands alone joins the section after it; however long, it does not name the chunk.
    text = "A long heading with nothing under it\n\nShort text."
    source = document(
        text,
        sections=(Section(("A",), 0, 38), Section(("A", "B"), 38, len(text))),
        blocks=(Block("heading", 0, 36),),
    )
    assert [one.section for one in chunk(source, knobs())] == [("A", "B")]


def test_the_paragraph_around_a_chunk_is_its_block_even_where_others_lie_inside_that() -> None:
    text = "- First item:\n\n      code\n\n- Second item.\n\nAfter the list."
    end = text.index("\n\nAfter")
    code, item = text.index("code"), text.index("- Second")
    blocks = (Block("list", 0, end), Block("code", code, code + 4), Block("paragraph", end + 2, len(text)))
    found = {one.text: one.paragraph for one in chunk(document(text, blocks=blocks), knobs("paragraph"))}
    assert found[text[item:end]] == found["- First item:"] == (0, end)
    assert found["After the list."] == (end + 2, len(text))


# Headings


@ALL
def test_headings_with_nothing_between_them_go_with_the_text_they_announce(chunker: str, tmp_path: Path) -> None:
    source = markdown(tmp_path, "# A\n\n## B\n\n## C\n\nText.\n")
    (only,) = chunk(source, knobs(chunker))
    assert only.text == "# A\n\n## B\n\n## C\n\nText."
    assert only.section == ("A", "C")


@ALL
def test_text_after_a_deep_section_carries_no_trace_of_it(chunker: str, tmp_path: Path) -> None:
    source = markdown(tmp_path, "# A\n\n## B\n\n### C\n\nText of C.\n\n## D\n\nText of D.\n")
    deep, after = chunk(source, knobs(chunker))
    assert (deep.section, after.section) == (("A", "B", "C"), ("A", "D"))
    assert after.text == "## D\n\nText of D."


@ALL
def test_a_heading_before_a_long_paragraph_is_never_a_chunk_alone(chunker: str, tmp_path: Path) -> None:
    sentence = "The kiln must cool for a whole night before its door is opened. "
    source = markdown(tmp_path, "# Cooling\n\n" + sentence * 20 + "\n")
    first, *rest = texts(source, chunker=chunker, size=200)
    assert first.startswith("# Cooling\n\nThe kiln must cool")
    assert not any("# Cooling" in one for one in rest)


@pytest.mark.parametrize("chunker", ["paragraph", "recursive", "layout"])
def test_a_heading_leaves_room_for_whole_sentences_after_it(chunker: str, tmp_path: Path) -> None:
    sentence = "The kiln must cool for a whole night before its door is opened. "
    first, *_ = texts(markdown(tmp_path, "# Cooling\n\n" + sentence * 20 + "\n"), chunker=chunker, size=200)
    assert first == ("# Cooling\n\n" + sentence * 2).strip()


def test_a_heading_at_the_very_end_stays_with_the_section_before_it(tmp_path: Path) -> None:
    assert texts(markdown(tmp_path, "# A\n\nText.\n\n# B\n")) == ["# A\n\nText.\n\n# B"]


def test_twelve_one_line_sections_are_twelve_chunks(tmp_path: Path) -> None:
    rules = "\n\n".join(f"# Rule {number}\n\nNever do {number}." for number in range(1, 13))
    assert texts(markdown(tmp_path, rules))[1] == "# Rule 2\n\nNever do 2."
    assert len(texts(markdown(tmp_path, rules))) == 12


# recursive


def test_the_largest_boundary_that_suffices_is_used() -> None:
    first = "One two three four five six seven. " * 3
    source = document(first.strip() + "\n\n" + "Short.\n\n" + first.strip())
    assert texts(source, size=120) == [first.strip() + "\n\nShort.", first.strip()]


def test_pieces_are_packed_up_to_the_size() -> None:
    # Twelve sentences of 20 characters with their space: five of them (99 characters, trimmed) fill 100.
    sentences = [f"This is number {number:>3}. " for number in range(12)]
    assert [len(one) for one in sentences] == [20] * 12
    assert [len(one) for one in texts(document("".join(sentences)), size=100)] == [99, 99, 39]


def test_the_overlap_begins_at_a_sentence() -> None:
    sentences = [f"This is number {number:>3}. " for number in range(12)]
    # 100 less 30 of overlap leaves room for three new sentences; one whole sentence fits the overlap.
    first, second, *_ = texts(document("".join(sentences)), size=100, overlap=30)
    assert first == "".join(sentences[:3]).strip()
    assert second == "".join(sentences[2:6]).strip()


def test_the_overlap_begins_at_a_word_where_no_sentence_does() -> None:
    words = " ".join(f"word{number:>03}" for number in range(60))
    first, second, *_ = texts(document(words), size=100, overlap=20)
    assert first.endswith("word007 word008 word009")
    assert second.startswith("word008 word009 word010")


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("窯の温度を上げます。一晩冷まします。扉を開けます。" * 60, "。"),
        ("هل تعمل الساعة؟" * 60, "؟"),
        ("भट्ठी गरम है।" * 60, "।"),
        ("火は消えたか？はい！" * 60, "？！"),
    ],
)
def test_sentences_of_scripts_without_spaces_end_at_their_own_marks(text: str, mark: str) -> None:
    pieces = texts(document(text), size=200)
    assert "".join(pieces) == text
    assert all(piece[-1] in mark and piece[0] not in mark and len(piece) <= 200 for piece in pieces)


def test_a_closing_quote_stays_with_its_sentence() -> None:
    pieces = texts(document("「窯は熱いです。」" * 30), size=100)
    assert all(piece.startswith("「") and piece.endswith("」") for piece in pieces)


def test_an_abbreviation_in_lower_case_text_ends_no_sentence() -> None:
    text = "Use a soft material, e.g. felt or wool, under every part of the shelf that touches the wall. " * 3
    assert all(piece.startswith("Use a soft") for piece in texts(document(text), size=120))


def test_a_table_is_cut_between_its_rows() -> None:
    rows = [f"| part-{number} | 21 | shelf {number} |" for number in range(60)]
    pieces = texts(document("\n".join(["| Part | Stock | Place |", "|---|---|---|", *rows])), size=400)
    assert all(re.fullmatch(r"\|.*\|", line) for piece in pieces for line in piece.split("\n"))
    assert [line for piece in pieces for line in piece.split("\n")][2:] == rows


def test_text_without_any_boundary_is_cut_by_characters() -> None:
    assert [len(one) for one in texts(document("x" * 450), size=200)] == [200, 200, 50]
    assert [len(one) for one in texts(document("x" * 450), size=200, overlap=50)] == [150, 200, 200]


def test_a_cut_by_characters_leaves_an_emoji_whole() -> None:
    family = "👩\u200d👩\u200d👧"
    assert all(set(one.split(family)) == {""} for one in texts(document(family * 100), size=103))


def test_the_same_passage_twice_has_two_places() -> None:
    passage = "The same passage again, and again, and once more until the page is full of it. "
    chunks = chunk(document(passage * 8), knobs(size=100))
    assert [one.start for one in chunks] == [number * len(passage) for number in range(8)]
    assert len({one.id for one in chunks}) == 8


# paragraph


def test_each_paragraph_is_a_chunk_however_short() -> None:
    source = document("One.\n\nTwo,\nstill two.\n \nThree.\n\n\n\nFour.")
    assert texts(source, chunker="paragraph") == ["One.", "Two,\nstill two.", "Three.", "Four."]


def test_a_paragraph_above_the_size_is_cut_at_sentence_ends_then_at_words() -> None:
    sentence = "Seven words stand in this very sentence. "
    words = "Word " * 50
    pieces = texts(document(sentence * 4 + words), chunker="paragraph", size=100)
    assert pieces[:2] == [(sentence * 2).strip()] * 2
    assert "".join(pieces[2:]).replace(" ", "") == "Word" * 50
    assert all(len(piece) <= 100 for piece in pieces)


ROWS = [f"| part-{number} | {number * 3} | shelf {number % 9} |" for number in range(7, 67)]
TABLE = "\n".join(["| Part | Stock | Place |", "|---|---|---|", *ROWS])


@ALL
@pytest.mark.parametrize("before", ["", "What is kept where:\n\n", "# Stock\n\nWhat is kept where:\n\n"])
def test_every_piece_of_a_table_has_its_column_names_whichever_chunker_cut_it(
    chunker: str, before: str, tmp_path: Path
) -> None:
    source = markdown(tmp_path, f"{before}{TABLE}\n\nAfter the table.")
    chunks = chunk(source, knobs(chunker, size=400))
    with_rows = [one for one in chunks if re.search(r"^\| part-", one.text, re.MULTILINE)]
    assert all("| Part | Stock | Place |\n" in one.reading for one in with_rows)
    assert sorted(row for one in with_rows for row in one.text.split("\n") if row.startswith("| part-")) == sorted(ROWS)
