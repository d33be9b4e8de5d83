"""Moving about: all state is in the address, so that it can be sent, gone back to and come back from."""

from playwright.sync_api import Browser

from tests.acceptance.service import Running
from tests.browser.watch import watched


def test_back_and_forward_restore_what_was_shown(chromium: Browser, months: Running) -> None:
    """Range, then a name, then a client; and back again."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        with seen.leaving():
            page.click("text='28 days'")
        with seen.leaving():
            page.click("#names >> text='tomtom-ev-routing'")
        assert "days=28" in page.url
        with seen.leaving():
            page.click("#callers >> text='openai-mcp'")
        assert page.locator("h1").inner_text() == "openai-mcp"
        assert page.locator(".ranges [aria-current]").inner_text() == "28 days"
        page.go_back()
        seen.settle()
        assert page.locator("h1").inner_text() == "tomtom-ev-routing"
        assert page.locator("#callers tbody tr").count() > 1
        page.go_back()
        page.go_back()
        seen.settle()
        assert page.locator(".ranges [aria-current]").inner_text() == "90 days"
        page.go_forward()
        seen.settle()
        assert page.locator(".ranges [aria-current]").inner_text() == "28 days"


def test_the_form_puts_range_server_and_zone_into_the_address(
    chromium: Browser, months: Running
) -> None:
    """And every link from there keeps range and zone."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        page.fill("[name=from_day]", "2026-09-01")
        page.fill("[name=to_day]", "2026-09-10")
        page.select_option("[name=server]", "maps")
        page.select_option("[name=tz]", "Asia/Kolkata")
        with seen.leaving():
            page.click("text='Show'")
        for word in ("from_day=2026-09-01", "to_day=2026-09-10", "server=maps", "Asia%2FKolkata"):
            assert word in page.url
        assert {row["Retired name"][-4:] for row in seen.table("names")} == {"maps"}
        assert "2026-09-01 00:00 IST" in page.locator(".coverage").inner_text()
        with seen.leaving():
            page.click("nav >> text='Clients'")
        assert "tz=Asia%2FKolkata" in page.url
        assert "from_day=2026-09-01" in page.url


def test_a_filter_is_a_chip_that_can_be_taken_away(chromium: Browser, months: Running) -> None:
    """A click on a server filters by it."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/")
        with seen.leaving():
            page.click("#names a.server >> text='reference' >> nth=0")
        assert page.locator("#names tbody tr").count() == 3
        with seen.leaving():
            page.click("[aria-label='Remove the filter server is reference']")
        assert page.locator("#names tbody tr").count() == 7


def test_the_readers_own_zone_is_offered(chromium: Browser, months: Running) -> None:
    """The browser of these tests is in Tokyo."""
    with watched(chromium, months.url) as seen:
        seen.open("/")
        with seen.leaving():
            seen.page.click("text='Show in Asia/Tokyo'")
        assert "JST" in seen.page.locator(".coverage").inner_text()
        assert not seen.page.locator("[data-own-zone]").is_visible()


def test_a_heading_sorts_and_once_more_turns_round(chromium: Browser, months: Running) -> None:
    """By what REST sorts by, and the address of REST says so."""
    with watched(chromium, months.url) as seen:
        page = seen.page
        seen.open("/clients")
        for order in (True, False):
            with seen.leaving():
                page.click("#clients thead >> text='Sessions'")
            sessions = [int(row["Sessions"]) for row in seen.table("clients")]
            assert sessions == sorted(sessions, reverse=order)
            sort = "-sessions" if order else "sessions"
            assert page.locator(f".source a[href*='sort={sort}']").count() > 0
