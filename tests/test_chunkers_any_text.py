"""Chunkers over hostile text: exact spans, nothing lost, no chunk above the size, for every chunker there is."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag import chunkers
from rag.chunkers import CHUNKERS
from rag.loaders.base import heading_paths, sections_from
from rag.schema import Block, Chunk, Document, Page
from rag.settings import PARAMETERS, THRESHOLDS, Settings
from rag.text import is_blank
from tests.support import m1

# Hostile text: repeats, no spaces, scripts without spaces, emoji that combine, accents, every kind of blank.
PIECES = [
    "word ", "word word word ", "A sentence. ", "Is it? Yes! ", "\n", "\n\n", "\n\n\n \n", "\r\n", "   ", "\t",
    "x" * 130, "窯の温度を上げます。", "一晩冷まします！", "هل هذا سؤال؟ ", "यह वाक्य है। ", "👩‍👩‍👧‍👦", "é́́",
    "| a | b |\n", "- item\n", "12. step\n", "# Heading\n", "“Quoted.” ", "...", "。", "\u200d",
    "https://example.org/a?b=c ", "\u00a0", "e.g. this ",
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=80).map("".join), st.text(max_size=900))
SIZES = st.tuples(st.integers(100, 400), st.integers(0, 200)).map(lambda pair: (pair[0], min(pair[1], pair[0] // 2)))


KINDS = ("paragraph", "table", "code", "list", "question-answer", "speaker-turn")


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
    edges = draw(places) if text else []
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=len(edges), max_size=len(edges)))
    blocks = [Block(*block) for block in zip(kinds, edges, edges[1:])]
    return Document(
        "a.txt",
        "samples/a.txt",
        text,
        sections=sections_from(text, paths),
        pages=pages,
        blocks=tuple(sorted([*headings, *blocks], key=lambda block: (block.start, block.end))),
        format=draw(st.sampled_from(["", "code:python", "transcript", "table"])),
    )


def knobs(chunker: str, size: int, overlap: int, **own: object) -> Settings:
    """Of the token chunker, an eighth of the sizes in tokens."""
    if chunker == "token":
        own = {"tokens": size // 8, "overlap": overlap // 8}
    values = {f"chunker.{name}": value for name, value in own.items()}
    return Settings().changed({"chunker": chunker, "chunk_size": size, "chunk_overlap": overlap, **values})


def promised(source: Document, settings: Settings) -> tuple[bool, int, int]:
    """Whether it counts tokens, the most a chunk may hold, and the most it may share with the one before."""
    own = chunkers.settings_of(source, settings)
    if own.chunker == "token":
        return True, int(own.parameter("tokens")), int(own.parameter("overlap"))
    whole = int(own.parameter("whole_limit")) if own.chunker == "layout" else 0
    overlap = own.chunk_overlap if own.chunker in ("recursive", "layout") else 0
    by_tokens = own.chunker == "recursive" and own.parameter("unit") == "tokens"
    return by_tokens, max(own.chunk_size, whole), overlap


def checked(source: Document, settings: Settings) -> tuple[Chunk, ...]:
    """The document's chunks, after all that every chunker promises was looked at."""
    text, embedder = source.text, m1()
    chunks = chunkers.chunk(source, settings, embedder)
    by_tokens, most, shared = promised(source, settings)
    tokens = embedder.token_spans(text)

    def size(start: int, end: int) -> int:
        return sum(left < end and right > start for left, right in tokens) if by_tokens else end - start

    covered = set()
    for number, one in enumerate(chunks):
        assert text[one.start : one.end] == one.text
        assert one.text == one.text.strip() and not is_blank(one.text)
        assert size(one.start, one.end) <= most
        assert one.position == number
        assert all(line in text[: one.start] for line in one.header.split("\n"))
        for around in (one.window, one.paragraph, one.whole_section):
            assert around is None or 0 <= around[0] <= one.start < one.end <= around[1] <= len(text)
        covered.update(range(one.start, one.end))
    for before, after in zip(chunks, chunks[1:]):
        assert before.start < after.start and before.end < after.end
        assert after.start >= before.end or size(after.start, before.end) <= shared
    assert all(number in covered for number, character in enumerate(text) if not is_blank(character))
    assert chunks == chunkers.chunk(source, settings, m1())
    assert len({one.id for one in chunks}) == len(chunks)
    return chunks


