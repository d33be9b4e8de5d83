"""What happened beside the calls: marked in the figure, and listed below it for who uses keys alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, fill, settings_in
from tests.browser.watch import watched

LONG = "Docs name the new tool. " * 8
HOSTILE = "<img src=x onerror=alert(1)> %{x} <b>\u202egnp"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The months of the demo, with notes on them and a list of tools."""
    with running(settings_in(tmp_path_factory.mktemp("axis")), now=NOW) as served:
        fill(served)
        tools = [{"name": "plan"}, {"name": "map"}]
        for path, told in (
            ("notes", {"text": LONG, "server": "maps", "at": "2026-09-20T10:00:00Z"}),
            ("notes", {"text": HOSTILE, "at": "2026-10-05T10:00:00Z"}),
            ("snapshots", {"server": "maps", "at": "2026-09-17T00:00:00Z", "tools": tools}),
        ):
            answer = served.client.post(f"/api/v1/{path}", json=told)
            assert answer.status_code == 200, answer.text
        yield served


SHAPE = "() => document.querySelector('[data-figure]').layout.shapes?.[0]?.x0"


@pytest.mark.parametrize("bucket", ["day", "hour"])
def test_keys_alone_open_what_happened_and_mark_its_place(
    chromium: Browser, service: Running, bucket: str
) -> None:
    """Its whole text is shown, whatever it says; the mark stays through a change of theme, and goes."""
    hours = "from_day=2026-10-04&to_day=2026-10-05&bucket=hour"
    with watched(chromium, service.url) as seen:
        seen.open("/?server=maps&" + (hours if bucket == "hour" else "days=28"))
        first = seen.page.locator(".axis summary").first
        assert "note: <img src=x onerror=alert(1)>" in first.inner_text()
        first.focus()
        seen.page.keyboard.press("Enter")
        whole = seen.page.locator(".axis details[open] .whole")
        assert whole.inner_text() == HOSTILE
        place = 33.5 if bucket == "hour" else "2026-10-05"  # ten in the morning of the second day
        seen.page.wait_for_function(f"place => ({SHAPE})() === place", arg=place)
        seen.page.keyboard.press("t")
        seen.settle()
        seen.page.wait_for_function(f"place => ({SHAPE})() === place", arg=place)
        assert seen.axe() == []
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function(f"() => ({SHAPE})() === undefined")


def test_lanes_and_list_hold_what_rest_holds(chromium: Browser, service: Running) -> None:
    """Each lane in the figure, each mark in its table; one thing is open at a time."""
    with watched(chromium, service.url) as seen:
        seen.open("/?server=maps&days=28")
        names = seen.page.evaluate(
            "() => document.querySelector('[data-figure]').data.map(trace => trace.name)"
        )
        assert names[-4:] == ["notified", "released", "catalogue", "notes"]
        rest = service.rows("annotations", server="maps", since="2026-09-09")
        listed = seen.page.locator(".axis li")
        assert listed.count() == len(rest)
        for at in (0, 1):
            listed.nth(at).locator("summary").click()
        assert seen.page.locator(".axis details[open]").count() == 1
        seen.open_tables()
        rows = {row["Day (UTC)"]: row for row in seen.table("table-calls-by-client")}
        assert rows["2026-09-20"]["Notes"] == f"maps: {LONG}".strip()
        assert rows["2026-09-17"]["Catalogue"] == "maps: 2 tools listed"
        assert rows["2026-10-05"]["Notes"] == HOSTILE


def test_without_javascript_it_is_a_list(chromium: Browser, service: Running) -> None:
    """Each thing opens all the same."""
    with watched(chromium, service.url, width=320, javascript=False) as seen:
        seen.page.goto(f"{service.url}/?server=maps&days=28")
        seen.page.locator(".axis summary").nth(2).click()
        text = seen.page.locator(".axis details[open] .whole").inner_text()
        assert text == LONG.strip()


def test_a_note_is_written_and_taken_back_on_the_page(tmp_path: Path) -> None:
    """In the zone of the page; the audit names both."""
    with running(settings_in(tmp_path), now=NOW) as served:
        told = {
            "text": HOSTILE,
            "server": "maps",
            "at": "2026-10-05T12:30",
            "tz": "Asia/Kolkata",
            "back": "/told?tz=Asia%2FKolkata",
        }
        page = served.client.post("/tell-note", data=told, follow_redirects=True).text
        assert "2026-10-05 12:30" in page
        (note,) = served.rows("notes")
        assert (note["at"], note["text"]) == ("2026-10-05T07:00:00.000Z", HOSTILE)
        assert "&lt;img src=x onerror=alert(1)&gt;" in page
        assert "<img src=x" not in page
        answer = served.client.post("/tell-note", data={"text": " "})
        assert answer.status_code == 422
        assert "write what happened" in answer.text
        served.client.post("/tell-unnote", data={"id": str(note["id"])})
        assert served.rows("notes") == []
        assert [row["action"] for row in served.rows("audit")] == ["unnote", "note"]
