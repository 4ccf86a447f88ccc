"""Characters as readers see them: with their accents, as one emoji, one flag or one syllable."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_JOINER = "\u200d"
# Besides combining marks and tags: joiners, skin tones, and vowels and voice marks that Unicode counts as letters of
# their own but that belong to the one before them.
_ALSO = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
_REST = re.compile("[\U00010000-\U0010ffff]")
# Signs after which the next consonant is written into the same syllable.
_VIRAMAS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2"
_JOINED = re.compile(f"{_JOINER}(?=\\S)|[{_VIRAMAS}](?=\\w)|\r(?=\n)")
# Two letters that make a flag, and the parts that a Korean syllable is written by.
_WHOLE = re.compile("[\U0001f1e6-\U0001f1ff]{2}|[\u1100-\u115f]+[\u1160-\u11ff]*")


def continues(text: str, place: int) -> bool:
    """Whether the character at ``place`` combines with the one before it, so that a cut there would part them."""
    return _combines(text[place]) or text[place - 1] == _JOINER


def character_ends(text: str) -> list[int]:
    """Where each character of ``text`` ends with everything that combines with it, in order."""
    inside: set[int] = set()
    if not text.isascii() or "\r" in text:
        inside.update(match.start() for match in _marks().finditer(text))
        inside.update(match.start() for match in _REST.finditer(text) if _combines(match.group()))
        inside.update(match.end() for match in _JOINED.finditer(text))
        inside.update(place for match in _WHOLE.finditer(text) for place in range(match.start() + 1, match.end()))
    return [place for place in range(1, len(text) + 1) if place not in inside]


def _combines(character: str) -> bool:
    if character < "\u0300":
        return False
    return unicodedata.category(character)[0] == "M" or character in _ALSO or _TAGS[0] <= character <= _TAGS[1]


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    # A set of characters is looked up at once, but one that goes beyond these planes is searched through: hence _REST.
    return re.compile(
        f"[{''.join(character for character in map(chr, range(0x300, 0x10000)) if _combines(character))}]"
    )
