"""Chunkers over hostile text: exact spans, nothing lost, no chunk above the size, for every chunker there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag.chunkers import CHUNKERS
from rag.loaders.base import heading_paths, sections_from
from rag.schema import Block, Document, Page
from rag.settings import Settings
from rag.text import is_blank
from tests.support import cut as chunk

# Hostile text: repeats, no spaces, scripts without spaces, emoji that combine, accents, every kind of blank.
PIECES = [
    "word ", "word word word ", "A sentence. ", "Is it? Yes! ", "\n", "\n\n", "\n\n\n \n", "\r\n", "   ", "\t",
    "x" * 130, "窯の温度を上げます。", "一晩冷まします！", "هل هذا سؤال؟ ", "यह वाक्य है। ", "👩‍👩‍👧‍👦", "é́́",
    "| a | b |\n", "- item\n", "12. step\n", "# Heading\n", "“Quoted.” ", "...", "。", "\u200d",
    "https://example.org/a?b=c ", "\u00a0", "e.g. this ",
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=80).map("".join), st.text(max_size=900))
SIZES = st.tuples(st.integers(100, 400), st.integers(0, 200)).map(lambda pair: (pair[0], min(pair[1], pair[0] // 2)))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any text, cut at any places into sections, pages and headings."""
    text = draw(TEXTS)
    places = st.lists(st.integers(0, max(0, len(text) - 1)), max_size=6, unique=True).map(sorted)
    starts = draw(places) if text else []
    levels = draw(st.lists(st.integers(1, 3), min_size=len(starts), max_size=len(starts)))
    paths = heading_paths([(start, level, f"T{start}") for start, level in zip(starts, levels)])
    headings = tuple(
        Block("heading", start, min(start + 5, len(text))) for start in starts if text[start : start + 5].strip()
    )
    cuts = [0, *(draw(places) if text else []), len(text)]
    pages = tuple(Page(n, str(n), left, right) for n, (left, right) in enumerate(zip(cuts, cuts[1:]), start=1))
    return Document("a.txt", "samples/a.txt", text, sections=sections_from(text, paths), pages=pages, blocks=headings)


@pytest.mark.parametrize("chunker", CHUNKERS)
@hypothesis_settings(max_examples=150, deadline=None)
@given(source=documents(), sizes=SIZES)
def test_any_text_is_covered_by_exact_spans_in_order_that_keep_to_the_size(
    chunker: str, source: Document, sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    chunks = chunk(source, Settings(chunker=chunker, chunk_size=size, chunk_overlap=overlap))
    covered = set()
    for number, one in enumerate(chunks):
        assert source.text[one.start : one.end] == one.text
        assert one.text == one.text.strip() != ""
        assert len(one.text) <= size
        assert one.position == number
        covered.update(range(one.start, one.end))
    for before, after in zip(chunks, chunks[1:]):
        assert before.start < after.start and before.end < after.end
        assert before.end - after.start <= overlap
    assert all(number in covered for number, character in enumerate(source.text) if not is_blank(character))
    assert chunks == chunk(source, Settings(chunker=chunker, chunk_size=size, chunk_overlap=overlap))
    assert len({one.id for one in chunks}) == len(chunks)


@hypothesis_settings(max_examples=100, deadline=None)
@given(source=documents(), sizes=SIZES)
def test_a_recursive_chunk_holds_words_of_one_section_besides_bare_headings(
    source: Document, sizes: tuple[int, int]
) -> None:
    headings = {number for block in source.blocks for number in range(block.start, block.end)}
    for one in chunk(source, Settings(chunker="recursive", chunk_size=sizes[0], chunk_overlap=sizes[1])):
        held = {
            section.start
            for section in source.sections
            for number in range(max(section.start, one.start), min(section.end, one.end))
            if number not in headings and not source.text[number].isspace()
        }
        assert len(held) <= 1
