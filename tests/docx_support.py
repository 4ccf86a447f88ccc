"""Word files made for a test, part by part, in the XML that Word writes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NAMES = (
    f'xmlns:w="{W}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def part(root: str, inside: str) -> str:
    """An XML part with the names it needs."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {NAMES}>{inside}</w:{root}>'


def relations(*kinds_and_targets: tuple[str, str]) -> str:
    """The part that lists what another part refers to."""
    entries = "".join(
        f'<Relationship Id="r{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(kinds_and_targets)
    )
    name = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{name}">{entries}</Relationships>'


def word(body: str, more: Mapping[str, str | bytes] | None = None, **parts: str) -> bytes:
    """A DOCX of the body's XML; ``parts`` are the insides of styles, numbering, footnotes and endnotes."""
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations(("officeDocument", "word/document.xml")),
        "word/document.xml": part("document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relations(*((name, f"{name}.xml") for name in parts), ("image", "NULL")),
    }
    members |= {f"word/{name}.xml": part(name, inside) for name, inside in parts.items()}
    return zipped(members | dict(more or {}))


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of the members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def paragraph(text: str, style: str = "", properties: str = "", run: str = "") -> str:
    """A paragraph of one run, or of the runs given where the text begins with an element."""
    runs = text if text.startswith("<") else f'<w:r><w:rPr>{run}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{properties}</w:pPr>{runs}</w:p>"


def cell(inside: str, properties: str = "") -> str:
    """A cell of one paragraph, or of the elements given."""
    inside = inside if inside.startswith("<") else paragraph(inside)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def rows(*lines: list[str] | str) -> str:
    """A table of rows of cells; a row may be given as XML."""
    made = (line if isinstance(line, str) else f"<w:tr>{''.join(map(_as_cell, line))}</w:tr>" for line in lines)
    return f"<w:tbl><w:tblPr/>{''.join(made)}</w:tbl>"


def _as_cell(inside: str) -> str:
    return inside if inside.startswith("<w:tc>") else cell(inside)


def style(style_id: str, name: str, properties: str = "", based_on: str = "", kind: str = "paragraph") -> str:
    """A style."""
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="{kind}" w:styleId="{style_id}"><w:name w:val="{name}"/>{base}{properties}</w:style>'


def numbered(number: int, level: int = 0) -> str:
    """The properties of a paragraph in a list."""
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


def numbering(*lists: list[tuple[str, str]], starts: Mapping[int, tuple[int, int]] | None = None) -> str:
    """Lists of (format, text) for each level; ``starts`` gives further lists: number to (its list, where it starts)."""
    levels = "".join(
        f'<w:abstractNum w:abstractNumId="{number}">'
        + "".join(
            f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
            for level, (kind, text) in enumerate(one)
        )
        + "</w:abstractNum>"
        for number, one in enumerate(lists, start=1)
    )
    numbers = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>' for number in range(1, len(lists) + 1)
    )
    numbers += "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{of}"/>'
        f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{start}"/></w:lvlOverride></w:num>'
        for number, (of, start) in (starts or {}).items()
    )
    return levels + numbers
