"""
Figure, table, CSV and REST agree to the last call in zones that are no whole hours from UTC, on the days on which
clocks are changed, by a whole hour or by half of one, and over the New Year. What they agree on is counted in the log.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.acceptance.service import micros
from tests.dashboards.zones_world import NOW, ZONES, Call, calls, counted, labelled
from tests.figure_tables import differences
from tests.shown import Shown, figures, grids, number, table_of

BUCKETS = ("hour", "day", "week", "month")
RANGES = {
    "autumn": ("2026-10-03", "2026-10-05"),  # Lord Howe sets its clocks by half an hour
    "november": ("2026-10-31", "2026-11-02"),  # Los Angeles sets them back
    "new year": ("2026-12-26", "2027-01-04"),
    "march": ("2027-03-13", "2027-03-15"),
    "april": ("2027-04-03", "2027-04-05"),
    "winter": ("2026-09-28", "2027-04-11"),
}
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("/", {}),
    ("/name", {"server": "maps", "name": "old-route"}),
    ("/clients", {"server": "tides"}),
    ("/client", {"client": "client a"}),
    ("/client", {"client": ""}),
)
CASES = [
    (zone, name, bucket)
    for bucket in BUCKETS
    for zone in ZONES
    for name in RANGES
    if (bucket, name) != ("hour", "winter")  # nobody asks for five thousand hours
]


@pytest.fixture(scope="module")
def log() -> list[Call]:
    return calls()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, log: list[Call]) -> Iterator[TestClient]:
    """A service that holds the log."""
    path = tmp_path_factory.mktemp("zones") / "events.db"
    app = create_app(Settings(database_url=f"sqlite:///{path}"), clock=lambda: micros(NOW))
    with TestClient(app, base_url="http://localhost") as client:
        for server in {call.server for call in log}:
            body = "\n".join(call.line for call in log if call.server == server)
            sent = client.post("/ingest", params={"server": server}, content=body).json()
            assert sent["accepted"] == body.count("\n") + 1
        yield client


@dataclass(frozen=True, slots=True)
class Asked:
    """A page in a zone, over local days, both of them included, in buckets."""

    path: str
    about: dict[str, str]
    zone: str
    first: date
    last: date
    bucket: str

    @property
    def address(self) -> str:
        said = {
            **self.about,
            "tz": self.zone,
            "bucket": self.bucket,
            "from_day": self.first.isoformat(),
            "to_day": self.last.isoformat(),
        }
        return f"{self.path}?{urlencode(said)}"

    def of(self, log: list[Call]) -> list[Call]:
        """The calls that the page is about: those whose local day lies in its range."""
        zone = ZoneInfo(self.zone)
        kept = [c for c in log if self.first <= c.at.astimezone(zone).date() <= self.last]
        for field, value in self.about.items():
            kept = [c for c in kept if (getattr(c, field) or "") == value]
        return kept


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("zone", "name", "bucket"), CASES)
def test_figure_table_csv_and_rest_hold_the_calls_of_the_log(
    api: TestClient, log: list[Call], zone: str, name: str, bucket: str
) -> None:
    """On each page with a figure, in hours, days, weeks and months."""
    first, last = (date.fromisoformat(day) for day in RANGES[name])
    for path, about in PAGES:
        asked = Asked(path, about, zone, first, last, bucket)
        mine = asked.of(log)
        assert mine
        page = api.get(asked.address).text
        shown = figures(page)
        over_time = {figure.kind for figure in shown} & {
            "calls-by-client",
            "calls-by-name",
            "callers",
        }
        assert len(over_time) == (1 if path in {"/", "/clients"} else 2)
        for figure in shown:
            if figure.kind in over_time:
                assert_equal(api, asked, figure, mine)
        assert_totals(grids(page), path, mine)


def assert_equal(api: TestClient, asked: Asked, figure: Shown, mine: list[Call]) -> None:
    """The four forms of one figure against the calls."""
    by = figure.kind.removeprefix("calls-by-")
    wanted = counted(mine, asked.zone, asked.bucket, by)
    heads, *rows = figure.grid
    log_at = heads.index("Log")
    assert heads[0] == f"{asked.bucket.capitalize()} ({asked.zone})"
    table = {
        labelled(row[0], asked.bucket): {
            head: number(cell) for head, cell in zip(heads[1:log_at], row[1:log_at], strict=True)
        }
        for row in rows
    }
    assert len(table) == len(rows)
    assert wanted.keys() <= table.keys()
    assert_every_bucket(asked, [row[0] for row in rows])
    for where, cells in table.items():
        assert folded(wanted.get(where, Counter()), cells) == cells
    assert differences(figure, api.get(figure.data()).json()) == []
    assert figure.json is not None
    assert figure.csv is not None
    items = api.get(figure.json).json()["items"]
    kept = [item for item in items if labelled(item["label"], asked.bucket) in table]
    assert sum(item["value"] for item in items) == sum(item["value"] for item in kept)
    spelled = {None: "not named in the log"}
    for item in kept:
        key = item.get(by, "callers")
        word = f"{item['members']} others" if "members" in item else spelled.get(key, key)
        cell = table[labelled(item["label"], asked.bucket)]
        assert cell[word] == item["value"]
    lines = table_of(api.get(figure.csv).text)
    assert [
        (line["start"], line["label"], int(line["value"]), line["covered"], line["tz"])
        for line in lines
    ] == [
        (i["start"], i["label"], i["value"], str(i["covered"]).lower(), asked.zone) for i in items
    ]
    covered = {labelled(i["label"], asked.bucket): i["covered"] for i in items}
    assert {labelled(r[0], asked.bucket): r[log_at] == "covered" for r in rows} == {
        where: covered[where] for where in table
    }


def folded(found: Counter[str | None], cells: dict[str, int]) -> dict[str, int]:
    """The counts of a bucket under the headings of a table: nobody's apart, further clients as one."""
    named = dict.fromkeys(cells, 0)
    for key, value in found.items():
        word = "not named in the log" if key is None else key
        others = next((head for head in cells if head.endswith(" others")), word)
        named[word if word in cells else others] += value
    return named


