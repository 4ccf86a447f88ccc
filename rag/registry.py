"""One look-up for every family of components: ``build(FAMILY, "family:model", ...)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from rag.errors import SettingsError

T = TypeVar("T")


def build(kind: str, variants: Mapping[str, Callable[..., T]], name: str, *arguments: object, **options: object) -> T:
    """The component that ``name`` (``variant`` or ``variant:model``) stands for in the ``variants`` of one family.

    Each variant is called with the model's name ("" where none was given) and the further arguments.
    Raises SettingsError with the list of choices for an unknown name.
    """
    variant, _, model = name.partition(":")
    if variant not in variants:
        raise SettingsError(f"There is no {kind} called {name!r}. Choose one of: {', '.join(variants)}.")
    return variants[variant](model, *arguments, **options)
