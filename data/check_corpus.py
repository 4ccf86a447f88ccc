"""Check the size of the sample corpus and list sentences that repeat too often."""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pypdf import PdfReader

HERE = Path(__file__).resolve().parent
SAMPLES = HERE / "samples"
PDF = SAMPLES / "lapwing-owners-manual.pdf"
RUN, LIMIT = 8, 2
MINIMUM = {"pages": 80, "sections": 60, "words": 25_000}


class _Prose(HTMLParser):
    """Collect the text of an HTML page by block, without tables and headings."""

    skipped = {"table", "h1", "h2", "h3", "h4", "h5", "h6", "head", "script", "style", "nav"}
    blocks = {"p", "li", "div", "section", "dd", "dt", "ul", "ol", "body", "aside", "br", "article"}

    def __init__(self) -> None:
        """Start with one empty block."""
        super().__init__()
        self.depth = 0
        self.parts = [""]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Enter a skipped element or open a block."""
        self.depth += tag in self.skipped
        if tag in self.blocks | self.skipped:
            self.parts.append("")

    def handle_endtag(self, tag: str) -> None:
        """Leave a skipped element or close a block."""
        self.depth -= tag in self.skipped
        if tag in self.blocks | self.skipped:
            self.parts.append("")

    def handle_data(self, data: str) -> None:
        """Keep text outside skipped elements."""
        if not self.depth:
            self.parts[-1] += data


def _lines_to_blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and list items of a Markdown-like text, without tables and headings."""
    block = ""
    for line in [*text.splitlines(), ""]:
        line = line.strip()
        plain = bool(line) and not line.startswith(("#", "|", "Table:"))
        if block and (not plain or re.match(r"[-*>] |\d+\. ", line)):
            yield block
            block = ""
        if plain:
            block += " " + re.sub(r"^([-*>] |\d+\. )", "", line)


def _chat_blocks(text: str) -> Iterator[str]:
    """Yield chat messages without speaker names and timestamps."""
    for line in text.splitlines():
        line = re.sub(r"^\W*\d{4}-\d\d-\d\d[T ]?", "", line.strip())
        line = re.sub(r"^\W*\d{1,2}:\d\d(:\d\d)?\W*", "", line)
        yield re.sub(r"^\W*(\d\d:\d\d\W*)?(Customer|Agent)\b[^:]*:", "", line)


def blocks(path: Path) -> Iterator[str]:
    """Yield the stretches of prose in one corpus file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        for row in csv.reader(text.splitlines(keepends=True)):
            yield from row
    elif path.suffix == ".html":
        parser = _Prose()
        parser.feed(text)
        yield from parser.parts
    elif path.name == "support-chats.txt":
        yield from _chat_blocks(text)
    else:
        yield from _lines_to_blocks(text)


def words_of(text: str) -> list[str]:
    """Return the lower-cased words of a text without punctuation."""
    return re.sub(r"[^\w\s]", "", text.lower().replace("-", " ")).split()


def repeats(paths: list[Path]) -> dict[str, list[str]]:
    """Return each run of words that stands in more places than allowed."""
    seen: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for block in blocks(path):
            words = words_of(block)
            for start in range(len(words) - RUN + 1):
                seen[" ".join(words[start : start + RUN])].append(path.name)
    return {run: places for run, places in seen.items() if len(places) > LIMIT}


def _outline_size(entries: list[Any]) -> int:
    """Return the number of entries in a nested outline."""
    return sum(_outline_size(e) if isinstance(e, list) else 1 for e in entries)


def main() -> int:
    """Print the counts and repeats and return 1 if the corpus falls short."""
    manual = sorted((HERE / "manual").glob("*.txt"))
    names = ["faq.csv", "release-notes.md", "service-guide.html", "support-chats.txt"]
    companions = [SAMPLES / name for name in names if (SAMPLES / name).exists()]
    texts = {path: path.read_text(encoding="utf-8") for path in manual}
    reader = PdfReader(PDF)
    counts = {
        "pages": len(reader.pages),
        "sections": sum(len(re.findall(r"^#{2,3} ", t, re.M)) for t in texts.values()),
        "words": sum(len(re.findall(r"\w[\w'.,%°/-]*", t)) for t in texts.values()),
    }
    for path, text in texts.items():
        print(f"{path.name}: {len(text.split()):,} words")
    for path in companions:
        print(f"{path.name}: {len(path.read_text(encoding='utf-8').split()):,} words")
    print(*(f"{name}: {count:,}" for name, count in counts.items()), sep="\n")
    print(f"outline entries: {_outline_size(reader.outline)}")
    found = repeats([*manual, *companions])
    for run, places in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"repeat ×{len(places)}: {run} [{', '.join(sorted(set(places)))}]")
    short = [name for name, least in MINIMUM.items() if counts[name] < least]
    for name in short:
        print(f"too few {name}: {counts[name]:,} of {MINIMUM[name]:,}")
    return 1 if found or short else 0


if __name__ == "__main__":
    sys.exit(main())
