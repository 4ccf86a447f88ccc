"""The catalogue on a real server: what was written comes back, and its counts equal a recount."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from weaviate import WeaviateClient

from rag import library
from rag.analysis import analyse
from rag.catalogue import SAMPLES_PRESENT, Catalogue, DocumentRecord, IndexedRecord, IndexRecord, Statistics
from rag.environment import Environment
from rag.errors import StoreError
from rag.schema import Block, Document, Page, Section
from rag.weaviate import connection
from rag.weaviate.records import Records, pack, unpack
from rag.workspace import Workspace
from tests.support import client, fresh_name, m1, open_test_workspace, settings_for, stored, write_files

__all__ = ["client"]
HOSTILE = 'Quotes " \' and \\n and \\ and \x1b[31m, 漢字, 👩‍👩‍👧, {"json": null}, </tag>, \u202e and a long line. '


@pytest.fixture
def records(client: WeaviateClient) -> Records:
    return Records(client, fresh_name())


@pytest.fixture
def catalogue(records: Records) -> Catalogue:
    return Catalogue(records)


def test_a_workspace_nobody_wrote_to_is_empty(catalogue: Catalogue) -> None:
    assert (catalogue.documents(), catalogue.indexes(), catalogue.samples()) == ((), (), "")
    assert catalogue.document("none") is None and catalogue.index("none") is None and catalogue.indexed("none") == {}
    catalogue.remove_document("none")
    catalogue.forget_index("none")
    catalogue.remove()


def test_records_are_replaced_by_kind_index_and_key(records: Records) -> None:
    records.put("a", "key", {"n": 1}, {"body": [1, "é"]})
    records.put("a", "key", {"n": 2})
    records.put("b", "key", {"n": 3})
    records.put("a", "key", {"n": 4}, fingerprint="f")
    assert (records.get("a", "key").summary, records.get("a", "key").body) == ({"n": 2}, None)
    assert records.get("b", "key").summary == {"n": 3} and records.get("a", "key", "f").summary == {"n": 4}
    records.delete("a", "key")
    assert records.get("a", "key") is None and list(records.all("a")) == []
    assert [record.summary for record in records.all("a", "f")] == [{"n": 4}]


def test_more_records_than_a_page_all_come_back_in_the_order_of_their_keys(records: Records) -> None:
    keys = [f"{number:04}" for number in range(603)]
    for key in keys[::-1]:
        records.put("many", key, {"key": key}, {"of": key} if key < "0045" else None)
    assert [record.key for record in records.all("many")] == keys
    assert all(record.body is None for record in records.all("many"))
    with_bodies = list(records.all("many", bodies=True))
    assert [record.body for record in with_bodies] == [{"of": key} if key < "0045" else None for key in keys]


def test_keys_are_compared_to_the_letter(records: Records) -> None:
    keys = ["report", "Report", "annual report", "the", "report-2"]
    for key in keys:
        records.put("kind", key, {"key": key})
    records.delete("kind", "report")
    assert {record.summary["key"] for record in records.all("kind")} == {*keys} - {"report"}
    assert list(records.all("Kind")) == []


def test_a_document_comes_back_whole_whatever_it_holds(catalogue: Catalogue) -> None:
    text = HOSTILE * 12_000
    assert len(text) > 1_000_000
    document = Document(
        name='we "said"\n漢字.md',
        source="/tmp/a 'b'.md",
        text=text,
        sections=(Section((), 0, 5), Section(("A > B", 'C "c"'), 5, len(text), 1, 2)),
        pages=(Page(1, "xii", 0, 9), Page(2, "1", 9, len(text))),
        blocks=(Block("heading", 0, 3), Block("table", 3, 9)),
        notices=("Headings were found by their size.",),
    )
    catalogue.save_document(document, "hash of the bytes")
    assert catalogue.document(document.id) == document
    assert catalogue.documents() == (
        DocumentRecord(
            document.id,
            document.name,
            document.source,
            document.content_hash,
            "hash of the bytes",
            len(text),
            2,
            1,
            document.notices,
        ),
    )
    shorter = Document(document.name, document.source, "Short.")
    catalogue.save_document(shorter, "other")
    assert catalogue.document(document.id) == shorter and len(catalogue.documents()) == 1
    catalogue.remove_document(document.id)
    assert catalogue.documents() == () and catalogue.document(document.id) is None


def test_bodies_are_packed_small_and_hold_any_text() -> None:
    body = {"text": HOSTILE * 1000, "half": "\ud83d", "list": [1, None, 2.5]}
    assert unpack(pack(body)) == body
    assert len(pack(body)) < len(HOSTILE) * 20 and pack(body).isascii()


def test_documents_are_listed_by_name(catalogue: Catalogue) -> None:
    for name in ("b.txt", "A.txt", "a.txt", "C.txt"):
        catalogue.save_document(Document(name, f"/x/{name}", "Text."), "hash")
    assert [record.name for record in catalogue.documents()] == ["A.txt", "a.txt", "b.txt", "C.txt"]


def test_an_index_gets_a_new_revision_with_every_save_and_is_forgotten_whole(catalogue: Catalogue) -> None:
    first = catalogue.save_index(IndexRecord("f" * 16, settings_for().plan(), 8, ""))
    second = catalogue.save_index(first)
    assert first.revision and second.revision != first.revision and catalogue.indexes() == (second,)
    assert (catalogue.index("f" * 16), second.embedder) == (second, "m1")
    catalogue.save_indexed("f" * 16, IndexedRecord("d", "d.txt", "hash", 3, True), {"kiln": 2})
    catalogue.save_indexed("0" * 16, IndexedRecord("d", "d.txt", "hash", 5, False), {"kiln": 4})
    assert catalogue.indexed("f" * 16) == {"d": IndexedRecord("d", "d.txt", "hash", 3, True)}
    catalogue.forget_index("f" * 16)
    assert catalogue.index("f" * 16) is None and catalogue.indexed("f" * 16) == {}
    assert catalogue.indexed("0" * 16)["d"].chunks == 5


def test_samples_are_remembered_and_go_with_the_workspace(client: WeaviateClient, catalogue: Catalogue) -> None:
    other = Catalogue(Records(client, fresh_name()))
    for one in (catalogue, other):
        one.set_samples(SAMPLES_PRESENT)
    catalogue.remove()
    assert (catalogue.samples(), other.samples()) == ("", SAMPLES_PRESENT)
    catalogue.set_samples(SAMPLES_PRESENT)  # and it can be written to again
    assert catalogue.samples() == SAMPLES_PRESENT


def test_idf_is_that_of_bm25() -> None:
    statistics = Statistics(10, {"common": 10, "rare": 1, "odd": 99})
    assert statistics.idf("rare") == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert statistics.idf("common") == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert statistics.idf("unseen") == pytest.approx(math.log(1 + 10.5 / 0.5))
    assert statistics.idf("odd") == statistics.idf("common") > 0
    assert Statistics(0, {}).idf("anything") == pytest.approx(math.log(2))


def recount(workspace: Workspace) -> Statistics:
    """Chunk count and document frequencies from the stored chunks themselves."""
    fingerprint = settings_for().fingerprint()
    hits = workspace.store.dense(fingerprint, m1().vector("anything"), 1000)
    chunks = workspace.store.chunks(fingerprint, [hit.chunk_id for hit in hits]).values()
    terms = [set(analyse(chunk.text)) | set(analyse(" ".join(chunk.section))) for chunk in chunks]
    return Statistics(len(chunks), Counter(term for found in terms for term in found))


def test_statistics_equal_a_recount_after_every_change(
    client: WeaviateClient, environment: Environment, tmp_path: Path
) -> None:
    workspace = open_test_workspace(client, environment, m1())
    sections = "\n\n".join(f"# Kiln {number}\n\nKilns heat clay. Heat {number} rises." for number in range(30))
    folder = write_files(tmp_path / "files", a_md=sections, b_txt="Glaze is glass.", c_txt="Clay kilns.")

    def counted() -> Statistics:
        library.add_paths(workspace.catalogue, [folder])
        workspace.build(settings_for())
        statistics = workspace.catalogue.statistics(workspace.catalogue.index(settings_for().fingerprint()))
        assert len(stored(workspace)) == statistics.chunks
        assert statistics.chunks == recount(workspace).chunks
        assert dict(statistics.document_frequencies) == dict(recount(workspace).document_frequencies)
        return statistics

    first = counted()
    assert (first.chunks, first.document_frequencies["kiln"], first.document_frequencies["heat"]) == (32, 31, 30)
    write_files(folder, a_md=sections.replace("Kilns heat", "Ovens warm"), d_txt="A wheel.")
    assert counted().document_frequencies["oven"] == 30
    (folder / "a.md").unlink()
    last = counted()
    assert last.chunks == 3 and "oven" not in last.document_frequencies
    # Another reader of the same server counts the same.
    again = Catalogue(Records(client, workspace.store.workspace))
    assert again.statistics(again.index(settings_for().fingerprint())) == last


def test_a_closed_connection_is_a_store_error(environment: Environment) -> None:
    with connection.connected(environment) as open_client:
        catalogue = Catalogue(Records(open_client, fresh_name()))
        catalogue.set_samples(SAMPLES_PRESENT)
    with pytest.raises(StoreError, match="Weaviate could not read the catalogue"):
        catalogue.samples()
    with pytest.raises(StoreError, match="Weaviate could not write"):
        catalogue.set_samples(SAMPLES_PRESENT)
