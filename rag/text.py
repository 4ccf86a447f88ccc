"""What any text must go through before it is stored, embedded or asked."""

from __future__ import annotations

import unicodedata


def clean(text: str) -> str:
    """The text without NUL and lone surrogates, at which models and JSON stumble."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def is_blank(text: str) -> bool:
    """Whether nothing of the text can be seen: only blanks, control marks and characters without width."""
    return all(unicodedata.category(character)[0] in "ZC" for character in text)
