"""Filters by pointer and by keyboard: what a cell offers, chips that turn, the form, back and forward."""

from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from tests.acceptance.service import Running
from tests.browser.test_looks import MOVED
from tests.browser.watch import Watched, watched


def clients(seen: Watched) -> set[str]:
    """The clients of the table of clients."""
    return {row["Client"] for row in seen.table("clients")}


def chip(page: Page) -> str:
    """The first chip as it is read."""
    return " ".join(page.locator(".chips li").first.inner_text().replace("×", "").split())


def test_not_this_takes_a_client_away_and_the_chip_brings_it_back(
    chromium: Browser, months: Running
) -> None:
    """Hover, click, turn the chip, and go back and forward: each step is an address."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/clients")
        every = clients(seen)
        row = page.locator("#clients tbody th").filter(has_text="openai-mcp").first
        not_this = row.get_by_role("link", name="not this")
        expect(not_this).to_be_hidden()
        row.locator("a.long").hover()
        expect(not_this).to_be_visible()
        with seen.leaving():
            not_this.click()
        assert clients(seen) == every - {"openai-mcp"}
        assert chip(page) == "client is not openai-mcp"
        rest = months.rows("clients", not_client="openai-mcp", since="2026-01-01")
        assert {each["client"] or "not named in the log" for each in rest} >= clients(seen)
        assert seen.axe() == []

        with seen.leaving():
            page.locator(".chips .turn").click()
        assert chip(page) == "client is openai-mcp"
        assert clients(seen) == {"openai-mcp"}
        page.go_back()
        seen.settle()
        assert chip(page) == "client is not openai-mcp"
        page.go_back()
        seen.settle()
        assert clients(seen) == every
        assert page.locator(".chips").count() == 0
        page.go_forward()
        seen.settle()
        assert clients(seen) == every - {"openai-mcp"}
        assert seen.faults == []


def test_the_keyboard_reaches_what_a_cell_offers(chromium: Browser, months: Running) -> None:
    """After the cell's own link, and not before that has the focus; Escape puts it away."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        cell = page.locator("#names tbody th").first
        link, offered = cell.locator("a.long"), cell.locator(".pick")
        name = link.inner_text()
        page.locator("#names thead").scroll_into_view_if_needed()
        page.locator("#names thead a").last.focus()
        page.keyboard.press("Tab")
        expect(link).to_be_focused()
        expect(offered).to_be_visible()
        page.keyboard.press("Escape")
        expect(offered).to_be_hidden()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(link).to_be_focused()
        page.keyboard.press("Tab")
        expect(offered.get_by_role("link", name="only this")).to_be_focused()
        page.keyboard.press("Tab")
        expect(offered.get_by_role("link", name="not this")).to_be_focused()
        with seen.leaving():
            page.keyboard.press("Enter")
        assert chip(page) == f"name is not {name}"
        assert name not in page.locator("#names tbody th a.long").all_inner_texts()
        assert seen.faults == []


def test_a_finger_finds_what_each_cell_offers(chromium: Browser, months: Running) -> None:
    """It hovers over nothing: the words stand there, their room from the first paint, none over another."""
    with watched(chromium, months.url, width=390, touch=True) as seen:
        seen.open("/clients")
        assert seen.page.evaluate(MOVED) < 0.01
        cells = seen.page.locator("[data-pick]")
        shown = [each for each in seen.page.locator(".pick").all() if each.is_visible()]
        assert len(shown) == cells.count() > 3
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.axe() == []
        every = clients(seen)
        row = seen.page.locator("#clients tbody th").filter(has_text="openai-mcp").first
        with seen.leaving():
            row.get_by_role("link", name="not this").tap()
        assert chip(seen.page) == "client is not openai-mcp"
        assert len(clients(seen)) == len(every) - 1


def test_the_form_offers_what_the_search_finds_and_adds_it(
    chromium: Browser, months: Running
) -> None:
    """A second value of the same field makes an "or", on a phone, too."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        page.set_viewport_size({"width": 390, "height": 800})
        seen.open("/clients?client=openai-mcp")
        page.get_by_text("Add a filter").click()
        page.get_by_label("value").press_sequentially("claude-co")
        expect(page.locator("#values option[value='claude-code']").first).to_be_attached()
        page.get_by_label("value").fill("claude-code")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.axe() == []
        with seen.leaving():
            page.get_by_role("button", name="Add", exact=True).click()
        assert chip(page) == "client is claude-code or openai-mcp"
        assert urlsplit(page.url).path == "/clients"
        assert clients(seen) == {"claude-code", "openai-mcp"}
        with seen.leaving():
            page.get_by_label("Remove the filter client is openai-mcp").click()
        assert clients(seen) == {"claude-code"}
        assert seen.faults == []
