"""Build the sample owner's manual PDF from the chapter files in data/manual."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor, white
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import BaseDocTemplate, CondPageBreak, Flowable, Frame, NextPageTemplate, PageBreak

# isort: split
from reportlab.platypus import PageTemplate, Paragraph, Spacer, Table, TableStyle
from reportlab.platypus.tableofcontents import TableOfContents

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "manual"
OUTPUT = HERE / "samples" / "lapwing-owners-manual.pdf"
TITLE = "Marlow Lapwing Owner's Manual"
EDITION = "Model years 2024 on. Software Plover 5.2."

INK = HexColor("#1d2733")
ACCENT = HexColor("#0f5c63")
RULE = HexColor("#b8c4c9")
BAND = HexColor("#f2f6f7")
BOXES = {
    "WARNING": (HexColor("#b3261e"), HexColor("#fdeeed")),
    "CAUTION": (HexColor("#b26a00"), HexColor("#fff5e5")),
    "NOTE": (HexColor("#0f5c63"), HexColor("#eaf4f4")),
}
WIDTH, HEIGHT = A5
MARGIN = 15 * mm
TEXT_WIDTH = WIDTH - 2 * MARGIN
LONG_TABLE = 14  # source lines; a longer table may start low on a page and split


def _style(name: str, size: float, leading: float, **extra: Any) -> ParagraphStyle:
    """Return a left-aligned paragraph style in the manual's ink colour."""
    settings = {"fontName": "Helvetica", "textColor": INK, "alignment": TA_LEFT, **extra}
    return ParagraphStyle(name, fontSize=size, leading=leading, **settings)


BOLD = "Helvetica-Bold"
BODY = _style("body", 9.6, 12.8, spaceAfter=8)
ITEM = _style("item", 9.6, 12.8, spaceAfter=4, leftIndent=15, bulletIndent=2)
STEP = ParagraphStyle("step", parent=ITEM, leftIndent=20, bulletFontSize=9.6)
LEAD_IN = ParagraphStyle("lead-in", parent=BODY, spaceAfter=4.5, keepWithNext=1)
CAPTION = _style("caption", 9, 12, fontName=BOLD, spaceBefore=4, spaceAfter=4, keepWithNext=1)
CELL = _style("cell", 8.3, 10.4)
CELL_HEAD = _style("cell-head", 8.3, 10.4, fontName=BOLD, textColor=white)
BOX_TEXT = _style("box", 9.2, 12.2)
TOP: dict[str, Any] = {"fontName": BOLD, "textColor": ACCENT, "keepWithNext": 1}
HEADINGS = [
    _style("h1", 22, 27, spaceAfter=16, **TOP),
    _style("h2", 14.5, 18, spaceBefore=12, spaceAfter=7, **TOP),
    _style("h3", 11.5, 15, spaceBefore=9, spaceAfter=5, **{**TOP, "textColor": INK}),
]
TOC_STYLES = [
    _style("toc1", 10.5, 14, fontName=BOLD, spaceBefore=8),
    _style("toc2", 9.5, 12.8, leftIndent=10),
    _style("toc3", 9, 12, leftIndent=24),
]


class Heading(Paragraph):
    """A heading that bookmarks its own position and joins the PDF outline."""

    def __init__(self, text: str, level: int, in_contents: bool = True) -> None:
        """Remember the outline level and the plain title."""
        super().__init__(escape(text), HEADINGS[level])
        self.title, self.level, self.in_contents = text, level, in_contents
        self.key = "s-" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

    def draw(self) -> None:
        """Draw the heading and record its bookmark and outline entry."""
        self.canv.bookmarkHorizontal(self.key, 0, self.height + 6)
        self.canv.addOutlineEntry(self.title, self.key, level=self.level, closed=self.level > 0)
        super().draw()


class ManualTemplate(BaseDocTemplate):
    """A document template that feeds headings to the table of contents."""

    def afterFlowable(self, flowable: Flowable) -> None:
        """Report each heading and its page to the table of contents."""
        if isinstance(flowable, Heading) and flowable.in_contents:
            entry = (flowable.level, escape(flowable.title), self.page, flowable.key)
            self.notify("TOCEntry", entry)


def _inline(text: str) -> str:
    """Return text escaped for a paragraph after checking that the fonts hold it."""
    try:
        text.encode("cp1252")
    except UnicodeEncodeError as error:
        bad = text[error.start]
        raise SystemExit(f"character {bad!r} is not in the manual's fonts: {text[:60]}") from None
    return escape(text)


