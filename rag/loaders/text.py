"""Plain text: paragraphs, or speaker turns where the text is a transcript."""

from __future__ import annotations

import re

from rag.loaders.base import Content, decode, paragraphs, sections_from
from rag.schema import Block

TURN = re.compile(r"^(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?[ \t]+)?([^\W\d_][^:\n]{0,39}?)[ \t]*:[ \t]+\S", re.MULTILINE)
TITLE = re.compile(r"\S[^\n]{0,79}(?<![.!?;])")


def load_text(data: bytes, name: str) -> Content:
    """The text as it stands; blocks are paragraphs, or speaker turns where lines like ``Customer: ...`` dominate.

    In a transcript, a line that names the conversation after it (``Chat 12, 3 May``) is its heading.
    """
    text = decode(data, name)
    spans = list(paragraphs(text))
    if not _is_transcript(text):
        return Content(text, blocks=tuple(Block("paragraph", start, end) for start, end in spans))
    blocks: list[Block] = []
    marks: list[tuple[int, tuple[str, ...]]] = []
    for (start, end), (following, _) in zip(spans, [*spans[1:], (len(text), 0)]):
        if TITLE.fullmatch(text, start, end) and not TURN.match(text, start) and TURN.match(text, following):
            marks.append((start, (text[start:end].strip("# \t"),)))
            blocks.append(Block("heading", start, end))
        else:
            blocks += _turns(text, start, end)
    return Content(text, sections_from(text, marks), blocks=tuple(blocks))


def _is_transcript(text: str) -> bool:
    """Whether most lines open a speaker's turn; names that come back tell speakers from a list of ``name: value``."""
    speakers = [match.group(1) for match in TURN.finditer(text)]
    lines = sum(1 for line in text.split("\n") if line.strip())
    return len(speakers) > lines / 2 and len(set(speakers)) <= len(speakers) / 2


def _turns(text: str, start: int, end: int) -> list[Block]:
    starts = [match.start() for match in TURN.finditer(text, start, end)]
    if not starts or starts[0] > start:
        starts.insert(0, start)
    blocks = []
    for left, right in zip(starts, [*starts[1:], end]):
        kind = "speaker-turn" if TURN.match(text, left, right) else "paragraph"
        blocks.append(Block(kind, left, left + len(text[left:right].rstrip())))
    return blocks
