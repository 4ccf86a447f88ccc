"""The qa chunker: one pair, ticket or exchange of speakers a chunk, whichever way the document tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.chunkers.exchanges import exchanges
from rag.environment import SAMPLES_FOLDER
from rag.loaders import load
from rag.schema import Chunk, Document
from rag.settings import Settings
from tests.support import cut

LONG = "The glaze cracks in a draught, so leave the lid closed until morning. "


@pytest.fixture
def loaded(tmp_path: Path):
    """A file of the name and content as a document."""

    def written(content: str, name: str = "a.txt") -> Document:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return load(path)

    return written


def answered(document: Document, size: int = 400) -> tuple[Chunk, ...]:
    """Its chunks, once it is known that nothing is lost, doubled or above the size."""
    chunks = cut(document, Settings(chunker="qa", chunk_size=size, chunk_overlap=0))
    ends = [0, *(one.end for one in chunks)]
    assert all(not document.text[end : one.start].strip() for end, one in zip(ends, chunks))
    assert not document.text[ends[-1] :].strip()
    assert all(len(one.text) <= size for one in chunks)
    assert all(one.header in document.text[: one.start] for one in chunks)
    return chunks


def texts(document: Document, size: int = 400) -> list[str]:
    return [one.text for one in answered(document, size)]


# Pairs


def test_each_row_of_a_faq_table_is_a_chunk(loaded) -> None:
    source = loaded("question,answer\nHow to pay?,Card\nWhen open?,Mon to Fri\n", "a.csv")
    assert texts(source) == ["How to pay?\nCard", "When open?\nMon to Fri"]


def test_the_shipped_faq_has_a_chunk_for_each_question() -> None:
    source = load(SAMPLES_FOLDER / "faq.csv")
    chunks = answered(source, size=1000)
    assert len(chunks) == 60
    assert all(one.text.split("\n")[0].endswith("?") for one in chunks)


PAIRS = {
    "letters": "Q: How to pay?\nA: By card.\n\nQ: When open?\nA: Mon to Fri.\n\nOr by phone.\n",
    "words": "**Question 1:** How to pay?\n\n**Answer:** By card.\n\n**Question 2:** When open?\n\n**Answer:** Mon.\n",
    "german": "Frage: Wie bezahlt man?\n\nAntwort: Mit Karte.\n\nFrage: Wann offen?\n\nAntwort: Montags.\n",
    "chinese": "问：怎么付款？\n答：刷卡。\n\n问：几点开门？\n答：九点。\n",
    "headings": "# FAQ\n\n## How to pay?\n\nBy card.\n\n### Abroad\n\nIn euro.\n\n## When open?\n\nMon to Fri.\n",
    "bold": "**How to pay?**\n\nBy card.\n\nOr cash.\n\n**When open?**\n\nMon to Fri.\n",
    "lines": "How to pay?\nBy card.\n\nWhen open?\nMon to Fri.\n",
}


@pytest.mark.parametrize(
    ("way", "name"),
    [(way, name) for way in PAIRS for name in ("a.md", "a.txt") if (way, name) != ("headings", "a.txt")],
)
def test_questions_with_their_answers_are_pairs(loaded, way: str, name: str) -> None:
    first, second = texts(loaded(PAIRS[way], name))
    assert f"{first}\n\n{second}" == PAIRS[way].strip()


def test_an_answer_keeps_the_sections_below_its_question(loaded) -> None:
    first, second = answered(loaded(PAIRS["headings"], "a.md"))
    assert first.text.endswith("### Abroad\n\nIn euro.") and first.text.startswith("# FAQ")
    assert second.section == ("FAQ", "When open?")


def test_text_between_pairs_is_not_lost(loaded) -> None:
    source = loaded(
        "# FAQ\n\nWelcome, reader.\n\n## How to pay?\n\nBy card.\n\n## When open?\n\nMon.\n\n# Imprint\n\nMill Lane.\n",
        "a.md",
    )
    assert texts(source) == [
        "# FAQ\n\nWelcome, reader.",
        "## How to pay?\n\nBy card.",
        "## When open?\n\nMon.",
        "# Imprint\n\nMill Lane.",
    ]


def test_the_later_pieces_of_a_long_answer_carry_the_question(loaded) -> None:
    answer = (LONG * 12).strip()
    first, *later = answered(loaded(f'question,answer\n"Why wait?","{answer}"\nHow to pay?,Card\n', "a.csv"))
    assert first.text.startswith("Why wait?\nThe glaze")
    assert [one.header for one in later] == ["Why wait?"] * (len(later) - 1) + [""]
    assert all(len(one.reading) <= 400 for one in later)


# Speakers

CHAT = """Chat 7, 3 May

