"""Markdown: the source is the text; headings and blocks come from a CommonMark parser that knows their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.loaders.base import Content, clean, decode, heading_paths, sections_from
from rag.schema import Block
from rag.text import is_blank

COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Settings between rules begin with a name; else the rules are rules, and what is between them is text.
FRONT_MATTER = re.compile(
    r"\A(?:---[ \t]*\n(?:#.*\n|[ \t]*\n)*[\w\"'.-][\w\"'. -]*:(?:[ \t].*)?\n(?:.*\n)*?(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+)[ \t]*(?:\n|\Z)"
)
# Headings written as HTML, as on the first page of many a project; not inside preformatted text or a comment.
HTML_HEADING = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<kept>pre|script|style|textarea)\b.*?(?:</(?P=kept)|\Z)"
    r"|<h(?P<level>[1-6])\b[^>]{0,500}>(?P<title>.{0,500}?)</h(?P=level)\s*>",
    re.DOTALL | re.IGNORECASE,
)
TAG = re.compile(r"<[^<>]*>")
MOST_HEADING = 300
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
        if token.markup in ("=", "-") and block.end - block.start > MOST_HEADING and token.type == "heading_open":
            # A rule under a long paragraph was meant as a rule.
            blocks.append(Block("paragraph", block.start, block.end))
            continue
        blocks.append(block)
        if block.kind == "heading" and (title := _plain(inline_parser, tokens[index + 1])):
            headings.append((block.start, int(token.tag[1:]), title))
        elif token.type == "html_block":
            headings += _html_headings(text, block)
            whole = HTML_HEADING.fullmatch(text, block.start, block.end)
            if whole and whole["level"]:
                blocks[-1] = replace(block, kind="heading")
    return Content(text, sections_from(text, heading_paths(headings)), blocks=tuple(blocks), format="markdown")


def _without_front_matter(text: str) -> str:
    """The text with the settings at its top blanked line by line: their closing rule would make a heading of them."""
    return FRONT_MATTER.sub(lambda match: "\n" * match.group().count("\n"), text)


def _html_headings(text: str, block: Block) -> Iterator[tuple[int, int, str]]:
    for match in HTML_HEADING.finditer(text, block.start, block.end):
        title = " ".join(clean(unescape(TAG.sub(" ", match["title"] or ""))).split())
        if title:
            yield match.start(), int(match["level"]), title


def _plain(parser: MarkdownIt, inline: Token) -> str:
    """A heading's words without their markup."""
    tokens = parser.parseInline(inline.content)[0].children or []
    words = "".join(" " if token.type in ("softbreak", "hardbreak") else _words(token) for token in tokens)
    return " ".join(words.split())


def _words(token: Token) -> str:
    return "" if token.type == "html_inline" else token.content
