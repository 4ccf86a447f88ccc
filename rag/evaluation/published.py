"""Chroma's own cuts and search repeated, so that its published figures show whether ours are measured alike.

Their program (github.com/brandonstarxel/chunking_evaluation) puts the chunks of all corpora into one collection, takes
the 5 nearest by cosine, and embeds with all-MiniLM-L6-v2, which reads 256 tokens and no more. It counts tokens by a
vocabulary that is a download (cl100k_base); here the model's own tokenizer counts, by which a text of these corpora
has between 6 % fewer and 7 % more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag.embedders import Embedder
from rag.evaluation.chunking_scores import SpanScores, score_retrieved
from rag.evaluation.chunking_set import ChunkingSet, SpanQuestion
from rag.schema import Span

RETRIEVED = 5
MODEL = "minilm"
MODEL_TOKENS = 254  # of 256 two are the marks at both ends
SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
PIECE_TOKENS = 50
# Gives the span of every token of a text.
Tokens = Callable[[str], Sequence[Span]]


@dataclass(frozen=True)
class Published:
    """One row of the report's table for all-MiniLM-L6-v2, in percent; sizes in tokens."""

    cut: str
    size: int
    overlap: int
    recall: float
    iou: float

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.cut} {self.size}/{self.overlap}"


PUBLISHED = (
    Published("recursive", 250, 125, 78.7, 4.9),
    Published("token", 250, 125, 82.4, 3.5),
    Published("cluster-semantic", 200, 0, 75.2, 7.2),
)


def repeat(
    row: Published,
    collection: ChunkingSet,
    questions: Sequence[SpanQuestion],
    embedder: Embedder,
    tokens: Tokens,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, list[SpanScores]]:
    """How many chunks the row's cut makes of the corpora, and every question's scores. Raises ProviderError."""
    spans: list[tuple[str, Span]] = []
    texts: list[str] = []
    for corpus, text in collection.texts.items():
        for chunk in _chunks(row, text, embedder, tokens):
            spans.append((corpus, located(text, chunk)))
            texts.append(first_tokens(chunk, tokens))
    vectors = embedder.embed_documents(texts, progress)
    asked = embedder.embed_documents([question.question for question in questions])
    nearest = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :RETRIEVED]
    scores = []
    for question, places in zip(questions, nearest, strict=True):
        found = [spans[place] for place in places]
        same = [span for corpus, span in found if corpus == question.corpus]
        elsewhere = sum(end - start for corpus, (start, end) in found if corpus != question.corpus)
        scores.append(score_retrieved(question.references, same, elsewhere))
    return len(spans), scores


def located(text: str, chunk: str) -> Span:
    """Where their program takes the chunk to stand: at its first occurrence, without its last full stop; where blank
    space differs, at the first that reads alike.
    """
    wanted = chunk.removesuffix(".")
    start = text.find(wanted)
    if start >= 0:
        return start, start + len(wanted)
    match = re.search(r"\s*".join(map(re.escape, wanted.split())), text, re.IGNORECASE)
    return match.span() if match else (0, 0)


def first_tokens(text: str, tokens: Tokens) -> str:
    """What the model reads of the text."""
    spans = tokens(text)
    return text if len(spans) <= MODEL_TOKENS else text[: spans[MODEL_TOKENS - 1][1]]


def _chunks(row: Published, text: str, embedder: Embedder, tokens: Tokens) -> list[str]:
    if row.cut == "recursive":
        return _recursive(text, row.size, row.overlap, tokens)
    if row.cut == "token":
        return _by_tokens(text, row.size, row.overlap, tokens)
    pieces = _recursive(text, PIECE_TOKENS, 0, tokens)
    vectors = embedder.embed_documents(pieces)
    return [" ".join(pieces[start:end]) for start, end in clusters(vectors @ vectors.T, row.size // PIECE_TOKENS)]


def _recursive(text: str, size: int, overlap: int, tokens: Tokens) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        list(SEPARATORS),
        keep_separator=True,
        chunk_size=size,
        chunk_overlap=overlap,
        length_function=lambda part: len(tokens(part)),
    )
    return splitter.split_text(text)


def _by_tokens(text: str, size: int, overlap: int, tokens: Tokens) -> list[str]:
    starts = [start for start, _ in tokens(text)]
    chunks = []
    for first in range(0, len(starts), size - overlap):
        end = starts[first + size] if first + size < len(starts) else len(text)
        chunks.append(text[starts[first] : end])
        if end == len(text):
            break
    return chunks


def clusters(similarities: np.ndarray, most: int) -> list[Span]:
    """The runs of at most ``most`` neighbours whose similarities, less the mean of all pairs, sum up highest; the ends
    lie outside.
    """
    count = len(similarities)
    gains = similarities - similarities[np.triu_indices(count, k=1)].mean() if count > 1 else similarities * 0
    np.fill_diagonal(gains, 0)
    best = np.zeros(count + 1)
    begins = np.arange(-1, count)  # a piece that gains nothing in any run stands alone
    for end in range(1, count + 1):
        best[end] = best[end - 1]
        for start in range(max(0, end - most), end - 1):
            total = best[start] + gains[start:end, start:end].sum()
            if total > best[end]:
                best[end], begins[end] = total, start
    runs = []
    end = count
    while end > 0:
        runs.append((int(begins[end]), end))
        end = begins[end]
    return runs[::-1]