def _blocks(source: str) -> Iterator[tuple[str, Any]]:
    """Yield (kind, content) pairs for the blocks of one chapter file."""
    start = re.compile(r"(#{1,3}) |(- )|(\d+)\. |> |\||Table: ")
    kind, lines = "", []
    for raw in [*source.splitlines(), ""]:
        line = raw.strip()
        if not line:
            new = ""
        elif not (match := start.match(line)):
            new = kind if kind in {"text", "bullet", "step", "box"} else "text"
        elif match.group(3):
            new = "step"
        else:
            kinds = {"#": "heading", "-": "bullet", ">": "box", "|": "table", "T": "caption"}
            new = kinds[line[0]]
        opens = bool(line) and bool(start.match(line)) and new != "table"
        if opens and new == "box" and kind == "box":
            opens = bool(re.match(r"> (WARNING|CAUTION|NOTE):", line))
        if lines and (new != kind or opens):
            yield kind, lines if kind == "table" else " ".join(lines)
            lines = []
        kind = new
        if line:
            lines.append(line.lstrip("> ") if new == "box" else line)


def _cells(row: str) -> list[str]:
    """Return the stripped cells of one pipe-table row."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _widths(rows: list[list[str]]) -> list[float]:
    """Return column widths that fit the longest word and share the rest by content."""
    minimum, wanted = [], []
    for column in zip(*rows):
        words = [word for cell in column for word in cell.split()] or [""]
        minimum.append(max(stringWidth(word, BOLD, CELL.fontSize) for word in words) + 9)
        wanted.append(max(stringWidth(cell, BOLD, CELL.fontSize) for cell in column) + 9)
    if sum(wanted) <= TEXT_WIDTH:
        spare = (TEXT_WIDTH - sum(wanted)) / len(wanted)
        return [width + spare for width in wanted]
    spare = TEXT_WIDTH - sum(minimum)
    if spare < 0:
        return [width * TEXT_WIDTH / sum(minimum) for width in minimum]
    extra = [(want - low) ** 0.75 for want, low in zip(wanted, minimum)]
    total = sum(extra) or 1
    return [low + spare * more / total for low, more in zip(minimum, extra)]


def _padding(left: float, right: float, top: float, bottom: float) -> list[Any]:
    """Return the table style commands that set the padding of all cells."""
    sides = {"LEFT": left, "RIGHT": right, "TOP": top, "BOTTOM": bottom}
    return [(f"{side}PADDING", (0, 0), (-1, -1), size) for side, size in sides.items()]


def _table(lines: list[str]) -> Table:
    """Return a drawn table with a header row that repeats on each page."""
    rows = [_cells(line) for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
    columns = len(rows[0])
    bad = [row for row in rows if len(row) != columns]
    if bad:
        raise SystemExit(f"table row has {len(bad[0])} cells, not {columns}: {bad[0]}")
    drawn = [[Paragraph(_inline(cell), CELL if index else CELL_HEAD) for cell in row] for index, row in enumerate(rows)]
    table = Table(drawn, colWidths=_widths(rows), repeatRows=1, hAlign="LEFT", spaceAfter=12)
    colours: list[Any] = [
        ("BACKGROUND", (0, 0), (-1, 0), ACCENT),
        ("ROWBACKGROUNDS", (0, 1), (-1, -1), [white, BAND]),
        ("GRID", (0, 0), (-1, -1), 0.4, RULE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
    table.setStyle(TableStyle([*colours, *_padding(4, 4, 2.5, 3.5)]))
    return table


def _box(text: str) -> Table:
    """Return a tinted warning, caution or note box."""
    label, _, rest = text.partition(":")
    edge, tint = BOXES.get(label, BOXES["NOTE"])
    head = ParagraphStyle("box-head", parent=BOX_TEXT, fontName=BOLD, textColor=edge, spaceAfter=2)
    content = [Paragraph(_inline(label), head), Paragraph(_inline(rest.strip()), BOX_TEXT)]
    box = Table([[content]], colWidths=[TEXT_WIDTH], spaceBefore=2, spaceAfter=11)
    fill, bar = ("BACKGROUND", (0, 0), (-1, -1), tint), ("LINEBEFORE", (0, 0), (0, -1), 3, edge)
    box.setStyle(TableStyle([fill, bar, *_padding(9, 7, 5, 7)]))
    return box


def _chapter(source: str) -> list[Flowable]:
    """Return the flowables of one chapter."""
    story: list[Flowable] = [PageBreak()]
    blocks = list(_blocks(source))
    for (kind, content), (following, after) in zip(blocks, [*blocks[1:], ("", "")]):
        if kind == "heading":
            marks, _, title = content.partition(" ")
            story.append(Heading(title, len(marks) - 1))
        elif kind in {"bullet", "step"}:
            mark, _, text = content.partition(" ")
            style, mark = (ITEM, "\u2022") if kind == "bullet" else (STEP, mark)
            story.append(Paragraph(_inline(text), style, bulletText=mark))
            if following != kind:
                story.append(Spacer(1, 5.5))
        elif kind in {"table", "box"}:
            story.append(_table(content) if kind == "table" else _box(content))
        elif kind == "caption":
            if long_table := following == "table" and len(after) > LONG_TABLE:
                at = len(story) - isinstance(story[-1], Heading)
                story.insert(at, CondPageBreak(65 * mm))
            style = ParagraphStyle("caption-free", parent=CAPTION, keepWithNext=not long_table)
            story.append(Paragraph(_inline(content), style))
        elif kind == "text":
            leads = following in {"bullet", "step"} and content.endswith(":")
            story.append(Paragraph(_inline(content), LEAD_IN if leads else BODY))
    return story


def _front() -> list[Flowable]:
    """Return the title page and the table of contents."""
    big = _style("title", 34, 40, fontName=BOLD, textColor=ACCENT)
    middle = _style("subtitle", 18, 24)
    tight = TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *_padding(0, 0, 0.5, 1)])
    contents = TableOfContents(levelStyles=TOC_STYLES, dotsMinLevel=0, tableStyle=tight)
    return [
        Spacer(1, 52 * mm),
        Paragraph("Marlow Lapwing", big),
        Spacer(1, 3 * mm),
        Paragraph("Owner's Manual", middle),
        Spacer(1, 10 * mm),
        Paragraph("Standard \u2013 Long Range \u2013 Touring AWD", BODY),
        Paragraph(EDITION, BODY),
        Spacer(1, 50 * mm),
        Paragraph(
            "Keep this book in the car. The Marlow Lapwing and Marlow Motors are fictional; "
            "this manual was written as sample data and describes no real vehicle.",
            CELL,
        ),
        NextPageTemplate("pages"),
        PageBreak(),
        Heading("Contents", 0, in_contents=False),
        contents,
    ]


def _decorate(canvas: Any, document: BaseDocTemplate) -> None:
    """Draw the running header and the page number."""
    canvas.saveState()
    canvas.setStrokeColor(RULE)
    canvas.setFillColor(HexColor("#5b6770"))
    canvas.setFont("Helvetica", 8)
    canvas.drawString(MARGIN, HEIGHT - 11 * mm, TITLE)
    canvas.line(MARGIN, HEIGHT - 13 * mm, WIDTH - MARGIN, HEIGHT - 13 * mm)
    canvas.drawCentredString(WIDTH / 2, 9 * mm, str(document.page))
    canvas.restoreState()


def build() -> bytes:
    """Return the bytes of the manual, the same each time for the same sources."""
    target = io.BytesIO()
    document = ManualTemplate(
        target, pagesize=A5, title=TITLE, author="Marlow Motors", subject=EDITION,
        invariant=1, pageCompression=0, displayDocTitle=True, lang="en-GB",
    )  # fmt: skip
    frame = Frame(MARGIN, 15 * mm, TEXT_WIDTH, HEIGHT - 32 * mm, 0, 0, 0, 0)
    document.addPageTemplates([PageTemplate("title", [frame]), PageTemplate("pages", [frame], onPage=_decorate)])
    story = _front()
    for path in sorted(SOURCE.glob("*.txt")):
        story.extend(_chapter(path.read_text(encoding="utf-8")))
    document.multiBuild(story)
    return target.getvalue()


def main(arguments: list[str] | None = None) -> int:
    """Write the manual, or with --check compare it with the committed file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the PDF is out of date")
    check = parser.parse_args(arguments).check
    fresh = build()
    if check:
        same = OUTPUT.exists() and OUTPUT.read_bytes() == fresh
        print("up to date" if same else f"{OUTPUT.name} differs from a rebuild", file=sys.stderr)
        return 0 if same else 1
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_bytes(fresh)
    print(f"wrote {OUTPUT.name}: {len(fresh):,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
