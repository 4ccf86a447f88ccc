"""How the PDF loader compares with pdftotext (poppler-utils) and pypdf: ``python -m tests.compare_pdftotext FILE...``.

Prints a table: pages, pages a second of processor time, words, word recall, and how many bookmarks begin on the page
that pypdf says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
from pypdf import PdfReader

from rag.errors import LoadError
from rag.loaders import load
from rag.schema import Document

EDGE_LINES = 3
LINE_END = re.compile(r"(\w)[-\u00ad\u2010]\s*\n\s*(\w)")
NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One file: words of pdftotext's and those that the loader has too; bookmarks, and those on the right page."""

    pages: int
    seconds: float
    words: int
    missing: Counter[str]
    bookmarks: int
    displaced: tuple[str, ...]
    document: Document

    @property
    def recall(self) -> float:
        """The share of pdftotext's words that the loader has too, from 0 to 1."""
        return 1 - sum(self.missing.values()) / max(1, self.words)


def _pages_read(path: Path) -> list[str]:
    """The text of each page by pdftotext, or by PDFium where that is not installed."""
    if shutil.which("pdftotext"):
        result = subprocess.run(["pdftotext", "-enc", "UTF-8", str(path), "-"], check=True, capture_output=True)
        return result.stdout.decode("utf-8", "replace").split("\f")
    # PDFium marks a hyphen at a line's end by U+FFFE.
    return [
        page.get_textpage().get_text_range().replace("\r\n", "\n").replace("\ufffe", "-\n")
        for page in pypdfium2.PdfDocument(path)
    ]


def compare(path: Path) -> Comparison:
    """The loader's reading of a file beside that of pdftotext and pypdf. Raises LoadError."""
    start = time.process_time()
    document = load(path)
    seconds = time.process_time() - start
    theirs = "\n".join(_without_running_lines(_pages_read(path)))
    hyphenated = {_word(old): _word(new) for old, new in _line_ends(theirs)}
    wanted, found = _words(LINE_END.sub(r"\1\2", theirs)), _words(document.text)
    missing = wanted - found
    # A compound that was broken at its own hyphen keeps it.
    spare = found - wanted
    for joined, compound in hyphenated.items():
        both = min(missing[joined], spare[compound])
        missing[joined] -= both
    bookmarks = list(_bookmarks(PdfReader(path)))
    begun = {(_folded(title), section.page_start) for section in document.sections for title in section.path}
    displaced = [f"{title} (page {page})" for title, page in bookmarks if (_folded(title), page) not in begun]
    return Comparison(
        len(document.pages), seconds, sum(wanted.values()), +missing, len(bookmarks), tuple(displaced), document
    )


def _line_ends(text: str) -> Iterator[tuple[str, str]]:
    """(joined, compound) for each word that a line's end parts."""
    for match in re.finditer(r"(\S*\w)[-\u00ad\u2010]\s*\n\s*(\w\S*)", text):
        yield match.group(1) + match.group(2), f"{match.group(1)}-{match.group(2)}"


def _word(token: str) -> str:
    return EDGES.sub("", unicodedata.normalize("NFKC", token))


def _words(text: str) -> Counter[str]:
    """The words of a text, by blank space, without what is no letter or digit at their ends."""
    words = Counter(map(_word, text.replace("\\|", "|").replace("|", " ").split()))
    del words[""]
    return words


def _without_running_lines(pages: Sequence[str]) -> Iterator[str]:
    """The pages without lines at their top and bottom that come back, but for their numbers, or are a number alone."""
    split = [[line for line in page.split("\n") if line.strip()] for page in pages]
    alike = [[NUMBER.sub("#", line).strip(" -–—.|") for line in lines] for lines in split]
    seen = Counter(text for page in alike for text in {*page[:EDGE_LINES], *page[-EDGE_LINES:]})
    for lines, texts in zip(split, alike):
        edge = {*range(len(lines))[:EDGE_LINES], *range(len(lines))[-EDGE_LINES:]}
        running = {number for number in edge if seen[texts[number]] > 2 or texts[number] == "#"}
        yield "\n".join(line for number, line in enumerate(lines) if number not in running)


def _bookmarks(reader: PdfReader) -> Iterator[tuple[str, int]]:
    """(title, sheet from 1) of each bookmark whose page pypdf knows."""
    waiting: list[Any] = [reader.outline]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting = [*item, *waiting]
        elif (number := reader.get_destination_page_number(item)) is not None and number >= 0 and item.title.strip():
            yield item.title, number + 1


def _folded(title: str) -> str:
    return " ".join(title.replace("\x00", "").split())


def main(names: Sequence[str]) -> None:
    """Print a row for each file, and what its words lack."""
    print(
        "| file | maker | pages | pages/s | words | recall % | bookmarks on their page |\n|---|---|--:|--:|--:|--:|--:|"
    )
    for path in map(Path, names):
        try:
            result = compare(path)
        except LoadError as error:
            print(f"| {path.name} | {error.reason} |")
            continue
        maker = str((PdfReader(path).metadata or {}).get("/Producer", "-"))[:40]
        right = result.bookmarks - len(result.displaced)
        print(
            f"| {path.name} | {maker} | {result.pages} | {result.pages / result.seconds:.0f} | {result.words} "
            f"| {100 * result.recall:.2f} | {right} of {result.bookmarks} |"
        )
        print("  ", result.missing.most_common(12), result.displaced[:4], result.document.notices, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
