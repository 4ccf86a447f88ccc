"""Every knob in one frozen record, under the names that links, ``--set``, sweeps and traces share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from rag.errors import SettingsError
from rag.schema import digest

ANALYZER_VERSION = 1
# Raise it when a chunker cuts otherwise than before: every index is then built anew.
CHUNKERS_VERSION = 2
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
    "parent_limit": (200, 20_000),
    "refusal_floor": (0, 1),
    "bm25_k1": (0, 5),
    "bm25_b": (0, 1),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "fusion": ("rrf", "dense", "sparse"),
    "return_parent": ("auto", "none", "window", "paragraph", "section"),
}


@dataclass(frozen=True)
class Parameter:
    """A knob of one chunker alone, named ``chunker.<name>``: its default, its limits or its choices, and what it
    means.
    """

    default: int | float | str
    meaning: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()


OWN, OVERRIDE = "chunker.", "override."
UNITS = ("characters", "tokens")
THRESHOLDS = ("percentile", "standard-deviation", "interquartile", "gradient")
# By chunker, which of the two sizes it heeds, and its own parameters.
SIZES: dict[str, tuple[str, ...]] = {
    "paragraph": ("chunk_size",),
    "recursive": ("chunk_size", "chunk_overlap"),
    "sentence-window": ("chunk_size",),
    "semantic": ("chunk_size",),
    "layout": ("chunk_size", "chunk_overlap"),
    "qa": ("chunk_size",),
    "token": (),
    "code": ("chunk_size",),
    "recommended": ("chunk_size", "chunk_overlap"),
}
PARAMETERS: dict[str, dict[str, Parameter]] = {
    "recursive": {"unit": Parameter("characters", "What size and overlap count.", choices=UNITS)},
    "sentence-window": {"window": Parameter(3, "Sentences before and after that make a passage's window.", 0, 20)},
    "semantic": {
        "threshold": Parameter("percentile", "How a jump in meaning is told from the rest.", choices=THRESHOLDS),
        "amount": Parameter(0.0, "How far above the rest a jump must lie; 0 takes the threshold's usual one.", 0, 100),
        "min_size": Parameter(200, "The fewest characters a passage may have.", 0, 4000),
    },
    "layout": {
        "whole_limit": Parameter(3000, "Tables, code and lists up to so many characters stay whole.", 0, 20_000)
    },
    "token": {
        "tokens": Parameter(200, "The most tokens a passage may have.", 8, 2000),
        "overlap": Parameter(0, "How many tokens a passage repeats of the one before.", 0, 1000),
    },
}


@dataclass(frozen=True)
class Settings:
    """One setting of the whole funnel; the defaults are the FUNNEL preset.

    ``chunk_size`` and ``chunk_overlap`` are characters; candidates are the length of each leg's list, 0 switches a leg
    off; ``refusal_floor`` is a cosine similarity of the best dense hit, below which the question is on another subject.
    ``return_parent`` is what is handed over in a passage's place where it has no more than ``parent_limit`` characters;
    ``auto`` means the paragraph with sentence-window, else none. ``chunker_parameters`` are the chunker's own that
    differ from their defaults, ``overrides`` the (source, chunker) of documents with a chunker of their own.
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
    return_parent: str = "auto"
    parent_limit: int = 4000
    prompt_chunks: int = 4
    refusal_floor: float = 0.3
    answerer: str = "auto"
    chunker_parameters: tuple[tuple[str, int | float | str], ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()

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

    def parameter(self, name: str) -> int | float | str:
        """The value of one of the chunker's own parameters."""
        return dict(self.chunker_parameters).get(name, PARAMETERS[self.chunker][name].default)

    def for_document(self, source: str) -> Settings:
        """These settings with the chunker that the document from ``source`` is cut by, where that is one of its own."""
        chunker = dict(self.overrides).get(source, self.chunker)
        return self if chunker == self.chunker else replace(self, chunker=chunker, chunker_parameters=(), overrides=())

    def to_json(self) -> dict[str, Any]:
        """Every knob by name, JSON types only; the chunker's own as ``chunker.<name>``, overrides as
        ``override.<source>``."""
        record = {name: value for name, value in asdict(self).items() if name in KINDS}
        own = {f"{OWN}{name}": self.parameter(name) for name in PARAMETERS.get(self.chunker, {})}
        return {**record, **own, **{f"{OVERRIDE}{source}": chunker for source, chunker in self.overrides}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Settings:
        """Settings from names and values (numbers or text); names left out keep their default. Raises SettingsError."""
        return cls().changed(record)

    def changed(self, values: Mapping[str, Any]) -> Settings:
        """A copy with some knobs set, each value brought to the knob's own type. Raises SettingsError.

        Another chunker begins with its own defaults; an override with "" or "-" is taken back.
        """
        plain = {name: value for name, value in values.items() if not name.startswith((OWN, OVERRIDE))}
        changed = replace(self, **{name: _typed(name, value, KINDS) for name, value in plain.items()})
        own = dict(self.chunker_parameters) if changed.chunker == self.chunker else {}
        overrides = dict(self.overrides)
        for name, value in values.items():
            if name.startswith(OWN):
                own[name.removeprefix(OWN)] = _own_value(changed.chunker, name.removeprefix(OWN), value)
            elif name.startswith(OVERRIDE):
                overrides[name.removeprefix(OVERRIDE)] = str(value).strip("- ") and str(value)
        defaults = {name: parameter.default for name, parameter in PARAMETERS.get(changed.chunker, {}).items()}
        return replace(
            changed,
            chunker_parameters=tuple(sorted((name, value) for name, value in own.items() if value != defaults[name])),
            overrides=tuple(sorted((source, chunker) for source, chunker in overrides.items() if chunker)),
        )

    def plan(self) -> dict[str, Any]:
        """The part that an index is built from; two settings with the same plan share one index.

        Of the sizes it holds those that the chunker heeds, or both where a document has a chunker of its own.
        """
        both = ("chunk_size", "chunk_overlap")
        names = ("chunker", *(both if self.overrides else SIZES.get(self.chunker, both)))
        own = {f"{OWN}{name}": self.parameter(name) for name in PARAMETERS.get(self.chunker, {})}
        overrides = {f"{OVERRIDE}{source}": chunker for source, chunker in self.overrides}
        index = {name: getattr(self, name) for name in (*names, "embedder", "language", "bm25_k1", "bm25_b")}
        return {**index, **own, **overrides, "analyzer_version": ANALYZER_VERSION, "chunkers_version": CHUNKERS_VERSION}

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


def _own_value(chunker: str, name: str, value: Any) -> int | float | str:
    parameters = PARAMETERS.get(chunker, {})
    if name not in parameters:
        known = f"its own are: {', '.join(parameters)}" if parameters else "it has none of its own"
        raise SettingsError(f"The chunker {chunker} has no parameter {name!r}; {known}.")
    parameter = parameters[name]
    typed = _typed(f"{OWN}{name}", value, {f"{OWN}{name}": type(parameter.default)})
    if parameter.choices and typed not in parameter.choices:
        raise SettingsError(f"{OWN}{name} is {typed!r}; choose one of: {', '.join(parameter.choices)}.")
    if not parameter.choices and not parameter.low <= typed <= parameter.high:
        raise SettingsError(f"{OWN}{name} is {typed}; it must lie between {parameter.low:g} and {parameter.high:g}.")
    return typed


def _typed(name: str, value: Any, kinds: Mapping[str, type]) -> Any:
    if name not in kinds:
        knobs = ", ".join([*kinds, f"{OWN}<name>", f"{OVERRIDE}<source>"])
        raise SettingsError(f"There is no knob called {name!r}. The knobs are: {knobs}.")
    kind = kinds[name]
    try:
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return int(float(value)) if kind is int else kind(value)
    except (TypeError, ValueError, OverflowError):
        wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
        raise SettingsError(f"{name} is {value!r}; it must be {wanted}.") from None


# The plain knobs and their types; a chunker's own parameters and overrides of documents are named by prefix.
KINDS = {field.name: type(field.default) for field in fields(Settings) if not isinstance(field.default, tuple)}
FUNNEL = Settings()
BASELINE = Settings(chunker="paragraph", chunk_overlap=0, fusion="dense", sparse_candidates=0, return_parent="none")
