"""Text of documents, files and errors on a page: shown as text, whatever marks it holds."""

from __future__ import annotations

import re
from html import escape

from rag.sentences import cells

_CODE = re.compile(r"(`[^`\n]+`)")
_MARKS = re.compile(r"([!-/:-@\[-`{-~])")
_RULE_ROW = re.compile(r"^\|?\s*:?-{2,}[\s|:-]*$")


def plain(text: str) -> str:
    """``text`` for a Streamlit label or message: no mark of it is read as Markdown but a command in `backticks`."""
    parts = _CODE.split(text)
    return "".join(part if position % 2 else _MARKS.sub(r"\\\1", part) for position, part in enumerate(parts))


def passage_html(text: str) -> str:
    """A passage as HTML: its lines as they are, and rows with bars as a table."""
    parts: list[str] = []
    lines: list[str] = []
    rows: list[list[str]] = []

    def flush() -> None:
        if "".join(lines).strip():
            parts.append(f'<div class="rf-lines" dir="auto">{escape(chr(10).join(lines).strip(chr(10)))}</div>')
        if rows:
            parts.append(_table_html(rows))
        lines.clear()
        rows.clear()

    for line in text.split("\n"):
        row = " | " in line.strip().strip("|")
        if (row and lines) or (rows and not row and not _RULE_ROW.match(line.strip())):
            flush()
        if row:
            rows.append(cells(line))
        elif not rows:
            lines.append(line)
    flush()
    return "".join(parts)


def _table_html(rows: list[list[str]]) -> str:
    if len(rows) == 1:
        return f'<div class="rf-lines" dir="auto">{escape(" | ".join(rows[0]))}</div>'
    width = max(len(row) for row in rows)
    filled = [[*row, *[""] * (width - len(row))] for row in rows]
    head = "".join(f"<th>{escape(cell)}</th>" for cell in filled[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in filled[1:])
    return f'<div class="rf-table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
