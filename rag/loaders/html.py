"""HTML: blocks on lines of their own, inline markup left in its sentence, tables as Markdown tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Tag

from rag.loaders.base import Assembly, Content, clean, decode, sections_from
from rag.loaders.html_nodes import BLOCKS, is_data_table, is_visible, layout_tables, markdown_table, visible_text

CHARSET = re.compile(rb"<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
PROLOGUE = re.compile(r"\A\s*<\?xml[^>]*\?>")
SCOPES = frozenset(("section", "article"))
LISTS = frozenset(("ul", "ol", "menu"))
MAX_INDENTED_LISTS = 10
HEADING = re.compile(r"h[1-6]")


def load_html(data: bytes, name: str) -> Content:
    """The visible text, with a section for each heading; a section or article element ends the headings inside it."""
    declared = CHARSET.search(data[:4096])
    markup = decode(data, name, declared.group(1).decode("ascii") if declared else None)
    # Without the prologue, and with a tag in any case, so that the parser has nothing to warn of.
    soup = BeautifulSoup("<html>" + PROLOGUE.sub("", markup), "lxml")
    writer = _Writer()
    writer.write(soup)
    text = writer.assembly.text
    title = " ".join(clean(soup.title.get_text()).split()) if soup.title else ""
    marks = writer.marks if any(path for _, path in writer.marks) else [(0, (title,))] if title else []
    return Content(text, sections_from(text, marks), blocks=tuple(writer.assembly.blocks))


@dataclass
class _List:
    """One open list: what its next item is marked with, and the mark still waiting for its item's first words."""

    next_number: int | None
    waiting: str = ""
    last_mark: str = ""


@dataclass
class _Writer:
    """Walks a tree without recursion (pages nest thousands deep) and writes its text block by block."""

    assembly: Assembly = field(default_factory=Assembly)
    marks: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    _headings: list[tuple[int, int, str]] = field(default_factory=list)
    _scope: int = 0
    _lists: list[_List] = field(default_factory=list)
    _list_is_open: bool = False
    _heading_level: int = 0
    _in_pre: int = 0
    _after_term: bool = False

    def write(self, root: Tag) -> None:
        """Write everything visible under ``root``."""
        layout = layout_tables(root)
        stack: list[tuple[object, bool]] = [(root, True)]
        while stack:
            node, entering = stack.pop()
            if not isinstance(node, Tag):
                self._string(node)
            elif not entering:
                self._leave(node)
            elif is_visible(node):
                if node.name == "table" and id(node) not in layout and is_data_table(node):
                    self._table(node)
                    continue
                self._enter(node)
                stack.append((node, False))
                stack.extend((child, True) for child in reversed(node.contents))
        self._flush()

    def _string(self, node: object) -> None:
        text = visible_text(node)
        self._inline.append(text if self._in_pre else re.sub(r"\s+", " ", text))

    def _enter(self, node: Tag) -> None:
        if node.name == "br":
            self._inline.append("\n")
        if node.name not in BLOCKS or self._stays_in_heading(node):
            return
        self._flush()
        if node.name in SCOPES:
            self._scope += 1
        elif node.name in LISTS:
            number = str(node.get("start", "1"))
            start = int(number) if re.fullmatch(r"-?\d{1,9}", number) else 1
            self._lists.append(_List(start if node.name == "ol" else None))
        elif node.name == "li" and self._lists:
            self._item(self._lists[-1])
        elif node.name == "pre":
            self._in_pre += 1
        elif HEADING.fullmatch(node.name):
            self._heading_level = int(node.name[1])

    def _stays_in_heading(self, node: Tag) -> bool:
        """Blocks inside a heading part its words, they do not end it."""
        if not self._heading_level or HEADING.fullmatch(node.name):
            return False
        self._inline.append(" ")
        return True

    def _item(self, current: _List) -> None:
        current.waiting = "- "
        if current.next_number is not None:
            current.waiting = f"{current.next_number}. "
            current.next_number += 1
        current.last_mark = current.waiting

    def _leave(self, node: Tag) -> None:
        if node.name not in BLOCKS or self._stays_in_heading(node):
            return
        self._flush()
        if node.name in SCOPES:
            self._scope -= 1
            self._headings = [heading for heading in self._headings if heading[0] <= self._scope]
        elif node.name in LISTS and self._lists:
            self._lists.pop()
            self._list_is_open = bool(self._lists) and self._list_is_open
        elif node.name == "pre":
            self._in_pre -= 1
        elif HEADING.fullmatch(node.name):
            self._heading_level = 0
        self._after_term = node.name == "dt"

    def _flush(self) -> None:
        """Write the inline text collected so far as one block."""
        text, self._inline = "".join(self._inline), []
        if self._in_pre:
            text = text.strip("\n").rstrip()
        else:
            text = "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
            text = re.sub(r"\n{3,}", "\n\n", text)
        if not text.strip():
            return
        if self._heading_level:
            self._heading(" ".join(text.split()), self._heading_level)
        elif self._lists and not self._in_pre:
            self._list_line(text)
        else:
            self._block("code" if self._in_pre else "paragraph", text)

    def _heading(self, title: str, level: int) -> None:
        # A heading of the same rank in an inner section lies under the one outside; a deeper one outside has ended.
        self._headings = [
            heading
            for heading in self._headings
            if heading[1] < level or (heading[1] == level and heading[0] < self._scope)
        ]
        self._headings.append((self._scope, level, title))
        self._block("heading", title, new_section=True)

    def _list_line(self, text: str) -> None:
        mark, self._lists[-1].waiting = self._lists[-1].waiting, ""
        indent = "  " * min(len(self._lists) - 1, MAX_INDENTED_LISTS)
        hanging = indent + " " * len(self._lists[-1].last_mark)
        line = (indent + mark if mark else hanging) + text.replace("\n", "\n" + hanging)
        if self._list_is_open:
            self.assembly.extend_last("\n" + line)
        else:
            self._block("list", line)
            self._list_is_open = True

    def _block(self, kind: str, text: str, new_section: bool = False, joined_by: str = "\n\n") -> None:
        block = self.assembly.add(kind, text, "\n" if self._after_term else joined_by)
        self._list_is_open = self._after_term = False
        path = tuple(title for _, _, title in self._headings)
        if new_section or path != (self.marks[-1][1] if self.marks else ()):
            self.marks.append((block.start, path))

    def _table(self, node: Tag) -> None:
        self._flush()
        caption, rows = markdown_table(node)
        if caption:
            self._block("paragraph", caption)
        if rows:
            self._block("table", rows, joined_by="\n" if caption else "\n\n")
