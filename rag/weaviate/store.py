"""Chunks in Weaviate: writing, reading, deleting, and the dense and the sparse search.

One collection per index fingerprint, one tenant per workspace. Vectors are brought by us; the text that BM25 reads is
analysed by us (rag/analysis.py) and split by the server at blanks.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from weaviate import WeaviateClient
from weaviate.classes.config import Configure, DataType, StopwordsPreset, VectorDistances
from weaviate.classes.query import Filter, HybridFusion, MetadataQuery, Sort

from rag.schema import Chunk, Hit
from rag.weaviate.entries import NUMBERS, SPANS, Entry, Rejected, chunk_object, fault, to_chunk
from rag.weaviate.failures import translated
from rag.weaviate.tenants import (
    DEFAULT_WORKSPACE,
    Tenants,
    exact_property,
    searched_property,
    stored_property,
)

WRITE_BATCH = 500
PAGE = 500
SCAN_PAGE = 2000
MOST_RESULTS = 10_000  # the server's own bound (QUERY_MAXIMUM_RESULTS)
CHUNK_CACHE = 20_000
Visible = Mapping[str, Collection[str]]
NOTHING_WRITTEN: Visible = MappingProxyType({})
_EXPLAINED = re.compile(r"BM25F_(\S+?)_(frequency|propLength):([0-9.]+)")


class Store:
    """Reads and writes the chunks of one workspace; safe to share between threads."""

    def __init__(self, client: WeaviateClient, workspace: str = DEFAULT_WORKSPACE):
        self._client = client
        self._tenants = Tenants(client, workspace)
        self._chunks: OrderedDict[str, Chunk] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def workspace(self) -> str:
        """The workspace's name."""
        return self._tenants.workspace

    @property
    def answers(self) -> bool:
        """Whether the server answers at all."""
        return self._client.is_ready()

    def prepare_index(self, fingerprint: str, k1: float, b: float) -> None:
        """Create the index's collection and this workspace's tenant in it, where they are missing."""
        self._tenants.prepare(collection_name(fingerprint), lambda name: self._create(name, k1, b))

    def has_index(self, fingerprint: str) -> bool:
        """Whether this workspace has a (possibly empty) index of that fingerprint, asked of the server each time."""
        return self._tenants.exists(collection_name(fingerprint))

    def drop_index(self, fingerprint: str) -> None:
        """Remove this workspace's chunks of that index, and the collection itself once no workspace uses it."""
        self._tenants.drop(collection_name(fingerprint))

    def _create(self, name: str, k1: float, b: float) -> None:
        self._client.collections.create(
            name,
            properties=[
                *(searched_property(field) for field in ("analysed", "heading")),
                *(exact_property(field) for field in ("document_id", "content_hash")),
                *(stored_property(field, DataType.TEXT) for field in ("text", "header", "document")),
                *(stored_property(field, DataType.TEXT_ARRAY) for field in ("section", "page_labels")),
                *(stored_property(field, DataType.INT_ARRAY) for field in SPANS),
                *(stored_property(field, DataType.INT, True) for field in NUMBERS),
            ],
            vector_config=Configure.Vectors.self_provided(
                vector_index_config=Configure.VectorIndex.hnsw(distance_metric=VectorDistances.COSINE)
            ),
            inverted_index_config=Configure.inverted_index(bm25_k1=k1, bm25_b=b, stopwords_preset=StopwordsPreset.NONE),
            multi_tenancy_config=Configure.multi_tenancy(enabled=True),
        )

    def write(self, fingerprint: str, entries: Sequence[Entry], dimensions: int) -> tuple[Rejected, ...]:
        """Store every entry that can be stored; what comes back are those that could not, each with its reason."""
        rejected = []
        sound = []
        for entry in entries:
            reason = fault(entry, dimensions)
            if reason:
                rejected.append(Rejected(entry.chunk, reason))
            else:
                sound.append(entry)
        for begin in range(0, len(sound), WRITE_BATCH):
            batch = sound[begin : begin + WRITE_BATCH]
            errors = self._tenants.insert(collection_name(fingerprint), [chunk_object(entry) for entry in batch])
            rejected += [Rejected(batch[position].chunk, reason) for position, reason in errors.items()]
        return tuple(rejected)

    def chunk_ids(self, fingerprint: str, document_id: str) -> set[str]:
        """The ids of everything that is stored of one document."""
        tenant = self._tenants.tenant(collection_name(fingerprint))
        of_document = Filter.by_property("document_id").equal(document_id)
        found: set[str] = set()
        position = -1
        while True:
            with translated("list a document's chunks"):
                page = tenant.query.fetch_objects(
                    filters=of_document & Filter.by_property("position").greater_or_equal(position),
                    sort=Sort.by_property("position"),
                    limit=PAGE,
                    return_properties=["position"],
                ).objects
            fresh = {str(item.uuid) for item in page} - found
            found |= fresh
            if len(page) < PAGE or not fresh:
                return found
            position = page[-1].properties["position"]

    def all_ids(self, fingerprint: str) -> dict[str, set[str]]:
        """The ids of everything that is stored, by document id; read in the order of the ids, page by page."""
        found: dict[str, set[str]] = {}
        tenant = self._tenants.tenant(collection_name(fingerprint))
        with translated("list the chunks"):
            for item in tenant.iterator(return_properties=["document_id"], cache_size=SCAN_PAGE):
                found.setdefault(item.properties["document_id"], set()).add(str(item.uuid))
        return found

    def delete_chunks(self, fingerprint: str, ids: Iterable[str]) -> None:
        """Remove chunks by id; ids that are not there are no error."""
        ids = list(ids)
        for begin in range(0, len(ids), PAGE):
            self._tenants.delete(collection_name(fingerprint), ids[begin : begin + PAGE])

    def count(self, fingerprint: str) -> int:
        """How many chunks this workspace has in that index; 0 where there is no such index."""
        if not self.has_index(fingerprint):
            return 0
        with translated("count chunks"):
            return (
                self._tenants.tenant(collection_name(fingerprint)).aggregate.over_all(total_count=True).total_count or 0
            )

    def chunks(self, fingerprint: str, ids: Collection[str]) -> dict[str, Chunk]:
        """The chunks with those ids in that order; an id fixes the content, so each is read once and remembered."""
        with self._lock:
            found = {chunk_id: self._chunks[chunk_id] for chunk_id in ids if chunk_id in self._chunks}
            for chunk_id in found:
                self._chunks.move_to_end(chunk_id)
        missing = [chunk_id for chunk_id in dict.fromkeys(ids) if chunk_id not in found]
        for begin in range(0, len(missing), PAGE):
            wanted = missing[begin : begin + PAGE]
            tenant = self._tenants.tenant(collection_name(fingerprint))
            with translated("read chunks"):
                objects = tenant.query.fetch_objects_by_ids(wanted, limit=len(wanted)).objects
            found.update((str(item.uuid), to_chunk(item.properties)) for item in objects)
        with self._lock:
            self._chunks.update((chunk_id, found[chunk_id]) for chunk_id in missing if chunk_id in found)
            while len(self._chunks) > CHUNK_CACHE:
                self._chunks.popitem(last=False)
        return {chunk_id: found[chunk_id] for chunk_id in ids if chunk_id in found}

    def dense(
        self,
        fingerprint: str,
        vector: np.ndarray,
        limit: int,
        visible: Visible = NOTHING_WRITTEN,
        documents: Sequence[str] = (),
    ) -> tuple[Hit, ...]:
        """The nearest chunks: score is cosine similarity (-1 to 1, higher is nearer), ``why`` the cosine distance.

        ``visible`` has, by id of a document that is being written, the chunks to be seen of it; ``documents`` are the
        ids of those to search, all where there are none.
        """
        wanted = np.asarray(vector, dtype=np.float32).tolist()

        def search(count: int) -> list:
            with translated("search by meaning"):
                query = self._tenants.tenant(collection_name(fingerprint)).query
                return query.near_vector(
                    wanted,
                    limit=count,
                    filters=_only(documents),
                    return_properties=["document_id"] if visible else [],
                    return_metadata=MetadataQuery(distance=True),
                ).objects

        found = _seen(search, limit, visible)
        return _ranked(
            (str(item.uuid), 1 - item.metadata.distance, {"distance": item.metadata.distance}) for item in found
        )

    def sparse(
        self,
        fingerprint: str,
        terms: Sequence[str],
        limit: int,
        heading_weight: int,
        visible: Visible = NOTHING_WRITTEN,
        documents: Sequence[str] = (),
    ) -> tuple[Hit, ...]:
        """The best chunks by BM25 over analysed text and headings: score is the sum, ``why`` has the matched terms.

        ``visible`` and ``documents`` as for ``dense``. The weight is a whole number because the server reads any other
        as 0.
        """
        if not terms:
            return ()
        fields = ["analysed"] + ([f"heading^{heading_weight:d}"] if heading_weight > 0 else [])

        def search(count: int) -> list:
            with translated("search by keywords"):
                query = self._tenants.tenant(collection_name(fingerprint)).query
                return query.bm25(
                    " ".join(terms),
                    query_properties=fields,
                    limit=count,
                    filters=_only(documents),
                    return_properties=["document_id"] if visible else [],
                    return_metadata=MetadataQuery(score=True, explain_score=True),
                ).objects

        found = _seen(search, limit, visible)
        return _ranked(
            (str(item.uuid), item.metadata.score, {"terms": _matched(item.metadata.explain_score)}) for item in found
        )

    def server_hybrid(self, fingerprint: str, terms: Sequence[str], vector: np.ndarray, alpha: float, limit: int):
        """Weaviate's own ranked fusion of both legs, as hits: what our RRF is checked against."""
        with translated("search by both"):
            objects = (
                self._tenants.tenant(collection_name(fingerprint))
                .query.hybrid(
                    " ".join(terms),
                    vector=np.asarray(vector, dtype=np.float32).tolist(),
                    alpha=alpha,
                    fusion_type=HybridFusion.RANKED,
                    query_properties=["analysed", "heading"],
                    limit=limit,
                    return_properties=[],
                    return_metadata=MetadataQuery(score=True),
                )
                .objects
            )
        return _ranked([(str(item.uuid), item.metadata.score, {}) for item in objects])


