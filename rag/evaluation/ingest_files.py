"""A folder of files to measure with: the samples, and texts of their shape put together from their paragraphs."""

from __future__ import annotations

import html
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag import loaders
from rag.environment import SAMPLES_FOLDER

# Of ten files that are made, so many are of each kind; as in real folders, a few are much larger than the rest.
KINDS = (".md",) * 5 + (".txt",) * 3 + (".html",) * 2
TYPICAL_BYTES, SPREAD = 60_000, 0.9
PARAGRAPHS_IN_SECTION = (2, 8)
BYTES_TO_A_COPY = 10_000_000
LONGEST_TITLE = 80
NUMBER = re.compile(r"\d+")


def write_folder(folder: Path, size: int, seed: int = 0) -> list[Path]:
    """Files of about ``size`` bytes together, the same for the same seed: to every 10 MB a copy of the samples, and
    Markdown, text and HTML whose paragraphs are the samples' with other numbers in another order.
    """
    chance = random.Random(seed)
    samples = loaders.find_files(SAMPLES_FOLDER)
    documents = [loaders.load(path) for path in samples]
    titles = sorted({section.path[-1] for document in documents for section in document.sections if section.path})
    paragraphs = [
        document.text[block.start : block.end]
        for document in documents
        for block in document.blocks
        if block.kind != "heading"
    ]
    written: list[Path] = []
    bytes_written = copies = 0
    while bytes_written < size:
        if bytes_written >= copies * BYTES_TO_A_COPY:
            copies += 1
            paths = [Path(shutil.copyfile(path, folder / f"sample-{copies:02}-{path.name}")) for path in samples]
        else:
            kind = chance.choice(KINDS)
            paths = [folder / f"made-{len(written):05}{kind}"]
            length = TYPICAL_BYTES * chance.lognormvariate(0, SPREAD)
            paths[0].write_text(made(kind, length, titles, paragraphs, chance), encoding="utf-8")
        written += paths
        bytes_written += sum(path.stat().st_size for path in paths)
    return written


def made(kind: str, length: float, titles: Sequence[str], paragraphs: Sequence[str], chance: random.Random) -> str:
    """One file's text of at least ``length`` characters, in sections of two to eight paragraphs."""
    parts: list[str] = []
    for title, section in _sections(titles, paragraphs, chance):
        if kind == ".html":
            parts += [f"<h2>{html.escape(title)}</h2>", *(f"<p>{html.escape(text)}</p>" for text in section)]
        else:
            parts += [f"## {title}" if kind == ".md" else title, *section]
        if sum(map(len, parts)) >= length:
            break
    return "\n\n".join(parts)


def _sections(
    titles: Sequence[str], paragraphs: Sequence[str], chance: random.Random
) -> Iterator[tuple[str, list[str]]]:
    while True:
        count = chance.randint(*PARAGRAPHS_IN_SECTION)
        # Another number for each, of as many digits, so that hardly two passages are alike.
        section = [NUMBER.sub(lambda found: _number(found, chance), chance.choice(paragraphs)) for _ in range(count)]
        yield chance.choice(titles)[:LONGEST_TITLE], section


def _number(found: re.Match[str], chance: random.Random) -> str:
    return str(chance.randrange(10 ** len(found.group())))
