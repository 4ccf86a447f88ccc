"""What documents are called in lists: by their name, and where several have it also by the place they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rag.catalogue import DocumentRecord
from rag.library import SAMPLES_PREFIX, UPLOADS_PREFIX


def origin(source: str) -> str:
    """Where a document came from, in a word."""
    for prefix, word in ((SAMPLES_PREFIX, "sample"), (UPLOADS_PREFIX, "upload")):
        if source.startswith(prefix):
            return word
    return "folder"


def place(source: str, name: str, depth: int = 1) -> str:
    """The same, for a folder with the last ``depth`` parts of its path."""
    word = origin(source)
    if word != "folder":
        return word
    path = source.removesuffix(name) if source.endswith(f"/{name}") else source.rpartition("/")[0]
    parts = [part for part in path.split("/") if part]
    shown = "/".join(parts[-depth:])
    return f"folder {'…' if len(parts) > depth else ''}/{shown}"


def titles(records: Iterable[DocumentRecord]) -> dict[str, str]:
    """By source, a name for each document that no other one has: "faq.csv", or "faq.csv (folder …/docs)" where there
    are several."""
    names = {record.source: record.name for record in records}
    found, depth = dict(names), 0
    while clashing := _clashing(found):
        depth += 1
        if depth > max(source.count("/") for source in clashing) + 1:
            break  # the same place under the same name: there is nothing more to tell them apart by
        again = [source for source in names if depth == 1 or source in clashing]
        doubled = Counter(names.values())
        found |= {s: f"{names[s]} ({place(s, names[s], depth)})" for s in again if doubled[names[s]] > 1}
    return found


def _clashing(found: dict[str, str]) -> set[str]:
    often = Counter(found.values())
    return {source for source, title in found.items() if often[title] > 1}
