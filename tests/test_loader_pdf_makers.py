"""PDFs of several makers, read as pdftotext and pypdf read them: the same words, and bookmarks on the same pages.

Chromium, groff and Ghostscript make theirs where they are installed, as they are where the tests run for everyone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph

from rag.environment import SAMPLES_FOLDER
from tests.browser.conftest import CHROMIUMS, FLAGS
from tests.compare_pdftotext import compare
from tests.loader_support import BODY, blocks, outlined, story, table

ROWS = [
    ["Firing", "Heat", "Remark"],
    ["Bisque", "960 °C", "Slowly up to 600 °C, because the water bound in the clay leaves it at this stage"],
    ["Glaze", "1,240 °C", "Hold for ten minutes"],
    ["Raku", "980 °C", "Outdoors"],
]
MARKDOWN = "\n".join(["| Firing | Heat | Remark |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in ROWS[1:])])
SUBJECTS = ["loading", "firing", "cooling", "unloading"]
CHROMIUM = os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, CHROMIUMS)), None)
TITLES = [f"The {subject} of a kiln" for subject in SUBJECTS]


def paragraphs(subject: str) -> list[str]:
    return [
        f"Well-known mistakes in the {subject} of a kiln number {number} and more; considerable experience with "
        f"{'very ' * (number % 5)}different temperatures, and efficient maintenance, are what helps against them. "
        f"In the {number}th week, office staff find a fifth of the shelves cracked."
        for number in range(3, 20)
    ]


def by_reportlab(folder: Path) -> Path:
    large = ParagraphStyle("large", parent=BODY, fontSize=16, leading=20)
    flowables: list[object] = []
    for title, subject in zip(TITLES, SUBJECTS):
        flowables += [Paragraph(title, large), *paragraphs(subject)]
    path = folder / "reportlab.pdf"
    path.write_bytes(story(*flowables, table(ROWS, [60, 60, 170])))
    return path


def by_chromium(folder: Path) -> Path:
    cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in ROWS]
    body = "".join(
        f"<h1>{title}</h1>" + "".join(f"<p>{text}</p>" for text in paragraphs(subject))
        for title, subject in zip(TITLES, SUBJECTS)
    )
    style = "td { vertical-align: middle; padding: 4px 12px; max-width: 200px } p { line-height: 1.5 }"
    page = folder / "guide.html"
    rows = "".join(f"<tr>{row}</tr>" for row in cells)
    page.write_text(f"<html lang=en><meta charset=utf-8><style>{style}</style>{body}<table>{rows}</table>", "utf-8")
    path = folder / "chromium.pdf"
    options = ["--headless", *FLAGS, f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={path}"]
    options += ["--generate-pdf-document-outline", page.as_uri()]
    subprocess.run([CHROMIUM, *options], check=True, capture_output=True, timeout=120)
    return path


def _troff() -> bytes:
    lines = [".TL", "A guide to kilns"]
    for title, subject in zip(TITLES, SUBJECTS):
        lines += [".NH 1", title, f".pdfhref O 1 {title}"]
        for text in paragraphs(subject):
            lines += [".LP", text]
    cells = [row[:-1] + ["T{\n" + row[-1] + "\nT}"] for row in ROWS]
    lines += [".TS", "tab(@);", "l l lw(2i).", *("@".join(row) for row in cells), ".TE"]
    return "\n".join(lines).encode("utf-8")


def by_groff(folder: Path) -> Path:
    path = folder / "groff.pdf"
    path.write_bytes(_run(["groff", "-k", "-t", "-ms", "-mpdfmark", "-Tpdf"], _troff()))
    return path


def by_ghostscript(folder: Path) -> Path:
    path = folder / "ghostscript.pdf"
    text = _troff().replace(b".pdfhref", b'.\\" ')
    path.write_bytes(_run(["ps2pdf", "-", "-"], _run(["groff", "-k", "-t", "-ms", "-Tps"], text)))
    return path


def _run(command: list[str], data: bytes) -> bytes:
    return subprocess.run(command, input=data, check=True, capture_output=True, timeout=120).stdout


MAKERS: dict[str, Callable[[Path], Path]] = {
    "reportlab": by_reportlab,
    **({"chromium": by_chromium} if CHROMIUM else {}),
    **({"groff": by_groff} if shutil.which("gropdf") else {}),
    # PDFium, which stands in for pdftotext where that is not installed, glues some words of Ghostscript's.
    **({"ghostscript": by_ghostscript} if all(map(shutil.which, ("gropdf", "ps2pdf", "pdftotext"))) else {}),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_words_and_bookmarks_are_those_of_other_programs(maker: str, tmp_path: Path) -> None:
    result = compare(MAKERS[maker](tmp_path))
    assert result.words > 2000 and result.recall >= 0.999, result.missing.most_common(20)
    assert result.displaced == ()
    assert result.bookmarks == (len(TITLES) if maker in ("chromium", "groff") else 0)


@pytest.mark.parametrize("maker", MAKERS)
def test_paragraphs_headings_and_tables_are_whole(maker: str, tmp_path: Path) -> None:
    document = compare(MAKERS[maker](tmp_path)).document
    told = blocks(document, "paragraph")
    for subject in SUBJECTS:
        assert [text for text in paragraphs(subject) if text not in told] == []
    found = [heading for heading in blocks(document, "heading") if heading.endswith("of a kiln")]
    assert [heading.lstrip("1234567890. ") for heading in found] == TITLES
    assert blocks(document, "table") == [MARKDOWN]


def test_the_shipped_manual_has_the_words_and_bookmarks_of_other_programs() -> None:
    result = compare(SAMPLES_FOLDER / "lapwing-owners-manual.pdf")
    assert result.words > 35_000 and result.recall >= 0.999, result.missing.most_common(20)
    assert result.bookmarks == 126 and result.displaced == ()


def test_a_word_or_a_page_that_is_lost_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What compares can fail."""
    from tests import compare_pdftotext

    path = by_reportlab(tmp_path)
    path.write_bytes(outlined(path.read_bytes(), (1, "Lost", 2, None)))
    whole = compare_pdftotext.load(path)
    cut = whole.text.replace("considerable", "consider able", 30)
    monkeypatch.setattr(compare_pdftotext, "load", lambda _: replace(whole, text=cut, sections=()))
    result = compare(path)
    # Those in lines that come back at the edges of pages are not counted.
    assert set(result.missing) == {"considerable"} and 20 < result.missing["considerable"] <= 30
    assert result.displaced == ("Lost (page 3)",)
