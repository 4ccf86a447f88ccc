"""What any text must go through before it is stored, embedded, asked or shown."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """The text without NUL and lone surrogates, at which models and JSON stumble."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def is_blank(text: str) -> bool:
    """Whether nothing of the text can be seen: only blanks, control marks and characters without width."""
    return all(unicodedata.category(character)[0] in "ZC" for character in text)


def safe(text: str) -> str:
    """The text without characters that would steer a terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in text)


def shortened(text: str, most: int) -> str:
    """The text on one line, cut at a word, with "…", where it has more than ``most`` characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    cut = line[:most]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut[:-1]).rstrip(" ,;:.") + "…"
