"""DOCX: the body in its order, headings by their styles, lists with their numbers, tables as Markdown tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag.loaders.base import Assembly, Content, clean, heading_paths, markdown_grid, sections_from, tidy
from rag.loaders.docx_nodes import NoteMark, Words, cell_rows, children, is_contents, is_table_of_cells, words
from rag.loaders.docx_package import Element, W, open_package
from rag.loaders.docx_styles import Numbering, Style, Styles, is_on, roman, value, whole
from rag.schema import Block

MAX_TITLE_CHARACTERS = 300
MAX_INDENT = 8
BODY_TEXT = 9


def load_docx(data: bytes, name: str) -> Content:
    """What the document shows, without its headers and footers, its table of contents, and deleted or hidden text.

    A section begins at each heading; notes stand after the paragraph that refers to them.
    """
    package = open_package(data, name)
    writer = _Writer(Styles(package.styles))
    writer.numbering = Numbering(package.numbering, writer.styles)
    writer.notes = {"footnote": _notes(package.footnotes), "endnote": _notes(package.endnotes)}
    writer.write(package.document)
    text = writer.assembly.text
    marks = heading_paths(writer.headings)
    title = clean(package.title)
    marks = marks or ([(0, (title,))] if title else [])
    notices = ("text that is kept as a file inside the document was left out",) if writer.left_out else ()
    return Content(text, sections_from(text, marks), (), tuple(writer.assembly.blocks), notices, "docx")


def _notes(root: Element | None) -> dict[str, Element]:
    """The notes by their ids, without the lines that part notes from text."""
    found = [] if root is None else [note for note in root if note.get(W + "type", "normal") == "normal"]
    return {note.get(W + "id", ""): note for note in found}


@dataclass
class _Writer:
    """Walks a body without recursion and writes its text block by block."""

    styles: Styles
    numbering: Numbering | None = None
    notes: dict[str, dict[str, Element]] = field(default_factory=dict)
    assembly: Assembly = field(default_factory=Assembly)
    headings: list[tuple[int, int, str]] = field(default_factory=list)
    left_out: bool = False
    _carried: str = ""
    _layout: set[Element] = field(default_factory=set)
    _last: str = ""
    _marks: list[NoteMark] = field(default_factory=list)
    _numbers: dict[tuple[str, str], str] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def write(self, root: Element) -> None:
        """Write everything that shows under ``root``."""
        self._layout = self._layout_tables(root)
        stack = [root]
        while stack:
            node = stack.pop()
            if node.tag == W + "p":
                boxes = self._paragraph(node)
                stack.extend(reversed(boxes))
            elif node.tag == W + "tbl" and node not in self._layout and is_table_of_cells(node):
                self._table(node)
            elif node.tag == W + "altChunk":
                self.left_out = True
            elif not is_contents(node):
                stack.extend(reversed(children(node)))
        self._write_carried()
        self._write_notes()

    def _layout_tables(self, root: Element) -> set[Element]:
        """The tables that lay out a page: those that hold headings."""
        tables: set[Element] = set()
        for paragraph in root.iter(W + "p"):
            has_text = any((text.text or "").strip() for text in paragraph.iter(W + "t"))
            if self._level(paragraph.find(W + "pPr")) is None or not has_text:
                continue
            for table in paragraph.iterancestors(W + "tbl"):
                if table in tables:
                    break
                tables.add(table)
        return tables

    def _level(self, properties: Element | None) -> int | None:
        """The level of a heading, 0 for the title of the document; None for other paragraphs."""
        outline = whole(value(properties, "outlineLvl"))
        if outline is not None:
            return outline + 1 if 0 <= outline < BODY_TEXT else None
        return self.styles.of(properties).level

    def _words(self, paragraph: Element) -> Words:
        return words(paragraph, self.styles, self._number_of)

    def _number_of(self, kind: str, note_id: str) -> str:
        """What a note is referred to by: footnotes by numbers, endnotes by Roman ones; "" for one that is not there."""
        if (kind, note_id) not in self._numbers:
            if note_id not in self.notes[kind]:
                return ""
            self._counts[kind] += 1
            count = self._counts[kind]
            self._numbers[kind, note_id] = roman(count) if kind == "endnote" and count < 1000 else str(count)
        return self._numbers[kind, note_id]

    def _paragraph(self, node: Element) -> list[Element]:
        """Write a paragraph, and give back the text boxes in it."""
        properties = node.find(W + "pPr")
        style = self.styles.of(properties)
        if style.name.startswith("toc ") and style.level is None:
            return []
        found = self._words(node)
        text = self._carried + clean(found.text)
        self._carried = ""
        level = self._level(properties)
        mark = self._mark(properties, style) if text.strip() else None
        if properties is not None and is_on(properties.find(W + "rPr"), "del"):
            # The end of this paragraph was deleted: it goes on in the next one.
            self._carried = text
        elif not text.strip():
            pass
        elif level is not None and len(title := " ".join(text.split())) <= MAX_TITLE_CHARACTERS:
            self._write_notes()
            title = f"{mark} {title}" if mark and mark != "-" else title
            block = self._add("heading", title)
            # The title page and the first chapter often bear the same words: they are one.
            is_title_again = any(one[1:] == (0, title) for one in self.headings[-1:])
            self.headings.append((block.start, 0 if is_title_again else level, title))
        elif style.is_code:
            self._code(text.rstrip())
        elif mark:
            self._list_line(mark, tidy(text), self._depth(properties, style))
        else:
            if self._last != "list":
                self._write_notes()
            self._add("caption" if style.name.endswith("caption") else "paragraph", tidy(text))
        self._marks += found.marks
        if self._last != "list":
            self._write_notes()
        return found.boxes

    def _write_carried(self) -> None:
        if self._carried.strip():
            self._add("paragraph", tidy(self._carried))

    def _mark(self, properties: Element | None, style: Style) -> str | None:
        told = None if properties is None else properties.find(W + "numPr")
        number_id = value(told, "numId") or style.number_id
        mark = None
        if number_id and number_id != "0" and self.numbering:
            mark = self.numbering.mark(number_id, whole(value(told, "ilvl"), style.number_level))
        if mark is None and number_id != "0" and style.name.startswith(("list bullet", "list number")):
            mark = "-"
        return mark

    @staticmethod
    def _depth(properties: Element | None, style: Style) -> int:
        told = None if properties is None else properties.find(W + "numPr")
        return max(0, min(max(whole(value(told, "ilvl"), style.number_level), style.depth), MAX_INDENT))

    def _list_line(self, mark: str, text: str, depth: int) -> None:
        indent = "  " * depth
        hanging = "\n" + indent + " " * (len(mark) + 1)
        line = f"{indent}{mark} " + hanging.join(line for line in text.split("\n") if line)
        if self._last == "list":
            self.assembly.extend_last("\n" + line)
        else:
            self._write_notes()
            self._add("list", line)

    def _code(self, text: str) -> None:
        # A paragraph of several lines is a listing by itself, others are lines of one.
        if self._last == "code" and "\n" not in text:
            self.assembly.extend_last("\n" + text)
        else:
            self._write_notes()
            self._add("code", text.strip("\n"))
            self._last = "listing" if "\n" in text else "code"

    def _add(self, kind: str, text: str) -> Block:
        # A caption stays with the table under it.
        joined_by = "\n" if self._last == "caption" and kind == "table" else "\n\n"
        self._last = kind
        return self.assembly.add("paragraph" if kind == "caption" else kind, text, joined_by)

    def _table(self, node: Element) -> None:
        self._write_carried()
        self._carried = ""
        self._write_notes()
        header, body = cell_rows(node, self._cell_text)
        if grid := markdown_grid(header, body):
            self._add("table", grid)
            self._write_notes()

    def _cell_text(self, cell: Element) -> str:
        """Everything that shows in a cell on one line."""
        return " ".join(" ".join(self._texts_in(cell)).split())

    def _texts_in(self, root: Element, with_marks: bool = True) -> Iterator[str]:
        stack = [root]
        while stack:
            node = stack.pop()
            if node.tag == W + "p":
                found = self._words(node)
                stack.extend(reversed(found.boxes))
                if with_marks:
                    self._marks += found.marks
                properties = node.find(W + "pPr")
                mark = self._mark(properties, self.styles.of(properties)) if found.text.strip() else None
                yield f"{mark} {clean(found.text)}" if mark and mark != "-" else clean(found.text)
            else:
                stack.extend(reversed(children(node)))

    def _write_notes(self) -> None:
        """Write the notes that were referred to since the last were written."""
        marks, self._marks = self._marks, []
        for mark in marks:
            note = self.notes[mark.kind].pop(mark.note_id, None)
            text = "" if note is None else tidy(" ".join(self._texts_in(note, with_marks=False)))
            if text:
                self._add("paragraph", f"[{mark.number}] {text}")
