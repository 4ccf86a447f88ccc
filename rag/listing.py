"""Documents as people name them in lists: which one is meant, what its state is, and taking some out."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from rag.catalogue import Catalogue, DocumentRecord, FileFailure, IndexedRecord
from rag.errors import SettingsError
from rag.library import source_of, sources_below
from rag.reports import SyncReport


def state(content_hash: str, held: IndexedRecord | None) -> str:
    """What an index holds of a document of that content, in a word or two: indexed, in part, not yet."""
    if held is None or held.content_hash != content_hash:
        return "not yet"
    return "indexed" if held.complete else "in part"


def remove(catalogue: Catalogue, wanted: Sequence[str]) -> SyncReport:
    """Take the documents of those names or sources out, and dismiss files that failed; all or none.

    Raises SettingsError where a name is unknown, or that of several documents.
    """
    entries = [*catalogue.documents(), *catalogue.failures()]
    chosen = [one for text in wanted for one in named(entries, text)]
    folders = [folder.path for folder in catalogue.folders() if folder.on]
    notices = []
    for entry in dict.fromkeys(chosen):
        if isinstance(entry, DocumentRecord):
            catalogue.remove_document(entry.id)
        catalogue.forget_failure(entry.source)
        inside = [folder for folder in folders if sources_below(Path(folder), [entry.source])]
        notices += [f"{entry.name}: it comes back with the next sync of the watched folder {one}." for one in inside]
    return SyncReport(removed=tuple(dict.fromkeys(entry.name for entry in chosen)), notices=tuple(notices))


def named(entries: Sequence[DocumentRecord | FileFailure], text: str) -> list[DocumentRecord | FileFailure]:
    """The document or failed file (both, where they are one source's) of that source, path or name, to the letter.

    Raises SettingsError where there is none, or where several bear the name.
    """
    path = source_of(Path(text).expanduser()) if text.strip() else ""
    readings = (
        lambda entry: entry.source == text,
        lambda entry: entry.name == text,
        lambda entry: entry.source == path,
        lambda entry: unicodedata.normalize("NFC", entry.name) == unicodedata.normalize("NFC", text),
    )
    for reading in readings:
        found = [entry for entry in entries if reading(entry)]
        sources = sorted({entry.source for entry in found})
        if len(sources) > 1:
            raise SettingsError(
                f"{len(sources)} documents are called {text!r}. Name one by its source: {'; '.join(sources)}."
            )
        if found:
            return found
    raise SettingsError(f"There is no document called {text!r}. `python -m rag documents` lists them.")
