"""What shows of a Word file's tree: the words of a paragraph, the children of an element, the cells of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rag.loaders.docx_package import Element, W
from rag.loaders.docx_styles import Styles, is_on, value, whole

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MAX_COLUMNS_OF_CELL = 50
MAX_REPEATED_CHARACTERS = 200
# What was deleted or moved away, what steers fields, what stands small above other characters.
UNSEEN = frozenset(
    W + name
    for name in ("del", "moveFrom", "delText", "delInstrText", "instrText", "rt", "pPr", "rPr", "tblPr", "sectPr")
)
SIGNS = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}
TEXTS = frozenset((W + "t", M + "t"))
IN_FORMULAS = {M + "den": "/", M + "sup": "^", M + "sub": "_"}
NOTES = {W + "footnoteReference": "footnote", W + "endnoteReference": "endnote"}
PRIVATE = range(0xE000, 0xF900)


@dataclass(frozen=True)
class NoteMark:
    """A place that refers to a note: its kind, its id in the file, and the number shown."""

    kind: str
    note_id: str
    number: str


@dataclass
class Words:
    """The text of a paragraph, the notes it refers to, and the text boxes that hang on it."""

    text: str = ""
    marks: list[NoteMark] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)


def children(node: Element) -> list[Element]:
    """The elements in an element that show; of two ways to show the same thing, the first."""
    if not isinstance(node.tag, str) or node.tag in UNSEEN or _is_placeholder(node) or _is_deleted_row(node):
        return []
    if node.tag == COMPATIBILITY + "AlternateContent":
        ways = [child for child in node if child.tag in (COMPATIBILITY + "Choice", COMPATIBILITY + "Fallback")]
        return ways[:1]
    return [child for child in node if isinstance(child.tag, str)]


def _is_placeholder(node: Element) -> bool:
    """Whether an element is a form's field that nobody filled in."""
    return node.tag == W + "sdt" and bool(is_on(node.find(W + "sdtPr"), "showingPlcHdr"))


def _is_deleted_row(node: Element) -> bool:
    return node.tag == W + "tr" and value(node, "trPr", "del") is not None


def is_contents(node: Element) -> bool:
    """Whether an element is a table of contents that Word put together."""
    gallery = value(node, "sdtPr", "docPartObj", "docPartGallery") if node.tag == W + "sdt" else None
    return gallery == "Table of Contents"


def words(paragraph: Element, styles: Styles, number_of: Callable[[str, str], str]) -> Words:
    """What a reader sees of a paragraph; ``number_of`` gives the number of a note by its kind and id."""
    found = Words()
    parts: list[str] = []
    hidden_by_style = styles.of(paragraph.find(W + "pPr")).is_hidden
    stack = list(reversed(children(paragraph)))
    while stack:
        node = stack.pop()
        if node.tag in TEXTS:
            parts.append(node.text or "")
        elif node.tag in SIGNS:
            parts.append(SIGNS[node.tag])
        elif node.tag == W + "sym":
            parts.append(_symbol(node.get(W + "char", "")))
        elif node.tag in NOTES:
            note_id = node.get(W + "id", "")
            if number := number_of(NOTES[node.tag], note_id):
                parts.append(f"[{number}]")
                found.marks.append(NoteMark(NOTES[node.tag], note_id, number))
        elif node.tag == W + "txbxContent":
            found.boxes.append(node)
        elif node.tag == W + "r" and _is_hidden(node.find(W + "rPr"), styles, hidden_by_style):
            continue
        else:
            parts.append(IN_FORMULAS.get(node.tag, ""))
            stack.extend(reversed(children(node)))
    found.text = "".join(parts)
    return found


def _is_hidden(properties: Element | None, styles: Styles, by_style: bool) -> bool:
    told = is_on(properties, "vanish")
    return told if told is not None else by_style or styles.hides(properties)


def _symbol(code: str) -> str:
    """The character of a symbol, "" where only its font knows what it looks like."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return chr(number) if 0x20 <= number < 0x10000 and number not in PRIVATE else ""


def is_table_of_cells(table: Element) -> bool:
    """Whether a table has more than one cell; a frame around text has one."""
    count = 0
    for row in _within(table, "tr"):
        count += len(_within(row, "tc"))
        if count > 1:
            return True
    return False


def cell_rows(table: Element, text_of: Callable[[Element], str]) -> tuple[list[list[str]], list[list[str]]]:
    """The rows marked as headers, else the first, and the others; a cell that spans rows is repeated in each."""
    header: list[list[str]] = []
    body: list[list[str]] = []
    above: dict[int, str] = {}
    rows = _within(table, "tr")
    names_are_marked = bool(rows) and bool(is_on(rows[0].find(W + "trPr"), "tblHeader"))
    for row in rows:
        properties = row.find(W + "trPr")
        is_header = not body and (bool(is_on(properties, "tblHeader")) if names_are_marked else not header)
        cells = [""] * min(whole(value(properties, "gridBefore"), 0), MAX_COLUMNS_OF_CELL)
        below: dict[int, str] = {}
        for cell in _within(row, "tc"):
            told = cell.find(W + "tcPr")
            merged = value(told, "vMerge")
            text = text_of(cell)
            if merged is not None and merged != "restart":
                text = above.get(len(cells), "") or text
            if merged is not None and len(text) <= MAX_REPEATED_CHARACTERS:
                below[len(cells)] = text
            span = max(1, min(whole(value(told, "gridSpan"), 1), MAX_COLUMNS_OF_CELL))
            cells += [text, *[text if is_header else ""] * (span - 1)]
        above = below
        if cells:
            (header if is_header else body).append(cells)
    return header, body


def _within(parent: Element, name: str) -> list[Element]:
    """The rows of a table or the cells of a row, also those inside controls, not those of tables inside."""
    found: list[Element] = []
    stack = list(reversed(children(parent)))
    while stack:
        node = stack.pop()
        if node.tag == W + name:
            if not _is_deleted_row(node):
                found.append(node)
        elif node.tag not in (W + "tbl", W + "p", W + "tc"):
            stack.extend(reversed(children(node)))
    return found
