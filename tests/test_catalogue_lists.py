"""What the catalogue keeps beside documents and indexes: failures, overrides, watched folders, what is visible."""

from __future__ import annotations

import pytest
from weaviate import WeaviateClient

from rag.catalogue import Catalogue, FileFailure, IndexedRecord, IndexRecord, Switch, WatchedFolder
from rag.schema import Document
from rag.weaviate.records import Records
from tests.support import client, fresh_name, settings_for

__all__ = ["client"]
FINGERPRINT = "f" * 16
ODD = ["/x/report.txt", "/x/Report.txt", "/x/annual report.txt", "/x/the.txt", "uploads/100%_*.txt", '/x/it\'s "x".md']


@pytest.fixture
def records(client: WeaviateClient) -> Records:
    return Records(client, fresh_name())


@pytest.fixture
def catalogue(records: Records) -> Catalogue:
    return Catalogue(records)


def indexed(name: str, chunks: int = 1) -> IndexedRecord:
    return IndexedRecord(name, f"{name}.txt", "hash", chunks, True)


def test_failures_are_kept_by_source_to_the_letter_and_go_with_the_document(catalogue: Catalogue) -> None:
    for source in ODD:
        catalogue.save_failure(FileFailure(source, source.split("/")[-1], "no text found"))
    catalogue.save_failure(FileFailure(ODD[0], "report.txt", "needs a password"))
    assert {failure.source: failure.reason for failure in catalogue.failures()} == {
        **dict.fromkeys(ODD, "no text found"),
        ODD[0]: "needs a password",
    }
    catalogue.forget_failure(ODD[0])
    catalogue.forget_failure("/x/nobody.txt")
    catalogue.remove_document(Document("the.txt", "/x/the.txt", "Text.").id)
    assert {failure.source for failure in catalogue.failures()} == {*ODD} - {ODD[0], "/x/the.txt"}


def test_overrides_are_set_changed_and_taken_back(catalogue: Catalogue) -> None:
    assert catalogue.overrides() == {}
    for source in ODD:
        catalogue.set_override(source, "qa")
    catalogue.set_override(ODD[1], "layout")
    catalogue.set_override(ODD[2], "")
    catalogue.set_override("/x/nobody.txt", "")
    assert catalogue.overrides() == {
        source: "layout" if source == ODD[1] else "qa" for source in sorted(ODD) if source != ODD[2]
    }
    assert list(catalogue.overrides()) == sorted(catalogue.overrides())


def test_watched_folders_are_kept_by_path(catalogue: Catalogue) -> None:
    one, two = WatchedFolder("/x/b", 60, True, 12.5, "2 added"), WatchedFolder("/x/a")
    for folder in (one, two):
        catalogue.save_folder(folder)
    assert catalogue.folders() == (two, one) and (two.seconds, two.on, two.last) == (300, True, 0.0)
    catalogue.forget_folder("/x/b")
    assert catalogue.folders() == (two,)


def test_a_switch_makes_other_chunks_visible_and_counts_their_terms(catalogue: Catalogue) -> None:
    index = catalogue.save_index(IndexRecord(FINGERPRINT, settings_for().plan(), 8, "", ("a",)))
    assert catalogue.index(FINGERPRINT).writing == ("a",)
    catalogue.switch(
        FINGERPRINT,
        [
            Switch(indexed("a", 2), {"1", "2"}, {"kiln": 2}),
            Switch(indexed("b"), ["3"], {"chunks": 1, "frequencies": 1}),
        ],
    )
    before = catalogue.indexed(FINGERPRINT)
    assert catalogue.visible(FINGERPRINT, before.values()) == {"a": {"1", "2"}, "b": {"3"}}
    assert dict(catalogue.statistics(index).document_frequencies) == {"kiln": 2, "chunks": 1, "frequencies": 1}
    catalogue.switch(FINGERPRINT, [Switch(indexed("a"), ["4"], {"glaze": 1})])
    after = catalogue.indexed(FINGERPRINT, ["a", "nobody"])
    assert after.keys() == {"a"} and after["a"].revision != before["a"].revision
    assert catalogue.visible(FINGERPRINT, after.values()) == {"a": {"4"}}
    # Who still has the record of before is told nothing rather than something of another state.
    fresh = Catalogue(catalogue._records)
    assert fresh.visible(FINGERPRINT, before.values()) == {"b": {"3"}}
    catalogue.forget_indexed(FINGERPRINT, "a", "nobody")
    assert catalogue.indexed(FINGERPRINT).keys() == {"b"}


def test_an_index_that_is_dropped_is_told_of_to_nobody(catalogue: Catalogue) -> None:
    catalogue.save_index(IndexRecord(FINGERPRINT, settings_for().plan(), 8, ""))
    catalogue.drop_index(FINGERPRINT)
    catalogue.drop_index("0" * 16)
    assert (catalogue.index(FINGERPRINT), catalogue.indexes(), catalogue.dropped()) == (None, (), (FINGERPRINT,))
    catalogue.forget_index(FINGERPRINT)
    assert catalogue.dropped() == ()


def test_a_catalogue_of_an_older_version_opens(records: Records, catalogue: Catalogue) -> None:
    """Documents without format and hash, indexes without what is being written, frequencies without chunks."""
    document = Document("a.md", "/x/a.md", "Kilns.")
    summary = {name: getattr(document, name) for name in ("name", "source", "content_hash")}
    summary |= {"file_hash": "h", "characters": 6, "pages": 0, "sections": 0, "notices": []}
    body = {
        "name": "a.md",
        "source": "/x/a.md",
        "text": "Kilns.",
        "sections": [],
        "pages": [],
        "blocks": [],
        "notices": [],
    }
    records.put("document", document.id, summary, body)
    plan = {name: value for name, value in settings_for().plan().items() if name != "chunkers_version"}
    records.put("index", FINGERPRINT, {"plan": plan, "dimensions": 8, "revision": "r"})
    records.put(
        "indexed",
        document.id,
        {"name": "a.md", "content_hash": "h", "chunks": 1, "complete": True},
        {"kiln": 1},
        FINGERPRINT,
    )
    (record,) = catalogue.documents()
    assert (record.name, record.format, record.bytes_hash) == ("a.md", "", "")
    assert catalogue.document(document.id) == document
    (index,) = catalogue.indexes()
    assert (index.writing, index.embedder) == ((), "m1")
    held = catalogue.indexed(FINGERPRINT)
    assert held == {document.id: IndexedRecord(document.id, "a.md", "h", 1, True)}
    assert dict(catalogue.statistics(index).document_frequencies) == {"kiln": 1}
    assert catalogue.visible(FINGERPRINT, held.values()) == {document.id: frozenset()}


def test_what_a_later_version_adds_is_passed_over(records: Records, catalogue: Catalogue) -> None:
    records.put("failure", "key", {"source": "s", "name": "n", "reason": "r", "since": "yesterday"})
    assert catalogue.failures() == (FileFailure("s", "n", "r"),)
