"""The catalogue's records in Weaviate: small JSON summaries with an optional large body, by kind, index and key."""

from __future__ import annotations

import base64
import json
import uuid
import zlib
from collections.abc import Iterator
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
PAGE_WITH_BODIES = 20


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
        self._tenants.prepare(COLLECTION, self._create)
        properties = {
            "kind": kind,
            "fingerprint": fingerprint,
            "key": key,
            "summary": json.dumps(summary),
            "body": "" if body is None else pack(body),
        }
        item = DataObject(uuid=_record_id(kind, key, fingerprint), properties=properties)
        for reason in self._tenants.insert(COLLECTION, [item]).values():
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


def _record(properties: dict[str, Any]) -> Record:
    body = properties.get("body")
    return Record(properties["key"], json.loads(properties["summary"]), unpack(body) if body else None)


def _record_id(kind: str, key: str, fingerprint: str) -> str:
    return str(uuid.UUID(digest("record", kind, fingerprint, key)[:32]))
