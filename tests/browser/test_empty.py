"""Four ways of having nothing to show, and the words for each."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.watch import Theme, watched

PAGES = ("/clients", "/client?client=", "/health")


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Callable[[list[str]], Running]]:
    """Starts services that hold these lines."""
    with ExitStack() as started:

        def start(lines: list[str]) -> Running:
            service = started.enter_context(running(settings_in(tmp_path), now=NOW))
            body = "\n".join(lines).encode()
            if body:
                answer = service.client.post("/ingest?server=s", content=body)
                assert answer.status_code == 200
            return service

        yield start


def line(message: str, time: str, **data: object) -> str:
    """One line of pino."""
    return json.dumps({"level": "info", "time": time, "data": data, "msg": message})


def hours(first: int, last: int) -> list[str]:
    """A health check every hour of October 5th, so that the log is heard."""
    return [line("Health check", f"2026-10-05T{hour:02}:00:00Z") for hour in range(first, last)]


STALE = line("Retired tool called", "2026-05-01T10:00:00Z", tool="old", client="c")
NEW = line("Retired tool called", "2026-10-05T10:00:00Z", tool="old", client="c")
LISTED = line("Tools listed", "2026-10-05T10:00:00Z", client="c", sessionId="a")
WORLDS = {
    "never": ([], "", "No data yet"),
    "unrecognised": (["nothing that anybody knows"] * 3, "", "3 records arrived"),
    "range": ([STALE], "", "Nothing in this range"),
    "quiet": ([STALE, LISTED, *hours(0, 20)], "", "No retired name was called in this range"),
    "filtered": ([NEW], "server=other", "Nothing passes these filters"),
}


@pytest.mark.parametrize("theme", get_args(Theme))
@pytest.mark.parametrize("world", WORLDS)
def test_an_empty_page_says_which_kind_of_nothing_it_shows(
    chromium: Browser, fed: Callable[[list[str]], Running], world: str, theme: Theme
) -> None:
    """In the right words, on a desk and on a phone, with nothing for axe to report."""
    lines, search, words = WORLDS[world]
    service = fed(lines)
    for width in (1440, 390):
        with watched(chromium, service.url, theme, width) as seen:
            seen.open(f"/?{search}")
            assert words in seen.page.locator("[data-empty]").inner_text()
            assert seen.page.locator("[data-empty]").count() == 1
            assert seen.axe() == []
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("world", WORLDS)
def test_the_other_pages_have_nothing_to_be_ashamed_of_either(
    chromium: Browser, fed: Callable[[list[str]], Running], world: str
) -> None:
    """With as little to show."""
    lines, search, _ = WORLDS[world]
    service = fed(lines)
    with watched(chromium, service.url, "dark", 390) as seen:
        for path in PAGES:
            seen.open(f"{path}{'&' if '?' in path else '?'}{search}")
            assert seen.axe() == []
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_from_an_empty_range_one_click_leads_to_the_last_event(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """It lies months before."""
    service = fed([STALE])
    with watched(chromium, service.url) as seen:
        seen.open("/")
        seen.page.click("text='Go to 2026-05-01'")
        seen.settle()
        assert [row["Stale calls"] for row in seen.table("names")] == ["1"]


def test_filters_that_leave_nothing_are_cleared_by_a_click(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """And the page shows something again."""
    service = fed([NEW])
    with watched(chromium, service.url) as seen:
        seen.open("/?server=other")
        seen.page.click("text='Clear the filters'")
        seen.settle()
        assert [row["Stale calls"] for row in seen.table("names")] == ["1"]


def test_a_quiet_range_is_good_and_says_how_much_was_heard(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """A zero with its coverage."""
    service = fed([STALE, LISTED, *hours(0, 20)])
    with watched(chromium, service.url) as seen:
        seen.open("/?from_day=2026-10-05&to_day=2026-10-05")
        text = seen.page.locator("main").inner_text()
    assert "No retired name was called in this range" in text
    assert "of 24 hours" in text
