"""Files to documents: ``load(path)``, by the loader that LOADERS names for the file's ending."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from rag.errors import LoadError, SettingsError
from rag.loaders.base import Loader
from rag.loaders.code import SUFFIXES, load_code
from rag.loaders.docling import load_docling
from rag.loaders.docx import load_docx
from rag.loaders.html import load_html
from rag.loaders.markdown import load_markdown
from rag.loaders.pdf import load_pdf
from rag.loaders.records import load_records
from rag.loaders.subtitles import load_subtitles
from rag.loaders.tables import load_table
from rag.loaders.text import load_text
from rag.schema import Document
from rag.text import is_blank

LOADERS: dict[str, Loader] = {
    ".txt": load_text,
    ".text": load_text,
    ".md": load_markdown,
    ".markdown": load_markdown,
    ".html": load_html,
    ".htm": load_html,
    ".xhtml": load_html,
    ".pdf": load_pdf,
    ".docx": load_docx,
    ".csv": load_table,
    ".tsv": load_table,
    ".jsonl": load_records,
    ".ndjson": load_records,
    ".json": load_records,
    ".srt": load_subtitles,
    ".vtt": load_subtitles,
    ".log": load_text,
    **dict.fromkeys(SUFFIXES, load_code),
}
# Ways to read a PDF; the second needs a package of its own, which is imported only then.
PDF = "pdf"
PDF_LOADERS: dict[str, Loader] = {PDF: load_pdf, "pdf:docling": load_docling}
MAX_MEGABYTES = 100
# A small file may unfold to a huge text.
MAX_CHARACTERS = 100_000_000
NO_TEXT = "no text found"
DOCUMENT_SUFFIXES = [suffix for suffix in LOADERS if suffix not in SUFFIXES]
UNSUPPORTED = f"files of this kind cannot be read; supported are {', '.join(DOCUMENT_SUFFIXES)} and source code"
SAVE_AS = {
    ".doc": "an old Word document; open it in Word and save it as DOCX",
    ".dot": "an old Word document; open it in Word and save it as DOCX",
    ".docm": "a Word document with macros; save it as DOCX",
    ".odt": "an OpenDocument text; save it as DOCX or PDF",
    ".rtf": "an RTF document; save it as DOCX or PDF",
    ".xls": "a spreadsheet; save each sheet as CSV",
    ".xlsx": "a spreadsheet; save each sheet as CSV",
    ".ods": "a spreadsheet; save each sheet as CSV",
    ".ppt": "slides; save them as PDF",
    ".pptx": "slides; save them as PDF",
    ".odp": "slides; save them as PDF",
}


def load(path: Path, name: str | None = None, source: str | None = None, pdf_loader: str = PDF) -> Document:
    """The file as a Document; ``name`` defaults to the file's name, ``source`` to its path. Raises LoadError.

    ``pdf_loader`` is one of PDF_LOADERS.
    """
    path = Path(path)
    name = name or path.name
    try:
        data = read(path, name)
    except FileNotFoundError:
        raise LoadError(name, "no such file") from None
    except OSError as error:
        raise LoadError(name, f"cannot be read ({error.strerror or error})") from None
    return parse(data, path, name, source or path.as_posix(), pdf_loader)


def read(path: Path, name: str) -> bytes:
    """The file's bytes, once kind and size are known to be right.

    Raises LoadError where the file is none that is read here, OSError where it cannot be read now.
    """
    if path.suffix.lower() not in LOADERS:
        raise LoadError(name, SAVE_AS.get(path.suffix.lower(), UNSUPPORTED))
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise LoadError(name, "not a file")
    if status.st_size > MAX_MEGABYTES * 1_000_000:
        raise LoadError(name, f"too large ({status.st_size / 1_000_000:.0f} MB; the limit is {MAX_MEGABYTES} MB)")
    return path.read_bytes()


def parse(data: bytes, path: Path, name: str, source: str, pdf_loader: str = PDF) -> Document:
    """The Document that the bytes of ``path`` hold, a PDF's by one of PDF_LOADERS. Raises LoadError."""
    if not data.strip():
        raise LoadError(name, NO_TEXT)
    if pdf_loader not in PDF_LOADERS:
        raise SettingsError(f"There is no PDF loader called {pdf_loader!r}. Choose one of: {', '.join(PDF_LOADERS)}.")
    suffix = path.suffix.lower()
    content = (PDF_LOADERS[pdf_loader] if suffix == ".pdf" else LOADERS[suffix])(data, name)
    if len(content.text) > MAX_CHARACTERS:
        raise LoadError(name, f"too much text ({len(content.text):,} characters; the limit is {MAX_CHARACTERS:,})")
    if is_blank(content.text):
        raise LoadError(name, NO_TEXT)
    return Document(
        name=name,
        source=source,
        text=content.text,
        sections=content.sections,
        pages=content.pages,
        blocks=content.blocks,
        notices=content.notices,
        format=content.format,
    )


def find_files(
    path: Path, unreadable: list[Path] | None = None, looking: Callable[[], object] = lambda: None
) -> list[Path]:
    """The supported files in a folder and the folders in it, sorted, hidden ones left out; or the file itself.

    Folders that cannot be looked into are added to ``unreadable``; ``looking`` is called before each folder, and may
    raise to end a long search. Raises LoadError where there is nothing at ``path``.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise LoadError(str(path), "no such file or folder")
        if not path.is_dir():
            return [path]
    except OSError as error:  # a name that is too long, a folder above it that is closed
        raise LoadError(str(path), f"cannot be read ({error.strerror or error})") from None
    found: list[Path] = []
    seen: set[Path] = set()

    def note(error: OSError) -> None:
        if unreadable is not None:
            unreadable.append(Path(error.filename))

    for folder, folders, names in os.walk(path, onerror=note, followlinks=True):
        looking()
        # A link may lead back to a folder above it.
        if (place := Path(folder).resolve()) in seen:
            folders.clear()
            continue
        seen.add(place)
        # Links last: what can be reached without one is known by its own path.
        folders[:] = sorted(
            (name for name in folders if not name.startswith(".")),
            key=lambda name: (os.path.islink(os.path.join(folder, name)), name),
        )
        files = [Path(folder, name) for name in names if not name.startswith(".")]
        found += [file for file in files if file.suffix.lower() in LOADERS and file.is_file()]
    return sorted(found)
