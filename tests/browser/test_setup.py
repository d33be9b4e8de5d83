"""Set-up in a real browser: a shipper is chosen, a token made and copied, and the first line turns up by itself."""

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect

from dashboards.shippers import shippers
from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.watch import STRAY_TEXT, Theme, watched

CALL = b'{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"a","client":"c"}}\n'
NAMELESS = b'{"time":"2026-10-05T10:15:03Z","msg":"Retired tool called","data":{"client":"<b>c"}}\n'


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(settings_in(tmp_path), now=NOW) as served:
        yield served


def test_from_an_empty_installation_to_the_first_line(chromium: Browser, service: Running) -> None:
    """Nothing is loaded again by hand, and the token that was copied is the one that delivers."""
    with watched(chromium, service.url) as seen:
        page = seen.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        seen.open("/")
        with seen.leaving():
            page.locator("main").get_by_role("link", name="Set up a log shipper").click()
        page.locator("select[name=shipper]").select_option("curl")
        page.get_by_label("MCP server").fill("maps")
        with seen.leaving():
            page.get_by_role("button", name="Show its configuration").click()
        expect(page.locator("#arrived")).to_have_text("Waiting for the first line.")
        with seen.leaving():
            page.get_by_role("button", name="Make a token").click()
        page.locator("button[data-copy=text]").click()
        copy = page.locator("p.copied").filter(has=page.locator("button[data-copy=text]"))
        expect(copy.get_by_role("status")).to_have_text("Copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert page.url == f"{service.url}/setup-token"
        secret = copied.split("Bearer ")[1].split("'")[0]
        # as a shipper, which has no cookie
        sent = httpx.post(
            f"{service.url}/ingest?server=maps",
            content=CALL + NAMELESS,
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert sent.status_code == 200

        expect(page.locator("#arrived")).to_have_text("The first line is stored.")
        expect(page.locator("[data-fate=accepted]")).to_have_text("1")
        expect(page.locator("[data-wrong] li")).to_contain_text(
            "1 record, missing_tool: It is a call"
        )
        expect(page.locator("[data-came]")).to_have_text("It came from the feed maps-curl.")
        with seen.leaving():
            page.get_by_role("link", name="Names", exact=True).first.click()
        assert page.locator("#names tbody tr").count() == 1


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_the_page_is_accessible_and_fits(
    chromium: Browser, service: Running, theme: Theme, width: int
) -> None:
    """The list of shippers, a configuration, a made token, an explained line."""
    with watched(chromium, service.url, theme, width) as seen:
        for path in ("/setup", "/setup?shipper=syslog-ng&server=maps", "/explain"):
            seen.open(path)
            assert seen.axe() == [], path
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, path
        for path in ("/setup", "/setup?shipper=curl&address=http://evil.example", "/login"):
            seen.open(path)
            assert seen.axe() == [], path
            assert seen.page.evaluate(STRAY_TEXT) == [], path
        (_,) = seen.faults  # the refused address was answered 422, and Chromium says so
        seen.faults.clear()
        seen.open("/explain")
        seen.page.get_by_label("Line", exact=True).fill(NAMELESS.decode())
        with seen.leaving():
            seen.page.get_by_role("button", name="Explain").click()
        assert "cannot be used" in seen.page.locator("main h2").inner_text()
        assert seen.axe() == []
        seen.open("/setup?shipper=opentelemetry-python&server=maps")
        with seen.leaving():
            seen.page.get_by_role("button", name="Make a token").click()
        assert seen.page.locator("textarea.configuration").count() == 3
        assert seen.axe() == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_javascript_a_link_looks_again(chromium: Browser, service: Running) -> None:
    """And everything else works."""
    with watched(chromium, service.url, javascript=False) as seen:
        page = seen.page
        page.goto(f"{service.url}/setup")
        with seen.leaving():
            page.get_by_role("link", name=shippers()["rsyslog"].title, exact=True).click()
        assert page.locator("#arrived").inner_text() == "Waiting for the first line."
        (server,) = {page.get_by_label("MCP server").input_value()}
        httpx.post(f"{service.url}/to/{server}/ingest", content=CALL)
        with seen.leaving():
            page.get_by_role("link", name="Look again").click()
        assert page.locator("#arrived").inner_text() == "The first line is stored."
