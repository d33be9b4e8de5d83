"""What happened beside the calls, on the pages: how much of it, and where."""

import json
import re
from collections.abc import Iterator
from html import unescape

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.chain.tables import tables

NOTES = 60


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A call a day for a week; sixty notes on one of the days, and one on each end."""
    folder = tmp_path_factory.mktemp("happened")
    settings = Settings(database_url=f"sqlite:///{folder / 'events.db'}")
    with running(settings, now="2026-10-08T00:00:00Z") as served:
        lines = [
            json.dumps(
                {
                    "time": f"2026-10-0{day}T12:00:00Z",
                    "msg": "Retired tool called",
                    "data": {"tool": "old", "client": "c"},
                }
            )
            for day in range(1, 8)
        ]
        served.client.post("/ingest?server=maps", content="\n".join(lines).encode())
        told = [(f"note {n:02}", f"2026-10-04T10:{n:02}:00Z") for n in range(NOTES)]
        told += [("first", "2026-10-01T00:00:00Z"), ("last", "2026-10-06T23:59:59.999Z")]
        told += [("before", "2026-09-30T23:59:59Z"), ("today", "2026-10-07T00:00:00Z")]
        for text, at in told:
            answer = served.client.post("/api/v1/notes", json={"text": text, "at": at})
            assert answer.status_code == 200, answer.text
        yield served


RANGE = "from_day=2026-10-01&to_day=2026-10-06"


def test_the_list_has_the_last_forty_and_says_how_many_came_before(service: Running) -> None:
    """The newest first, none of another day; the table of the figure has all."""
    page = service.client.get(f"/?{RANGE}").text
    listed = [unescape(text) for text in re.findall(r'<bdi class="whole">(.*?)</bdi>', page)]
    assert listed == ["last", *(f"note {n:02}" for n in range(NOTES - 1, NOTES - 40, -1))]
    assert "And 22 before these." in page
    rows = {row["Day (UTC)"]: row["Notes"] for row in tables(page)["table-calls-by-client"]}
    assert rows["2026-10-04"].split(", ") == [f"note {n:02}" for n in range(NOTES)]
    assert (rows["2026-10-01"], rows["2026-10-06"]) == ("first", "last")


def test_a_mark_says_the_first_of_many(service: Running) -> None:
    """Where the pointer is over it there is room for some lines, not for sixty."""
    drawn = service.client.get(f"/figures/light/calls-by-client.json?{RANGE}").json()
    (lane,) = [trace for trace in drawn["data"] if trace.get("name") == "notes"]
    assert lane["x"] == ["2026-10-01", "2026-10-04", "2026-10-06"]
    lines = lane["text"][1].split("<br>")
    assert lines == [*(f"note {n:02}" for n in range(5)), "and 55 more"]


@pytest.mark.parametrize(
    ("tz", "day"), [("Pacific/Auckland", "2026-10-07"), ("America/Los_Angeles", "2026-10-06")]
)
def test_a_note_stands_on_its_local_day(service: Running, tz: str, day: str) -> None:
    """Midnight of the 7th in UTC is another day to others."""
    page = service.client.get(f"/?tz={tz}&days=28").text
    rows = tables(page)["table-calls-by-client"]
    (found,) = [row[f"Day ({tz})"] for row in rows if "today" in row["Notes"]]
    assert found == day
