"""What a page is to the eye and the hand: nothing moves, nothing is cut for good, nothing is said twice."""

import re

import pytest
from playwright.sync_api import Browser, Route

from tests.acceptance.service import Running
from tests.browser.strangers import NAMES
from tests.browser.test_hostile import hostile
from tests.browser.test_pages import PAGES
from tests.browser.watch import watched

__all__ = ["hostile"]
EFFECT = "/effect?server=maps"
MOVED = """() => new Promise((found) => {
    let moved = 0;
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) moved += each.value;
    }).observe({type: "layout-shift", buffered: true});
    requestAnimationFrame(() => requestAnimationFrame(() => found(moved)));
})"""
TURNED = """() => [...document.querySelectorAll(".xaxislayer-above text, .xtick text")]
    .map((each) => each.getAttribute("transform") ?? "").filter((each) => /rotate\\((?!0,)/.test(each))"""
WIDE = """() => [...document.querySelectorAll(".scroll")]
    .filter((box) => !box.closest(".behind") && box.scrollWidth > box.clientWidth)
    .map((box) => box.getAttribute("aria-label"))"""
"""Tables that lie beyond their frame, but for those behind figures, of which each series is a column."""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_moves_while_a_page_loads(chromium: Browser, months: Running, width: int) -> None:
    """Figures have their place before they are drawn, and what needs scripts is there from the first paint."""
    for name, path in (PAGES | {"effect": EFFECT}).items():
        if name == "error":
            continue
        least = 1.0
        for _ in range(
            3
        ):  # a table grows while a busy machine still reads it; what scripts move moves every time
            with watched(chromium, months.url, width=width) as seen:
                seen.open(path)
                least = min(least, seen.page.evaluate(MOVED))
            if least < 0.01:
                break
        assert least < 0.01, name


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [320, 768])
def test_no_page_is_wider_than_the_screen(chromium: Browser, months: Running, width: int) -> None:
    """From the narrowest screen on (WCAG 2.2, 1.4.10)."""
    with watched(chromium, months.url, width=width) as seen:
        for name, path in (PAGES | {"effect": EFFECT}).items():
            if name != "error":
                seen.open(path)
                assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [390, 1024, 1280, 1440])
def test_no_table_of_calls_lies_beyond_its_frame(
    chromium: Browser, months: Running, width: int
) -> None:
    """On a desk none is so wide, and on smaller screens their rows are cards."""
    with watched(chromium, months.url, width=width) as seen:
        for name in ("names", "clients", "client", "name", "reactions", "todo"):
            seen.open(PAGES[name])
            assert seen.page.evaluate(WIDE) == [], name


@pytest.mark.parametrize("path", ["/", "/clients", PAGES["client"], "/?days=7&compare=previous"])
def test_range_and_filters_stand_in_one_line_on_a_desk(
    chromium: Browser, months: Running, path: str
) -> None:
    """With what shows them."""
    with watched(chromium, months.url, width=1440) as seen:
        seen.open(path)
        ranges = seen.page.locator(".controls .ranges").first.bounding_box()
        show = seen.page.get_by_role("button", name="Show", exact=True).bounding_box()
        assert ranges is not None
        assert show is not None
        assert abs(ranges["y"] - show["y"]) < ranges["height"] / 2


def test_who_has_scripts_is_not_told_to_have_them(chromium: Browser, months: Running) -> None:
    """Nor while a figure is on its way."""
    with watched(chromium, months.url) as seen:
        seen.page.route("**/figures/**", lambda _: None)
        seen.page.goto(months.url + "/health")
        assert "JavaScript" not in seen.page.locator("main").inner_text()


def test_on_a_phone_the_list_beside_an_axis_is_whole(chromium: Browser, months: Running) -> None:
    """A list in a box of its own would be cut within a line."""
    with watched(chromium, months.url, width=390) as seen:
        seen.open("/")
        listed = seen.page.locator(".axis ol").first
        assert listed.evaluate("each => each.scrollHeight <= each.clientHeight")


def test_on_a_phone_no_name_on_an_axis_stands_on_end(chromium: Browser, months: Running) -> None:
    """Fewer are named."""
    with watched(chromium, months.url, width=390) as seen:
        for path in ("/", EFFECT, "/?from_day=2026-10-04&to_day=2026-10-06"):
            seen.open(path)
            assert seen.page.locator(".xtick text").count() > 3
            assert seen.page.evaluate(TURNED) == [], path


