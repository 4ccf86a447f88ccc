"""In what two index plans differ, in words: what needs a rebuild, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rag.settings import OVERRIDE, OWN


def differences(
    plan: Mapping[str, Any], other: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """What ``other`` has otherwise than ``plan``, as "chunk size 1000 → 800", or "faq.csv: qa" for a document's own
    chunker; ``names`` call documents by their sources otherwise than by the last part of those.
    """
    found = []
    both = [
        name for name in (*plan, *(name for name in other if name not in plan)) if plan.get(name) != other.get(name)
    ]
    another_chunker = plan.get("chunker") != other.get("chunker")
    for name in both:
        before, after = plan.get(name), other.get(name)
        if name.startswith(OVERRIDE):
            found.append(_override(name.removeprefix(OVERRIDE), before, after, names or {}))
        elif another_chunker and (name not in plan or name not in other) and not name.endswith("_version"):
            continue  # sizes and parameters that one of the two chunkers does not have
        else:
            found.append(f"{_words(name)} {_value(before)} → {_value(after)}")
    return tuple(found)


def nearest(plans: Iterable[Mapping[str, Any]], plan: Mapping[str, Any]) -> tuple[str, ...]:
    """The differences of ``plan`` from that one of the plans that it differs least from; none where there is no other
    plan.
    """
    return min((differences(other, plan) for other in plans), key=len, default=())


def _override(source: str, before: str | None, after: str | None, names: Mapping[str, str]) -> str:
    name = names.get(source) or source.rsplit("/", 1)[-1]
    if before is None:
        return f"{name}: {after}"
    return f"{name}: {before} → {after or 'the chunker of the others'}"


def _words(name: str) -> str:
    return name.removeprefix(OWN).replace("_", " ")


def _value(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
