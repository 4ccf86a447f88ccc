"""The Documents part of the page, run in this process on a real server: what is listed, added, refused and removed."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
import streamlit as st
from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas

from pages.shared import documents, documents_view
from pages.shared.documents import DocumentRow
from rag import indexing, library
from rag.errors import StoreError
from rag.settings import FUNNEL
from tests.documents_support import LAPWING, OWL, PAGE, add, documents_page, failures, listed, table
from tests.page_support import Browser

__all__ = ["documents_page"]


@pytest.fixture
def browser(documents_page: Browser) -> Browser:
    """A new session on the Documents page of a new workspace, whose samples are two small files."""
    return documents_page


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


def test_the_table_shows_what_is_indexed_and_how_it_is_cut(browser: Browser) -> None:
    rows = table(browser, "documents")
    assert [(row["Document"], row["From"], row["Chunks"], row["State"], row["Chunker"]) for row in rows] == [
        ("faq.csv", "sample", 1, "indexed", "recursive"),
        ("lapwing.md", "sample", 1, "indexed", "recursive"),
    ]
    assert rows[1]["Characters"] == len(LAPWING) and rows[1]["Sections"] == 1 and rows[1]["Kind"] == "markdown"
    assert all(row["Recommended"] for row in rows)
    assert [heading.value for heading in browser.app.subheader] == ["Add files", "2 documents, 2 chunks"]


def test_files_are_added_and_those_that_cannot_be_read_stay_as_rows_with_their_reason(browser: Browser) -> None:
    happened = add(
        browser,
        owl_md=OWL.encode(),
        good_pdf=a_pdf("The Wren is a bicycle with eleven gears and a basket in front."),
        blank_pdf=a_pdf(),
        locked_pdf=locked(a_pdf("hidden")),
        broken_pdf=b"%PDF-1.7 and then nothing",
    )
    assert happened == {"owl.md": "added", "good.pdf": "added"}
    failed = failures(browser)
    assert failed["blank.pdf"] == "no text found (perhaps a scan)"
    assert failed["locked.pdf"] == "needs a password"
    assert set(failed) == {"blank.pdf", "broken.pdf", "locked.pdf"}
    assert browser.app.warning[0].value == "3 of 5 could not be added. The rest is in."
    assert listed(browser) == {name: "indexed" for name in ("faq.csv", "good.pdf", "lapwing.md", "owl.md")}

    browser.press("dismiss_report").go("app.py").ask("How much does the crane of the Owl lift?")
    assert "lifts three tonnes. [Source 1]" in browser.texts(".rf-answer .rf-text")[0]
    browser.go(PAGE)
    assert failures(browser) == failed, "they stay until they are dismissed or read"
    add(browser, locked_pdf=a_pdf("The Finch is a sledge with two runners."))
    assert set(failures(browser)) == {"blank.pdf", "broken.pdf"}
    browser.press("dismiss_0")
    assert set(failures(browser)) == {"broken.pdf"}
    assert failures(Browser().go(PAGE)) == failures(browser), "everybody sees them"
    browser.press("dismiss_0")
    assert failures(browser) == {}


def test_files_without_text_are_each_named_beside_a_good_one(browser: Browser) -> None:
    """B06: a scan of two pages, an empty file, one of spaces and newlines, and a good one, uploaded together."""
    happened = add(browser, scan_pdf=a_pdf("", ""), empty_txt=b"", blank_txt=b"  \n\n \n", owl_md=OWL.encode())
    assert happened == {"owl.md": "added"}
    assert failures(browser) == {
        "scan.pdf": "no text found (perhaps a scan)",
        "empty.txt": "no text found",
        "blank.txt": "no text found",
    }
    assert listed(browser) == {name: "indexed" for name in ("faq.csv", "lapwing.md", "owl.md")}
    browser.press("dismiss_all")
    assert failures(browser) == {}
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
    assert happened == {"guarded.pdf": "added", "plain.pdf": "added"}
    assert failures(browser) == {"locked.pdf": "needs a password"}
    assert set(listed(browser)) == {"faq.csv", "guarded.pdf", "lapwing.md", "plain.pdf"}


def test_pages_without_text_are_noticed_in_the_row_and_in_full(browser: Browser) -> None:
    add(browser, report_pdf=a_pdf(*["The Wren is a bicycle with eleven gears."] * 8, "", ""))
    [row] = [row for row in table(browser, "documents") if row["Document"] == "report.pdf"]
    assert row["State"] == "indexed" and "2 of 10 pages without text" in row["Notices"]
    [report] = [record for record in browser.workspace.catalogue.documents() if record.name == "report.pdf"]
    browser.app.selectbox(key="_document").set_value(report.id).run()
    assert any("2 of 10 pages without text" in caption.value for caption in browser.sound().app.caption)


def test_a_file_sent_twice_is_kept_and_a_changed_one_replaced(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    assert add(browser, owl_md=OWL.encode()) == {"owl.md": "already here, unchanged"}
    assert add(browser, owl_md=OWL.replace("three", "four").encode()) == {"owl.md": "replaced"}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    assert "lifts four tonnes. [Source 1]" in browser.texts(".rf-answer .rf-text")[0]
    assert not [text for text in browser.texts(".rf-passage") if "three tonnes" in text]


def test_the_same_bytes_under_another_name_are_not_doubled(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    happened = add(browser, crane_md=OWL.encode())
    assert happened["crane.md"] == "already here, unchanged"
    assert "owl.md" in happened[""]
    assert "crane.md" not in listed(browser)


def test_a_name_that_looks_like_a_path_stays_a_name(browser: Browser) -> None:
    browser.app.file_uploader(key="_files").upload("../../*odd* <b>.md", OWL.encode())
    browser.press("add_files")
    [shown] = table(browser, "report")
    assert "*odd* <b>.md" in shown["Document"] and listed(browser)[shown["Document"]] == "indexed"


def test_sending_nothing_says_what_to_do(browser: Browser) -> None:
    browser.press("add_files")
    assert browser.app.info[0].value == "Choose one or more files first."


def test_a_removed_document_leaves_the_table_and_the_answers(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    assert browser.app.button(key="remove_documents").disabled
    [owl] = [record for record in browser.workspace.catalogue.documents() if record.name == "owl.md"]
    browser.app.multiselect(key="_to_remove").set_value([owl.source]).run()
    browser.press("remove_documents")
    assert table(browser, "report") == [{"Document": "owl.md", "What happened": "removed"}]
    assert listed(browser) == {"faq.csv": "indexed", "lapwing.md": "indexed"}
    browser.go("app.py").ask("How much does the crane of the Owl lift?")
    assert not [place for place in browser.texts("details.rf-source summary") if "owl.md" in place]


def test_removed_samples_never_come_back(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    browser.press("remove_samples")
    assert listed(browser) == {"owl.md": "indexed"}
    st.cache_resource.clear()  # as after a restart of the app
    again = Browser().go(PAGE)
    assert listed(again) == {"owl.md": "indexed"}
    assert not [button for button in again.app.button if button.key == "remove_samples"]


def test_with_no_documents_every_part_says_what_to_do(browser: Browser) -> None:
    browser.press("remove_samples")
    assert listed(browser) == {}
    assert browser.app.info[0].value.startswith("There are no documents yet. Add files above")
    assert browser.part("Cuts").app.info[0].value.startswith("There are no documents yet. Add files under Documents")
    assert browser.part("Folders").app.info[0].value.startswith("No folder is watched yet.")
    browser.go("app.py")
    assert browser.app.info[0].value.startswith("There are no documents yet. Add some on the Documents page")
    browser.ask("How many doors has it?")
    assert browser.texts(".rf-badge") == ["Not in the documents"]
    assert "dd" in browser.texts(".rf-note")[0] and "Documents page" in browser.texts(".rf-note")[0]
    browser.go(PAGE)
    assert add(browser, owl_md=OWL.encode()) == {"owl.md": "added"}


def links(browser: Browser) -> list[str]:
    """What the links to other pages below the title are called."""
    return [link.label for link in browser.app.main.get("page_link")]


def test_a_chat_without_the_samples_leads_to_the_page_where_documents_are_added(browser: Browser) -> None:
    add(browser, owl_md=OWL.encode())
    browser.press("remove_samples").go("app.py")
    assert "1 document is indexed: owl.md." in [text.value.replace("\\", "") for text in browser.app.markdown]
    assert links(browser) == ["Add documents"]
    browser.ask("How much does the crane of the Owl lift?")
    assert links(browser) == []
    browser.workspace.catalogue.remove_document(browser.workspace.catalogue.documents()[0].id)
    browser.app.run()
    assert links(browser.settle()) == ["Add documents"], "below a conversation too, once there is nothing left"


def test_what_an_index_could_not_take_in_is_told_on_this_page_until_it_is_dismissed(browser: Browser) -> None:
    browser.app.session_state["index_error"] = "owl.md: 2 of 3 chunks were refused."
    browser.app.run()
    assert browser.errors() == ["owl.md: 2 of 3 chunks were refused."]
    assert browser.press("dismiss_index_error").errors() == []


def test_documents_of_one_name_are_told_apart_in_the_table_and_the_boxes(browser: Browser) -> None:
    add(browser, faq_csv=b"question,answer\nHow long is it?,Four metres.\n")
    assert list(listed(browser)) == ["faq.csv (sample)", "faq.csv (upload)", "lapwing.md"]
    assert browser.app.selectbox(key="_document").options == list(listed(browser))
    assert browser.app.multiselect(key="_to_remove").options == list(listed(browser))
    assert browser.part("Cuts").app.selectbox(key="_cut_document").options[:2] == [
        "faq.csv (sample)",
        "faq.csv (upload)",
    ]


def test_many_documents_are_found_by_a_part_of_their_name_or_by_their_state(browser: Browser) -> None:
    add(
        browser, **{f"part_{number}_md": f"# Part {number}\n\nPart {number} is blue.\n".encode() for number in range(9)}
    )
    assert len(listed(browser)) == 11
    browser.app.text_input(key="_find").set_value("PART_3").run()
    assert list(listed(browser)) == ["part_3.md"]
    assert browser.app.selectbox(key="_document").options == ["part_3.md"]
    browser.app.text_input(key="_find").set_value("").run()
    browser.app.toggle(key="_attention").set_value(True).run()
    assert listed(browser) == {}


def test_an_error_while_indexing_is_shown_until_dismissed_and_what_is_behind_is_brought_up_to_date(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise StoreError("Weaviate could not write: the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(indexing, "build", broken)
        browser.app.file_uploader(key="_files").upload("owl.md", OWL.encode())
        browser.press("add_files")
        assert browser.errors() == ["Weaviate could not write: the disk is full."]
        assert listed(browser) == {"faq.csv": "indexed", "lapwing.md": "indexed", "owl.md": "not in this index yet"}
    assert browser.app.session_state["settings"] == FUNNEL
    browser.go("app.py").go(PAGE)
    assert browser.errors(), "it stays until it was read"
    assert browser.press("dismiss_errors").errors() == []
    browser.press("catch_up")
    assert set(listed(browser).values()) == {"indexed"}


def test_a_chat_survives_what_happens_to_the_documents(browser: Browser) -> None:
    browser.go("app.py").ask("How many doors has the Lapwing?")
    answer = browser.texts(".rf-answer, .rf-legend, .rf-funnel")
    browser.go(PAGE).press("remove_samples")
    assert browser.go("app.py").texts(".rf-answer, .rf-legend, .rf-funnel") == answer


def test_ticked_rows_are_those_to_remove_and_a_single_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [DocumentRow("", "", "coming.md", "being added")]
    rows += [DocumentRow(f"id {name}", f"uploads/{name}", name, "indexed") for name in ("a.md", "b.md")]

    def ticked(*numbers: int) -> dict[str, object]:
        state: dict[str, object] = {"rows": SimpleNamespace(selection=SimpleNamespace(rows=list(numbers)))}
        monkeypatch.setattr(documents_view.st, "session_state", state)
        documents_view._choose("rows", rows)
        return {name: state[name] for name in state if name != "rows"}

    assert ticked(1, 2) == {"_to_remove": ["uploads/a.md", "uploads/b.md"]}
    assert ticked(2) == {"_to_remove": ["uploads/b.md"], "_document": "id b.md"}
    assert ticked(0) == {"_to_remove": []}, "what is still on its way is not there to be removed"


def test_rows_of_a_report() -> None:
    report = library.SyncReport(added=("a",), removed=("b",), failed=(library.Failure("c", "needs a password"),))
    rows = [("a", "added"), ("b", "removed"), ("c", "not added: needs a password")]
    assert [tuple(row.values()) for row in documents.report_rows(report)] == rows
    assert [tuple(row.values()) for row in documents.report_rows(report, {"c"})] == rows[:2]
