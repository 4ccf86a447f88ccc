"""A PDF's fonts: the text and the width of each of their codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pypdf._codecs.adobe_glyphs import adobe_glyphs

# pypdf's own text extraction gives no widths, without which columns and word gaps are guesses; its Font does.
from pypdf.generic._font import Font

from rag.loaders.base import clean

LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
UNICODE_NAME = re.compile(r"(?:uni([0-9A-F]{4})|u([0-9A-F]{4,6}))$")
NUMBERED_NAME = re.compile(r"[A-Za-z]{0,3}\d{1,3}$")
FIXED = ("courier", "mono", "consol", "cmtt", "typewriter", "menlo")
FEWEST_LETTERS = 8
BOLD = ("bold", "black", "heavy")


@dataclass(slots=True)
class Face:
    """A font with the text and width of each of its codes."""

    font: Font
    bold: bool
    fixed: bool
    resource: Any
    known: dict[str, tuple[str, float]] = field(default_factory=dict)

    def codes(self, data: bytes | str) -> Iterator[tuple[str, float, bool]]:
        """(text, width in thousandths of the size, whether it is the one-byte space) for each code of a string."""
        encoding = self.font.encoding
        if isinstance(data, str):
            codes = data
        elif isinstance(encoding, str):
            codes = data.decode(encoding, "replace")
        else:
            codes = data.decode("latin-1")
        simple = not isinstance(encoding, str)
        for code in codes:
            if (found := self.known.get(code)) is None:
                found = self.known[code] = self._look_up(code, isinstance(data, str))
            yield *found, simple and code == " "

    def _look_up(self, code: str, decoded: bool) -> tuple[str, float]:
        font = self.font
        text = code
        if not decoded and not isinstance(font.encoding, str):
            text = font.encoding.get(ord(code), code)
            # The standard encodings paint their unused codes as bullets.
            text = "•" if text == "\x7f" else text
        text = text if decoded else str(font.character_map.get(text, text))
        if len(text) > 1 and text[0] == "/":
            text = _of_glyph(text[1:], code)
        width = font.space_width if code == font.space_char else font.get_text_width(code)
        return clean(text).translate(LIGATURES), float(width)


def _one_width(font: Font) -> bool:
    """Whether several Latin letters of the font are all as wide."""
    told = ((str(font.character_map.get(code, code)), width) for code, width in font.character_widths.items())
    letters = {text: width for text, width in told if len(text) == 1 and text.isascii() and text.isalpha() and width}
    return len(letters) >= FEWEST_LETTERS and len(set(letters.values())) == 1


def _of_glyph(name: str, code: str) -> str:
    """What a glyph of this name is read as; nothing for one that is no character, such as a note of a music font."""
    parts = []
    for part in name.split(".", 1)[0].split("_"):
        digits = UNICODE_NAME.match(part)
        number = int(digits.group(1) or digits.group(2), 16) if digits else 0
        parts.append(adobe_glyphs.get(f"/{part}", chr(number) if 31 < number < 0x110000 else ""))
    if all(parts):
        return "".join(parts)
    # Bitmap fonts name their glyphs by the code alone, which then is that of a letter.
    return code if NUMBERED_NAME.match(name) and code.isprintable() and code.isascii() else ""


class Faces:
    """The fonts of one document, each read once."""

    def __init__(self) -> None:
        self._known: dict[int, Face] = {}

    def face(self, resource: Any) -> Face:
        """The font that a page's resource describes; raises RuntimeError where it cannot be read."""
        # The face holds on to its resource, so that no other can come to have the same identity.
        if id(resource) not in self._known:
            try:
                font = Font.from_font_resource(resource)
            except Exception as error:
                # Not the kind of error that a malformed operator gives, which is passed over.
                raise RuntimeError("a font of this page cannot be read") from error
            name = f"{font.name} {font.font_descriptor.weight}".lower()
            bold = any(word in name for word in BOLD) or " 700" in name
            fixed = any(word in name for word in FIXED) or int(font.font_descriptor.flags or 0) & 1 or _one_width(font)
            self._known[id(resource)] = Face(font, bold, bool(fixed), resource)
        return self._known[id(resource)]
