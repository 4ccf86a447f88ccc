"""What the server's messages mean, and what to do about those that are known."""

from __future__ import annotations

import re

from rag.text import shortened

MOST_CHARACTERS = 300
_FULL = re.compile(r"disk usage too high|no space left on device|disk quota exceeded", re.IGNORECASE)
_READ_ONLY = re.compile(r"\bis read-only\b", re.IGNORECASE)
_DAMAGED = re.compile(
    r"unable to load shard|unexpected error initializing|invalid database|invalid checksum"
    r"|looking for beginning of value|unexpected end of JSON",
    re.IGNORECASE,
)
_NOT_DAMAGED = re.compile(r"too many open files|permission denied|memory|context (canceled|deadline)", re.IGNORECASE)
_ALL_FAILED = "Here is the set of all errors: "


def known(message: str) -> str:
    """What ails the whole server and what to do, where the message tells of a full disk or damaged files; else ""."""
    if _FULL.search(message):
        # Once full, Weaviate 1.35.2 does not look again (adapters/repos/db/resource_use.go), and keeps no note of it.
        why = ": Weaviate stays read-only until it is started anew" if _READ_ONLY.search(message) else ""
        return f"the disk is full. Free space, then `python -m rag server stop` and try again{why}."
    if _DAMAGED.search(message) and not _NOT_DAMAGED.search(message):
        return (
            "the index files are damaged. Run `python -m rag server stop`, move the data folder away "
            "(`python -m rag server status` names it), and index your documents again."
        )
    return ""


def plain(message: str) -> str:
    """The server's message on one line, cut at a word, with no full stop at its end."""
    return shortened(message.partition(_ALL_FAILED)[2] or message, MOST_CHARACTERS).rstrip(" .")
