"""The weeks before, below the buckets of a figure: its line, its table and its sentence."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from html import unescape
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.chain.tables import tables

STEP = timedelta(minutes=53)
CASES = [
    # zone, bucket, first day, days; a day on which the clock changes lies in one of the two ranges
    ("Asia/Kolkata", "day", date(2026, 9, 14), 28),
    ("America/Los_Angeles", "hour", date(2026, 11, 1), 1),
    ("America/Los_Angeles", "hour", date(2026, 11, 7), 2),
    ("America/Los_Angeles", "week", date(2026, 10, 21), 17),
    ("Australia/Lord_Howe", "hour", date(2026, 4, 5), 1),
    ("Australia/Lord_Howe", "hour", date(2026, 4, 12), 1),
    ("Australia/Lord_Howe", "hour", date(2026, 10, 4), 1),
    ("Australia/Lord_Howe", "hour", date(2026, 10, 11), 1),
    ("Europe/Berlin", "month", date(2026, 2, 20), 60),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A call every 53 minutes of each Monday (UTC) of a year, and about half as many on other days."""
    folder = tmp_path_factory.mktemp("compared")
    settings = Settings(database_url=f"sqlite:///{folder / 'events.db'}")
    with running(settings, now="2026-11-20T12:00:00Z") as found:
        lines = [
            json.dumps(
                {
                    "time": at.isoformat(),
                    "msg": "Retired tool called",
                    "data": {"tool": "old", "client": "<b>c</b>", "requestId": at.isoformat()},
                }
            )
            for at in moments()
        ]
        for start in range(0, len(lines), 1000):
            body = "\n".join(lines[start : start + 1000]).encode()
            assert found.client.post("/ingest?server=maps", content=body).status_code == 200
        yield found


def moments() -> list[datetime]:
    """When the calls were made."""
    start = datetime.combine(date(2026, 1, 1), time(), UTC)
    every = (start + n * STEP for n in range(timedelta(days=322) // STEP))
    return [at for at in every if at.weekday() == 0 or at.minute % 2]


def shown(bucket: str, at: datetime) -> str:
    """The bucket that an instant lies in, as the table writes it but for the offset of an hour."""
    if bucket == "hour":
        return f"{at:%Y-%m-%d %H}"
    day = at.date()
    if bucket == "week":
        day -= timedelta(days=day.weekday())
    return str(day.replace(day=1) if bucket == "month" else day)


@pytest.mark.parametrize(("zone", "bucket", "first", "days"), CASES)
def test_each_call_of_the_weeks_before_stands_below_its_weekday(
    service: Running, zone: str, bucket: str, first: date, days: int
) -> None:
    """On the clock of the zone; line, table, sentence and REST agree with a count of the calls by hand."""
    weeks = -(-days // 7)
    back = timedelta(weeks=weeks)
    asked = {
        "tz": zone,
        "bucket": bucket,
        "from_day": str(first),
        "to_day": str(first + timedelta(days=days - 1)),
        "compare": "previous",
    }
    here = [at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for at in moments()]
    was = [at + back for at in here if 0 <= (at.date() + back - first).days < days]
    expected = Counter(shown(bucket, at) for at in was)

    page = service.client.get(f"/?{urlencode(asked)}").text
    column = f"{weeks} week{'s' if weeks > 1 else ''} before"
    rows = tables(page)["table-calls-by-client"]
    key = next(iter(rows[0]))
    table: Counter[str] = Counter()
    for row in rows:
        cut = row[key][:13] if bucket == "hour" else row[key]
        table[cut] += int(row[column]) if row[column] != "–" else 0
    assert sum(table.values()) == len(was)
    if (
        bucket == "hour"
    ):  # an hour that one day shows twice or not at all stands beside its neighbour
        differing = {label for label in expected | table if expected[label] != table[label]}
        assert len(differing) <= 2
    else:
        assert table == expected

    drawn = service.client.get(f"/figures/dark/calls-by-client.json?{urlencode(asked)}").json()
    (line,) = [trace for trace in drawn["data"] if trace["type"] == "scatter"]
    assert [y or 0 for y in line["y"]] == [
        int(row[column]) if row[column] != "–" else 0 for row in rows
    ]
    assert line["name"] == column

    (rest,) = re.findall(r'href="(/api/v1/compare[^"]*)">JSON', page)
    totals = service.client.get(unescape(rest)).json()["totals"]
    assert totals["stale_calls_before"] == len(was)
    (sentence,) = re.findall(r'<p class="compared">(.*?)</p>', page, re.DOTALL)
    numbers = re.findall(r"[\d,]+(?= stale calls?\b)|(?<=than the )[\d,]+", sentence)
    assert [int(text.replace(",", "")) for text in numbers] == [
        totals["matched_calls"],
        *([] if totals["word"] == "equal" else [totals["matched_calls_before"]]),
        len(was),
    ]


def test_today_is_compared_up_to_the_same_time(service: Running) -> None:
    """At noon (UTC) the morning of a week ago stands below this one, and nothing of its afternoon."""
    page = service.client.get("/?from_day=2026-11-20&bucket=hour&compare=previous").text
    rows = tables(page)["table-calls-by-client"]
    assert len(rows) == 12
    start = datetime(2026, 11, 13, tzinfo=UTC)
    morning = [at for at in moments() if start <= at < start + timedelta(hours=12)]
    assert sum(int(row["1 week before"]) for row in rows) == len(morning)


def test_what_was_not_heard_is_no_zero_below(service: Running) -> None:
    """The log begins with the year: of the weeks before there is no line, and the sentence says why."""
    asked = "from_day=2026-01-05&to_day=2026-01-11&compare=previous"
    page = service.client.get(f"/?{asked}").text
    rows = tables(page)["table-calls-by-client"]
    assert [row["Log then"] for row in rows] == ["gap"] * 3 + ["covered"] * 4
    drawn = service.client.get(f"/figures/light/calls-by-client.json?{asked}").json()
    (line,) = [trace for trace in drawn["data"] if trace["type"] == "scatter"]
    assert line["y"][:3] == [None] * 3
    assert all(line["y"][3:])
    asked = "from_day=2026-01-01&to_day=2026-01-07&compare=previous"
    page = service.client.get(f"/?{asked}").text
    assert "Cannot be compared</b> with the same weekdays 1 week before: the log begins" in page


@pytest.mark.parametrize("path", ["/", "/name", "/clients", "/client"])
def test_the_weeks_before_are_a_click_away_and_a_click_back(service: Running, path: str) -> None:
    """The address holds it, and every other control keeps it."""
    about = {"/name": "server=maps&name=old", "/client": "client=%3Cb%3Ec%3C%2Fb%3E"}.get(path, "")
    page = service.client.get(f"{path}?{about}&days=28").text
    assert 'class="compared"' not in page
    (on,) = re.findall(r'href="([^"]*)" data-compare="on"', page)
    page = service.client.get(unescape(on)).text
    assert 'class="compared"' in page
    assert '<input type="hidden" name="compare" value="previous">' in page
    (off,) = re.findall(r'href="([^"]*)" data-compare="off"', page)
    assert 'class="compared"' not in service.client.get(unescape(off)).text


def test_another_comparison_is_refused_with_the_one_there_is(service: Running) -> None:
    answer = service.client.get("/?compare=year")
    assert answer.status_code == 422
    assert "must be one of previous" in unescape(answer.text)
