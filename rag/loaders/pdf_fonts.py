"""A PDF's fonts: the text and the width of each of their codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# pypdf's own text extraction gives no widths, without which columns and word gaps are guesses; its Font does.
from pypdf.generic._font import Font

from rag.loaders.base import clean

LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
BOLD = ("bold", "black", "heavy")


@dataclass(slots=True)
class Face:
    """A font with the text and width of each of its codes."""

    font: Font
    bold: bool
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
            # The standard encodings paint their unused codes as bullets.
            text = "•" if code == "\x7f" else font.encoding.get(ord(code), code)
        text = text if decoded else str(font.character_map.get(text, text))
        width = font.space_width if code == font.space_char else font.get_text_width(code)
        return clean(text).translate(LIGATURES), float(width)


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
            self._known[id(resource)] = Face(font, any(word in name for word in BOLD) or " 700" in name, resource)
        return self._known[id(resource)]
