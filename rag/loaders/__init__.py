"""Files to documents: ``load(path)``, by the loader that LOADERS names for the file's ending."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rag.errors import LoadError
from rag.loaders.base import Loader
from rag.loaders.html import load_html
from rag.loaders.markdown import load_markdown
from rag.loaders.pdf import load_pdf
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
    ".csv": load_table,
    ".tsv": load_table,
}
MAX_MEGABYTES = 100
NO_TEXT = "no text found"


def load(path: Path, name: str | None = None, source: str | None = None) -> Document:
    """The file as a Document; ``name`` defaults to the file's name, ``source`` to its path. Raises LoadError."""
    path = Path(path)
    name = name or path.name
    try:
        data = read(path, name)
    except FileNotFoundError:
        raise LoadError(name, "no such file") from None
    except OSError as error:
        raise LoadError(name, f"cannot be read ({error.strerror or error})") from None
    return parse(data, path, name, source or path.as_posix())


def read(path: Path, name: str) -> bytes:
    """The file's bytes, once kind and size are known to be right.

    Raises LoadError where the file is none that is read here, OSError where it cannot be read now.
    """
    if path.suffix.lower() not in LOADERS:
        raise LoadError(name, f"files of this kind cannot be read; supported are {', '.join(LOADERS)}")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise LoadError(name, "not a file")
    if status.st_size > MAX_MEGABYTES * 1_000_000:
        raise LoadError(name, f"too large ({status.st_size / 1_000_000:.0f} MB; the limit is {MAX_MEGABYTES} MB)")
    return path.read_bytes()


def parse(data: bytes, path: Path, name: str, source: str) -> Document:
    """The Document that the bytes of ``path`` hold. Raises LoadError."""
    if not data.strip():
        raise LoadError(name, NO_TEXT)
    content = LOADERS[path.suffix.lower()](data, name)
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
    )


def find_files(path: Path, unreadable: list[Path] | None = None) -> list[Path]:
    """The supported files in a folder and the folders in it, sorted, hidden ones left out; or the file itself.

    Folders that cannot be looked into are added to ``unreadable``. Raises LoadError where there is nothing at ``path``.
    """
    path = Path(path)
    if not path.exists():
        raise LoadError(str(path), "no such file or folder")
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    seen: set[Path] = set()

    def note(error: OSError) -> None:
        if unreadable is not None:
            unreadable.append(Path(error.filename))

    for folder, folders, names in os.walk(path, onerror=note, followlinks=True):
        # A link may lead back to a folder above it.
        if (place := Path(folder).resolve()) in seen:
            folders.clear()
            continue
        seen.add(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = [Path(folder, name) for name in names if not name.startswith(".")]
        found += [file for file in files if file.suffix.lower() in LOADERS and file.is_file()]
    return sorted(found)
