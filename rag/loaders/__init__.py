"""Files to documents: ``load(path)``, by the loader that LOADERS names for the file's ending."""

from __future__ import annotations

import os
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
    loader = LOADERS.get(path.suffix.lower())
    if loader is None:
        raise LoadError(name, f"files of this kind cannot be read; supported are {', '.join(LOADERS)}")
    data = _read(path, name)
    content = loader(data, name)
    if is_blank(content.text):
        raise LoadError(name, NO_TEXT)
    return Document(
        name=name,
        source=source or path.as_posix(),
        text=content.text,
        sections=content.sections,
        pages=content.pages,
        blocks=content.blocks,
        notices=content.notices,
    )


def find_files(path: Path) -> list[Path]:
    """The supported files in a folder and the folders in it, sorted, hidden ones left out; or the file itself.

    Raises LoadError where there is nothing at ``path``.
    """
    path = Path(path)
    if not path.exists():
        raise LoadError(str(path), "no such file or folder")
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    seen: set[Path] = set()
    for folder, folders, names in os.walk(path, followlinks=True):
        # A link may lead back to a folder above it.
        if (place := Path(folder).resolve()) in seen:
            folders.clear()
            continue
        seen.add(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = [Path(folder, name) for name in names if not name.startswith(".")]
        found += [file for file in files if file.suffix.lower() in LOADERS and file.is_file()]
    return sorted(found)


def _read(path: Path, name: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_MEGABYTES * 1_000_000:
            raise LoadError(name, f"too large ({size / 1_000_000:.0f} MB; the limit is {MAX_MEGABYTES} MB)")
        data = path.read_bytes()
    except FileNotFoundError:
        raise LoadError(name, "no such file") from None
    except OSError as error:
        raise LoadError(name, f"cannot be read ({error.strerror or error})") from None
    if not data.strip():
        raise LoadError(name, NO_TEXT)
    return data
