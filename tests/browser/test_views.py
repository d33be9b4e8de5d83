"""Views that a reader keeps, the link to what is shown, and the page on paper."""

from typing import get_args

import pytest
from playwright.sync_api import Browser, expect

from dashboards.theme import COLOURS
from tests.acceptance.service import Running
from tests.browser.watch import Theme, Watched, watched

A4_PX = 717
"""What the margins of Chromium leave of its width."""
LIGHT_TOO = """() => document.querySelectorAll("[data-figure]").length ===
    performance.getEntriesByType("resource").filter((one) => one.name.includes("/figures/light/")).length"""


def test_a_view_is_kept_listed_by_the_palette_and_removed(
    chromium: Browser, months: Running
) -> None:
    """Whatever it is called; it leads to the very address."""
    name = "<b>maps</b> in Tokyo"
    with watched(chromium, months.url) as seen:
        seen.open("/clients?server=maps&tz=Asia%2FTokyo")
        seen.page.get_by_label("Keep this view as").fill(name)
        seen.page.get_by_role("button", name="Keep", exact=True).click()
        assert seen.page.locator(".views li a").all_inner_texts() == [name]
        assert seen.axe() == []
        seen.open("/")
        seen.page.keyboard.press("/")
        seen.page.locator("#palette-text").fill("in tokyo")
        expect(seen.page.locator("#palette [role=option]")).to_have_count(1)
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_url("**/clients?server=maps&tz=Asia%2FTokyo")
        seen.settle()
        seen.page.get_by_role("button", name=f"Remove the view {name}").click()
        assert seen.page.locator(".views li").count() == 0
        seen.page.reload()
        seen.settle()
        assert seen.page.locator(".views li").count() == 0


@pytest.mark.parametrize(
    "held",
    [
        "{",
        "[1]",
        "null",
        '[{"name":"x","href":"javascript:alert(1)"}]',
        '[{"name":"x","href":"//evil"}]',
    ],
)
def test_what_is_no_view_of_ours_is_passed_over(
    chromium: Browser, months: Running, held: str
) -> None:
    """The page is whole, and no link leads elsewhere."""
    with watched(chromium, months.url) as seen:
        seen.open("/told")
        seen.page.evaluate("held => localStorage.setItem('lastcall.views', held)", held)
        seen.page.reload()
        assert seen.page.locator(".views li").count() == 0
        seen.page.keyboard.press("/")
        expect(seen.page.locator("#palette-list li >> nth=0")).to_contain_text("Names")


def test_the_link_with_fixed_days_shows_the_same_numbers(
    chromium: Browser, months: Running
) -> None:
    with watched(chromium, months.url) as seen:
        seen.open("/clients?days=28")
        before = seen.table("clients")
        seen.page.click("[data-fixed]")
        seen.page.wait_for_url("**/clients?from_day=2026-09-09&to_day=2026-10-06")
        seen.settle()
        assert seen.table("clients") == before


@pytest.mark.parametrize("theme", get_args(Theme))
def test_a_printed_page_is_a_report(chromium: Browser, months: Running, theme: Theme) -> None:
    """No bar, no controls, no buttons; tables whole; dark text; its address and time at the foot."""
    with watched(chromium, months.url, theme) as seen:
        seen.open("/clients?days=28")
        seen.open_tables()
        assert not seen.page.locator(".printed").is_visible()
        if theme != "light":  # what paper needs of a dark page is asked for once it is drawn
            seen.page.wait_for_function(LIGHT_TOO)
        seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        seen.page.emulate_media(media="print")
        for part in ("header", ".controls", "main button", ".source", "footer", ".views"):
            assert not any(each.is_visible() for each in seen.page.locator(part).all()), part
        foot = seen.page.locator(".printed").inner_text()
        assert foot == f"{months.url}/clients?days=28\n2026-10-06 12:00 UTC"
        cut = seen.page.eval_on_selector_all(
            ".scroll",
            "all => all.filter(each => getComputedStyle(each).overflowY !== 'visible').length",
        )
        assert cut == 0
        assert seen.page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 33, 41)"
        assert seen.page.locator("[data-figure] svg >> nth=0").is_visible()
        shade = seen.page.locator(".legend .swatch.series-1").first.evaluate(
            "each => getComputedStyle(each).backgroundColor"
        )
        light = COLOURS["light"]["series-1"]
        assert shade == f"rgb({', '.join(str(int(light[i : i + 2], 16)) for i in (1, 3, 5))})"
        assert drawn_for(seen) == {"light"}
        seen.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert drawn_for(seen) == {theme}
        assert seen.page.pdf().startswith(b"%PDF")


def drawn_for(seen: Watched) -> set[str]:
    """The themes of the page's figures."""
    found = seen.page.eval_on_selector_all(
        "[data-figure]", "all => all.map(each => each.dataset.drawn)"
    )
    return set(found)


def test_what_is_printed_fits_paper_and_says_nothing_that_paper_cannot_do(
    chromium: Browser, months: Running, strange: Running
) -> None:
    """The widest tables fit A4, lists are whole, and no words are left of links that are gone."""
    with watched(chromium, months.url, width=A4_PX) as seen:
        seen.page.emulate_media(media="print")
        for path in ("/", "/reactions"):
            seen.open(path)
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= A4_PX, path
        seen.open("/")
        listed = seen.page.locator(".axis ol").first
        assert listed.evaluate("each => each.scrollHeight <= each.clientHeight")
    with watched(chromium, strange.url, width=A4_PX) as seen:
        seen.open("/")
        seen.page.emulate_media(media="print")
        assert seen.page.locator(".left-out").inner_text().endswith(" left out by rules.")
