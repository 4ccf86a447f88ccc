"""What the sample corpus promises: its size, its consistency, no filler, and questions whose gold stands in it."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from pypdf import PdfReader

from rag.environment import SAMPLES_FOLDER
from rag.evaluation.gold import QuoteFinder, missing_gold, relevant_chunks
from rag.evaluation.sets import WITHOUT_GOLD, Question, read_set
from rag.loaders import load
from rag.schema import Document
from rag.settings import FUNNEL
from tests.support import cut as chunk

DATA = SAMPLES_FOLDER.parent
CHAPTERS = sorted((DATA / "manual").glob("*.txt"))
COMPANIONS = [
    SAMPLES_FOLDER / name for name in ("faq.csv", "release-notes.md", "service-guide.html", "support-chats.txt")
]
MANUAL = SAMPLES_FOLDER / "lapwing-owners-manual.pdf"
HEADING = re.compile(r"^#{1,3} (\d+(?:\.\d+)*) (.+)$", re.MULTILINE)
NUMBER = r"\d{1,2}(?:\.\d{1,2}){1,2}"


def script(name: str) -> ModuleType:
    """A script of the data folder as a module."""
    spec = importlib.util.spec_from_file_location(name, DATA / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in CHAPTERS)


@pytest.fixture(scope="module")
def everything(sources: str) -> str:
    return "\n".join([sources, *(path.read_text(encoding="utf-8") for path in COMPANIONS)])


@pytest.fixture(scope="module")
def reader() -> PdfReader:
    return PdfReader(MANUAL)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [load(path, path.name, f"samples/{path.name}") for path in (MANUAL, *COMPANIONS)]


@pytest.fixture(scope="module")
def questions() -> tuple[Question, ...]:
    return read_set(DATA / "evaluation" / "manual.jsonl")


# ---- size


def outline_levels(entries: list[Any], level: int = 1) -> list[int]:
    """The level of every entry of a nested outline, in order."""
    levels = []
    for entry in entries:
        levels += outline_levels(entry, level + 1) if isinstance(entry, list) else [level]
    return levels


def test_the_manual_has_eighty_pages_and_twenty_five_thousand_words(reader: PdfReader) -> None:
    assert len(reader.pages) >= 80
    words = sum(len(re.findall(r"[^\W\d_]{2,}", page.extract_text())) for page in reader.pages)
    assert words >= 25_000


def test_the_manual_has_an_outline_of_sixty_sections_in_three_levels(reader: PdfReader) -> None:
    levels = Counter(outline_levels(reader.outline))
    assert set(levels) == {1, 2, 3}
    assert levels[2] + levels[3] >= 60


def test_the_committed_manual_is_what_its_script_makes() -> None:
    assert script("build_manual").build() == MANUAL.read_bytes()


def test_the_faq_holds_sixty_different_pairs() -> None:
    with (SAMPLES_FOLDER / "faq.csv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))
    assert len(pairs) == 60
    assert len({pair["question"] for pair in pairs}) == 60
    assert all(pair["answer"].strip() for pair in pairs)


def test_at_default_settings_the_corpus_gives_250_chunks(documents: list[Document]) -> None:
    assert sum(len(chunk(document, FUNNEL)) for document in documents) >= 250


# ---- a manual, not filler, that agrees with itself


def test_no_run_of_eight_words_stands_in_more_than_two_places() -> None:
    assert script("check_corpus").repeats([*CHAPTERS, *COMPANIONS]) == {}


def test_every_section_number_follows_from_the_one_before(sources: str) -> None:
    numbers = [tuple(int(part) for part in number.split(".")) for number, _ in HEADING.findall(sources)]
    for before, after in zip(numbers, numbers[1:]):
        allowed = [(*before, 1), *((*before[:depth], before[depth] + 1) for depth in range(len(before)))]
        assert after in allowed, f"{after} after {before}"


def test_cross_references_lead_to_the_section_they_name(sources: str) -> None:
    sections = dict(HEADING.findall(sources))
    plain = re.findall(
        rf"\b(?:[Ss]ections?|[Ss]ee|in|under|of) ({NUMBER})\b(?! ?(?:%|°|k|[A-Z]|m|g|s|bar|hours))", sources
    )
    assert len(plain) > 30
    assert [number for number in plain if number not in sections] == []
    for number, title in sections.items():
        for named in re.findall(rf"{re.escape(title)}(?:, | \()({NUMBER})\b(?! ?(?:%|°|k|[A-Z]|m|bar))", sources):
            assert named == number, f"{title} is {number}, not {named}"


def test_every_fault_code_and_part_number_stands_in_the_tables_of_the_manual(sources: str, everything: str) -> None:
    rows = "\n".join(line for line in sources.splitlines() if line.startswith("|"))
    for pattern, least in ((r"E-\d{2}", 30), (r"MLW-\d{4}", 20)):
        listed = set(re.findall(pattern, rows))
        assert len(listed) >= least
        assert set(re.findall(pattern, everything)) - listed == set()


def test_fuses_named_in_the_text_have_the_circuit_of_the_table(sources: str) -> None:
    circuits = dict(re.findall(r"^\| (F\d+) \| [\d.]+ A \| (.+?) \|", sources, re.MULTILINE))
    assert list(circuits) == [f"F{number}" for number in range(1, 27)]
    prose = [line for line in sources.splitlines() if not line.startswith("|")]
    for fuse, word in (("F1", "blower"), ("F2", "motor"), ("F3", "horn"), ("F10", "lid"), ("F12", "siren"),
                       ("F14", "12 V"), ("F20", "heaters"), ("F21", "supply"), ("F24", "lights"),
                       ("F25", "socket")):  # fmt: skip
        assert any(re.search(rf"\b{fuse}\b", line) and word in line for line in prose), (fuse, circuits[fuse])


def test_the_tables_that_two_documents_give_agree(sources: str) -> None:
    guide = (SAMPLES_FOLDER / "service-guide.html").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d\d in \| (\S+ R\d\d \w+) \| (.+) \|$", sources, re.MULTILINE)
    assert len(rows) == 3
    for tyre, cells in rows:
        front, rear, full_front, full_rear = (
            re.sub(r"(\d+) kPa \(([\d.]+) bar\)", r"\1 (\2)", c) for c in cells.split(" | ")
        )
        assert f"<tr><td>{tyre}</td><td>{front} / {rear}</td><td>{full_front} / {full_rear}</td></tr>" in guide
    for fastener, torque in (("Wheel bolts", 130), ("Wiper arm nut", 22), ("Number plate screws", 2)):
        assert f"| {fastener} | {torque} Nm |" in sources
        assert f"<tr><td>{fastener}</td><td>{torque}</td>" in guide


def test_chats_know_two_speakers() -> None:
    text = (SAMPLES_FOLDER / "support-chats.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("Chat ")]
    assert {line.split(":")[0] for line in lines} == {"Customer", "Agent"}


# ---- questions


def test_there_are_sixty_questions_and_eight_conversations(questions: tuple[Question, ...]) -> None:
    kinds = Counter(question.kind for question in questions)
    assert kinds.pop("conversation") == 8
    assert sum(kinds.values()) == 60
    assert sum(kinds[kind] for kind in WITHOUT_GOLD) == 12
    assert min(kinds[kind] for kind in ("feature", "paraphrase", "table", "two-passage", *WITHOUT_GOLD)) >= 5
    assert len({question.question.casefold() for question in questions}) == 68
    assert all(2 <= len(question.history) <= 4 for question in questions if question.kind == "conversation")


def test_every_gold_quote_stands_in_its_document(questions: tuple[Question, ...], documents: list[Document]) -> None:
    assert missing_gold(questions, QuoteFinder(documents)) == []


def test_every_gold_passage_lies_in_a_few_chunks(questions: tuple[Question, ...], documents: list[Document]) -> None:
    chunks = [piece for document in documents for piece in chunk(document, FUNNEL)]
    finder = QuoteFinder(documents)
    for question in questions:
        for passage, found in zip(question.gold, relevant_chunks(question, finder, chunks), strict=True):
            # An alternative may stand anywhere; a passage that stood everywhere would make its question too easy.
            assert 1 <= len(found) <= 8, f"{question.id}: {passage.quote}"


@pytest.mark.parametrize(
    "asked",
    [
        "What does Paws Mode do?",
        "How do I stop the cabin from frying in the summer?",
        "Does Perch Guard work if I haven't put a USB drive in the car?",
    ],
)
def test_the_app_s_examples_are_in_the_set(asked: str, questions: tuple[Question, ...]) -> None:
    assert [question.kind for question in questions if question.question == asked]


@pytest.mark.parametrize(
    "word",
    [
        "lasagne",
        "soft top",
        "timing belt",
        "cup final",
        "tax return",
        "massag",
        "sunroof",
        "head-up",
        "coefficient",
        "E-92",
        "£",
        "€",
    ],
)
def test_what_the_unanswerable_questions_ask_for_is_nowhere(word: str, everything: str) -> None:
    assert word.casefold() not in everything.casefold()
