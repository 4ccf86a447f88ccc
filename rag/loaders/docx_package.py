"""The parts of a Word file that hold its words, read from the zip archive that it is, within limits."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from rag.errors import LoadError

# An element of the XML tree; lxml's classes are made on demand and have no name of their own.
Element = Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
TITLE = "{http://purl.org/dc/elements/1.1/}title"
MAX_UNPACKED_MEGABYTES = 50
OLE_START = b"\xd0\xcf\x11\xe0"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
NOT_WORD = "not a Word document"
DAMAGED = "a damaged Word document"
PASSWORD = "needs a password"
# "Strict" files use other names for the same elements.
STRICT_NAMES = (
    (rb"http://purl.oclc.org/ooxml/wordprocessingml/main", W[1:-1].encode()),
    (
        rb"http://purl.oclc.org/ooxml/officeDocument/math",
        b"http://schemas.openxmlformats.org/officeDocument/2006/math",
    ),
)
# What the standard library raises for archives that are damaged, or packed in a way it cannot read.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    UnicodeError,
    ValueError,
)


@dataclass(frozen=True)
class Package:
    """The roots of the parts; None for a part that the file does not have."""

    document: Element
    styles: Element | None
    numbering: Element | None
    footnotes: Element | None
    endnotes: Element | None
    title: str


def open_package(data: bytes, name: str) -> Package:
    """The parts of the file. Raises LoadError where it is encrypted, damaged, too large, or no Word document."""
    if data.startswith(OLE_START):
        is_encrypted = ENCRYPTED in data
        raise LoadError(name, PASSWORD if is_encrypted else "an old Word document; open it in Word and save it as DOCX")
    if not data.startswith(b"PK"):
        raise LoadError(name, NOT_WORD)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(_Archive(archive, name))
    except ZIP_ERRORS as error:
        raise LoadError(name, DAMAGED) from error


def _read(archive: _Archive) -> Package:
    top = archive.relations("")
    place = top.get("officeDocument", "word/document.xml")
    document = archive.tree(place)
    if document is None or document.tag != W + "document":
        raise LoadError(archive.name, NOT_WORD)
    related = archive.relations(place)
    parts = [archive.tree(related.get(kind)) for kind in ("styles", "numbering", "footnotes", "endnotes")]
    core = archive.tree(top.get("core-properties"))
    titles = [] if core is None else [element.text or "" for element in core.iter(TITLE)]
    return Package(document, *parts, title=" ".join("".join(titles[:1]).split()))


class _Archive:
    """A zip archive whose members are found in any case, and unpacked up to a limit for all together."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.name = name
        self._archive = archive
        self._members = {info.filename.replace("\\", "/").casefold(): info for info in archive.infolist()}
        self._unpacked = 0

    def bytes_of(self, place: str) -> bytes | None:
        """The bytes of one member; None where there is none. Raises LoadError where it is encrypted or too large."""
        info = self._members.get(place.casefold())
        if info is None:
            return None
        if info.flag_bits & 1:
            raise LoadError(self.name, PASSWORD)
        self._unpacked += info.file_size
        if self._unpacked > MAX_UNPACKED_MEGABYTES * 1_000_000:
            size = self._unpacked / 1_000_000
            raise LoadError(
                self.name, f"too large when unpacked ({size:.0f} MB of text; the limit is {MAX_UNPACKED_MEGABYTES} MB)"
            )
        # Never more than the size that was just counted, whatever the packed bytes hold.
        return self._archive.read(info)

    def tree(self, place: str | None) -> Element | None:
        """The root of one XML part; None where there is none. Raises LoadError where it is no XML."""
        from docx.oxml.parser import parse_xml

        data = self.bytes_of(place) if place else None
        if data is None:
            return None
        for strict, usual in STRICT_NAMES:
            data = data.replace(strict, usual)
        try:
            return parse_xml(data)
        except etree.XMLSyntaxError as error:
            raise LoadError(self.name, DAMAGED) from error

    def relations(self, source: str) -> dict[str, str]:
        """The place of the first part of each kind that ``source`` names; those it names in vain do no harm."""
        folder, file = posixpath.split(source)
        tree = self.tree(posixpath.join(folder, "_rels", file + ".rels"))
        places: dict[str, str] = {}
        for relation in _elements(tree, RELATION):
            kind = relation.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
            if relation.get("TargetMode") != "External":
                places.setdefault(re.sub(r"^coreProperties$", "core-properties", kind), target.lstrip("/"))
        return places


def _elements(tree: Element | None, tag: str) -> Iterator[Element]:
    return iter(()) if tree is None else tree.iter(tag)
