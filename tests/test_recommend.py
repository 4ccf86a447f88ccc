"""Which chunker is recommended for a document of which shape, and that ``recommended`` cuts by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag import chunkers
from rag.chunkers.recommend import recommend
from rag.environment import SAMPLES_FOLDER
from rag.loaders import load, parse
from rag.schema import Document
from rag.settings import Settings
from tests.support import cut

PROSE = "The kiln must cool for a whole night before anyone opens its door. "
FACTS = "In 1931 the works made 4,200 pots. They sold for 12 pence. Its owner said little about them. "
ROWS = "| Part | Stock |\n|---|---|\n" + "".join(f"| part-{number} | 21 |\n" for number in range(30))


def document(text: str, name: str = "a.md") -> Document:
    return parse(text.encode("utf-8"), Path(name), name, f"uploads/{name}")


# (name, text, chunker, what the reason says)
SHAPES = [
    ("a.txt", (PROSE * 6 + "\n\n") * 20, "recursive", "plain prose: 100 % of its text in sentences, 0 headings"),
    ("a.md", "".join(f"# Part {n}\n\n{PROSE * 6}\n\n" for n in range(9)), "layout", "9 headings, one for every 4"),
    ("a.md", f"{PROSE * 9}\n\n{ROWS}\n", "layout", "laid out: tables 4"),
    ("a.md", f"{PROSE * 5}\n\n```\n{'drain --all' * 40}\n```\n", "layout", "code 6"),
    ("a.txt", f"{PROSE * 5}\n\n" + "- drain the pump\n" * 40, "layout", "lists 6"),
    ("a.csv", "question,answer\n" + "How to pay?,By card\n" * 9, "qa", "100 % of its text is question-answer pairs"),
    ("a.txt", "Ann: Why?\nBob: Because.\n" * 9, "qa", "100 % of its text is exchanges of speakers (9 of them)"),
    ("a.txt", "\n\n".join(f"Ticket #{n}\n{PROSE}" for n in range(9)), "qa", "pairs or tickets (9 of them)"),
    ("a.txt", (FACTS * 6 + "\n\n") * 60, "sentence-window", "67 % of them hold a figure"),
    ("a.txt", "窯の温度を上げます。一晩冷まします。\n\n" * 40, "token", "100 % of its letters"),
    ("a.txt", "Печь должна остыть за ночь. " * 40, "token", "100 % of its letters"),
    ("a.py", "def f():\n    return 1\n", "code", "source code (python)"),
    ("a.txt", "alpha beta gamma\n" * 60, "recursive", "no shape that another chunker needs"),
]


@pytest.mark.parametrize(("name", "text", "chunker", "reason"), SHAPES)
def test_the_shape_decides_and_the_reason_tells_its_figures(name: str, text: str, chunker: str, reason: str) -> None:
    recommendation = recommend(document(text, name))
    assert recommendation.chunker == chunker
    assert reason in recommendation.reason
    assert recommendation.reason.endswith(".") and ". " not in recommendation.reason


def test_one_table_in_a_long_text_does_not_make_it_laid_out() -> None:
    assert recommend(document(f"{(PROSE * 6 + chr(10) * 2) * 40}\n\n{ROWS}\n")).chunker == "recursive"


def test_one_foreign_quotation_does_not_make_a_text_foreign() -> None:
    assert recommend(document((PROSE * 6 + "\n\n") * 5 + "窯の温度。" * 20, "a.txt")).chunker == "recursive"


def test_pairs_too_long_to_be_short_pairs_are_cut_by_their_layout() -> None:
    text = "".join(f"## What is part {number}?\n\n{(PROSE * 8 + chr(10) * 2) * 6}" for number in range(4))
    assert recommend(document(text)).chunker == "layout"


@pytest.mark.parametrize(
    ("name", "chunker"),
    [
        ("faq.csv", "qa"),
        ("support-chats.txt", "qa"),
        ("lapwing-owners-manual.pdf", "layout"),
        ("service-guide.html", "layout"),
        ("release-notes.md", "layout"),
    ],
)
def test_the_shipped_samples(name: str, chunker: str) -> None:
    assert recommend(load(SAMPLES_FOLDER / name)).chunker == chunker


def test_the_recommended_chunker_cuts_with_its_own_defaults() -> None:
    settings = Settings(chunker="recommended", chunk_size=400, chunk_overlap=50)
    for name, text, chunker, _ in SHAPES:
        source = document(text, name)
        assert chunkers.settings_of(source, settings) == replace(settings, chunker=chunker)
        assert cut(source, settings) == cut(source, replace(settings, chunker=chunker))


def test_the_recommended_layout_indexes_the_heading_path() -> None:
    source = document("".join(f"# Part {n}\n\n{PROSE}\n\n" for n in range(9)))
    settings = Settings(chunker="recommended")
    assert chunkers.indexed_texts(source, cut(source, settings), settings)[0].startswith("Part 0\n# Part 0\n")


def test_a_document_may_be_given_the_recommended_chunker_of_its_own() -> None:
    source = document("Ann: Why?\nBob: Because.\n" * 9, "a.txt")
    settings = Settings().changed({"override.uploads/a.txt": "recommended"})
    assert chunkers.settings_of(source, settings).chunker == "qa"
    assert len(cut(source, settings)) == 9


def test_any_document_is_answered() -> None:
    for text in ("", " ", "\n\n", "?", "|", "\u200b", "x" * 10_000, "Q:", "# A", "- "):
        assert recommend(Document("a.txt", "a.txt", text)).chunker in chunkers.CHUNKERS
