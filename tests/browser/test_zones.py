"""Bars as they stand in the picture, read off its pixels, in each zone: on the days on which clocks are changed, and over the New Year."""

from collections.abc import Iterator
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import settings_in
from tests.browser.watch import watched
from tests.dashboards.zones_world import NOW, ZONES, bucket_of, calls, labelled

LOG = calls()
RANGES = (
    ("hour", "2026-10-03", "2026-10-04"),  # Lord Howe sets its clocks by half an hour
    ("hour", "2026-11-01", "2026-11-02"),  # Los Angeles sets them back
    ("day", "2026-12-20", "2027-01-10"),
    ("week", "2026-12-07", "2027-01-24"),
)
READ = """() => {
    const box = document.querySelector("[data-figure]");
    const {xaxis, yaxis, _size} = box._fullLayout;
    const corner = box.getBoundingClientRect();
    return [...box.querySelectorAll(".barlayer .point path")]
        .filter((bar) => !bar.closest(".xy2"))
        .map((bar) => {
            const at = bar.getBoundingClientRect();
            const middle = at.x + at.width / 2 - corner.x - _size.l;
            const [top, foot] = [at.y, at.y + at.height].map((y) => yaxis.p2l(y - corner.y - yaxis._offset));
            return [String(xaxis.p2d(middle)), top - foot];
        });
}"""
"""Of each bar: the place of its middle on the axis, and how high it is on the other."""


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that holds the log."""
    with running(settings_in(tmp_path_factory.mktemp("zones")), now=NOW) as service:
        for server in {call.server for call in LOG}:
            body = "\n".join(call.line for call in LOG if call.server == server)
            service.client.post("/ingest", params={"server": server}, content=body)
        yield service


def where(text: str, zone: str, bucket: str) -> tuple[object, ...]:
    """The bucket in which a place on the axis lies."""
    if bucket == "hour":
        return labelled(text, bucket)
    day = date.fromisoformat(text[:10])
    return (date.fromisocalendar(*day.isocalendar()[:2], 1) if bucket == "week" else day,)


@pytest.mark.parametrize("zone", ZONES)
def test_the_picture_has_the_calls_of_the_log_where_the_clock_on_the_wall_has_them(
    chromium: Browser, around: Running, zone: str
) -> None:
    """Whatever the zone of the browser: that of these tests is Tokyo."""
    with watched(chromium, around.url) as seen:
        for bucket, first, last in RANGES:
            seen.open(f"/?tz={zone}&bucket={bucket}&from_day={first}&to_day={last}")
            drawn: dict[tuple[object, ...], float] = {}
            for place, height in seen.page.evaluate(READ):
                at = where(place, zone, bucket)
                drawn[at] = drawn.get(at, 0) + height
            wanted: dict[tuple[object, ...], int] = {}
            for call in LOG:
                day = call.at.astimezone(ZoneInfo(zone)).date().isoformat()
                if first <= day <= last:
                    at = bucket_of(call.at, zone, bucket)
                    wanted[at] = wanted.get(at, 0) + 1
            assert len(wanted) > 4
            assert drawn == pytest.approx(wanted, abs=0.3)
