"""Every knob in one frozen record, under the names that links, ``--set``, sweeps and traces share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from rag.errors import SettingsError
from rag.schema import digest

ANALYZER_VERSION = 1
DEFAULT_WORKSPACE = "default"
LIMITS: dict[str, tuple[float, float]] = {
    "chunk_size": (100, 8000),
    "chunk_overlap": (0, 4000),
    "dense_candidates": (0, 200),
    "sparse_candidates": (0, 200),
    "rrf_k": (0, 1000),
    "dense_weight": (0, 10),
    "sparse_weight": (0, 10),
    "heading_weight": (0, 10),
    "prompt_chunks": (1, 20),
    "refusal_floor": (0, 1),
    "bm25_k1": (0, 5),
    "bm25_b": (0, 1),
}
CHOICES: dict[str, tuple[str, ...]] = {"fusion": ("rrf", "dense", "sparse")}


@dataclass(frozen=True)
class Settings:
    """One setting of the whole funnel; the defaults are the FUNNEL preset.

    ``chunk_size`` and ``chunk_overlap`` are characters; candidates are the length of each leg's list, 0 switches a leg
    off; ``refusal_floor`` is a cosine similarity of the best dense hit, below which the question is on another subject.
    """

    chunker: str = "recursive"
    chunk_size: int = 1000
    chunk_overlap: int = 150
    embedder: str = "minilm"
    language: str = "english"
    bm25_k1: float = 1.2
    bm25_b: float = 0.75
    dense_candidates: int = 50
    sparse_candidates: int = 50
    heading_weight: int = 2
    fusion: str = "rrf"
    rrf_k: int = 60
    dense_weight: float = 1.0
    sparse_weight: float = 1.0
    prompt_chunks: int = 4
    refusal_floor: float = 0.3
    answerer: str = "auto"

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise SettingsError(f"{name} is {value}; it must lie between {low:g} and {high:g}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise SettingsError(f"{name} is {getattr(self, name)!r}; choose one of: {', '.join(choices)}.")
        if self.chunk_overlap * 2 > self.chunk_size:
            raise SettingsError(
                f"chunk_overlap is {self.chunk_overlap}; it may be at most half of chunk_size ({self.chunk_size})."
            )

    def to_json(self) -> dict[str, Any]:
        """Every knob by name, JSON types only."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Settings:
        """Settings from names and values (numbers or text); names left out keep their default. Raises SettingsError."""
        return cls().changed(record)

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """A copy with some knobs set, each value brought to the knob's own type. Raises SettingsError."""
        return replace(self, **{name: _typed(name, value) for name, value in values.items()})

    def plan(self) -> dict[str, Any]:
        """The part that an index is built from; two settings with the same plan share one index."""
        chunker = {"chunker": self.chunker, "chunk_size": self.chunk_size, "chunk_overlap": self.chunk_overlap}
        index = {name: getattr(self, name) for name in ("embedder", "language", "bm25_k1", "bm25_b")}
        return {**chunker, **index, "analyzer_version": ANALYZER_VERSION}

    def fingerprint(self) -> str:
        """16 hexadecimal digits that name the index of this plan."""
        return plan_fingerprint(self.plan())


def plan_fingerprint(plan: Mapping[str, Any]) -> str:
    """16 hexadecimal digits that depend on every part of an index plan."""
    return digest("plan", sorted(plan.items()))[:16]


def parse_assignments(assignments: Iterable[str], base: Settings) -> Settings:
    """``base`` with ``knob=value`` texts applied, as ``--set`` takes them. Raises SettingsError."""
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise SettingsError(f"--set takes knob=value, not {assignment!r}; for example --set rrf_k=10.")
        values[name.strip()] = value.strip()
    return base.changed(values)


def _typed(name: str, value: Any) -> Any:
    kinds = {field.name: type(field.default) for field in fields(Settings)}
    if name not in kinds:
        raise SettingsError(f"There is no knob called {name!r}. The knobs are: {', '.join(kinds)}.")
    kind = kinds[name]
    try:
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return int(float(value)) if kind is int else kind(value)
    except (TypeError, ValueError, OverflowError):
        wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
        raise SettingsError(f"{name} is {value!r}; it must be {wanted}.") from None


FUNNEL = Settings()
BASELINE = Settings(chunker="paragraph", chunk_overlap=0, fusion="dense", sparse_candidates=0)
