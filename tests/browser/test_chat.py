"""What a new user does, in a real browser: ask, read the sources, move a knob, come back, and two at once."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import STEP_MS, open_chat

PAWS = "What does Paws Mode do?"
expect.set_options(timeout=STEP_MS)


def ask(page: Page, question: str) -> None:
    """Type a question, send it, and wait until its answer stands there."""
    box = page.locator(".st-key-ask textarea")
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".rf-question").last).to_have_text(question)
    expect(page.locator(".rf-answer")).to_have_count(page.locator(".rf-question").count())


def fused(page: Page) -> list[str]:
    """Score and passage of each row of the newest fused list."""
    rows = page.locator(".rf-funnel").last.locator('[data-stage="fused"] tr')
    return [re.sub(r"\s+", " ", text) for text in rows.all_inner_texts()]


def test_the_first_question(page: Page) -> None:
    page.locator(".st-key-example_1 button").click()
    expect(page.locator(".rf-question")).to_have_text(PAWS)
    answer = page.locator(".rf-answer")
    expect(answer).to_contain_text("Paws Mode")
    expect(answer.locator(".rf-cite").first).to_have_text("[Source 1]")
    expect(page.locator(".rf-badge")).to_have_text("Quoted")

    source = page.locator('details[data-source="1"]')
    expect(source.locator("summary")).to_have_text(
        re.compile(r'\[Source 1\] lapwing-owners-manual\.pdf, ".*Paws Mode", pp?\. \d+')
    )
    expect(source.locator(".rf-passage")).to_be_hidden()
    source.locator("summary").click()
    expect(source.locator(".rf-passage")).to_be_visible()
    expect(source.locator(".rf-passage")).to_contain_text("Paws Mode")

    for stage in ("dense", "sparse"):
        expect(page.locator(f'.rf-column[data-stage="{stage}"] tr')).to_have_count(50)


def test_no_other_host_is_asked_for_anything(context: BrowserContext, address: str) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = open_chat(context, address)
    ask(page, PAWS)
    for name, shown in (("Documents", "Add files"), ("Chat", "Presets")):
        page.locator("section[data-testid=stSidebar]").get_by_text(name).click()
        expect(page.get_by_role("heading", name=shown)).to_be_visible()
        icons = page.locator("[data-testid=stIconMaterial]")
        expect(icons.first).to_be_visible()
        assert icons.count() > 1 and "Material Symbols" in icons.first.evaluate(
            "icon => getComputedStyle(icon).fontFamily"
        )
        favicon = page.locator("link[rel~=icon]").last.evaluate("link => link.href")
        assert favicon.startswith(f"{address}/media/") and favicon.endswith(".png")
    page.reload()
    expect(page.locator(".st-key-example_1 button, .rf-answer").first).to_be_visible()
    here = address.removeprefix("http")
    foreign = {url for url in asked if not url.startswith(("data:", "blob:", f"http{here}", f"ws{here}"))}
    assert foreign == set()
    assert any("MaterialSymbols" in url for url in asked), "the icons come from the app itself"


def test_a_moved_knob_changes_the_lists_and_costs_neither_chat_nor_page_moves(page: Page) -> None:
    ask(page, PAWS)
    before = fused(page)
    page.locator('[class*="st-key-_rrf_k_"] input[type=range]').press("ArrowRight")
    expect(page.locator('.rf-column[data-stage="fused"] .rf-unit')).to_have_text("RRF, the sum of weight / (61 + rank)")
    assert fused(page) != before
    expect(page.locator('.rf-time[data-stage="dense"]')).to_have_text("dense re-used")
    page.locator('[class*="st-key-_fusion_"] input').click()
    page.get_by_role("option", name="Sparse list alone").click()
    expect(page.locator('.rf-column[data-stage="fused"] h4 small')).to_have_text("sparse list alone")
    sparse = page.locator('.rf-column[data-stage="sparse"] tr').evaluate_all(
        "rows => rows.map(row => row.dataset.chunk)"
    )
    assert (
        page.locator('.rf-column[data-stage="fused"] tr').evaluate_all("rows => rows.map(row => row.dataset.chunk)")
        == sparse
    )
    expect(page.locator(".rf-question")).to_have_text(PAWS)

    page.locator("section[data-testid=stSidebar]").get_by_text("Documents").click()
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile(r"^\d+ documents, \d+ chunks$"))).to_be_visible()
    page.locator("section[data-testid=stSidebar]").get_by_text("Chat").click()
    expect(page.locator(".rf-question")).to_have_text(PAWS)
    expect(page.locator('.rf-column[data-stage="fused"] h4 small')).to_have_text("sparse list alone")
    expect(page.locator('[class*="st-key-_fusion_"] input')).to_have_value("Sparse list alone")


def test_a_second_question_is_brought_into_sight(page: Page) -> None:
    ask(page, PAWS)
    ask(page, "How do I fold the door mirrors?")
    expect(page.locator(".rf-answer").last).to_be_in_viewport()
    expect(page.locator(".st-key-ask textarea")).to_be_in_viewport()
    expect(page.locator(".rf-funnel")).to_have_count(1)
    page.locator(".st-key-funnel_0_folded summary").first.click()  # an earlier turn's is drawn when it is opened
    expect(page.locator(".rf-funnel")).to_have_count(2)


def test_two_people_ask_at_once_and_see_only_their_own(chromium: Browser, page: Page, address: str) -> None:
    """B20: two sessions ask at once, and both answers arrive."""
    other = chromium.new_context()
    other.set_default_timeout(STEP_MS)
    second = open_chat(other, address)
    page.locator(".st-key-example_1 button").click()
    second.locator(".st-key-example_3 button").click()
    for tab, question in ((page, PAWS), (second, "Does Perch Guard work if I haven't put a USB drive in the car?")):
        expect(tab.locator(".rf-question")).to_have_text(question)
        expect(tab.locator(".rf-answer .rf-text")).to_be_visible()
    other.close()


def test_an_uploaded_file_is_answered_from_and_runs_no_script(
    page: Page, context: BrowserContext, tmp_path: Path
) -> None:
    file = tmp_path / "x<img src=x onerror=document.title='owned'>.md"
    file.write_text(
        "# Zeppelin <script>document.title='owned'</script>\n\n"
        "The zeppelin's ballast weighs $40 kg$ <img src=x onerror=\"document.title='owned'\"> and *not* 50.\n",
        encoding="utf-8",
    )
    page.locator("section[data-testid=stSidebar]").get_by_text("Documents").click()
    page.locator(".st-key-_files input[type=file]").set_input_files(file)
    expect(page.locator(".st-key-_files")).to_contain_text("owned'>.md")
    page.locator(".st-key-add_files button").click()
    expect(page.get_by_text("Done.")).to_be_visible()
    page.locator("section[data-testid=stSidebar]").get_by_text("Chat").click()
    ask(page, "How much does the zeppelin's ballast weigh?")
    expect(page.locator(".rf-answer .rf-text")).to_contain_text(
        "<img src=x onerror=\"document.title='owned'\"> and *not* 50."
    )
    page.locator('details[data-source="1"] summary').click()
    expect(page.locator('details[data-source="1"] .rf-passage')).to_contain_text("$40 kg$")
    assert page.title() == "Retrieval Funnel"
    assert page.locator(".rf-answer img, .rf-legend img, .rf-funnel img").count() == 0


def test_nothing_is_cut_off_on_a_phone(chromium: Browser, address: str) -> None:
    phone = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    phone.set_default_timeout(STEP_MS)
    page = open_chat(phone, address)
    ask(page, PAWS)
    for selector in (".rf-answer", ".rf-legend", ".rf-column", ".st-key-ask"):
        for box in page.locator(selector).all():
            place = box.bounding_box()
            assert place["x"] >= 0 and place["x"] + place["width"] <= 390, selector
    phone.close()
