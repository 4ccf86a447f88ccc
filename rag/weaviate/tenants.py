"""A workspace inside a Weaviate: its tenant in each collection, made when first written to, and the client's errors in
ours."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
import httpx
from weaviate import WeaviateClient
from weaviate.classes.config import DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter
from weaviate.classes.tenants import Tenant
from weaviate.exceptions import (
    WeaviateBaseError,
    WeaviateConnectionError,
    WeaviateInsertManyAllFailedError,
    WeaviateRetryError,
    WeaviateTimeoutError,
)

from rag.errors import SettingsError, StoreError

DEFAULT_WORKSPACE = "default"
_WORKSPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNREACHED = (WeaviateConnectionError, WeaviateRetryError, WeaviateTimeoutError, httpx.TransportError)
_UNREACHED_CODES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class Tenants:
    """One workspace's share of every collection; safe to share between threads."""

    def __init__(self, client: WeaviateClient, workspace: str = DEFAULT_WORKSPACE):
        if not _WORKSPACE.fullmatch(workspace):
            raise SettingsError(f"A workspace name has 1 to 64 letters, digits, - or _; {workspace!r} does not fit.")
        self.workspace = workspace
        self._client = client
        self._ready: set[str] = set()
        self._lock = threading.Lock()

    def prepare(self, name: str, create: Callable[[str], object]) -> None:
        """Make the collection (by ``create(name)``) and this workspace's tenant in it, where they are missing."""
        if name in self._ready:
            return
        with self._lock, translated(f"prepare the collection {name}"):
            if not self._client.collections.exists(name):
                try:
                    create(name)
                except WeaviateBaseError:
                    # Another process may have created it in between; only then is the failure none.
                    if not self._client.collections.exists(name):
                        raise
            collection = self._client.collections.use(name)
            if self.workspace not in collection.tenants.get():
                collection.tenants.create([Tenant(name=self.workspace)])
            self._ready.add(name)

    def known(self, name: str) -> bool:
        """Like ``exists``, but asks the server only until the answer was yes once: for reading, many times a
        question."""
        return name in self._ready or self.exists(name)

    def exists(self, name: str) -> bool:
        """Whether the collection is there and holds this workspace, asked of the server each time."""
        with translated(f"look for the collection {name}"):
            there = self._client.collections.exists(name)
            there = there and self.workspace in self._client.collections.use(name).tenants.get()
        (self._ready.add if there else self._ready.discard)(name)
        return there

    def drop(self, name: str) -> None:
        """Remove this workspace from the collection, and the collection itself when no workspace is left in it."""
        with translated(f"drop the collection {name}"):
            if self._client.collections.exists(name):
                collection = self._client.collections.use(name)
                collection.tenants.remove([self.workspace])
                if not collection.tenants.get():
                    self._client.collections.delete(name)
        self._ready.discard(name)

    def tenant(self, name: str):
        """The client's handle on this workspace in that collection."""
        return self._client.collections.use(name).with_tenant(self.workspace)

    def insert(self, name: str, objects: list[DataObject]) -> dict[int, str]:
        """Write objects, replacing those with the same id; reasons by position of those that the server refused.

        An object that is refused is not left half stored.
        """
        tenant = self.tenant(name)
        with translated("write to Weaviate"):
            try:
                failed = tenant.data.insert_many(objects).errors
                reasons = {position: str(error.message) for position, error in failed.items()}
            except WeaviateInsertManyAllFailedError as error:
                reasons = dict.fromkeys(range(len(objects)), " ".join(str(error).split()))
            if reasons:
                # This server reports a vector of the wrong length as failed and keeps the object without it.
                ids = [str(objects[position].uuid) for position in reasons]
                tenant.data.delete_many(where=Filter.by_id().contains_any(ids))
        return reasons


def searched_property(name: str) -> Property:
    """Text that BM25 reads, already analysed: the server only splits it at blanks."""
    return Property(
        name=name,
        data_type=DataType.TEXT,
        tokenization=Tokenization.WHITESPACE,
        index_searchable=True,
        index_filterable=False,
    )


def exact_property(name: str) -> Property:
    """Text that filters compare whole, character by character."""
    return Property(
        name=name,
        data_type=DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_searchable=False,
        index_filterable=True,
    )


def stored_property(name: str, data_type: DataType, filterable: bool = False) -> Property:
    """A value kept for display, or for filters by number."""
    searchable = {"index_searchable": False} if data_type in (DataType.TEXT, DataType.TEXT_ARRAY) else {}
    return Property(name=name, data_type=data_type, index_filterable=filterable, **searchable)


@contextmanager
def translated(action: str) -> Iterator[None]:
    """Turns the client's and the network's errors into StoreError, saying what was being done."""
    try:
        yield
    except (WeaviateBaseError, grpc.RpcError, httpx.HTTPError) as error:
        if _is_unreached(error):
            raise StoreError(
                f"Weaviate does not answer, so it could not {action}: it has stopped or cannot be reached. "
                "Try again; if that does not help, `python -m rag server status` shows the local server."
            ) from error
        text = " ".join(str(error).split())
        raise StoreError(
            f"Weaviate could not {action}: {text[:300]}. `python -m rag server status` shows the server."
        ) from error


def _is_unreached(error: BaseException | None) -> bool:
    """Whether an error, or one that it came from, means that the server was not there or did not answer in time."""
    while error is not None:
        code = error.code() if isinstance(error, grpc.RpcError) and isinstance(error, grpc.Call) else None
        if isinstance(error, _UNREACHED) or code in _UNREACHED_CODES:
            return True
        error = error.__cause__ or error.__context__
    return False
