"""What a loader is, and what loaders share: clean text, text put together with exact spans, sections from headings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rag.errors import LoadError
from rag.schema import Block, Page, Section


@dataclass(frozen=True, slots=True)
class Content:
    """What a loader makes of a file's bytes; the family's door makes a Document of it."""

    text: str
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()
    blocks: tuple[Block, ...] = ()
    notices: tuple[str, ...] = ()
    format: str = ""


# A loader takes a file's bytes and its name (for messages), and raises LoadError.
Loader = Callable[[bytes, str], Content]

NEWLINES = re.compile("\r\n|[\r\v\f\x1c-\x1f\x85\u2028\u2029]")
UNWANTED = re.compile("[\x00\ufeff\ud800-\udfff]")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x7f\ufffd]")
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Declared encodings that pages use with the additions of a later one, as browsers read them.
READ_AS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "latin1": "cp1252",
    "iso-8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "ks-c-5601-1987": "cp949",
    "big5": "big5hkscs",
}
BINARY_STARTS = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\x7fELF",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
)
NOT_TEXT = "not a text file"
MAX_CONTROL_SHARE = 0.1
# A short row after one of a million cells must not become as long.
MAX_PADDED_COLUMNS = 100
SAMPLED_BYTES = 100_000


def clean(text: str) -> str:
    """The text with every kind of line end as a newline, without NUL, byte order marks and lone surrogates."""
    return UNWANTED.sub("", NEWLINES.sub("\n", text))


def decode(data: bytes, name: str, declared: str | None = None) -> str:
    """Clean text from bytes: by byte order mark, as UTF-8, in the ``declared`` encoding, or by their looks.

    Raises LoadError where they are no text.
    """
    return clean(decode_as_it_is(data, name, declared))


def decode_as_it_is(data: bytes, name: str, declared: str | None = None) -> str:
    """As ``decode``, with every character left, for formats whose lines end at a line feed and nowhere else."""
    if data.startswith(BINARY_STARTS):
        raise LoadError(name, NOT_TEXT)
    text = _decode(data, name, declared)
    if len(CONTROLS.findall(text)) > MAX_CONTROL_SHARE * len(text):
        raise LoadError(name, NOT_TEXT)
    return text


def _decode(data: bytes, name: str, declared: str | None) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    zeros = data.count(0)
    if zeros > 0.2 * len(data):
        # UTF-16 without a mark: in text of mostly Latin letters every other byte is zero.
        return data.decode("utf-16-be" if data[::2].count(0) > zeros / 2 else "utf-16-le", "replace")
    # What could be read far enough to find a name of two or four bytes a character in it is not written in that.
    declared = (declared or "").casefold().replace("_", "-")
    declared = "" if declared.startswith(("utf-16", "utf-32", "ucs", "iso-10646")) else declared
    encodings = ["utf-8", READ_AS.get(declared, declared), declared]
    if declared.startswith("iso-2022"):
        # Seven bits a byte: everything in it would also pass as UTF-8.
        encodings.insert(0, declared)
    for encoding in filter(None, encodings):
        try:
            return data.decode(encoding)
        except (UnicodeError, LookupError):
            continue
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    sample = data[:SAMPLED_BYTES]
    foreign = sum(byte > 127 for byte in sample) / len(sample)
    if foreign < 0.25 and (best is None or not best.coherence):
        # Too few letters with accents to tell an encoding by them: the Western one is by far the likeliest.
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            pass
    if best is None:
        raise LoadError(name, NOT_TEXT)
    return str(best)


class Assembly:
    """A text put together block by block, knowing the exact span of each."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.length = 0
        self._parts: list[str] = []

    def add(self, kind: str, text: str, joined_by: str = "\n\n") -> Block:
        """Append a block after the joiner (nothing before the first) and give back its span."""
        self.append(joined_by if self.length else "")
        block = Block(kind, self.length, self.length + len(text))
        self.append(text)
        self.blocks.append(block)
        return block

    def append(self, text: str) -> None:
        """Append text that belongs to no block."""
        self._parts.append(text)
        self.length += len(text)

    def extend_last(self, text: str, dropping: int = 0) -> None:
        """Append text to the last block, in place of its last ``dropping`` characters."""
        if dropping:
            self._parts[-1] = self._parts[-1][:-dropping]
            self.length -= dropping
        self.append(text)
        last = self.blocks[-1]
        self.blocks[-1] = Block(last.kind, last.start, self.length)

    @property
    def text(self) -> str:
        """Everything appended so far."""
        return "".join(self._parts)


def tidy(text: str) -> str:
    """The text with single blanks in its lines and at most one blank line in a row."""
    lines = "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
    return re.sub(r"\n{3,}", "\n\n", lines)


def one_block(text: str) -> str:
    """The text without blank lines, which would part it into paragraphs."""
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def some(places: Sequence[str], most: int = 20) -> str:
    """The places in a row, only the first where there are many."""
    more = len(places) - most
    return ", ".join(places[:most]) + (f" and {more} more" if more > 0 else "")


def markdown_grid(header: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table of rows of cells of one line each; several header rows become one; "" where all are empty."""
    header, body = [list(row) for row in header], [list(row) for row in body]
    if not any(map(any, [*header, *body])):
        return ""
    if not header:
        header.append(body.pop(0))
    columns = max(map(len, [*header, *body]))
    names = [" ".join(dict.fromkeys(filter(None, column))) for column in zip_longest(*header, fillvalue="")]
    lines = [_table_line(names, columns), "|" + "---|" * columns, *(_table_line(row, columns) for row in body)]
    return "\n".join(lines)


def _table_line(row: list[str], columns: int) -> str:
    cells = [cell.replace("|", "\\|") for cell in row]
    return "| " + " | ".join(cells + [""] * (min(columns, MAX_PADDED_COLUMNS) - len(row))) + " |"


def heading_paths(headings: Iterable[tuple[int, int, str]]) -> list[tuple[int, tuple[str, ...]]]:
    """(start, path) for each (start, level, title): a heading lies under the nearest one before it of a lower level."""
    stack: list[tuple[int, str]] = []
    paths = []
    for start, level, title in headings:
        while stack and stack[-1][0] >= level:
            stack.pop()
        stack.append((level, title))
        paths.append((start, tuple(entry[1] for entry in stack)))
    return paths


def sections_from(text: str, marks: Iterable[tuple[int, tuple[str, ...]]]) -> tuple[Section, ...]:
    """Sections that begin at the (start, path) marks and cover the whole text; none where there are no marks.

    What stands before the first mark is a section of its own with an empty path, unless it is blank. Of marks at one
    place the last stands: the deepest of headings that begin together.
    """
    marks = list(dict(marks).items())
    if not marks:
        return ()
    if text[: marks[0][0]].strip():
        marks.insert(0, (0, ()))
    starts = [0, *(start for start, _ in marks[1:])]
    ends = [*starts[1:], len(text)]
    return tuple(Section(path, start, end) for (_, path), start, end in zip(marks, starts, ends))


def paragraphs(text: str) -> Iterable[tuple[int, int]]:
    """The spans of the runs of lines that blank lines part, without blank space at their edges."""
    for match in re.finditer(r"\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*", text):
        yield match.start(), match.start() + len(match.group().rstrip())