@pytest.mark.parametrize("chunker", CHUNKERS)
@hypothesis_settings(max_examples=150, deadline=None)
@given(source=documents(), sizes=SIZES)
def test_any_text_is_covered_by_exact_spans_in_order_that_keep_to_the_size(
    chunker: str, source: Document, sizes: tuple[int, int]
) -> None:
    checked(source, knobs(chunker, *sizes))


@hypothesis_settings(max_examples=100, deadline=None)
@given(source=documents(), sizes=SIZES)
def test_sizes_in_tokens_are_kept_to_as_well(source: Document, sizes: tuple[int, int]) -> None:
    checked(source, knobs("recursive", *sizes, unit="tokens"))


@pytest.mark.parametrize("threshold", THRESHOLDS)
@hypothesis_settings(max_examples=60, deadline=None)
@given(
    source=documents(),
    sizes=SIZES,
    amount=st.sampled_from([0.0, 0.5, 50.0, 100.0]),
    min_size=st.sampled_from([0, PARAMETERS["semantic"]["min_size"].default, 4000]),
)
@pytest.mark.filterwarnings("error")
def test_no_threshold_of_the_semantic_chunker_fails_or_warns_on_any_text(
    threshold: str, source: Document, sizes: tuple[int, int], amount: float, min_size: int
) -> None:
    checked(source, knobs("semantic", *sizes, threshold=threshold, amount=amount, min_size=min_size))


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize(
    "text",
    [
        # Blank lines that fill a piece of their own made the chunk after them longer by their length.
        "word " + "x" * 130 + "word \n\n\n\n\n \n| a | b |\nword word word A sentence. - item\n",
        # A chunk that begins with blank lines began, without them, where the one after it did.
        "x" * 130 + "\n\n\n \n| a | b |\nword word word word word word Is it? Yes! word ",
        "e" + "\u0301" * 450,
        "\u200d" * 300 + "word",
        "a" + " " * 5000 + "b",
        "🇩🇪🇫🇷" * 200,
        "\n".join(["| a | b |", "|---|---|", *["| c | d |"] * 60]),
        "क्षत्रिय" * 80,
        "ประโยคแรกของเราไม่มีเครื่องหมาย " * 20,
    ],
)
def test_texts_that_stumbled_keep_every_promise(chunker: str, text: str) -> None:
    checked(Document("a.txt", "samples/a.txt", text), knobs(chunker, 100, 50))


CHARACTERS = (
    "a",
    "窯",
    "e\u0301\u0323",
    "👩\u200d👩\u200d👧",
    "👋🏽",
    "❤\ufe0f",
    "क्ष",
    "त्रि",
    "ที่",
    "\u1112\u1161\u11ab",
    "🇩🇪",
    "ｶﾞ",
)


@pytest.mark.parametrize("chunker", CHUNKERS)
@hypothesis_settings(max_examples=40, deadline=None)
@given(characters=st.lists(st.sampled_from(CHARACTERS), min_size=60, max_size=150), sizes=SIZES)
def test_no_chunk_begins_or_ends_inside_a_character(
    chunker: str, characters: list[str], sizes: tuple[int, int]
) -> None:
    whole = {0, *accumulate(map(len, characters))}
    for one in checked(Document("a.txt", "samples/a.txt", "".join(characters)), knobs(chunker, *sizes)):
        assert {one.start, one.end} <= whole


@hypothesis_settings(max_examples=100, deadline=None)
@given(source=documents(), sizes=SIZES)
def test_a_recursive_chunk_holds_words_of_one_section_besides_bare_headings(
    source: Document, sizes: tuple[int, int]
) -> None:
    headings = {
        number for block in source.blocks if block.kind == "heading" for number in range(block.start, block.end)
    }
    for one in chunkers.chunk(source, knobs("recursive", *sizes), m1()):
        held = {
            section.start
            for section in source.sections
            for number in range(max(section.start, one.start), min(section.end, one.end))
            if number not in headings and not source.text[number].isspace()
        }
        assert len(held) <= 1
