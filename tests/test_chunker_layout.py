"""The layout chunker: tables, lists, code and warnings whole, and what each piece of a cut one carries along."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from rag import chunkers
from rag.chunkers.elements import elements
from rag.loaders import load
from rag.schema import Chunk, Document
from rag.settings import Settings
from tests.loader_support import story, table
from tests.support import cut

HEADER = "| Part | Stock | Place |\n|---|---|---|"
ROWS = [f"| part-{number} | 21 | shelf {number} |" for number in range(7, 67)]
TABLE = "\n".join([HEADER, *ROWS])
SENTENCE = "The kiln must cool for a whole night before its door is opened. "


@pytest.fixture
def loaded(tmp_path: Path):
    """A file of the name and content as a document."""

    def written(content: str | bytes, name: str = "a.md") -> Document:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return load(path)

    return written


def laid_out(document: Document, size: int = 400, overlap: int = 0, whole_limit: int = 0) -> tuple[Chunk, ...]:
    """Its chunks, once it is known that nothing is lost or doubled and that headers stand earlier in the document."""
    settings = Settings(chunker="layout", chunk_size=size, chunk_overlap=overlap)
    chunks = cut(document, settings.changed({"chunker.whole_limit": whole_limit}))
    ends = [0, *(one.end for one in chunks)]
    assert all(not document.text[end : one.start].strip() for end, one in zip(ends, chunks))
    assert not document.text[ends[-1] :].strip()
    assert all(one.header in document.text[: one.start] for one in chunks)
    return chunks


def rows_of(chunks: tuple[Chunk, ...]) -> list[str]:
    """Every line of a table that is neither its names nor its rule, in the order of the chunks."""
    lines = [line for one in chunks for line in one.text.split("\n") if line.startswith("| ")]
    return [line for line in lines if line != HEADER.split("\n")[0]]


# Tables


@pytest.mark.parametrize("lead", ["", "Stock by shelf, counted in May.\n", "Stock by shelf, counted in May.\n\n"])
@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_table_is_cut_between_rows_and_every_piece_carries_its_names_and_lead_in(
    loaded, lead: str, name: str
) -> None:
    chunks = laid_out(loaded(lead + TABLE, name))
    assert len(chunks) > 3
    assert chunks[0].header == "" and chunks[0].text.startswith(lead + HEADER)
    assert {one.header for one in chunks[1:]} == {lead + HEADER}
    assert rows_of(chunks) == ROWS
    assert all(len(one.reading) <= 400 for one in chunks)


def test_up_to_the_limit_a_table_stays_whole_with_the_heading_and_the_sentence_before_it(loaded) -> None:
    source = loaded(f"# Stores\n\n{SENTENCE * 10}\n\nStock by shelf, counted in May.\n\n{TABLE}\n\nAfter it.\n")
    *before, whole, after = laid_out(source, whole_limit=3000)
    assert whole.text == f"Stock by shelf, counted in May.\n\n{TABLE}"
    assert (after.text, whole.header, len(whole.text) > 400) == ("After it.", "", True)
    assert all(one.section == ("Stores",) for one in [*before, whole, after])


def test_the_lead_in_is_the_last_sentence_of_the_paragraph_with_its_abbreviations_and_numbers(loaded) -> None:
    source = loaded(f"{SENTENCE * 8}Table 3. Torques in Nm, approx. 5 % either way\n\n{TABLE}\n")
    assert {one.header for one in laid_out(source)[-3:]} == {
        f"Table 3. Torques in Nm, approx. 5 % either way\n\n{HEADER}"
    }


def test_a_heading_is_no_lead_in(loaded) -> None:
    assert {one.header for one in laid_out(loaded(f"Text.\n\n## Stock\n\n{TABLE}\n"))[2:]} == {HEADER}


def test_column_names_that_the_source_repeats_are_not_put_before_themselves(loaded) -> None:
    again = "\n".join([HEADER, *ROWS[:7], HEADER.split("\n")[0], *ROWS[7:14]])
    chunks = laid_out(loaded(f"Stock by shelf.\n\n{again}\n"), size=265)
    assert chunks[1].text.startswith("| Part | Stock | Place |")
    assert chunks[1].header == "Stock by shelf."


def test_two_tables_one_after_the_other_keep_their_own_names(loaded) -> None:
    other = TABLE.replace("Part", "Tool").replace("part-", "tool-")
    chunks = laid_out(loaded(f"{TABLE}\n\n{other}\n"))
    for one in chunks:
        assert ("part-" in one.text) != ("tool-" in one.text)
        assert ("Tool" in one.reading) == ("tool-" in one.text)


@pytest.mark.parametrize("lead", ["", "Limits:\n\n"])
def test_a_row_above_the_size_is_cut_by_cell_with_its_names(loaded, lead: str) -> None:
    words = "word and more. " * 60
    names = "| Name | Limits of use |\n|---|---|"
    chunks = laid_out(loaded(f"{lead}{names}\n| kiln | {words}|\n| oven | short |\n"))
    assert chunks[0].text == f"{lead}{names}\n| kiln |"
    assert {one.header for one in chunks[1:]} == {lead + names}
    assert chunks[-1].text == "| oven | short |"
    assert all(len(one.reading) <= 400 for one in chunks)


def test_names_too_long_to_repeat_beside_a_row_do_not_swell_the_index(loaded) -> None:
    wide = "| " + " | ".join(f"a column with the number {number}" for number in range(60)) + " |\n|" + "---|" * 60
    row = "| " + " | ".join("x" for _ in range(60)) + " |"
    chunks = laid_out(loaded("\n".join([wide, *[row] * 20])))
    assert sum(len(one.reading) for one in chunks) < 3 * (len(wide) + 21 * len(row))


def test_columns_without_bars_at_the_edges_are_a_table_too(loaded) -> None:
    rows = [f"part-{number} | {number * 7}" for number in range(40)]
    chunks = laid_out(loaded("\n".join([" part  | count", "-------+------", *rows]), "a.txt"), size=200)
    assert {one.header for one in chunks[1:]} == {"part  | count\n-------+------"}
    assert [line for one in chunks for line in one.text.split("\n")][2:] == rows


def test_an_html_table_with_a_caption(loaded) -> None:
    body = "".join(f"<tr><td>part-{number}</td><td>{number}</td></tr>" for number in range(100))
    table = f"<table><caption>Stock in May</caption><thead><tr><th>Part</th><th>Count</th></tr></thead>{body}</table>"
    text, first, *later = laid_out(loaded(f"<h1>Stores</h1><p>Text.</p>{table}", "a.html"))
    names = "Stock in May\n| Part | Count |\n|---|---|"
    assert (text.text, first.text.startswith(names)) == ("Stores\n\nText.", True)
    assert {one.header for one in later} == {names}
    assert len(re.findall(r"^\| part-\d+ \|", "\n".join(one.text for one in [first, *later]), re.M)) == 100


def test_a_pdf_table(loaded) -> None:
    rows = [["Part", "Stock", "Place"], *([f"part-{number}", "21", f"shelf {number}"] for number in range(40))]
    grid = ("GRID", (0, 0), (-1, -1), 0.5, "black")
    source = loaded(story("Stock by shelf, counted in May.", table(rows, [90, 60, 90], grid, repeatRows=1)), "a.pdf")
    chunks = laid_out(source)
    assert "table" in {block.kind for block in source.blocks}
    assert all("| Part | Stock | Place |" in one.reading for one in chunks if "part-" in one.text)
    assert len(re.findall(r"part-\d+", "\n".join(one.text for one in chunks))) == 40


def test_no_row_of_a_csv_file_is_parted_from_the_names_of_its_columns(loaded) -> None:
    target = io.StringIO()
    csv.writer(target).writerows([["part", "stock", "place"], *([f"p{n}", n, f"shelf {n}"] for n in range(500))])
    chunks = laid_out(loaded(target.getvalue(), "a.csv"))
    assert all(re.search(r"\bplace\b", one.reading) for one in chunks)
    assert re.findall(r"\bp\d+\b", "\n".join(one.text for one in chunks)) == [f"p{n}" for n in range(500)]


# Lists, code and warnings


def test_a_list_is_cut_between_its_items_and_keeps_its_lead_in(loaded) -> None:
    items = [f"- Item {n} is heavy\n  - its nut is {n} mm\n  - its bolt is longer" for n in range(20)]
    first, *later = laid_out(loaded("Bring these tools:\n\n" + "\n".join(items)))
    assert first.text.startswith("Bring these tools:\n\n- Item 0")
    assert {one.header for one in later} == {"Bring these tools:"}
    assert all(one.text.startswith("- Item") for one in later)


def test_a_piece_that_begins_inside_an_item_carries_the_line_that_opens_the_item(loaded) -> None:
    inner = "\n".join(f"  - bolt {number} of the door, tightened by hand" for number in range(30))
    chunks = laid_out(loaded(f"Steps:\n\n- Undo the door\n{inner}\n- Lift it off\n"))
    assert {one.header for one in chunks if one.text.startswith("- bolt")} == {"- Undo the door"}


def test_a_code_block_stays_whole_and_a_longer_one_is_cut_at_lines(loaded) -> None:
    code = "\n".join(f"drain --pump {number}  # step {number}" for number in range(400))
    source = loaded(f"# Pump\n\nRun this:\n\n```\n{code}\n```\n\nTail.\n")
    assert len(code) > 9000
    whole = laid_out(source, whole_limit=20_000)
    assert [len(one.text) > 9000 for one in whole] == [True, False]
    lines = [line for one in laid_out(source) for line in one.text.split("\n")]
    assert [line for line in lines if line.startswith("drain")] == code.split("\n")


def test_comments_in_code_are_no_headings(loaded) -> None:
    block = "````text\n```\n# drain\n```\n# still code\n````"
    for fenced in (block, block.replace("`", "~")):
        (only,) = laid_out(loaded(f"# Pump manual\n\n{fenced}\n\nTail text.\n"))
        assert (only.section, fenced in only.text) == (("Pump manual",), True)


WARNINGS = [
    "Warning: never open it hot. It burns.",
    "WARNING\nNever open it hot. It burns.",
    "**Caution** – never open it hot. It burns.",
    "> [!WARNING]\n> Never open it hot. It burns.",
    "> **Note:** never open it hot. It burns.",
    "Achtung: niemals heiß öffnen. Es brennt.",
    "⚠ Attention : ne jamais ouvrir à chaud. Il brûle.",
    "警告：熱いうちに開けないでください。火傷します。",
    "!!! danger\n    Never open it hot. It burns.",
]


@pytest.mark.parametrize("warning", WARNINGS)
def test_a_warning_is_never_cut(loaded, warning: str) -> None:
    long = warning + " " + "Let it cool first. " * 20
    source = loaded(f"# Kiln\n\n{SENTENCE * 5}\n\n{long.strip()}\n\n{SENTENCE * 5}\n")
    assert [element.kind for element in elements(source)] == ["heading", "paragraph", "warning", "paragraph"]
    assert long.strip() in [one.text for one in laid_out(source, whole_limit=3000)]


@pytest.mark.parametrize(
    "text", ["Note that it is hot.", "Warnings are red.", "Importantly: it is hot.", "A warning: x"]
)
def test_a_sentence_that_only_speaks_of_warnings_is_prose(loaded, text: str) -> None:
    assert [element.kind for element in elements(loaded(text))] == ["paragraph"]


def test_a_label_that_stands_alone_goes_with_what_it_announces(loaded) -> None:
    assert [element.kind for element in elements(loaded("WARNING\n\nNever open it hot.\n\nMore.\n"))] == [
        "warning",
        "paragraph",
    ]


def test_a_warning_right_before_a_table_leaves_both_whole(loaded) -> None:
    chunks = laid_out(loaded(f"> [!CAUTION]\n> Count twice. Sign the list.\n\n{TABLE}\n"), whole_limit=3000)
    assert [one.text.split("\n")[0] for one in chunks] == ["> [!CAUTION]", "| Part | Stock | Place |"]
    cut_up = laid_out(loaded(f"> [!CAUTION]\n> Count twice. Sign the list.\n\n{TABLE}\n"))
    assert {one.header for one in cut_up[2:]} == {f"Sign the list.\n\n{HEADER}"}


# Prose and sections


def test_only_prose_overlaps(loaded) -> None:
    source = loaded(f"# Kiln\n\n{SENTENCE * 12}\n\n{TABLE}\n\n{SENTENCE * 12}\n")
    settings = Settings(chunker="layout", chunk_size=400, chunk_overlap=100)
    chunks = cut(source, settings.changed({"chunker.whole_limit": 0}))
    shared = [source.text[after.start : one.end] for one, after in zip(chunks, chunks[1:]) if after.start < one.end]
    assert shared and {text.strip() for text in shared} == {SENTENCE.strip()}
    assert rows_of(chunks) == ROWS


def laid_out_with_overlap(source: Document) -> tuple[Chunk, ...]:
    return cut(
        source, Settings(chunker="layout", chunk_size=400, chunk_overlap=100).changed({"chunker.whole_limit": 0})
    )


def test_small_neighbours_share_a_chunk_but_sections_do_not(loaded) -> None:
    source = loaded("# A\n\nOne.\n\n- two\n- three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# B\n\nFour.\n")
    assert [one.section for one in laid_out(source)] == [("A",), ("B",)]


def test_headings_go_with_what_follows_and_name_the_section(loaded) -> None:
    (only,) = laid_out(loaded("# A\n\n## B\n\n## C\n\nText.\n"))
    assert (only.text, only.section) == ("# A\n\n## B\n\n## C\n\nText.", ("A", "C"))
    first, second = laid_out(
        loaded(
            "<h1>Boiler</h1><h2>Overview</h2><p>Heats water.</p><h1>Chiller</h1><h2>Overview</h2><p>Cools water.</p>",
            "a.html",
        )
    )
    assert (first.section, second.section) == (("Boiler", "Overview"), ("Chiller", "Overview"))


def test_the_heading_path_is_indexed_and_not_shown(loaded) -> None:
    source = loaded(f"# Stores\n\n## Shelves\n\n{TABLE}\n")
    settings = Settings(chunker="layout", chunk_size=400, chunk_overlap=0).changed({"chunker.whole_limit": 0})
    chunks = cut(source, settings)
    texts = chunkers.indexed_texts(source, chunks, settings)
    assert texts[1] == f"Stores > Shelves\n{HEADER}\n{chunks[1].text}"
    assert "Stores" not in chunks[1].reading


def test_a_megabyte_takes_seconds(loaded) -> None:
    source = loaded((f"# Part\n\n{SENTENCE * 30}\n\n{TABLE}\n\n" + "- an item\n" * 200 + "\n") * 180)
    assert len(source.text) > 1_000_000
    assert len(laid_out(source, size=1000)) > 1000