def assert_every_bucket(asked: Asked, labels: list[str]) -> None:
    """The buckets are those that the clock on the wall goes through, each once, in their order."""
    zone = ZoneInfo(asked.zone)
    at = datetime(asked.first.year, asked.first.month, asked.first.day, tzinfo=zone)
    end = asked.last + timedelta(days=1)
    seen: dict[tuple[object, ...], None] = {}
    instant = at.timestamp()
    while (wall := datetime.fromtimestamp(instant, zone)).date() < end:
        day = wall.date()
        if asked.bucket == "hour":
            seen[day, wall.hour, wall.utcoffset()] = None
        elif asked.bucket == "week":
            seen[(day - timedelta(days=day.weekday()),)] = None
        else:
            seen[(day.replace(day=1) if asked.bucket == "month" else day,)] = None
        instant += 900
    assert [labelled(label, asked.bucket) for label in labels] == list(seen)


def assert_totals(shown: dict[str, list[list[str]]], path: str, mine: list[Call]) -> None:
    """The tables of names, clients and callers add up to the calls, row by row."""
    if path == "/":
        heads, *rows = shown["names"]
        place = heads.index("Stale calls in range")
        named = Counter(call.name for call in mine)
        assert sum(number(row[place]) for row in rows) == len(mine)
        for name in named:
            assert sum(number(row[place]) for row in rows if row[0] == name) == named[name]
    if path == "/clients":
        heads, *rows = shown["clients"]
        word = {call.client or "not named in the log" for call in mine}
        by_client = Counter(call.client or "not named in the log" for call in mine)
        place = heads.index("Stale calls")
        assert {row[0]: number(row[place]) for row in rows if row[0] in word} == by_client
    if path in {"/name", "/client"} and mine:
        heads, *rows = shown["callers"]
        assert sum(number(row[heads.index("Stale calls")]) for row in rows) == len(mine)
