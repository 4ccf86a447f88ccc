"""The Documents page, run in this process on a real server: what is listed, added, refused and removed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas

from pages.shared import documents
from rag import indexing, library, workspace
from rag.environment import Environment
from rag.errors import StoreError
from rag.settings import BASELINE, FUNNEL
from tests.page_support import Browser, use
from tests.support import fresh_name

LAPWING = "# Lapwing\n\nThe Lapwing is an electric car with five doors.\n"
FAQ = "question,answer\nHow many seats are there?,There are five seats in two rows.\n"
OWL = "# Owl\n\nThe Owl is a lorry with a crane that lifts three tonnes.\n"
COLUMNS = {"documents": "Characters", "report": "What happened", "indexes": "In use"}
PAGE = "pages/4_Documents.py"


@pytest.fixture
def browser(environment: Environment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Browser]:
    """A new session on the Documents page of a new workspace, whose samples are two small files."""
    for name, text in (("lapwing.md", LAPWING), ("faq.csv", FAQ)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(library, "SAMPLES_FOLDER", tmp_path)
    monkeypatch.setattr(workspace, "SAMPLES_FOLDER", tmp_path)
    name = fresh_name()
    monkeypatch.setattr(workspace, "DEFAULT_WORKSPACE", name)  # the one that begins with the samples
    use(monkeypatch, environment, name)
    yield Browser().go(PAGE)
    st.cache_resource.clear()


def table(browser: Browser, name: str) -> list[dict[str, object]]:
    """The rows of a table on the page, which is known by a column that it alone has; none where it is not drawn."""
    frames = [frame.value for frame in browser.app.dataframe]
    return next((frame.to_dict("records") for frame in frames if COLUMNS[name] in frame.columns), [])


def listed(browser: Browser) -> dict[str, str]:
    """Name and state of every document in the table."""
    return {row["Document"]: row["Indexed"] for row in table(browser, "documents")}


def add(browser: Browser, **files: bytes) -> dict[str, str]:
    """Send the files; what the page says became of each. ``a_md=b"..."`` sends a.md."""
    named = [(".".join(name.rsplit("_", 1)), data, "application/octet-stream") for name, data in files.items()]
    browser.app.file_uploader(key="_files").set_value(named)
    browser.press("add_files")
    return {row["Document"]: row["What happened"] for row in table(browser, "report")}


def a_pdf(*texts: str) -> bytes:
    """One page for each text, which may be blank; one blank page where none is given."""
    target = io.BytesIO()
    canvas = Canvas(target)
    for text in texts or ("",):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return target.getvalue()


def locked(data: bytes, user: str = "secret", owner: str | None = None) -> bytes:
    """The PDF behind a password."""
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user, owner, algorithm="AES-256")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def test_the_table_shows_what_is_indexed(browser: Browser) -> None:
    rows = table(browser, "documents")
    assert [(row["Document"], row["From"], row["Chunks"], row["Indexed"]) for row in rows] == [
        ("faq.csv", "sample", 1, "yes"),
        ("lapwing.md", "sample", 1, "yes"),
    ]
    assert rows[1]["Characters"] == len(LAPWING) and rows[1]["Sections"] == 1
    assert [row["In use"] for row in table(browser, "indexes")] == [True]
    assert table(browser, "indexes")[0]["State"] == "up to date"


def test_files_are_added_and_those_that_cannot_be_read_are_named_with_the_reason(browser: Browser) -> None:
    happened = add(
        browser,
        owl_md=OWL.encode(),
        good_pdf=a_pdf("The Wren is a bicycle with eleven gears and a basket in front."),
        blank_pdf=a_pdf(),
        locked_pdf=locked(a_pdf("hidden")),
        broken_pdf=b"%PDF-1.7 and then nothing",
    )
    assert (happened["owl.md"], happened["good.pdf"]) == ("added", "added")
    assert happened["blank.pdf"] == "not added: no text found (perhaps a scan)"
    assert happened["locked.pdf"] == "not added: needs a password"
    assert happened["broken.pdf"].startswith("not added: ")
    assert browser.app.warning[0].value == "3 of 5 could not be added. The rest is in."
    assert listed(browser) == {name: "yes" for name in ("faq.csv", "good.pdf", "lapwing.md", "owl.md")}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    assert "lifts three tonnes. [Source 1]" in browser.texts(".rf-answer .rf-text")[0]


def test_files_without_text_are_each_named_beside_a_good_one(browser: Browser) -> None:
    """B06: a scan of two pages, an empty file, one of spaces and newlines, and a good one, uploaded together."""
    happened = add(browser, scan_pdf=a_pdf("", ""), empty_txt=b"", blank_txt=b"  \n\n \n", owl_md=OWL.encode())
    assert happened == {
        "scan.pdf": "not added: no text found (perhaps a scan)",
        "empty.txt": "not added: no text found",
        "blank.txt": "not added: no text found",
        "owl.md": "added",
    }
    assert listed(browser) == {name: "yes" for name in ("faq.csv", "lapwing.md", "owl.md")}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    places = " ".join(browser.texts("details.rf-source summary"))
    assert "owl.md" in places and not [name for name in ("scan", "empty", "blank") if name in places]


def test_an_owners_password_does_not_lock_a_file_out_and_a_users_only_that_one(browser: Browser) -> None:
    """B07: one upload of a PDF whose owner's password is s3, one whose user's password is x, and a plain one."""
    happened = add(
        browser,
        guarded_pdf=locked(a_pdf("The Wren is a bicycle with eleven gears."), "", "s3"),
        locked_pdf=locked(a_pdf("hidden"), "x"),
        plain_pdf=a_pdf("The Finch is a sledge with two runners."),
    )
    assert happened == {"guarded.pdf": "added", "locked.pdf": "not added: needs a password", "plain.pdf": "added"}
    assert set(listed(browser)) == {"faq.csv", "guarded.pdf", "lapwing.md", "plain.pdf"}


def test_a_file_sent_twice_is_kept_and_a_changed_one_replaced(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    assert add(browser, owl_md=OWL.encode()) == {"owl.md": "already here, unchanged"}
    assert add(browser, owl_md=OWL.replace("three", "four").encode()) == {"owl.md": "replaced"}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    assert "lifts four tonnes. [Source 1]" in browser.texts(".rf-answer .rf-text")[0]
    assert not [text for text in browser.texts(".rf-passage") if "three tonnes" in text]


def test_a_name_that_looks_like_a_path_stays_a_name(browser: Browser) -> None:
    browser.app.file_uploader(key="_files").upload("../../*odd* <b>.md", OWL.encode())
    browser.press("add_files")
    [shown] = table(browser, "report")
    assert "*odd* <b>.md" in shown["Document"] and listed(browser)[shown["Document"]] == "yes"


def test_sending_nothing_says_what_to_do(browser: Browser) -> None:
    browser.press("add_files")
    assert browser.app.info[0].value == "Choose one or more files first."


def test_a_removed_document_leaves_the_table_and_the_answers(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    assert browser.app.button(key="remove_documents").disabled
    [owl] = [record for record in browser.workspace.catalogue.documents() if record.name == "owl.md"]
    browser.app.multiselect(key="_to_remove").set_value([owl.id]).run()
    browser.press("remove_documents")
    assert table(browser, "report") == [{"Document": "owl.md", "What happened": "removed"}]
    assert listed(browser) == {"faq.csv": "yes", "lapwing.md": "yes"}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    assert not [place for place in browser.texts("details.rf-source summary") if "owl.md" in place]


def test_removed_samples_never_come_back(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    browser.press("remove_samples")
    assert listed(browser) == {"owl.md": "yes"}
    st.cache_resource.clear()  # as after a restart of the app
    again = Browser().go(PAGE)
    assert listed(again) == {"owl.md": "yes"}
    assert not [button for button in again.app.button if button.key == "remove_samples"]


def test_with_no_documents_both_pages_say_what_to_do(browser: Browser) -> None:
    browser.press("remove_samples")
    assert listed(browser) == {}
    assert browser.app.info[0].value.startswith("There are no documents yet. Add files below")
    browser.go("app.py")
    assert browser.app.info[0].value.startswith("There are no documents yet. Add some on the Documents page")
    browser.ask("How many doors has it?")
    assert browser.texts(".rf-badge") == ["Not in the documents"]
    assert "dd" in browser.texts(".rf-note")[0] and "Documents page" in browser.texts(".rf-note")[0]
    browser.go(PAGE)
    assert add(browser, owl_md=OWL.encode()) == {"owl.md": "added"}


def test_another_index_that_is_behind_is_named_and_brought_up_to_date_when_chosen(browser: Browser) -> None:
    browser.go("app.py").press("preset_baseline").press("preset_full").go(PAGE)
    add(browser, owl_md=OWL.encode())
    states = {row["Chunker"]: (row["State"], row["In use"]) for row in table(browser, "indexes")}
    assert states == {"paragraph": ("1 document behind", False), "recursive": ("up to date", True)}
    browser.go("app.py").press("preset_baseline").go(PAGE)
    states = {row["Chunker"]: (row["State"], row["In use"]) for row in table(browser, "indexes")}
    assert states == {"paragraph": ("up to date", True), "recursive": ("up to date", False)}
    assert browser.app.session_state["settings"] == BASELINE


def test_an_error_while_indexing_is_shown_and_the_documents_are_kept(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise StoreError("Weaviate could not write: the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "build", broken)
        browser.app.file_uploader(key="_files").upload("owl.md", OWL.encode())
        browser.press("add_files")
        assert browser.errors() == ["Weaviate could not write: the disk is full."]
        assert listed(browser) == {"faq.csv": "yes", "lapwing.md": "yes", "owl.md": "not yet"}
    assert browser.app.session_state["settings"] == FUNNEL


def test_a_chat_survives_what_happens_to_the_documents(browser: Browser) -> None:
    browser.go("app.py").ask("How many doors has the Lapwing?")
    answer = browser.texts(".rf-answer, .rf-legend, .rf-funnel")
    browser.go(PAGE).press("remove_samples")
    assert browser.go("app.py").texts(".rf-answer, .rf-legend, .rf-funnel") == answer


def test_rows_of_a_report() -> None:
    report = library.SyncReport(added=("a",), removed=("b",), failed=(library.Failure("c", "needs a password"),))
    assert [tuple(row.values()) for row in documents.report_rows(report)] == [
        ("a", "added"),
        ("b", "removed"),
        ("c", "not added: needs a password"),
    ]