def test_three_sentences_are_said_on_the_first_visit_and_never_again(
    chromium: Browser, months: Running
) -> None:
    """Nor where nobody closed them; the sheet of keys has them. Without scripts they are there, closed."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        box = page.locator("[data-welcome]")
        assert box.is_visible()
        assert box.locator("p").count() == 3
        assert seen.axe() == []
        box.get_by_role("button", name="Got it").press("Enter")
        assert box.is_hidden()
        assert page.evaluate("document.activeElement.id") == "main"
        seen.open("/")
        assert box.is_hidden()
        page.keyboard.press("?")
        page.locator("#keys summary").click()
        assert page.locator("#keys details p").first.is_visible()
    with watched(chromium, months.url) as seen:
        seen.open("/")
        assert seen.page.locator("[data-welcome]").is_visible()
        seen.open("/clients")
        seen.open("/")
        assert seen.page.locator("[data-welcome]").is_hidden()
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(months.url)
        told = seen.page.locator("details.unscripted")
        assert told.is_visible()
        assert told.locator("p").first.is_hidden()
        told.locator("summary").click()
        assert told.locator("p").first.is_visible()


def test_dates_are_iso_until_a_reader_wants_their_own(chromium: Browser, months: Running) -> None:
    """Then in every page, and back again by the same switch. The zone stays, and so does the instant."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        when = page.locator("#names time").first
        instant, written = when.get_attribute("datetime"), when.inner_text()
        assert str(instant)[:10] in written
        page.keyboard.press("?")
        page.get_by_label("Dates as my language writes them").check()
        page.keyboard.press("Escape")
        assert page.evaluate("navigator.language") == "en-US"
        assert re.search(r"Oct 4, 2026, 4:34\sPM UTC", when.inner_text())
        seen.open("/clients")
        assert "Oct 5, 2026" in page.locator("#clients time").first.inner_text()
        page.keyboard.press("?")
        page.get_by_label("Dates as my language writes them").uncheck()
        seen.open("/")
        assert when.inner_text() == written


def test_a_long_name_is_cut_in_the_middle_and_whole_on_demand(
    chromium: Browser, hostile: Running
) -> None:
    """By keyboard, without scripts too; to whoever copies or listens it is whole from the start."""
    longest = "a" * 256
    for javascript in (True, False):
        with watched(chromium, hostile.url, javascript=javascript) as seen:
            page = seen.page
            page.goto(hostile.url + "/")
            row = page.locator("#names tbody th").filter(has_text=longest)
            cut = row.locator("bdi.cut").first
            assert cut.text_content() == longest
            before = cut.bounding_box()
            switch = row.get_by_text("whole")
            switch.focus()
            page.keyboard.press("Enter")
            after = cut.bounding_box()
            assert before is not None
            assert after is not None
            assert after["height"] > 2 * before["height"]
            assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_what_turns_text_around_is_named(chromium: Browser, hostile: Running) -> None:
    """A name that would be read backwards is read as it is, and right-to-left names stay apart."""
    evil = next(name for name in NAMES if "\u202e" in name)
    with watched(chromium, hostile.url, width=1440) as seen:
        seen.open("/")
        link = seen.page.locator("#names tbody th a.long").filter(has_text="evil")
        assert link.text_content() == evil
        codes = link.locator(".turn").all()
        assert [code.get_attribute("data-code") for code in codes] == ["U+202E", "U+202C"]
        assert all(code.locator("span").is_hidden() for code in codes)
        assert seen.page.locator("#names a.long:not(:has(bdi))").count() == 0


def test_a_figure_that_failed_is_drawn_at_the_second_try(
    chromium: Browser, months: Running
) -> None:
    """It says what to do in the meantime, keeps its place, and offers no picture of nothing."""
    failing = True

    def answer(route: Route) -> None:
        if failing:
            body = '{"detail": "the database cannot be used"}'
            route.fulfill(status=503, content_type="application/problem+json", body=body)
        else:
            route.continue_()

    with watched(chromium, months.url) as seen:
        seen.page.route("**/figures/**", answer)
        seen.page.goto(months.url + "/health")
        box = seen.page.locator("[data-figure]")
        again = box.get_by_role("button", name="Try again")
        again.wait_for()
        assert "the database cannot be used" in box.inner_text()
        assert seen.page.get_by_role("button", name="as PNG").count() == 0
        height = box.bounding_box()
        failing = False
        again.click()
        seen.settle()
        assert box.bounding_box() == height
        assert seen.page.get_by_role("button", name="as PNG").is_visible()
        seen.faults = []  # Chromium logs the refusals itself


def test_an_address_that_leads_nowhere_is_a_page_that_leads_on(
    chromium: Browser, months: Running
) -> None:
    """To programs it stays problem+json."""
    with watched(chromium, months.url) as seen:
        answer = seen.page.goto(months.url + "/client%3Cb%3E")
        assert answer is not None
        assert answer.status == 404
        assert seen.page.locator("h1").inner_text() == "Not found"
        assert "nothing is at /client<b>" in seen.page.locator(".lead").inner_text()
        assert seen.axe() == []
        with seen.leaving():
            seen.page.click("text='Go to the names'")
        seen.faults = []  # Chromium logs the refusal itself
    told = months.client.get("/clienta", headers={"Accept": "application/json, text/plain"})
    assert told.headers["content-type"] == "application/problem+json"
    assert (
        months.client.get("/api/v1/nothing", headers={"Accept": "text/html"}).json()["status"]
        == 404
    )
