"""What is visible of an HTML tree, and its tables as Markdown tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bs4.element import CData, NavigableString, PreformattedString, Tag

from rag.loaders.base import clean, markdown_grid

IGNORED = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "nav",
        "footer",
        "head",
        "title",
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
LAYOUT = frozenset(("table", "h1", "h2", "h3", "h4", "h5", "h6", "pre"))
# Declarations of a style attribute, without comments in them, that leave nothing to be seen.
HIDDEN_STYLE = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|(?:opacity|font-size)\s*:\s*[+-]?0*\.?0+(?:%|[a-z]+)?)\s*(?:!\s*important\s*)?(?:;|$)",
    re.IGNORECASE,
)
STYLE_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What leads around a site: pages made before there was a nav element, and by generators that do not use it.
WAYS_AROUND_ROLES = frozenset(("navigation", "search"))
WAYS_AROUND_CLASSES = frozenset(
    ("nav", "navbar", "navigation", "navheader", "navfooter", "nav-panel", "skip-link", "skip-to-content")
)
INVISIBLE = re.compile("[\u00ad\u200b\u2060]")
ANCHOR_MARKS = frozenset(("", "#", "¶", "§", "🔗", "∞"))
MAX_COLUMN_SPAN = 50
MAX_ROW_SPAN = 500
MIN_REPEATED = 10_000
MAX_REPEATED_SHARE = 10


def is_visible(node: Tag) -> bool:
    """Whether a reader of the page sees the element."""
    hidden = "hidden" in node.attrs and node.get("hidden") != "until-found"
    if hidden or node.name in IGNORED or HIDDEN_STYLE.search(STYLE_COMMENT.sub("", str(node.get("style", "")))):
        return False
    if node.get("role") in WAYS_AROUND_ROLES or not WAYS_AROUND_CLASSES.isdisjoint(node.get_attribute_list("class")):
        return False
    # Beside many headings stands a mark that links to the heading itself.
    is_anchor = node.name == "a" and str(node.get("href", "")).startswith("#")
    return not (is_anchor and len(node.contents) < 4 and node.get_text().strip() in ANCHOR_MARKS)


def visible_text(node: object) -> str:
    """A string of the tree, without the characters that only steer hyphenation; "" for comments and the like."""
    if not isinstance(node, NavigableString) or (isinstance(node, PreformattedString) and not isinstance(node, CData)):
        return ""
    return INVISIBLE.sub("", clean(str(node)))


def layout_tables(root: Tag) -> frozenset[int]:
    """The identities of the tables that lay out a page: those that hold tables, headings or preformatted text."""
    layout: set[int] = set()
    tables: list[Tag] = []
    stack: list[tuple[Tag, bool]] = [(root, True)]
    while stack:
        node, entering = stack.pop()
        if not entering:
            tables.pop()
            continue
        if node.name in LAYOUT and tables:
            layout.add(id(tables[-1]))
        if node.name == "table":
            tables.append(node)
            stack.append((node, False))
        stack.extend((child, True) for child in reversed(node.contents) if isinstance(child, Tag))
    return frozenset(layout)


def is_data_table(table: Tag) -> bool:
    """Whether a table that lays out nothing holds rows of data."""
    return table.get("role") not in ("presentation", "none") and len(table.find_all(["td", "th"], limit=2)) > 1


def markdown_table(table: Tag) -> tuple[str, str]:
    """The caption, and a Markdown table; cells that span rows are repeated, so that each row makes sense alone."""
    caption = table.find("caption")
    header: list[list[str]] = []
    body: list[list[str]] = []
    spans = _RowSpans()
    for row in table.find_all("tr"):
        cells = [cell for cell in row.find_all(["td", "th"]) if is_visible(cell)]
        if not is_visible(row) or not cells:
            continue
        is_header = not body and (row.parent.name == "thead" or all(cell.name == "th" for cell in cells))
        (header if is_header else body).append(_row(cells, is_header, spans))
    return (cell_text(caption) if caption else ""), markdown_grid(header, body)


@dataclass
class _RowSpans:
    """The cells of rows above that reach into the next one, by column: for how many rows, and with what text."""

    hanging: dict[int, tuple[int, str]] = field(default_factory=dict)
    # How many characters may still be repeated: a small table must not become a huge one.
    allowance: int = MIN_REPEATED

    def fill(self, row: list[str]) -> None:
        """Repeat in the row what reaches into its next columns."""
        while len(row) in self.hanging:
            rows_left, text = self.hanging.pop(len(row))
            self.allowance -= len(text) + 3
            if rows_left > 1 and self.allowance > 0:
                self.hanging[len(row)] = (rows_left - 1, text)
            row.append(text)


def _row(cells: list[Tag], is_header: bool, spans: _RowSpans) -> list[str]:
    """One row's cells by column."""
    row: list[str] = []
    for cell in cells:
        spans.fill(row)
        text = cell_text(cell)
        spans.allowance += MAX_REPEATED_SHARE * (len(text) + 3)
        for number in range(_span(cell, "colspan", MAX_COLUMN_SPAN)):
            shown = text if is_header or number == 0 else ""
            if (rows := _span(cell, "rowspan", MAX_ROW_SPAN)) > 1:
                spans.hanging[len(row)] = (rows - 1, shown)
            row.append(shown)
    spans.fill(row)
    return row


def _span(cell: Tag, name: str, most: int) -> int:
    value = str(cell.get(name, "1")).strip()
    return min(max(1, int(value)), most) if value.isdecimal() and len(value) < 9 else 1


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
