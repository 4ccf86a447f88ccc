"""Passages handed over as their window, paragraph or section: siblings become one on the whole list, before the cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.chunkers import to_chunks
from rag.chunkers.base import Piece
from rag.parents import collapse, parent, parent_span
from rag.schema import Block, Chunk, Document, Hit, Section

TEXT = "Alpha one. Alpha two.\n\nBeta one. Beta two.\n\nGamma one."
DOCUMENT = Document(
    "a.md", "a.md", TEXT, sections=(Section(("A",), 0, TEXT.index("Gamma")), Section(("G",), TEXT.index("Gamma"), 57))
)


def sentences(document: Document = DOCUMENT) -> list[Chunk]:
    """A chunk for each of the five sentences; the window of each is itself and its neighbours."""
    starts = [TEXT.index(words) for words in ("Alpha one", "Alpha two", "Beta one", "Beta two", "Gamma one")]
    ends = [TEXT.index(".", start) + 1 for start in starts]
    windows = [(starts[max(0, i - 1)], ends[min(len(ends) - 1, i + 1)]) for i in range(len(starts))]
    return list(to_chunks(document, [Piece(s, e, "", w) for s, e, w in zip(starts, ends, windows, strict=True)]))


def families(order: list[int], kind: str, limit: int = 4000) -> list[tuple[str, list[int]]]:
    """(text handed over, sentence numbers in it) for hits on the sentences in that order."""
    chunks = sentences()
    hits = [Hit(chunks[number].id, rank, None) for rank, number in enumerate(order, 1)]
    numbers = {chunk.id: number for number, chunk in enumerate(chunks)}
    found = collapse(hits, {chunk.id: chunk for chunk in chunks}, kind, limit)
    return [(TEXT[slice(*family.span)].strip(), [numbers[hit.chunk_id] for hit in family.hits]) for family in found]


def test_nothing_is_collapsed_where_no_parent_is_wanted() -> None:
    assert [numbers for _, numbers in families([2, 0, 1], "none")] == [[2], [0], [1]]


def test_siblings_collapse_into_their_paragraph_in_the_place_of_the_best() -> None:
    assert families([2, 0, 4, 3, 1], "paragraph") == [
        ("Beta one. Beta two.", [2, 3]),
        ("Alpha one. Alpha two.", [0, 1]),
        ("Gamma one.", [4]),
    ]


def test_siblings_collapse_into_their_section() -> None:
    assert families([4, 3, 0], "section") == [("Gamma one.", [4]), (TEXT[: TEXT.index("\n\nGamma")], [3, 0])]


def test_automatic_means_the_paragraph_for_single_sentences_and_the_passage_itself_for_others() -> None:
    assert families([2, 0, 3], "auto") == families([2, 0, 3], "paragraph")
    first, last = to_chunks(DOCUMENT, [(0, 10), (11, 21)])  # one paragraph, but no sentences with a window
    hits = [Hit(first.id, 1, None), Hit(last.id, 2, None)]
    found = collapse(hits, {first.id: first, last.id: last}, "auto", 4000)
    assert [family.span for family in found] == [(0, 10), (11, 21)]


def test_a_hit_inside_a_window_that_is_handed_over_joins_it() -> None:
    # The window of sentence 1 holds sentences 0 to 2; sentence 3 has a window of its own.
    assert [numbers for _, numbers in families([1, 2, 0, 3], "window")] == [[1, 2, 0], [3]]


@pytest.mark.parametrize(
    ("kind", "limit", "text"),
    [
        ("section", 4000, TEXT[: TEXT.index("Gamma")]),
        ("section", 22, "Alpha one. Alpha two."),  # the section has 44 characters: the paragraph is handed over
        ("section", 15, "Alpha one."),  # neither fits, nor does the window: the passage itself
        ("none", 4000, "Alpha one."),
    ],
)
def test_a_parent_above_the_limit_gives_way_to_the_next_smaller(kind: str, limit: int, text: str) -> None:
    assert TEXT[slice(*parent_span(sentences()[0], kind, limit))] == text


def family_of(chunk: Chunk, kind: str):
    (found,) = collapse([Hit(chunk.id, 1, 0.5)], {chunk.id: chunk}, kind, 4000)
    return found


def test_the_parent_is_a_passage_of_its_document_with_a_place_of_its_own() -> None:
    child = sentences()[2]
    whole = parent(family_of(child, "paragraph"), child, lambda key: DOCUMENT)
    assert (whole.text, whole.section, whole.position) == ("Beta one. Beta two.", ("A",), child.position)
    assert TEXT[whole.start : whole.end] == whole.text and whole.id != child.id


@pytest.mark.parametrize("document", [None, Document("a.md", "a.md", "Something else by now, which is long enough.")])
def test_where_the_document_is_gone_or_changed_the_child_itself_is_handed_over(document: Document | None) -> None:
    child = sentences()[2]
    assert parent(family_of(child, "paragraph"), child, lambda key: document) == child


def test_a_table_handed_over_whole_does_not_repeat_its_header() -> None:
    table = "| Part | Stock |\n|---|---|\n| bolt | 21 |\n| nut | 34 |"
    document = Document("t.md", "t.md", table)
    row = table.index("| nut")
    (child,) = to_chunks(document, [Piece(row, len(table), "| Part | Stock |\n|---|---|")])
    assert child.reading == "| Part | Stock |\n|---|---|\n| nut | 34 |"
    whole = parent(family_of(child, "paragraph"), child, lambda key: document)
    assert (whole.text, whole.header) == (table, "")


HEADED = "# Fees\n\nEntry is free. Parking costs five. Pay at the gate.\n\nDogs may enter."


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]])
def test_the_passage_with_the_heading_and_those_below_it_are_one_paragraph(order: list[int]) -> None:
    # The first sentence bears its heading, so that its paragraph begins there and that of the others below it.
    start, stop = HEADED.index("Entry"), HEADED.index("\n\nDogs")
    blocks = (Block("heading", 0, 6), Block("paragraph", start, stop), Block("paragraph", stop + 2, len(HEADED)))
    document = Document("f.md", "f.md", HEADED, sections=(Section(("Fees",), 0, len(HEADED)),), blocks=blocks)
    starts, ends = [0, HEADED.index("Park"), HEADED.index("Pay")], [HEADED.index(" Park"), HEADED.index(" Pay"), stop]
    chunks = to_chunks(document, list(zip(starts, ends, strict=True)))
    hits = [Hit(chunks[number].id, rank, None) for rank, number in enumerate(order, 1)]
    (found,) = collapse(hits, {chunk.id: chunk for chunk in chunks}, "paragraph", 4000)
    assert HEADED[slice(*found.span)] == HEADED[:stop]
    assert [hit.rank for hit in found.hits] == [1, 2, 3]


@settings(deadline=None)
@given(
    spans=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.integers(0, 9), st.integers(0, 9)), max_size=12),
    kind=st.sampled_from(["window", "paragraph", "section"]),
    limit=st.integers(1, 40),
)
def test_no_text_is_handed_over_twice_unless_the_passages_found_share_it(
    spans: list[tuple[int, int, int, int]], kind: str, limit: int
) -> None:
    chunks: dict[str, Chunk] = {}
    for position, (start, length, before, after) in enumerate(spans):
        around = (max(0, start - before), start + length + after)
        chunk = Chunk("id", "a.md", position, start, start + length, "x" * length)
        chunk = replace(chunk, window=around, paragraph=around, whole_section=around)
        chunks[chunk.id] = chunk
    found = collapse([Hit(key, rank, None) for rank, key in enumerate(chunks, 1)], chunks, kind, limit)
    assert sorted(hit.rank for family in found for hit in family.hits) == list(range(1, len(chunks) + 1))
    best = [family.hits[0].rank for family in found]
    assert best == sorted(best) and all(
        family.hits == tuple(sorted(family.hits, key=lambda hit: hit.rank)) for family in found
    )
    for family in found:
        own = [chunks[hit.chunk_id] for hit in family.hits]
        assert all(family.span[0] <= chunk.start and chunk.end <= family.span[1] for chunk in own)
        assert family.span[1] - family.span[0] <= max(limit, *(chunk.end - chunk.start for chunk in own))
    for number, family in enumerate(found):
        for other in found[number + 1 :]:
            shared = set(range(*family.span)) & set(range(*other.span))
            hits = [chunks[hit.chunk_id] for hit in (*family.hits, *other.hits)]
            assert shared <= {place for chunk in hits for place in range(chunk.start, chunk.end)}
