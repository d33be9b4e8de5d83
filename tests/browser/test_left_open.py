"""A page that is left open counts new lines, and asks nothing of whoever does not look."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.watch import Watched, watched

ASK_MS = 10_000
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """A call of each of two servers."""
    with running(settings_in(tmp_path), now=NOW) as served:
        log(served, 1)
        log(served, 1, server="other")
        yield served


def log(service: Running, first: int, number: int = 1, server: str = "maps") -> None:
    """So many calls, a second apart."""
    lines = [
        json.dumps(
            {
                "time": f"2026-10-06T10:00:{at:02}Z",
                "msg": "Retired tool called",
                "data": {"tool": "old", "client": "c"},
            }
        )
        for at in range(first, first + number)
    ]
    answer = service.client.post(f"/ingest?server={server}", content="\n".join(lines).encode())
    assert answer.json()["accepted"] == number


def asked(seen: Watched) -> list[str]:
    """Where the page asks for news, from now on."""
    found: list[str] = []
    seen.page.on("request", lambda r: found.append(r.url) if "/arrivals/new" in r.url else None)
    return found


def test_new_lines_are_counted_and_shown_on_demand(chromium: Browser, service: Running) -> None:
    """Of the page's server; nothing on the page moves, nothing reloads by itself."""
    with watched(chromium, service.url, width=390) as seen:
        seen.page.clock.install()
        seen.open("/?server=maps&days=7")
        news, aloud = seen.page.locator(".news p"), seen.page.locator(".news [role=status]")
        calls = seen.page.locator("#names td[data-label='Stale calls in range']")
        before = calls.inner_text()
        box = seen.page.locator("h1").bounding_box(), seen.page.locator("footer").bounding_box()
        expect(news).to_be_hidden()
        log(service, 2, 12)
        log(service, 2, 5, server="other")
        seen.page.clock.run_for(ASK_MS)
        expect(news).to_contain_text("12 new lines since this page was made · show")
        expect(aloud).to_have_text("12 new lines since this page was made")
        log(service, 14)
        seen.page.clock.run_for(ASK_MS)
        expect(news).to_contain_text("13 new lines")
        expect(aloud).to_have_text(
            "12 new lines since this page was made"
        )  # not read out each time
        now = seen.page.locator("h1").bounding_box(), seen.page.locator("footer").bounding_box()
        assert now == box
        assert calls.inner_text() == before
        assert seen.axe() == []
        seen.page.get_by_role("link", name="show", exact=True).click()
        expect(calls).not_to_have_text(before)
        expect(news).to_be_hidden()


def test_nothing_is_asked_while_nobody_looks_or_nobody_answers(
    chromium: Browser, service: Running
) -> None:
    """Once the page is looked at again it asks at once; where the service is away it says so, and stops."""
    with watched(chromium, service.url) as seen:
        seen.page.clock.install()
        seen.open("/clients")
        news, found = seen.page.locator(".news p"), asked(seen)
        seen.page.evaluate(HIDE, True)
        seen.page.clock.run_for(5 * ASK_MS)
        log(service, 2)
        assert found == []
        seen.page.evaluate(HIDE, False)
        expect(news).to_contain_text("1 new line since this page was made · show")

        seen.page.context.set_offline(True)
        seen.page.clock.run_for(ASK_MS)
        expect(news).to_contain_text("The service cannot be reached, so new lines are not counted")
        tried = len(found)
        seen.page.clock.run_for(5 * ASK_MS)
        assert len(found) == tried
        assert seen.axe() == []
        seen.page.context.set_offline(False)
        seen.page.get_by_role("button", name="Look again").click()
        expect(news).to_contain_text("1 new line since this page was made · show")
        expected = [fault for fault in seen.faults if "ERR_INTERNET_DISCONNECTED" in fault]
        assert expected
        seen.faults[:] = [fault for fault in seen.faults if fault not in expected]


@pytest.mark.parametrize("path", ["/?as_of=2026-10-06T11:00:00Z", "/?to_day=2026-10-05"])
def test_a_page_that_shows_no_today_counts_nothing(service: Running, path: str) -> None:
    """What comes now is not on it, or nearly never."""
    assert "data-new" not in service.client.get(path).text
    assert "data-new" in service.client.get("/").text
