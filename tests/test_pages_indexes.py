"""The Indexes and Folders parts of the Documents page: what there is, taken up, dropped, watched and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.shared.folders_view import _interval
from pages.shared.indexes import plan_words
from pages.shared.indexes_view import megabytes, outdated, settings_of
from rag.catalogue import WatchedFolder
from rag.errors import Cancelled
from rag.settings import BASELINE, FUNNEL, PARAMETERS, SIZES, Settings
from tests.documents_support import OWL, PAGE, add, documents_page, failures, listed
from tests.page_support import Browser

__all__ = ["documents_page"]


@pytest.fixture
def browser(documents_page: Browser) -> Browser:
    """A session with two indexes, on the part that lists them."""
    documents_page.go("app.py").press("preset_baseline").press("preset_full")
    return documents_page.go(PAGE).part("Indexes")


def boxes(browser: Browser) -> list[str]:
    """The plan of each index listed, in order."""
    return [text.value.replace("\\", "") for text in browser.app.markdown if text.value.startswith("**")]


def captions(browser: Browser) -> list[str]:
    return [caption.value.replace("\\", "") for caption in browser.app.caption]


def test_each_index_is_listed_with_its_plan_size_state_and_what_is_otherwise(browser: Browser) -> None:
    assert boxes(browser) == [
        "**recursive · 1000 characters · overlap 150 · minilm · english**  :green-badge[in use]",
        "**paragraph · 1000 characters · minilm · english**",
    ]
    facts = [caption for caption in captions(browser) if "up to date" in caption]
    assert [fact.split(" · ")[0] for fact in facts] == ["2 chunks", "2 chunks"]
    assert all(" MB · up to date" in fact for fact in facts)
    assert "Differs from the settings in use: chunker paragraph → recursive" in captions(browser)


def test_one_that_is_behind_is_named_and_brought_up_to_date_when_it_is_used(browser: Browser) -> None:
    add(browser.part("Documents"), owl_md=OWL.encode())
    browser.part("Indexes")
    assert [caption.rsplit(" · ", 1)[1] for caption in captions(browser) if " MB · " in caption] == [
        "up to date",
        "1 document behind",
    ]
    browser.press(f"use_{BASELINE.fingerprint()}")
    settings = browser.app.session_state["settings"]
    assert settings == FUNNEL.changed({"chunker": "paragraph"}), "the index is another, the search is as it was"
    assert boxes(browser)[0].startswith("**paragraph") and boxes(browser)[0].endswith("[in use]")
    assert not [caption for caption in captions(browser) if "behind" in caption]


def test_an_index_is_dropped_but_neither_the_one_in_use_nor_the_one_that_sessions_begin_with(browser: Browser) -> None:
    keys = {button.key for button in browser.app.button}
    assert f"drop_{FUNNEL.fingerprint()}" not in keys
    browser.press(f"drop_{BASELINE.fingerprint()}")
    assert [index.plan["chunker"] for index in browser.workspace.catalogue.indexes()] == ["recursive"]
    assert len(boxes(browser)) == 1

    browser.go("app.py").press("preset_baseline").go(PAGE).part("Indexes")
    assert "New sessions begin with this one, so it cannot be dropped." in captions(browser)


def test_a_session_that_uses_a_dropped_index_has_it_built_again(browser: Browser) -> None:
    other = Browser().press("preset_baseline")
    browser.press(f"drop_{BASELINE.fingerprint()}")
    other.app.run()
    other.settle().ask("How many doors has the Lapwing?")
    assert other.errors() == [] and "five doors" in other.texts(".rf-answer .rf-text")[0]


@pytest.mark.parametrize("chunker", sorted(SIZES))
def test_the_settings_of_a_plan_lead_back_to_its_index(chunker: str) -> None:
    changes: dict[str, object] = {"chunker": chunker, "chunk_size": 500, "chunk_overlap": 20, "language": "german"}
    for name, parameter in PARAMETERS.get(chunker, {}).items():
        changes[f"chunker.{name}"] = parameter.choices[-1] if parameter.choices else parameter.high
    for settings in (Settings().changed(changes), Settings().changed({**changes, "override.b.md": "paragraph"})):
        now = FUNNEL.changed({"override.a.md": "paragraph", "rrf_k": 7})
        wanted = settings_of(settings.plan(), now)
        assert wanted.fingerprint() == settings.fingerprint()
        assert wanted.rrf_k == 7
        assert not outdated(settings.plan()) and outdated({**settings.plan(), "chunkers_version": 0})
        assert plan_words(settings.plan()).startswith(chunker)


def test_documents_with_a_chunker_of_their_own_are_named_and_only_a_few_of_them() -> None:
    plan = FUNNEL.changed({"override.uploads/faq.csv": "qa", "override./docs/owl.md": "layout"}).plan()
    assert "owl.md: layout, faq.csv: qa" in plan_words(plan)
    assert "faq.csv (upload): qa" in plan_words(plan, {"uploads/faq.csv": "faq.csv (upload)"})
    many = FUNNEL.changed({f"override.{number}.md": "qa" for number in range(5)}).plan()
    assert "0.md: qa, 1.md: qa, 2.md: qa and 2 more" in plan_words(many)


def test_sizes_as_people_read_them() -> None:
    assert [megabytes(number) for number in (0.04, 3.25, 42.4, 1234)] == ["0.0 MB", "3.2 MB", "42 MB", "1.2 GB"]


# ---- folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file that can be read and one that cannot."""
    (tmp_path / "manuals").mkdir()
    (tmp_path / "manuals" / "owl.md").write_text(OWL, encoding="utf-8")
    (tmp_path / "manuals" / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    return tmp_path / "manuals"


def enter(browser: Browser, path: object, seconds: int = 0) -> Browser:
    """Fill in the form of a folder and send it."""
    browser.part("Folders").app.text_input(key="_path").set_value(str(path))
    browser.app.selectbox(key="_seconds").set_value(seconds)
    return browser.press("add_folder")


def test_a_folder_is_read_once(documents_page: Browser, folder: Path) -> None:
    enter(documents_page, folder)
    assert documents_page.errors() == []
    assert documents_page.workspace.catalogue.folders() == ()
    documents_page.part("Documents")
    assert listed(documents_page) == {name: "indexed" for name in ("faq.csv", "lapwing.md", "owl.md")}
    assert set(failures(documents_page)) == {"broken.pdf"}


def test_a_folder_is_watched_synced_now_switched_off_and_forgotten(documents_page: Browser, folder: Path) -> None:
    catalogue = documents_page.workspace.catalogue
    enter(documents_page, folder, 3600)
    [watched] = catalogue.folders()
    assert (watched.path, watched.seconds, watched.on) == (str(folder), 3600, True)
    assert any("1 added" in caption and "broken.pdf" in caption for caption in captions(documents_page))

    (folder / "owl.md").unlink()
    (folder / "finch.md").write_text("# Finch\n\nThe Finch is a sledge.\n", encoding="utf-8")
    documents_page.press("sync_0")
    assert set(listed(documents_page.part("Documents"))) == {"faq.csv", "finch.md", "lapwing.md"}

    documents_page.part("Folders")
    documents_page.app.toggle(key=f"_on_0_{folder}_True").set_value(False).run()
    documents_page.app.selectbox(key=f"_every_0_{folder}_3600").set_value(60).run()
    [watched] = catalogue.folders()
    assert (watched.on, watched.seconds) == (False, 60)
    documents_page.press("forget_0")
    assert catalogue.folders() == ()
    assert "finch.md" in listed(documents_page.part("Documents")), "its documents stay"


def test_a_path_that_is_none_is_a_sentence(documents_page: Browser, folder: Path) -> None:
    assert enter(documents_page, "").errors() == ["Give the path of a folder first."]
    assert enter(documents_page, folder / "gone").errors() == [
        f"There is nothing at {folder / 'gone'}. Check the path."
    ]
    for path in ("~nobody-of-this-name/manuals", "x" * 5000, "/a\0b", "**a** <b>b</b>", "file:///manuals"):
        [error] = enter(documents_page, path).errors()
        assert error.startswith("There is nothing at /") and error.endswith(". Check the path.") and len(error) < 300
    assert "only folders are watched" in enter(documents_page, folder / "owl.md", 60).errors()[0]
    assert enter(documents_page, folder / "owl.md").errors() == []
    assert "owl.md" in listed(documents_page.part("Documents"))


def test_the_search_through_a_folder_is_called_off_before_any_file_is_found(
    documents_page: Browser, tmp_path: Path
) -> None:
    def called_off(message: str, fraction: float | None = None) -> None:
        assert message == f"Looking through {tmp_path}"
        raise Cancelled

    with pytest.raises(Cancelled):
        documents_page.workspace.add_paths([tmp_path], called_off)


def test_a_watched_folder_is_synced_by_itself_and_every_session_takes_note(
    documents_page: Browser, folder: Path
) -> None:
    catalogue = documents_page.workspace.catalogue
    catalogue.save_folder(WatchedFolder(str(folder)))  # never synced: due at once
    lane_changed = False
    for _ in range(300):
        documents_page.app.run()
        if "owl.md" in listed(documents_page):
            lane_changed = True
            break
    assert lane_changed
    documents_page.settle()


def test_intervals_in_words() -> None:
    assert [_interval(seconds) for seconds in (0, 300, 5400)] == [
        "only once, now",
        "every 5 minutes",
        "every 1 h 30 min",
    ]


def test_where_another_session_removes_the_document_shown_the_box_names_the_one_drawn_instead(
    documents_page: Browser,
) -> None:
    browser = documents_page.part("Cuts")
    first, second = (record for record in browser.workspace.catalogue.documents())
    browser.app.selectbox(key="_cut_document").set_value(second.id).run()
    browser.workspace.catalogue.remove_document(second.id)
    browser.app.run()
    box = browser.sound().app.selectbox(key="_cut_document")
    assert box.value == first.id and box.proto.set_value, "told to the browser, which keeps a choice otherwise"