def collection_name(fingerprint: str) -> str:
    """The collection that holds the chunks of that index."""
    return f"FunnelChunks_{fingerprint}"


def _only(documents: Sequence[str]) -> Any:
    return Filter.by_property("document_id").contains_any(list(documents)) if documents else None


def _seen(search: Callable[[int], list], limit: int, visible: Visible) -> list:
    """The first ``limit`` objects that are to be seen; more is asked for until there are so many, or no more at all."""
    count = min(limit * 2, MOST_RESULTS) if visible else limit
    while limit > 0:
        found = search(count)
        seen = [item for item in found if not visible or _is_seen(item, visible)]
        if len(seen) >= limit or len(found) < count or count >= MOST_RESULTS:
            return seen[:limit]
        count = min(count * 4, MOST_RESULTS)
    return []


def _is_seen(item: Any, visible: Visible) -> bool:
    document_id = item.properties["document_id"]
    return document_id not in visible or str(item.uuid) in visible[document_id]


def _matched(explanation: str | None) -> dict[str, dict[str, float]]:
    """By matched term, its frequency in the passage and the passage's length in terms, as the server explains them."""
    terms: dict[str, dict[str, float]] = {}
    for term, name, number in _EXPLAINED.findall(explanation or ""):
        terms.setdefault(term, {})["frequency" if name == "frequency" else "length"] = float(number)
    return terms


def _ranked(found: Iterable[tuple[str, float, dict]]) -> tuple[Hit, ...]:
    """Hits from (id, score, why), best first; equal scores stand in the order of their ids."""
    ordered = sorted(found, key=lambda item: (-item[1], item[0]))
    return tuple(Hit(chunk_id, rank, score, why) for rank, (chunk_id, score, why) in enumerate(ordered, 1))
