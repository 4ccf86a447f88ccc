"""Everything this library raises on purpose: one family, each message one sentence or two that say what to do next."""

from __future__ import annotations


class RagError(Exception):
    """Something a person can act on; the message says what happened and what to do."""


class SettingsError(RagError):
    """A knob, a component name or a command was given a value that cannot be used."""


class LoadError(RagError):
    """A file could not be turned into text; ``reason`` is short enough for a table cell."""

    def __init__(self, name: str, reason: str):
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class ProviderError(RagError):
    """A model (local or behind an API) could not do its work: no key, no network, a limit, a wrong-sized answer."""


class ServerError(RagError):
    """Weaviate could not be found, obtained, started or reached."""


class StoreError(RagError):
    """Weaviate was reached and refused or failed what was asked of it."""


class IndexMismatchError(RagError):
    """The index was built with another embedder than the one now asked for; nothing was written."""


class Cancelled(RagError):
    """Somebody stopped the work; what it had finished stays, and the next run goes on from there."""

    def __init__(self, message: str = "Stopped. What was finished stays; the next run goes on from there."):
        super().__init__(message)
