"""Plain text: paragraphs, or speaker turns where the text is a transcript."""

from __future__ import annotations

from rag.loaders.base import Content, decode, paragraphs, sections_from
from rag.loaders.transcripts import find_turns, transcript_blocks
from rag.schema import Block


def load_text(data: bytes, name: str) -> Content:
    """The text as it stands; blocks are paragraphs, or speaker turns where the text is a transcript.

    In a transcript, a line that names the conversation after it (``Chat 12, 3 May``) is its heading.
    """
    text = decode(data, name)
    turns = find_turns(text)
    if not turns:
        return Content(text, blocks=tuple(Block("paragraph", *span) for span in paragraphs(text)), format="text")
    blocks = tuple(transcript_blocks(text, turns))
    titles = [block for block in blocks if block.kind == "heading"]
    marks = [(block.start, (text[block.start : block.end].strip("# \t"),)) for block in titles]
    return Content(text, sections_from(text, marks), blocks=blocks, format="transcript")
