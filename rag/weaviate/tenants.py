"""A workspace inside a Weaviate: its tenant in each collection, made when first written to."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from weaviate import WeaviateClient
from weaviate.classes.config import DataType, Property, Tokenization
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter
from weaviate.classes.tenants import Tenant
from weaviate.exceptions import WeaviateBaseError, WeaviateInsertManyAllFailedError

from rag.errors import SettingsError, StoreError
from rag.settings import DEFAULT_WORKSPACE
from rag.weaviate.failures import failure, translated
from rag.weaviate.remedies import known, plain

_WORKSPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")


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
        """Like ``exists``, but asks the server only until the answer was yes once: for reading, which is frequent."""
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

        An object that is refused is not left half stored. Raises StoreError where the server can write none.
        """
        action = "write the objects"
        with translated(action):
            try:
                failed = self.tenant(name).data.insert_many(objects).errors
                reasons = {position: str(error.message) for position, error in failed.items()}
            except WeaviateInsertManyAllFailedError as error:
                reasons = dict.fromkeys(range(len(objects)), str(error))
        if reasons:
            self._clean_up(name, objects, reasons, action)
        return {position: plain(reason) for position, reason in reasons.items()}

    def _clean_up(self, name: str, objects: list[DataObject], reasons: dict[int, str], action: str) -> None:
        """Leave nothing of the refused objects, and make sure of the others."""
        first = next(iter(reasons.values()))
        if any(map(known, reasons.values())):
            raise failure(action, first)
        refused = [str(objects[position].uuid) for position in reasons]
        others = {str(item.uuid) for item in objects}.difference(refused)
        try:
            # This server reports a vector of the wrong length as failed and keeps the object without it.
            self.delete(name, refused)
            with translated("read the objects"):
                found = self.tenant(name).query.fetch_objects_by_ids(others, limit=len(objects), return_properties=[])
        except StoreError as error:
            raise failure(action, first) from error
        # Where it can use none of a tenant's files, it reports the first object alone (PutObjectBatch in its source).
        if len(found.objects) < len(others):
            raise failure(action, first)

    def delete(self, name: str, ids: list[str]) -> None:
        """Remove objects by id; ids that are not there are no error, objects that stay are."""
        tenant = self.tenant(name)
        with translated("delete the objects"):
            if tenant.data.delete_many(where=Filter.by_id().contains_any(ids)).failed:
                for one in ids:  # of many the server only counts those that stay; asked for one it says why
                    tenant.data.delete_by_id(one)


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
