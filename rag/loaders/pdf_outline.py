"""A PDF's outline (its bookmarks), read so that no damage in it can stop the load, and found again in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

from rag.loaders.base import clean
from rag.loaders.pdf_lines import Line

MAX_ENTRIES = 20_000
MAX_DEPTH = 50
MAX_HEADING_LINES = 5
NUMBERING = re.compile(
    r"^\s*(?:(?:chapter|part|section|appendix|kapitel|teil|abschnitt|anhang)\s+)?"
    r"(?:\d+|[ivxlc]+|[a-z])(?:[.\-]\d+)*[.):]?\s+",
    re.IGNORECASE,
)


@dataclass
class Entry:
    """One bookmark: its path of titles, its page (an index from 0) and the height on it, where they are known."""

    path: tuple[str, ...]
    page: int | None
    top: float | None
    children: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry's heading stands on its page: the first of ``count`` lines; 0 lines where it was not found."""

    path: tuple[str, ...]
    line: int
    count: int


def read_outline(reader: PdfReader) -> tuple[list[Entry], list[str]]:
    """Every bookmark that leads somewhere, in the outline's order, and the titles of those that lead nowhere."""
    pages = {}
    for number, page in enumerate(reader.pages):
        if page.indirect_reference is not None:
            pages[page.indirect_reference.idnum] = number
    walker = _Walker(reader, pages)
    entries = walker.walk()
    lost = []
    # From the last to the first, so that a group finds its children's places known.
    for entry in reversed(entries):
        if entry.page is None:
            child = next((child for child in entry.children if child.page is not None), None)
            if child is None:
                lost.append(entry.path[-1])
            else:
                entry.page, entry.top = child.page, child.top
    return [entry for entry in entries if entry.page is not None], lost[::-1]


class _Walker:
    """Follows an outline's links, each object once, whatever they point to."""

    def __init__(self, reader: PdfReader, pages: dict[int, int]) -> None:
        self._reader = reader
        self._pages = pages
        self._named: dict[str, Any] | None = None

    def walk(self) -> list[Entry]:
        outlines = _resolved(self._reader.root_object.get("/Outlines"))
        first = outlines.get("/First") if isinstance(outlines, DictionaryObject) else None
        entries: list[Entry] = []
        seen: set[int] = set()
        stack: list[tuple[Any, Entry | None]] = [(first, None)]
        while stack and len(entries) < MAX_ENTRIES:
            node, parent = stack.pop()
            node = _resolved(node)
            if not isinstance(node, DictionaryObject) or id(node) in seen:
                continue
            seen.add(id(node))
            stack.append((node.get("/Next"), parent))
            entry = self._entry(node, parent)
            if entry is not None:
                entries.append(entry)
                if parent is not None:
                    parent.children.append(entry)
            if len(entry.path if entry else ()) < MAX_DEPTH:
                stack.append((node.get("/First"), entry or parent))
        return entries

    def _entry(self, node: DictionaryObject, parent: Entry | None) -> Entry | None:
        title = _resolved(node.get("/Title"))
        words = " ".join(clean(title).split()) if isinstance(title, str) else ""
        if not words:
            return None
        page, top = self._target(node)
        return Entry((*(parent.path if parent else ()), words), page, top)

    def _target(self, node: DictionaryObject) -> tuple[int | None, float | None]:
        destination = _resolved(node.get("/Dest"))
        action = _resolved(node.get("/A"))
        if destination is None and isinstance(action, DictionaryObject) and action.get("/S") == "/GoTo":
            destination = _resolved(action.get("/D"))
        if isinstance(destination, (str, bytes)):
            destination = self._by_name(destination)
        if isinstance(destination, DictionaryObject):
            destination = _resolved(destination.get("/D"))
        if not isinstance(destination, ArrayObject) or not destination:
            return None, None
        return self._page(destination), _top(destination)

    def _page(self, destination: ArrayObject) -> int | None:
        target = destination[0]
        if isinstance(target, IndirectObject):
            return self._pages.get(target.idnum)
        if isinstance(target, int) and 0 <= target < len(self._reader.pages):
            return int(target)
        return None

    def _by_name(self, name: str | bytes) -> Any:
        if self._named is None:
            self._named = named_destinations(self._reader)
        key = name.decode("latin-1") if isinstance(name, bytes) else str(name)
        return self._named.get(key.removeprefix("/"))


