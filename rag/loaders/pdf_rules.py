"""The rules that a PDF page draws: lines, and the edges of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Matrix = tuple[float, float, float, float, float, float]
# In points.
THIN = 2.5
NARROW = 4.5
SHORTEST = 8.0
MAX_RULES = 5_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight rule, in points: a level one where ``upright`` is not set, which then has a height for its ``at``."""

    low: float
    high: float
    at: float
    upright: bool = False


class Pen:
    """Follows the operators that build and paint paths, and keeps the rules they leave."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._path: list[Rule] = []
        self._at = (0.0, 0.0)

    def box(self, operands: Sequence[Any], matrix: Matrix) -> None:
        """A rectangle joins the path."""
        x, y, width, height = map(float, operands[:4])
        (x0, y0), (x1, y1) = _placed(x, y, matrix), _placed(x + width, y + height, matrix)
        for y in (y0, y1) if abs(y1 - y0) > THIN else ((y0 + y1) / 2,):
            self._keep(x0, x1, y)
        for x in (x0, x1) if abs(x1 - x0) > THIN else ((x0 + x1) / 2,):
            self._keep(y0, y1, x, upright=True)

    def move(self, operands: Sequence[Any], matrix: Matrix) -> None:
        """The path goes on elsewhere."""
        self._at = _placed(float(operands[-2]), float(operands[-1]), matrix)

    def line(self, operands: Sequence[Any], matrix: Matrix) -> None:
        """A straight line joins the path."""
        x, y = self._at
        self.move(operands, matrix)
        if abs(self._at[1] - y) < 0.5:
            self._keep(x, self._at[0], y)
        elif abs(self._at[0] - x) < 0.5:
            self._keep(y, self._at[1], x, upright=True)

    def paint(self) -> None:
        """The path is drawn."""
        self.rules += self._path[: MAX_RULES - len(self.rules)]
        self._path = []

    def drop(self) -> None:
        """The path ends without being drawn."""
        self._path = []

    def _keep(self, one: float, other: float, at: float, upright: bool = False) -> None:
        if abs(other - one) >= SHORTEST and len(self._path) < MAX_RULES:
            self._path.append(Rule(min(one, other), max(one, other), at, upright))


def _placed(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return x * a + y * c + e, x * b + y * d + f


def covers(rules: Sequence[Rule], left: float, right: float) -> bool:
    """Whether level rules at one height run from ``left`` to ``right``, but for narrow gaps."""
    for rule in rules:
        end = None
        for other in sorted((one for one in rules if abs(one.at - rule.at) < THIN), key=lambda one: one.low):
            if end is None:
                end = other.high if other.low <= left else None
            elif other.low <= end + NARROW:
                end = max(end, other.high)
        if end is not None and end >= right:
            return True
    return False
