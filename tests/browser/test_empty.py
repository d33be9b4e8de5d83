"""Four ways of having nothing to show, and the words for each."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.watch import Theme, watched

PAGES = ("/", "/clients", "/reactions", "/client?client=", "/health")


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
HOLE = [LISTED, *hours(0, 24), line("Tools listed", "2026-08-01T10:00:00Z", client="c")]
WORLDS: dict[str, tuple[list[str], str, str, dict[str, str | None]]] = {
    "never": ([], "", "No data yet", {"/health": "never"}),
    "unrecognised": (["nobody knows this"] * 3, "", "3 records arrived", {"/health": None}),
    "range": ([STALE], "", "Nothing in this range", {"/health": None}),
    "after": (
        [NEW],
        "to_day=2026-01-01",
        "Nothing in this range",
        {"/health": "range"},
    ),
    "unheard": (
        [STALE, *HOLE],
        "from_day=2026-09-01&to_day=2026-09-02",
        "Cannot tell",
        {"/health": "range"},
    ),
    "quiet": (
        [STALE, *HOLE],
        "from_day=2026-10-05&to_day=2026-10-05",
        "No retired name was called in this range",
        {"/health": "range"},
    ),
    "filtered": ([NEW], "server=other", "Nothing passes these filters", {"/health": "filtered"}),
}
"""Lines, the search of the address, words of the page, and which empty the other pages show (`None`: they
show something) where it is not the world's own."""
OWN = {"unrecognised": "never", "after": "range"}


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 1440),
        ("dark", 390),
        pytest.param("dark", 1440, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("world", WORLDS)
def test_an_empty_page_says_which_kind_of_nothing_it_shows(
    chromium: Browser, fed: Callable[[list[str]], Running], world: str, theme: Theme, width: int
) -> None:
    """In the right words, with nothing for axe to report, in both themes, on a desk and on a phone."""
    lines, search, words, others = WORLDS[world]
    service = fed(lines)
    with watched(chromium, service.url, theme, width) as seen:
        for path in PAGES:
            seen.open(f"{path}{'&' if '?' in path else '?'}{search}")
            kinds = [
                box.get_attribute("data-empty") for box in seen.page.locator("[data-empty]").all()
            ]
            wanted = others.get(path, OWN.get(world, world))
            assert kinds == ([] if wanted is None else [wanted]), path
            assert path != "/" or words in seen.page.locator("[data-empty]").inner_text()
            assert seen.axe() == []
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_name_without_calls_in_the_range_is_not_filtered_away(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """What the page is about is no filter of it."""
    service = fed([STALE, *HOLE])
    with watched(chromium, service.url) as seen:
        for days, kind in (("10-05", "quiet"), ("09-01", "unheard")):
            seen.open(f"/name?server=s&name=old&from_day=2026-{days}&to_day=2026-{days}")
            assert seen.page.locator("[data-empty]").get_attribute("data-empty") == kind
            assert seen.page.locator("h1").inner_text() == "old"


def test_a_client_seen_only_at_other_times_is_known(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """Before the range or after it; one that was never seen is not found."""
    service = fed([STALE, *HOLE])
    for day in ("2026-01-01", "2026-10-06"):
        page = service.get("/client", client="c", from_day=day, to_day=day)
        assert page.status_code == 200
    assert service.get("/client", client="nobody").status_code == 404


def test_from_an_empty_range_one_click_leads_to_the_last_event(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """It lies months before."""
    service = fed([STALE])
    with watched(chromium, service.url) as seen:
        seen.open("/")
        with seen.leaving():
            seen.page.click("text='Go to 2026-05-01'")
        assert [row["Stale calls in range"] for row in seen.table("names")] == ["1"]


def test_filters_that_leave_nothing_are_cleared_by_a_click(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """And the page shows something again."""
    service = fed([NEW])
    with watched(chromium, service.url) as seen:
        seen.open("/?server=other")
        with seen.leaving():
            seen.page.click("text='Clear the filters'")
        assert [row["Stale calls in range"] for row in seen.table("names")] == ["1"]


def test_a_quiet_range_is_good_and_says_how_much_was_heard(
    chromium: Browser, fed: Callable[[list[str]], Running]
) -> None:
    """A zero with its coverage."""
    service = fed([STALE, *HOLE])
    with watched(chromium, service.url) as seen:
        seen.open("/?from_day=2026-10-05&to_day=2026-10-05")
        text = seen.page.locator("main").inner_text()
    assert "No retired name was called in this range" in text
    assert "the log covers 24 of 24 hours" in text