def named_destinations(reader: PdfReader) -> dict[str, Any]:
    """The document's named destinations, as arrays or dictionaries; those in damaged parts are left out."""
    root = reader.root_object
    found: dict[str, Any] = {}
    old = _resolved(root.get("/Dests"))
    if isinstance(old, DictionaryObject):
        found.update({str(name).removeprefix("/"): _resolved(value) for name, value in old.items()})
    names = _resolved(root.get("/Names"))
    stack = [names.get("/Dests")] if isinstance(names, DictionaryObject) else []
    seen: set[int] = set()
    while stack:
        node = _resolved(stack.pop())
        if not isinstance(node, DictionaryObject) or id(node) in seen:
            continue
        seen.add(id(node))
        pairs = _resolved(node.get("/Names"))
        if isinstance(pairs, ArrayObject):
            for name, value in zip(pairs[::2], pairs[1::2]):
                name = _resolved(name)
                key = name.decode("latin-1") if isinstance(name, bytes) else str(name)
                found[key] = _resolved(value)
        kids = _resolved(node.get("/Kids"))
        stack.extend(kids if isinstance(kids, ArrayObject) else [])
    return found


def _resolved(value: Any) -> Any:
    """The object itself behind a reference; None for what is missing or cannot be read."""
    try:
        value = value.get_object() if value is not None else None
    except Exception:
        return None
    return None if type(value).__name__ == "NullObject" else value


def _top(destination: ArrayObject) -> float | None:
    position = {"/XYZ": 3, "/FitH": 2, "/FitBH": 2, "/FitR": 5}.get(str(destination[1]) if len(destination) > 1 else "")
    value = _resolved(destination[position]) if position is not None and len(destination) > position else None
    return float(value) if isinstance(value, (int, float)) else None


def _letters(text: str) -> str:
    return "".join(character for character in unicodedata.normalize("NFKC", text).casefold() if character.isalnum())


def locate(entry: Entry, lines: Sequence[Line], taken: set[int]) -> Place:
    """The entry's heading among its page's lines: by its title, nearest to its target, else by its target alone."""
    found = _spans_of(entry.path[-1], lines, taken, str) or _spans_of(entry.path[-1], lines, taken, _without_number)
    # Lines that are painted turned have heights of their own.
    top = entry.top if lines and lines[0].turn == 0 else None
    if found:
        largest = max(lines[start].size for start, _ in found)
        start, count = min(
            found,
            key=lambda place: (
                abs(lines[place[0]].y - top) if top is not None else largest - lines[place[0]].size,
                place,
            ),
        )
        return Place(entry.path, start, count)
    if top is None:
        return Place(entry.path, 0, 0)
    below = [number for number, line in enumerate(lines) if line.y <= top]
    return Place(entry.path, below[0] if below else len(lines), 0)


def _without_number(title: str) -> str:
    return NUMBERING.sub("", title)


def _spans_of(
    title: str, lines: Sequence[Line], taken: set[int], spelled: Callable[[str], str]
) -> list[tuple[int, int]]:
    """Each (first line, number of lines) that holds just the title; the shortest where one ends in another."""
    wanted = _letters(spelled(title))
    found: dict[int, tuple[int, int]] = {}
    for start in range(len(lines)):
        words = ""
        for count in range(1, min(MAX_HEADING_LINES, len(lines) - start) + 1):
            words += " " + lines[start + count - 1].text
            letters = _letters(spelled(words.strip()))
            if wanted and letters == wanted and start not in taken:
                found[start + count] = (start, count)
            if len(letters) >= len(wanted):
                break
    return list(found.values())
