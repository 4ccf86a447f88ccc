"""The catalogue's records in Weaviate: small JSON summaries with an optional large body, by kind, index and key."""

from __future__ import annotations

import base64
import json
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weaviate import WeaviateClient
from weaviate.classes.config import Configure, DataType
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, Sort

from rag.errors import StoreError
from rag.schema import digest
from rag.weaviate.failures import translated
from rag.weaviate.tenants import DEFAULT_WORKSPACE, Tenants, exact_property, stored_property

COLLECTION = "FunnelCatalogue"
EVERYWHERE = "-"
PAGE = 500
PAGE_WITH_BODIES = 50


@dataclass(frozen=True, slots=True)
class Record:
    """One record; ``body`` is None where it was not asked for or there is none."""

    key: str
    summary: dict[str, Any]
    body: Any = None


class Records:
    """Reads and writes the catalogue records of one workspace; ``fingerprint`` EVERYWHERE means of no index."""

    def __init__(self, client: WeaviateClient, workspace: str = DEFAULT_WORKSPACE):
        self._client = client
        self._tenants = Tenants(client, workspace)

    def put(self, kind: str, key: str, summary: dict, body: Any = None, fingerprint: str = EVERYWHERE) -> None:
        """Write one record, replacing the one with the same kind, index and key."""
        self.put_many(kind, [Record(key, summary, body)], fingerprint)

    def put_many(self, kind: str, records: Sequence[Record], fingerprint: str = EVERYWHERE) -> None:
        """Write records, each at one stroke, replacing those with the same kind, index and key."""
        self._tenants.prepare(COLLECTION, self._create)
        for begin in range(0, len(records), PAGE_WITH_BODIES):
            items = [_stored(kind, record, fingerprint) for record in records[begin : begin + PAGE_WITH_BODIES]]
            for reason in self._tenants.insert(COLLECTION, items).values():
                raise StoreError(f"The catalogue could not be written: {reason}")

    def all(self, kind: str, fingerprint: str = EVERYWHERE, bodies: bool = False) -> Iterator[Record]:
        """Every record of that kind and index, in the order of their keys."""
        if not self._tenants.known(COLLECTION):
            return
        wanted = Filter.by_property("kind").equal(kind) & Filter.by_property("fingerprint").equal(fingerprint)
        fields = ["key", "summary"] + (["body"] if bodies else [])
        last = ""
        while True:
            with translated("read the catalogue"):
                page = (
                    self._tenants.tenant(COLLECTION)
                    .query.fetch_objects(
                        filters=wanted & Filter.by_property("key").greater_than(last) if last else wanted,
                        sort=Sort.by_property("key"),
                        limit=PAGE_WITH_BODIES if bodies else PAGE,
                        return_properties=fields,
                    )
                    .objects
                )
            if not page:
                return
            yield from (_record(item.properties) for item in page)
            last = page[-1].properties["key"]

    def get(self, kind: str, key: str, fingerprint: str = EVERYWHERE) -> Record | None:
        """One record with its body, or None."""
        if not self._tenants.known(COLLECTION):
            return None
        with translated("read the catalogue"):
            item = self._tenants.tenant(COLLECTION).query.fetch_object_by_id(_record_id(kind, key, fingerprint))
        return _record(item.properties) if item else None

    def some(
        self, kind: str, keys: Iterable[str], fingerprint: str = EVERYWHERE, bodies: bool = False
    ) -> Iterator[Record]:
        """The records with those keys, as far as they are there, in no order."""
        ids = [_record_id(kind, key, fingerprint) for key in keys]
        if not ids or not self._tenants.known(COLLECTION):
            return
        fields = ["key", "summary"] + (["body"] if bodies else [])
        size = PAGE_WITH_BODIES if bodies else PAGE
        for begin in range(0, len(ids), size):
            wanted = ids[begin : begin + size]
            with translated("read the catalogue"):
                query = self._tenants.tenant(COLLECTION).query
                page = query.fetch_objects_by_ids(wanted, limit=len(wanted), return_properties=fields).objects
            yield from (_record(item.properties) for item in page)

    def delete_many(self, kind: str, keys: Iterable[str], fingerprint: str = EVERYWHERE) -> None:
        """Remove records; those that are not there are no error."""
        ids = [_record_id(kind, key, fingerprint) for key in keys]
        if ids and self._tenants.known(COLLECTION):
            for begin in range(0, len(ids), PAGE):
                self._tenants.delete(COLLECTION, ids[begin : begin + PAGE])

    def delete(self, kind: str, key: str, fingerprint: str = EVERYWHERE) -> None:
        """Remove one record; one that is not there is no error."""
        if self._tenants.known(COLLECTION):
            with translated("write the catalogue"):
                self._tenants.tenant(COLLECTION).data.delete_by_id(_record_id(kind, key, fingerprint))

    def drop(self) -> None:
        """Delete all records of this workspace."""
        self._tenants.drop(COLLECTION)

    def _create(self, name: str) -> None:
        self._client.collections.create(
            name,
            properties=[
                *(exact_property(field) for field in ("kind", "fingerprint", "key")),
                *(stored_property(field, DataType.TEXT) for field in ("summary", "body")),
            ],
            vector_config=Configure.Vectors.self_provided(),
            multi_tenancy_config=Configure.multi_tenancy(enabled=True),
        )


def pack(value: Any) -> str:
    """JSON, compressed and made plain text, so that a large body travels small."""
    return base64.b85encode(zlib.compress(json.dumps(value).encode("utf-8", "surrogatepass"))).decode("ascii")


def unpack(text: str) -> Any:
    """The inverse of ``pack``."""
    return json.loads(zlib.decompress(base64.b85decode(text)).decode("utf-8", "surrogatepass"))


def _stored(kind: str, record: Record, fingerprint: str) -> DataObject:
    properties = {
        "kind": kind,
        "fingerprint": fingerprint,
        "key": record.key,
        "summary": json.dumps(record.summary),
        "body": "" if record.body is None else pack(record.body),
    }
    return DataObject(uuid=_record_id(kind, record.key, fingerprint), properties=properties)


def _record(properties: dict[str, Any]) -> Record:
    body = properties.get("body")
    return Record(properties["key"], json.loads(properties["summary"]), unpack(body) if body else None)


def _record_id(kind: str, key: str, fingerprint: str) -> str:
    return str(uuid.UUID(digest("record", kind, fingerprint, key)[:32]))
