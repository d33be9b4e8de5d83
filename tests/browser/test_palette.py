"""The palette and single keys: from anywhere to any name, client, server and page, without a mouse."""

from typing import get_args

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.service import Running
from tests.browser.test_hostile import hostile
from tests.browser.watch import Theme, Watched, watched

__all__ = ["hostile"]


def ask(seen: Watched, text: str, first: str) -> None:
    """Open the palette, type, and wait for what stands first."""
    seen.page.keyboard.press("/")
    expect(seen.page.locator("#palette-list li >> nth=0")).to_contain_text("Names")
    seen.page.keyboard.type(text)
    expect(seen.page.locator("#palette-list li >> nth=0")).to_contain_text(first)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", get_args(Theme))
def test_the_palette_leads_to_a_client_by_keys_alone(
    chromium: Browser, months: Running, theme: Theme, width: int
) -> None:
    """Arrows choose, Enter goes, the range is kept; axe has nothing to report of the open list."""
    with watched(chromium, months.url, theme, width) as seen:
        seen.open("/?days=28")
        ask(seen, "claude", "claude")
        typed = seen.page.get_by_role("combobox", name="Name, client, server or page")
        assert typed.input_value() == "claude"
        assert seen.axe() == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        options = seen.page.locator("#palette [role=option]")
        texts = [text.split("\n")[0] for text in options.all_inner_texts()]
        assert len(texts) > 1
        seen.page.keyboard.press("ArrowDown")
        seen.page.keyboard.press("ArrowDown")
        seen.page.keyboard.press("ArrowUp")
        active = typed.get_attribute("aria-activedescendant")
        chosen = seen.page.locator(f"#{active}")
        assert chosen.get_attribute("aria-selected") == "true"
        assert chosen.inner_text() == options.nth(1).inner_text()
        wanted = chosen.locator(".long").inner_text()
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator("h1")).to_have_text(wanted)
        seen.settle()
        assert "days=28" in seen.page.url


def test_who_types_faster_than_the_list_comes_goes_where_they_meant(
    chromium: Browser, months: Running
) -> None:
    """Not to what stood first before."""
    with watched(chromium, months.url) as seen:
        seen.open("/told")
        seen.page.keyboard.press("/")
        expect(seen.page.locator("#palette-list li >> nth=0")).to_contain_text("Names")
        seen.page.keyboard.type("tomtom-ev-routing")
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator("h1")).to_have_text("tomtom-ev-routing")
        seen.settle()


def test_escape_closes_and_gives_the_focus_back(chromium: Browser, months: Running) -> None:
    """To where it was."""
    with watched(chromium, months.url) as seen:
        seen.open("/clients")
        seen.page.locator("nav a", has_text="Health").focus()
        seen.page.keyboard.press("/")
        seen.page.keyboard.type("zzz-nothing")
        expect(seen.page.locator("#palette [role=status]")).to_have_text("Nothing holds this text.")
        seen.page.keyboard.press("Escape")
        assert not seen.page.locator("#palette").is_visible()
        assert seen.page.evaluate("document.activeElement.textContent") == "Health"


def test_without_scripts_the_link_leads_to_the_page_of_the_same(
    chromium: Browser, months: Running
) -> None:
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(months.url + "/?days=28&tz=Asia/Kolkata")
        seen.page.click("text='Search'")
        seen.page.get_by_role("searchbox").fill("tomtom-ev")
        with seen.page.expect_navigation():
            seen.page.get_by_role("button", name="Search").click()
        with seen.page.expect_navigation():
            seen.page.click(".found >> text='tomtom-ev-routing'")
        assert seen.page.locator("h1").inner_text() == "tomtom-ev-routing"
        assert "days=28&tz=Asia%2FKolkata" in seen.page.url


def test_hostile_names_are_text_in_the_palette(chromium: Browser, hostile: Running) -> None:
    """Nothing runs, nothing is asked of another host."""
    with watched(chromium, hostile.url, width=390) as seen:
        seen.open("/")
        for typed in ("<img", "<script", "bold", "{{"):
            seen.page.keyboard.press("/")
            seen.page.locator("#palette-text").fill(typed)
            shown = seen.page.locator("#palette-list .long >> nth=0")
            expect(shown).to_contain_text(typed)
            assert seen.page.locator("#palette img, #palette script, #palette b").count() == 0
            seen.page.keyboard.press("Escape")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_brackets_go_to_the_range_before_and_after(chromium: Browser, months: Running) -> None:
    """Which are links, too; there is none after today."""
    with watched(chromium, months.url) as seen:
        seen.open("/clients?days=7")
        assert seen.page.locator("[data-range=later]").count() == 0
        seen.page.keyboard.press("[")
        seen.page.wait_for_url("**/clients?from_day=2026-09-23&to_day=2026-09-29")
        seen.settle()
        seen.page.keyboard.press("]")
        seen.page.wait_for_url("**/clients?from_day=2026-09-30&to_day=2026-10-06")
        seen.settle()


def test_single_keys_do_nothing_in_fields_and_once_turned_off(
    chromium: Browser, months: Running
) -> None:
    """Turned off is kept, and the button still opens the sheet to turn them on."""
    with watched(chromium, months.url) as seen:
        seen.open("/")
        seen.page.locator("[name=tz]").focus()
        seen.page.keyboard.press("/")
        assert not seen.page.locator("#palette").is_visible()
        switch = seen.page.get_by_role("checkbox", name="Single keys do this")
        seen.page.get_by_role("button", name="Keyboard shortcuts").click()
        switch.uncheck()
        seen.page.keyboard.press("Escape")
        for _ in range(2):
            for key in ("/", "?", "t"):
                seen.page.keyboard.press(key)
            assert seen.page.locator("dialog[open]").count() == 0
            assert seen.page.evaluate("document.documentElement.dataset.theme") is None
            seen.page.reload()
            seen.settle()
        seen.page.get_by_role("button", name="Keyboard shortcuts").click()
        switch.check()
        seen.page.keyboard.press("Escape")
        seen.page.keyboard.press("?")
        assert switch.is_visible()


def test_a_theme_that_is_chosen_stays_until_it_is_turned_back(
    chromium: Browser, months: Running
) -> None:
    """With the figures; and then the page follows the system again."""
    with watched(chromium, months.url, "light") as seen:
        seen.open("/clients")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = seen.page.evaluate(ground)
        seen.page.keyboard.press("t")
        seen.settle()
        dark = seen.page.evaluate(ground)
        assert dark != light
        assert seen.axe() == []
        seen.page.reload()
        seen.settle()
        assert seen.page.evaluate(ground) == dark
        seen.page.get_by_role("button", name="Theme").click()
        seen.settle()
        assert seen.page.evaluate(ground) == light
        seen.page.emulate_media(color_scheme="dark")
        seen.settle()
        assert seen.page.evaluate(ground) == dark
