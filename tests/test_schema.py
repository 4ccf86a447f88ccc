"""Records: ids that depend on what a reader sees, and exact spans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.schema import Answer, Chunk, Citation, Document, Hit, Page, Query, Section, Stage, Trace, Turn, digest

TEXT = "Intro\nOne\n   \nTwo"
DOCUMENT = Document(
    "a.md", "/x/a.md", TEXT,
    sections=(Section((), 0, 6), Section(("A",), 6, 14), Section(("A", "B"), 14, 17)),
    pages=(Page(1, "i", 0, 10), Page(2, "1", 10, 14), Page(3, "2", 14, 17)),
)  # fmt: skip
CHUNK = Chunk("id", "a.md", 0, 6, 9, "One", ("A",), 1, 2, ("i", "1"), "parent")


def test_a_digest_depends_on_every_part_and_on_where_one_ends() -> None:
    assert len(digest("a")) == 64 and digest("a", "b") == digest("a", "b")
    assert len({digest("ab"), digest("a", "b"), digest("b", "a"), digest("a", "b", ""), digest("\ud800")}) == 5


def test_a_documents_id_is_its_sources_and_its_hash_its_contents() -> None:
    edited = replace(DOCUMENT, text=TEXT + "!")
    assert edited.id == DOCUMENT.id and edited.content_hash != DOCUMENT.content_hash
    assert replace(DOCUMENT, source="/y/a.md").id != DOCUMENT.id
    for changes in ({"name": "b.md"}, {"sections": ()}, {"pages": ()}):
        assert replace(DOCUMENT, **changes).content_hash != DOCUMENT.content_hash
    assert len(DOCUMENT.id) == 32


@pytest.mark.parametrize(
    ("position", "path"), [(0, ()), (5, ()), (6, ("A",)), (13, ("A",)), (14, ("A", "B")), (16, ("A", "B"))]
)
def test_every_character_has_one_section(position: int, path: tuple[str, ...]) -> None:
    assert DOCUMENT.section_at(position).path == path
    assert DOCUMENT.section_at(position).level == len(path)


def test_no_section_holds_what_lies_outside() -> None:
    assert DOCUMENT.section_at(17) is None and replace(DOCUMENT, sections=()).section_at(0) is None


@pytest.mark.parametrize(
    ("start", "end", "numbers"), [(0, 9, [1]), (6, 17, [1, 3]), (10, 14, []), (9, 17, [3]), (5, 5, [])]
)
def test_pages_count_only_where_a_character_is_seen(start: int, end: int, numbers: list[int]) -> None:
    # Page 2 holds nothing but blanks.
    assert [page.number for page in DOCUMENT.pages_of(start, end)] == numbers


@pytest.mark.parametrize(
    "changes",
    [
        {"document_id": "other"}, {"document": "b.md"}, {"start": 5}, {"end": 10}, {"text": "Two"}, {"section": ("B",)},
        {"page_start": 3}, {"page_end": 3}, {"page_labels": ("i",)},
        {"header": "h"}, {"line_start": 1}, {"window": (0, 9)}, {"paragraph": (0, 9)}, {"whole_section": (0, 9)},
    ],
)  # fmt: skip
def test_a_chunks_id_changes_with_all_that_a_reader_sees(changes: dict) -> None:
    assert replace(CHUNK, **changes).id != CHUNK.id


def test_a_chunks_id_is_a_uuid_and_its_place_in_the_list_no_part_of_it() -> None:
    assert replace(CHUNK, position=9).id == CHUNK.id and len(CHUNK.id) == 36 and CHUNK.id.count("-") == 4
    assert (
        replace(CHUNK, document_id="other").content_hash
        == CHUNK.content_hash
        != replace(CHUNK, text="Two").content_hash
    )


def test_a_chunk_and_a_trace_go_to_json_and_back() -> None:
    assert Chunk.from_json(CHUNK.to_json()) == CHUNK
    trace = Trace(
        "Why?", {"rrf_k": 60}, {"fingerprint": "f"}, (Turn("user", "Hello"),), (Query("Why?"),),
        (Stage("dense", "m1", 0.5, (Hit(CHUNK.id, 1, None, {"distance": 0.5}),), 0, True, "note", {"input": 1}, 0.1),),
        {CHUNK.id: CHUNK}, Answer("So.", "grounded", (Citation(1, CHUNK.id, "So.", None, "why"),)),
    )  # fmt: skip
    assert Trace.from_json(trace.to_json()) == trace
    assert Trace.from_json(replace(trace, answer=None).to_json()).answer is None
    assert set(trace.to_json()) == {
        "version",
        "question",
        "history",
        "settings",
        "index",
        "queries",
        "stages",
        "chunks",
        "answer",
    }
    assert trace.stage("dense").hits[0].score is None  # a missing score is never 0
    assert trace.stage("sparse") is None and trace.prompt_chunks() == ()
