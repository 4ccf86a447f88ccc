"""What a team does with its own documents, in a real browser: add, see states, look at cuts, switch, drop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import STEP_MS
from tests.browser.test_chat import ask

expect.set_options(timeout=STEP_MS)
BUILD_MS = 300_000  # all samples are embedded anew, maybe on a busy machine
LONG = "Long instructions for the heron that stands in the reeds " * 3 + "end.md"
ARABIC = "دليل استخدام السيارة الكهربائية.md"
HERON = "# Heron <script>document.title='owned'</script>\n\nThe heron's *beak* is <b>19 cm</b> long.\n"


@pytest.fixture
def documents(page: Page) -> Page:
    """The Documents page of a fresh session."""
    page.locator("section[data-testid=stSidebar]").get_by_text("Documents").click()
    expect(page.get_by_role("heading", name=re.compile(r"^\d+ documents, [\d,]+ chunks$"))).to_be_visible()
    return page


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Path]]:
    """Files with names of every kind, one of which holds no text."""
    texts = {LONG: HERON, ARABIC: "# دليل\n\nالسيارة لها خمسة أبواب.\n", "blank.txt": "  \n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    yield [tmp_path / name for name in texts]


def part(page: Page, name: str) -> Locator:
    """Open a tab of the page; gives its panel."""
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel")


def cell(page: Page, text: str) -> Locator:
    """The cells of the table of documents with this text; they are drawn on a canvas, behind which they stand."""
    return page.locator(".st-key-documents td", has_text=text)


def upload(page: Page, files: list[Path]) -> None:
    """Choose the files and send them; the work goes on in the background."""
    page.locator(".st-key-_files input[type=file]").set_input_files(files)
    for file in files:
        expect(page.get_by_role("button", name=f"Remove {file.name}")).to_be_visible()
    page.locator(".st-key-add_files button").click()


def choose(page: Page, key: str, name: str) -> None:
    """Choose an option of the select box whose key begins so."""
    box = page.locator(f'[class*="st-key-{key}"] input[role=combobox]').first
    box.scroll_into_view_if_needed()
    box.click()
    box.fill(name)
    page.get_by_role("option", name=name, exact=True).click()


def test_files_of_every_kind_are_added_or_named_with_the_reason(documents: Page, files: list[Path]) -> None:
    upload(documents, files)
    expect(documents.locator(".st-key-dismiss_report")).to_be_visible()
    expect(documents.locator(".st-key-failures")).to_contain_text("blank.txt: no text found")
    expect(cell(documents, LONG)).to_have_count(1)
    expect(cell(documents, ARABIC)).to_have_count(1)
    documents.reload()
    expect(documents.locator(".st-key-failures")).to_contain_text("blank.txt: no text found")
    documents.locator(".st-key-dismiss_0 button").click()
    expect(documents.locator(".st-key-failures")).to_have_count(0)

    part(documents, "Cuts")
    choose(documents, "_cut_document", LONG)
    expect(documents.locator(".rf-cuts")).to_contain_text("*beak* is <b>19 cm</b> long.")
    assert documents.locator(".rf-cuts script").count() == 0 and documents.title() != "owned"


def test_ticked_rows_are_those_that_are_offered_for_removal(documents: Page) -> None:
    table = documents.locator(".st-key-documents .dvn-scroller")
    removal = documents.locator(".st-key-remove_popover")
    table.click(position={"x": 17, "y": 52})  # the first row's box, below the headings
    expect(removal).to_contain_text("Remove 1 document…")
    expect(documents.locator(".st-key-document")).to_be_visible()
    table.click(position={"x": 17, "y": 87})
    expect(removal).to_contain_text("Remove 2 documents…")
    removal.get_by_role("button").first.click()
    expect(documents.locator(".st-key-remove_documents button")).to_be_enabled()


def test_cuts_are_drawn_live_and_two_chunkers_side_by_side(documents: Page) -> None:
    part(documents, "Cuts")
    choose(documents, "_cut_document", "lapwing-owners-manual.pdf")
    expect(documents.locator('.rf-number[data-chunk="1"]')).to_be_visible()
    expect(documents.locator(".rf-overlap").first).to_be_attached()
    documents.get_by_text("Two chunkers side by side").click()
    expect(documents.locator(".rf-cuts")).to_have_count(2)
    choose(documents, "_cut_b", "qa")
    choose(documents, "_cut_b", "paragraph")
    expect(documents.locator(".rf-figures")).to_have_count(2)
    expect(documents.locator(".st-key-sizes .js-plotly-plot")).to_be_visible()
    first = documents.locator(".rf-cuts").first.inner_text()
    documents.locator(".st-key-later button").click()
    expect(documents.locator(".rf-cuts").first).not_to_have_text(first)
    documents.locator(".st-key-sections summary").first.click()
    expect(documents.locator(".rf-tree")).to_contain_text(re.compile(r"Paws Mode\s+pp?\. \d+"))


def test_while_another_index_is_built_one_asks_on_then_it_is_taken_and_dropped(page: Page) -> None:
    """The chat stays on the old index until the new one is whole; other tabs see the work."""
    sidebar = page.locator("section[data-testid=stSidebar]")
    page.locator(".st-key-build_index").scroll_into_view_if_needed()
    choose(page, "_chunker_", "layout")
    expect(page.get_by_role("spinbutton", name="Whole limit")).to_be_visible()
    page.locator(".st-key-build_index button").click()
    expect(sidebar.locator('[class*="st-key-job_"]')).to_contain_text("Building the index: layout")
    ask(page, "What does Paws Mode do?")
    used = page.locator("[data-testid=stExpander] [data-testid=stCaptionContainer]").last
    expect(used).to_contain_text("recursive")
    expect(used).to_contain_text("layout", timeout=BUILD_MS)
    expect(sidebar.locator('[class*="st-key-job_"]')).to_have_count(0)
    page.locator(".st-key-preset_full button").click()  # its index is there: nothing is built
    expect(used).to_contain_text("recursive")
    sidebar.get_by_text("Documents").click()
    part(page, "Indexes")
    expect(page.get_by_role("heading", name=re.compile("^2 indexes"))).to_be_visible()
    page.get_by_role("button", name="Drop…").click()
    page.get_by_role("button", name="Yes, drop it").click()
    expect(page.get_by_role("heading", name=re.compile("^1 index,"))).to_be_visible()


def test_two_tabs_at_once_see_the_same_work_and_double_nothing(documents: Page, tmp_path: Path) -> None:
    file = tmp_path / "wren.md"
    file.write_text("# Wren\n\n" + "".join(f"The wren has {n} feathers on wing {n}.\n\n" for n in range(400)), "utf-8")
    second = documents.context.new_page()
    second.goto(documents.url)
    expect(second.get_by_role("heading", name="Add files")).to_be_visible()
    for tab in (documents, second):
        upload(tab, [file])
    for tab in (documents, second):
        expect(tab.locator(".st-key-dismiss_report")).to_be_visible()
        expect(tab.locator('section[data-testid=stSidebar] [class*="st-key-job_"]')).to_have_count(0)
        expect(cell(tab, "wren.md")).to_have_count(1)
    second.close()


def test_nothing_is_cut_off_in_a_narrow_window(chromium: Browser, address: str) -> None:
    phone = chromium.new_context(viewport={"width": 400, "height": 850}, color_scheme="dark")
    phone.set_default_timeout(STEP_MS)
    page = phone.new_page()
    page.goto(f"{address}/Documents")
    for name in ("Documents", "Cuts", "Indexes", "Folders"):
        panel = part(page, name)
        expect(panel.locator("h3, .rf-cuts").first).to_be_visible()
        ends = "parts => parts.map(part => part.getBoundingClientRect().right)"
        assert max(page.locator(".rf-cuts, [data-testid=stDataFrame], button, input").evaluate_all(ends)) <= 401, name
    phone.close()
