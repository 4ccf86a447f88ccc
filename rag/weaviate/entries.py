"""Chunks on their way into Weaviate and back: what is sent, what must not be sent, what comes back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from weaviate.classes.data import DataObject

from rag.schema import Chunk

NUMBERS = ("page_start", "page_end", "line_start", "line_end", "start", "end", "position")
SPANS = ("window", "paragraph", "whole_section")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One chunk ready to be written: its vector [dimensions] and its search terms."""

    chunk: Chunk
    vector: Sequence[float]
    terms: Sequence[str]
    heading_terms: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rejected:
    """One chunk that is not stored, and why."""

    chunk: Chunk
    reason: str


def chunk_object(entry: Entry) -> DataObject:
    """The entry as the object that is sent."""
    chunk = entry.chunk
    properties = {
        **chunk.to_json(),
        "analysed": " ".join(entry.terms),
        "heading": " ".join(entry.heading_terms),
        "content_hash": chunk.content_hash,
    }
    properties = {name: value for name, value in properties.items() if value not in (None, [])}
    return DataObject(uuid=chunk.id, properties=properties, vector=[float(number) for number in entry.vector])


def to_chunk(properties: Mapping[str, Any]) -> Chunk:
    """The chunk that stored properties stand for."""
    record = {name: properties.get(name) for name in Chunk.__dataclass_fields__}
    for name in ("section", "page_labels"):
        record[name] = tuple(record[name] or ())
    for name in SPANS:
        record[name] = record[name] and tuple(record[name])
    return Chunk(**{**record, "header": record["header"] or ""})


def fault(entry: Entry, dimensions: int) -> str:
    """Why an entry must not be sent, or "": what the server would refuse, or take and then not find."""
    chunk = entry.chunk
    if len(entry.vector) != dimensions:
        return f"its vector has {len(entry.vector)} numbers where the index has {dimensions}"
    try:
        finite = np.isfinite(np.asarray(entry.vector, dtype=np.float32)).all()
    except (TypeError, ValueError):
        return "its vector holds something that is no number"
    if not finite:
        return "its vector holds a number that is not finite"
    for name in NUMBERS:
        value = getattr(chunk, name)
        if not (value is None and name.startswith(("page", "line"))) and (type(value) is not int or value < 0):
            return f"its {name} is {value!r}, not a whole number"
    for name in ("text", "document", "document_id", "header"):
        value = getattr(chunk, name)
        if not isinstance(value, str) or not (value.strip() or name == "header"):
            return f"its {name} is {value!r}, not a text"
    for name in ("section", "page_labels"):
        value = getattr(chunk, name)
        if not isinstance(value, (tuple, list)) or not all(isinstance(part, str) for part in value):
            return f"its {name} is {value!r}, not a list of texts"
    if any(_SURROGATE.search(text) for text in (chunk.reading, chunk.document, *chunk.section, *chunk.page_labels)):
        return "it holds half a character (a lone surrogate)"
    return ""
