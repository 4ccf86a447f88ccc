"""What a PDF page paints as text: every string with its exact place, width and size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pypdf.generic import ArrayObject, ContentStream, DictionaryObject, StreamObject

from rag.loaders.pdf_fonts import Face, Faces
from rag.loaders.pdf_rules import Matrix, Pen, Rule

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# Wider gaps part words and the cells of a table, in ems; in points, where paper ends.
WORD_GAP = 0.1
CELL_GAP = 0.9
FARTHEST = 1e6
MAX_FORM_DEPTH = 8
MAX_FORMS = 2000
# Of a page, and operators of a whole document: far beyond any that a person made.
MAX_STRINGS = 60_000
MAX_OPERATORS = 8_000_000


@dataclass(frozen=True, slots=True)
class Fragment:
    """A painted string: its ink runs from ``left`` to ``right`` on a baseline at height ``y``, in points, upwards.

    ``text`` keeps its blank edges, which the two ends leave out. Text that was painted turned by ``turn`` quarters is
    given as a reader sees it who turns the page.
    """

    text: str
    left: float
    right: float
    y: float
    size: float
    bold: bool
    fixed: bool = False
    turn: int = 0


@dataclass(slots=True)
class _State:
    """The part of the graphics state that ``q`` saves and that text depends on."""

    matrix: Matrix = IDENTITY
    face: Face | None = None
    size: float = 1.0
    character_space: float = 0.0
    word_space: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0


class FragmentReader:
    """Reads pages into fragments; fonts and forms are kept from page to page."""

    def __init__(self) -> None:
        self.faces = Faces()
        self._forms: dict[int, tuple[StreamObject, list[Any]]] = {}
        self._operators = 0

    def read(self, page: DictionaryObject, pdf: Any) -> tuple[list[Fragment], list[Rule]]:
        """The fragments of a page in the order they are painted, and its rules.

        Raises whatever a damaged page makes pypdf raise, and RuntimeError where there is more than can be read.
        """
        contents = page.get("/Contents")
        contents = contents.get_object() if contents is not None else None
        if not isinstance(contents, (ArrayObject, StreamObject)):
            return [], []
        painter = _Painter(self, pdf)
        operations = ContentStream(contents, pdf, "bytes").operations
        painter.run(operations, page.get("/Resources"), _State(), 0)
        return painter.fragments, painter.pen.rules

    def operations(self, form: StreamObject, pdf: Any) -> list[Any]:
        """The operations of a form, parsed once."""
        # The form is kept with them, so that no other can come to have the same identity.
        if id(form) not in self._forms:
            if len(self._forms) >= MAX_FORMS:
                self._forms.clear()
            self._forms[id(form)] = (form, ContentStream(form, pdf, "bytes").operations)
        return self._forms[id(form)][1]

    def count(self, operators: int) -> None:
        """Raise RuntimeError where the document has had more operators than can be followed in good time."""
        self._operators += operators
        if self._operators > MAX_OPERATORS:
            raise RuntimeError("the document paints too much")


class _Painter:
    """Follows the operators of one page (and of the forms it paints) that move, set or show text."""

    def __init__(self, reader: FragmentReader, pdf: Any) -> None:
        self.fragments: list[Fragment] = []
        self.pen = Pen()
        self._reader = reader
        self._pdf = pdf
        self._forms = 0
        self._state = _State()
        self._text: Matrix = IDENTITY
        self._line: Matrix = IDENTITY
        self._resources = DictionaryObject()
        self._marks: list[bool] = []

    def run(self, operations: list[Any], resources: Any, state: _State, depth: int) -> None:
        """Paint one content stream."""
        self._reader.count(len(operations))
        outer = (self._state, self._text, self._line, self._resources, self._marks)
        resources = resources.get_object() if resources is not None else None
        self._resources = resources if isinstance(resources, DictionaryObject) else self._resources
        self._state, self._marks = state, list(self._marks)
        stack: list[_State] = []
        for operands, operator in operations:
            if operator == b"q":
                stack.append(replace(self._state))
            elif operator == b"Q":
                self._state = stack.pop() if stack else self._state
            elif operator == b"Do":
                self._form(operands, depth)
            elif handler := OPERATORS.get(operator):
                try:
                    handler(self, operands)
                except (IndexError, TypeError, ValueError, ArithmeticError):
                    continue
        self._state, self._text, self._line, self._resources, self._marks = outer

    def _form(self, operands: list[Any], depth: int) -> None:
        forms = self._resources.get("/XObject", DictionaryObject()).get_object()
        form = forms.get(operands[0]) if operands and isinstance(forms, DictionaryObject) else None
        form = form.get_object() if form is not None else None
        self._forms += 1
        if depth >= MAX_FORM_DEPTH or self._forms > MAX_FORMS:
            return
        if not isinstance(form, StreamObject) or form.get("/Subtype") != "/Form":
            return
        matrix = [float(number) for number in form.get("/Matrix", IDENTITY)]
        inner = replace(self._state, matrix=_times(tuple(matrix), self._state.matrix))
        self.run(self._reader.operations(form, self._pdf), form.get("/Resources"), inner, depth + 1)

    def set_font(self, operands: list[Any]) -> None:
        fonts = self._resources.get("/Font", DictionaryObject()).get_object()
        resource = fonts[operands[0]].get_object() if operands[0] in fonts else None
        self._state.face = self._reader.faces.face(resource) if resource is not None else None
        self._state.size = float(operands[1])

    def move(self, operands: list[Any]) -> None:
        self._line = self._text = _times((1, 0, 0, 1, float(operands[0]), float(operands[1])), self._line)

    def move_and_lead(self, operands: list[Any]) -> None:
        self._state.leading = -float(operands[1])
        self.move(operands)

    def next_line(self, operands: list[Any]) -> None:
        self.move([0, -self._state.leading])

    def set_matrix(self, operands: list[Any]) -> None:
        a, b, c, d, e, f = map(float, operands[:6])
        self._line = self._text = (a, b, c, d, e, f)

    def begin(self, operands: list[Any]) -> None:
        self._line = self._text = IDENTITY

    def transform(self, operands: list[Any]) -> None:
        a, b, c, d, e, f = map(float, operands[:6])
        self._state.matrix = _times((a, b, c, d, e, f), self._state.matrix)

    def show(self, operands: list[Any]) -> None:
        if isinstance(operands[0], (bytes, str)):
            self._show(operands[0])

    def show_array(self, operands: list[Any]) -> None:
        state = self._state
        for item in operands[0]:
            if isinstance(item, (bytes, str)):
                self._show(item)
            else:
                distance = -float(item) / 1000 * state.size * state.stretch
                self._text = _times((1, 0, 0, 1, distance, 0), self._text)

    def show_next_line(self, operands: list[Any]) -> None:
        self.next_line([])
        self.show(operands)

    def show_spaced(self, operands: list[Any]) -> None:
        self._state.word_space, self._state.character_space = float(operands[0]), float(operands[1])
        self.show_next_line(operands[2:])

    def mark(self, operands: list[Any]) -> None:
        """Tagged PDFs say themselves which text is a running header or footer."""
        properties = operands[1].get_object() if len(operands) > 1 and hasattr(operands[1], "get_object") else None
        pagination = isinstance(properties, DictionaryObject) and properties.get("/Type") == "/Pagination"
        self._marks.append(bool(operands and operands[0] == "/Artifact" and pagination))

    def unmark(self, operands: list[Any]) -> None:
        if self._marks:
            self._marks.pop()

    def _show(self, data: bytes | str) -> None:
        state = self._state
        if state.face is None or not state.face.font.interpretable:
            return
        matrix = _times(self._text, state.matrix)
        parts: list[str] = []
        width = ink_start = ink_end = 0.0
        started, blanks = False, 0
        codes = list(state.face.codes(data))
        if len(codes) == 2 and state.character_space > WORD_GAP * abs(state.size):
            # Some makers set the gap between two words as space between the letters at its ends.
            codes[0] = (codes[0][0] + " ", *codes[0][1:])
        for text, thousandths, is_space in codes:
            if text.strip():
                if blanks > 1 or (blanks and width - ink_end > CELL_GAP * abs(state.size)):
                    # Several spaces set columns apart, or a very wide one.
                    self._keep("".join(parts), ink_start, ink_end, matrix)
                    parts, started = [], False
                ink_start = ink_start if started else width
                started, blanks = True, 0
            else:
                blanks += 1
            parts.append(text)
            width += thousandths / 1000 * state.size + state.character_space + (state.word_space if is_space else 0)
            ink_end = ink_end if blanks else width
        self._keep("".join(parts), ink_start, ink_end, matrix)
        self._text = _times((1, 0, 0, 1, width * state.stretch, 0), self._text)

    def _keep(self, text: str, ink_start: float, ink_end: float, matrix: Matrix) -> None:
        state = self._state
        if len(self.fragments) > MAX_STRINGS:
            raise RuntimeError("the page paints too many strings")
        if text.strip() and not any(self._marks):
            ends = [(distance * state.stretch, state.rise) for distance in (ink_start, ink_end)]
            fragment = _fragment(text, ends, matrix, state)
            if all(abs(place) < FARTHEST for place in (fragment.left, fragment.right, fragment.y, fragment.size)):
                self.fragments.append(fragment)
        elif text and self.fragments:
            last = self.fragments[-1]
            self.fragments[-1] = replace(last, text=last.text + " ")


def _fragment(text: str, ends: list[tuple[float, float]], matrix: Matrix, state: _State) -> Fragment:
    a, b, c, d, e, f = matrix
    size = abs(state.size) * math.hypot(c, d)
    bold = state.face is not None and state.face.bold
    turn = round(math.atan2(b, a) / (math.pi / 2)) % 4
    (x0, y0), (x1, _) = (_turned(x * a + y * c + e, x * b + y * d + f, turn) for x, y in ends)
    fixed = state.face is not None and state.face.fixed
    return Fragment(text, min(x0, x1), max(x0, x1), y0, round(size, 2), bold, fixed, turn)


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _times(left: Matrix, right: Matrix) -> Matrix:
    a, b, c, d, e, f = left
    g, h, i, j, k, m = right
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _setter(name: str, scale: float = 1.0) -> Callable[[_Painter, list[Any]], None]:
    return lambda painter, operands: setattr(painter._state, name, float(operands[0]) * scale)


def _drawn(step: Callable[[Pen, list[Any], Matrix], None]) -> Callable[[_Painter, list[Any]], None]:
    return lambda painter, operands: step(painter.pen, operands, painter._state.matrix)


OPERATORS: dict[bytes, Callable[[_Painter, list[Any]], None]] = {
    b"BT": _Painter.begin,
    b"cm": _Painter.transform,
    b"Tf": _Painter.set_font,
    b"Td": _Painter.move,
    b"TD": _Painter.move_and_lead,
    b"Tm": _Painter.set_matrix,
    b"T*": _Painter.next_line,
    b"Tj": _Painter.show,
    b"TJ": _Painter.show_array,
    b"'": _Painter.show_next_line,
    b'"': _Painter.show_spaced,
    b"Tc": _setter("character_space"),
    b"Tw": _setter("word_space"),
    b"TL": _setter("leading"),
    b"Ts": _setter("rise"),
    b"Tz": _setter("stretch", 0.01),
    b"BDC": _Painter.mark,
    b"BMC": _Painter.mark,
    b"EMC": _Painter.unmark,
    b"re": _drawn(Pen.box),
    b"l": _drawn(Pen.line),
    **dict.fromkeys((b"m", b"c", b"v", b"y"), _drawn(Pen.move)),
    **dict.fromkeys((b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"), lambda painter, _: painter.pen.paint()),
    b"n": lambda painter, _: painter.pen.drop(),
}
