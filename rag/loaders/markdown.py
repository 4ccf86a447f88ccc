"""Markdown: the source is the text; headings and blocks come from a CommonMark parser that knows their lines."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.loaders.base import Content, decode, heading_paths, sections_from
from rag.schema import Block
from rag.text import is_blank

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "blockquote_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}


def load_markdown(data: bytes, name: str) -> Content:
    """The source text, with a section for each heading that is not inside a quotation, a list or a code block."""
    text = decode(data, name)
    if is_blank(COMMENT.sub("", _without_front_matter(text))):
        return Content("")
    line_starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    inline_parser, parser = MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table")
    # Only headings need their inline markup read.
    parser.core.ruler.disable("inline")
    blocks: list[Block] = []
    headings: list[tuple[int, int, str]] = []
    tokens = parser.parse(_without_front_matter(text))
    for index, token in enumerate(tokens):
        if token.level or token.type not in KINDS or not token.map:
            continue
        start, end = (line_starts[min(line, len(line_starts) - 1)] for line in token.map)
        block = Block(KINDS[token.type], start, start + len(text[start:end].rstrip()))
        blocks.append(block)
        if block.kind == "heading" and (title := _plain(inline_parser, tokens[index + 1])):
            headings.append((block.start, int(token.tag[1:]), title))
    return Content(text, sections_from(text, heading_paths(headings)), blocks=tuple(blocks))


def _without_front_matter(text: str) -> str:
    """The text with the settings at its top blanked line by line: their closing rule would make a heading of them."""
    return FRONT_MATTER.sub(lambda match: "\n" * match.group().count("\n"), text)


def _plain(parser: MarkdownIt, inline: Token) -> str:
    """A heading's words without their markup."""
    tokens = parser.parseInline(inline.content)[0].children or []
    words = "".join(" " if token.type in ("softbreak", "hardbreak") else _words(token) for token in tokens)
    return " ".join(words.split())


def _words(token: Token) -> str:
    return "" if token.type == "html_inline" else token.content