Customer: Which socket does it need?
Agent: The round one. Is yours round?
Customer: Yes.
Agent: Then it fits.
Customer: And how long is the lead?
Agent: Two metres.

Chat 8, 4 May

Customer: My lid is stuck.
Agent: Is it cold?
Customer: It is now. Thank you!
"""


def test_an_exchange_begins_where_the_one_who_asks_asks_again(loaded) -> None:
    first, second, third = answered(loaded(CHAT))
    assert first.text.startswith("Chat 7, 3 May\n\nCustomer: Which") and first.text.endswith("Then it fits.")
    assert second.text == "Customer: And how long is the lead?\nAgent: Two metres."
    assert third.text.startswith("Chat 8") and third.text.endswith("Thank you!")
    assert [one.section for one in (first, second, third)] == [
        ("Chat 7, 3 May",),
        ("Chat 7, 3 May",),
        ("Chat 8, 4 May",),
    ]


def test_a_question_back_does_not_part_it_from_its_answer(loaded) -> None:
    interview = "Host: Who built it?\nGuest: The oven?\nHost: Yes.\nGuest: My father.\nHost: When?\nGuest: In May.\n"
    assert texts(loaded(interview)) == [
        "Host: Who built it?\nGuest: The oven?\nHost: Yes.\nGuest: My father.",
        "Host: When?\nGuest: In May.",
    ]


def test_a_long_exchange_is_cut_between_turns_and_its_pieces_carry_the_question(loaded) -> None:
    turns = [f"{'Agent' if number % 2 else 'Customer'}: Line {number} of it. {LONG}" for number in range(20)]
    first, *later = answered(loaded("Customer: Why does it crack?\n" + "\n".join(turns)))
    assert all(one.text.startswith(("Agent: Line", "Customer: Line")) for one in later)
    assert {one.header for one in later} == {"Customer: Why does it crack?"}


def test_a_turn_above_the_size_is_cut_at_a_sentence(loaded) -> None:
    source = loaded(f"Ann: Why?\nBob: {LONG * 10}\nAnn: Really?\nBob: Yes.\n")
    chunks = answered(source)
    assert all(one.text.endswith((".", "?")) for one in chunks)
    assert chunks[-1].text == "Ann: Really?\nBob: Yes."


def test_the_shipped_chats_are_cut_at_turns_only() -> None:
    chunks = answered(load(SAMPLES_FOLDER / "support-chats.txt"), size=1000)
    assert all(one.text.split(":")[0].split("\n")[-1] in ("Customer", "Agent") for one in chunks)
    assert all(one.section for one in chunks)


# Tickets, and documents without any of these


@pytest.mark.parametrize("mark", ["Ticket #{}", "Case {}:", "[INC-{}]", "Incident no. {}", "Vorgang {}"])
def test_each_ticket_is_a_chunk(loaded, mark: str) -> None:
    mark = mark.replace("[INC-{}]", "[Incident INC-{}]")
    tickets = [f"{mark.format(number)}\nLid stuck.\n\nIt was cold.\n\nClosed." for number in (41, 42, 43)]
    assert texts(loaded("\n\n".join(tickets))) == tickets


def test_other_documents_are_cut_by_their_layout_within_the_size(loaded) -> None:
    rows = "\n".join(f"| part-{number} | 21 |" for number in range(60))
    source = loaded(f"# Stores\n\n{LONG * 10}\n\n| Part | Stock |\n|---|---|\n{rows}\n", "a.md")
    chunks = answered(source)
    assert all("| Part | Stock |" in one.reading for one in chunks if "| part-" in one.text)


@pytest.mark.parametrize(
    "text",
    [
        "He came home late. Was it raining?\n\nIt was.\n\nThen why the hat?\n\nNobody knew." + "\n\nHe slept." * 20,
        "Q. Horatius Flaccus wrote odes.\n\nA. Vespucci sailed.",
        "In case 3 is lost, buy another.\n\nIn the call 4 people spoke.",
        "def f():\n    pass\n",
    ],
)
def test_prose_with_a_question_in_it_has_no_pairs(loaded, text: str) -> None:
    assert exchanges(loaded(text)) == []


HOSTILE = ["Q" + " " * 500_000 + "!", "Ticket" + " " * 500_000 + "1", "Q: a?\n" * 50_000, ">" * 500_000]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", HOSTILE, ids=["blanks", "blanks in a ticket", "questions only", "quotations"])
def test_hostile_text_takes_seconds_and_is_kept_whole(loaded, text: str) -> None:
    assert sum(len("".join(one.text.split())) for one in answered(loaded(text))) == len("".join(text.split()))
