"""What is visible of an HTML tree, and its tables as Markdown tables."""

from __future__ import annotations

import re
from itertools import zip_longest

from bs4.element import CData, NavigableString, PreformattedString, Tag

from rag.loaders.base import clean

IGNORED = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "nav",
        "footer",
        "head",
        "svg",
        "math",
        "iframe",
        "object",
        "select",
        "textarea",
        "audio",
        "video",
        "canvas",
        "rp",
    ]
)
BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
LAYOUT = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "pre"]
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
INVISIBLE = re.compile("[\u00ad\u200b\u2060]")
ANCHOR_MARKS = frozenset(("", "#", "¶", "§", "🔗", "∞"))
MAX_COLUMN_SPAN = 50
MAX_ROW_SPAN = 500


def is_visible(node: Tag) -> bool:
    """Whether a reader of the page sees the element."""
    hidden = "hidden" in node.attrs and node.get("hidden") != "until-found"
    if hidden or node.name in IGNORED or HIDDEN_STYLE.search(str(node.get("style", ""))):
        return False
    # Beside many headings stands a mark that links to the heading itself.
    is_anchor = node.name == "a" and str(node.get("href", "")).startswith("#")
    return not (is_anchor and node.get_text().strip() in ANCHOR_MARKS)


def visible_text(node: object) -> str:
    """A string of the tree, without the characters that only steer hyphenation; "" for comments and the like."""
    if not isinstance(node, NavigableString) or (isinstance(node, PreformattedString) and not isinstance(node, CData)):
        return ""
    return INVISIBLE.sub("", clean(str(node)))


def layout_tables(root: Tag) -> frozenset[int]:
    """The identities of the tables that lay out a page: those that hold tables, headings or preformatted text."""
    # From the inside out: searching each table would walk the same nodes again for every table around them.
    around = (node.find_parent("table") for node in root.find_all(LAYOUT))
    return frozenset(id(table) for table in around if table is not None)


def is_data_table(table: Tag) -> bool:
    """Whether a table that lays out nothing holds rows of data."""
    return table.get("role") not in ("presentation", "none") and len(table.find_all(["td", "th"], limit=2)) > 1


def markdown_table(table: Tag) -> tuple[str, str]:
    """The caption, and a Markdown table; cells that span rows are repeated, so that each row makes sense alone."""
    caption = table.find("caption")
    header: list[list[str]] = []
    body: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in table.find_all("tr"):
        cells = [cell for cell in row.find_all(["td", "th"]) if is_visible(cell)]
        if not is_visible(row) or not cells:
            continue
        is_header = not body and (row.find_parent("thead") is not None or all(cell.name == "th" for cell in cells))
        (header if is_header else body).append(_row(cells, is_header, hanging))
    if not header and body:
        header.append(body.pop(0))
    columns = max(map(len, [*header, *body]), default=0)
    names = [" ".join(dict.fromkeys(filter(None, column))) for column in zip_longest(*header, fillvalue="")]
    lines = [_line(names, columns), "|" + "---|" * columns, *(_line(row, columns) for row in body)]
    return (cell_text(caption) if caption else ""), ("\n".join(lines) if any(map(any, [*header, *body])) else "")


def _row(cells: list[Tag], is_header: bool, hanging: dict[int, tuple[int, str]]) -> list[str]:
    """One row's cells by column; ``hanging`` holds the cells of rows above that reach into this one."""
    row: list[str] = []

    def fill() -> None:
        while len(row) in hanging:
            rows_left, text = hanging.pop(len(row))
            if rows_left > 1:
                hanging[len(row)] = (rows_left - 1, text)
            row.append(text)

    for cell in cells:
        fill()
        text = cell_text(cell).replace("|", "\\|")
        for number in range(_span(cell, "colspan", MAX_COLUMN_SPAN)):
            shown = text if is_header or number == 0 else ""
            if (rows := _span(cell, "rowspan", MAX_ROW_SPAN)) > 1:
                hanging[len(row)] = (rows - 1, shown)
            row.append(shown)
    fill()
    return row


def _span(cell: Tag, name: str, most: int) -> int:
    value = str(cell.get(name, "1")).strip()
    return min(max(1, int(value)), most) if value.isdecimal() and len(value) < 9 else 1


def _line(row: list[str], columns: int) -> str:
    return "| " + " | ".join(row + [""] * (columns - len(row))) + " |"


def cell_text(node: Tag) -> str:
    """Everything visible under ``node`` on one line."""
    parts: list[str] = []
    stack: list[object] = [node]
    while stack:
        current = stack.pop()
        if not isinstance(current, Tag):
            parts.append(current if type(current) is str else visible_text(current))
        elif is_visible(current):
            edge = [" "] if current.name in BLOCKS or current.name == "br" else []
            stack.extend([*edge, *reversed(current.contents), *edge])
    return " ".join("".join(parts).split())
