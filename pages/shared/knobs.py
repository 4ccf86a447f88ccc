"""The widgets of a chunker: the sizes it heeds and its own parameters, as ``rag.settings`` declares them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from rag.settings import LIMITS, OWN, PARAMETERS, SIZES, Parameter, Settings

SIZE_WORDS = {
    "chunk_size": ("Size", "The most characters a passage may have.", 100),
    "chunk_overlap": ("Overlap", "How many characters a passage repeats of the one before, at most half its size.", 10),
}
Values = dict[str, int | float | str]


def draw_chunker_knobs(chunker: str, settings: Settings, key: Callable[[str], str]) -> Values:
    """Draw the knobs that this chunker heeds and give their values back; ``settings`` hold those it begins with.

    ``key`` makes a widget's key of a knob's name, which is ``<chunker>.<name>`` for a parameter of the chunker's own.
    """
    own = PARAMETERS.get(chunker, {})
    beginning = settings if settings.chunker == chunker else settings.changed({"chunker": chunker})
    values: Values = {}
    for name in SIZES.get(chunker, tuple(SIZE_WORDS)):
        label, meaning, step = SIZE_WORDS[name]
        low, high = (int(limit) for limit in LIMITS[name])
        value = getattr(settings, name)
        values[name] = st.number_input(label, low, high, value, step=step, key=key(name), help=meaning)
    for name, parameter in own.items():
        values[OWN + name] = _draw_own(name, parameter, beginning.parameter(name), key(f"{chunker}.{name}"))
    return values


def chosen_values(chunker: str, settings: Settings, key: Callable[[str], str]) -> Values:
    """The same values as the session holds them, for a callback: what was typed last is not drawn yet.

    A knob that was never drawn has the value it would begin with.
    """
    beginning = settings if settings.chunker == chunker else settings.changed({"chunker": chunker})
    sizes = {name: (key(name), getattr(settings, name)) for name in SIZES.get(chunker, tuple(SIZE_WORDS))}
    own = {OWN + name: (key(f"{chunker}.{name}"), beginning.parameter(name)) for name in PARAMETERS.get(chunker, {})}
    return {name: st.session_state.get(place, value) for name, (place, value) in {**sizes, **own}.items()}


def with_chunker(settings: Settings, chunker: str, values: Values) -> Settings:
    """The settings with another chunker and its knobs; a size it does not heed never stands in the way.

    Raises SettingsError.
    """
    heeded = {name: value for name, value in values.items() if name in SIZE_WORDS}
    size = heeded.get("chunk_size", settings.chunk_size)
    if "chunk_overlap" not in SIZES.get(chunker, tuple(SIZE_WORDS)):
        heeded["chunk_overlap"] = min(settings.chunk_overlap, int(size) // 2)
    own = {name: value for name, value in values.items() if name not in SIZE_WORDS}
    return settings.changed({"chunker": chunker, **heeded, **own})


def _draw_own(name: str, parameter: Parameter, value: int | float | str, key: str) -> int | float | str:
    label = name.replace("_", " ").capitalize()
    if parameter.choices:
        position = parameter.choices.index(str(value))
        return st.selectbox(label, parameter.choices, position, key=key, help=parameter.meaning)
    kind = type(parameter.default)
    low, high = kind(parameter.low), kind(parameter.high)
    step = kind(10 ** max(0, len(str(int(high))) - 3))
    return st.number_input(label, low, high, kind(value), step=step, key=key, help=parameter.meaning)
