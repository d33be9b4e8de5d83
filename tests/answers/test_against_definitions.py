"""Every collection against the definitions, on random logs, over ranges that cut days anywhere."""

import json
import random
from collections import defaultdict
from datetime import datetime
from typing import Any

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.world import DAY, Seen

NOW = 1_800_000_000_000_000
FALL = int(datetime.fromisoformat("2026-10-30T00:00:00+00:00").timestamp()) * 1_000_000
SPRING = int(datetime.fromisoformat("2027-03-11T00:00:00+00:00").timestamp()) * 1_000_000
LORD_HOWE = int(datetime.fromisoformat("2026-10-01T00:00:00+00:00").timestamp()) * 1_000_000
ZONES = [
    ("UTC", FALL),
    ("Asia/Kolkata", FALL),
    ("Asia/Kathmandu", FALL),
    ("America/Los_Angeles", FALL),
    ("America/Los_Angeles", SPRING),
    ("Australia/Lord_Howe", LORD_HOWE),
]
SEEDS = [2, 7]


def ask(engine: Engine, collection: str, **asked: Any) -> dict[str, Any]:
    """Ask, as REST would, and return the answer as REST would."""
    function = getattr(answers, collection)
    with reading(engine) as connection:
        found = function(connection, Query.of(**asked), Moment(NOW)).as_json()
    answer: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return answer


class Logs:
    """A stored random log with a range and an instant to ask as of."""

    def __init__(self, engine: Engine, seed: int, start: int) -> None:
        rng = random.Random(seed)
        self.engine = engine
        self.rows = world.random_rows(seed, start, start + 9 * DAY)
        world.store(engine, self.rows)
        self.since = start + rng.randrange(2 * DAY)
        self.until = start + 5 * DAY + rng.randrange(3 * DAY)
        self.as_of = rng.choice([self.until - DAY, self.until + DAY, start + 20 * DAY])
        self.seen = world.read(self.rows, self.as_of)
        self.end = min(self.until, self.as_of)
        self.within = [s for s in self.seen if self.since <= s.row.time_us < self.end]
        self.stale = [s for s in self.within if s.stale]

    def ask(self, collection: str, **more: Any) -> list[dict[str, Any]]:
        asked = {"since": iso(self.since), "until": iso(self.until), "as_of": iso(self.as_of)}
        rows: list[dict[str, Any]] = ask(self.engine, collection, **asked, **more)["items"]
        return rows

    def name(self, key: str | None) -> str | None:
        return None if key is None else world.display(self.seen, key)


@pytest.fixture(params=SEEDS)
def seed(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("tz", "start"), ZONES)
def test_names_count_what_the_definitions_count(
    engine: Engine, seed: int, tz: str, start: int
) -> None:
    """Calls, clients, callers, local active days, first and last, and what is said of the name."""
    logs = Logs(engine, seed, start)
    known = {(s.row.server, s.name) for s in logs.seen if s.name is not None}

    found = logs.ask("names", tz=tz)

    assert [(row["server"], row["name"]) for row in found] == sorted(known)
    for row in found:
        mine = [s for s in logs.stale if (s.row.server, s.name) == (row["server"], row["name"])]
        times = [s.row.time_us for s in mine]
        assert row["stale_calls"] == len(mine)
        assert row["clients"] == len({s.key for s in mine} - {None})
        assert row["callers"] == world.callers_of(mine)
        assert row["active_days"] == world.local_days(mine, tz).nunique()
        assert row["first_call"] == (iso(min(times)) if times else None)
        assert row["last_call"] == (iso(max(times)) if times else None)
        assert row["unattributed_calls"] == sum(s.key is None for s in mine)
        said = [
            (s.row.time_us, s.row.fact)
            for s in logs.seen
            if (s.row.server, s.name) == (row["server"], row["name"]) and s.row.fact
        ]
        releases = [(-t, f.last_release) for t, f in said if f.last_release]
        replaced = [
            (-t, json.dumps(f.replaced_by), list(f.replaced_by))
            for t, f in said
            if f.replaced_by is not None
        ]
        assert row["last_release"] == (min(releases)[1] if releases else None)
        assert row["replaced_by"] == (min(replaced)[2] if replaced else [])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("tz", "start"), ZONES)
def test_callers_count_what_the_definitions_count(
    engine: Engine, seed: int, tz: str, start: int
) -> None:
    """One row a server, name and client key; whoever names no client is one row."""
    logs = Logs(engine, seed, start)
    groups: dict[tuple[str, str, str], list[Seen]] = defaultdict(list)
    for s in logs.stale:
        groups[s.row.server, s.name or "", s.key or ""].append(s)

    found = logs.ask("callers", tz=tz)

    assert [(r["server"], r["name"], r["client"]) for r in found] == [
        (server, name, logs.name(key or None)) for server, name, key in sorted(groups)
    ]
    for row, key in zip(found, sorted(groups), strict=True):
        mine = groups[key]
        versions = world.last_versions(mine)
        assert row["stale_calls"] == len(mine)
        assert row["callers"] == world.callers_of(mine)
        assert row["active_days"] == world.local_days(mine, tz).nunique()
        assert row["versions"] == versions
        assert row["version_count"] == len(versions)
        assert row["first_call"] == iso(min(s.row.time_us for s in mine))
        assert row["last_call"] == iso(max(s.row.time_us for s in mine))
        assert row["inferred_calls"] == sum(s.inferred for s in mine)


def test_clients_count_what_the_definitions_count(engine: Engine, seed: int) -> None:
    """Every client with any event in the range; sessions are those that overlap it."""
    logs = Logs(engine, seed, FALL)
    keys = {s.key for s in logs.within}

    found = logs.ask("clients")

    assert [row["client"] for row in found] == [
        logs.name(key) for key in sorted(keys, key=lambda key: key or "")
    ]
    owners = _owners(logs.seen)
    spans: dict[tuple[str, str], list[int]] = defaultdict(list)
    for s in logs.seen:
        if s.row.session:
            spans[s.row.server, s.row.session].append(s.row.time_us)
    met = [k for k, t in spans.items() if min(t) < logs.end and max(t) >= logs.since]
    for row, key in zip(found, sorted(keys, key=lambda key: key or ""), strict=True):
        mine = [s for s in logs.stale if s.key == key]
        vias = {world.CLIENTS[s.client][2] for s in logs.within if s.key == key and s.client}
        assert row["stale_calls"] == len(mine)
        assert row["names"] == len({(s.row.server, s.name) for s in mine})
        assert row["callers"] == world.callers_of(mine)
        assert row["via"] == sorted(via for via in vias if via is not None)
        assert row["sessions"] == sum(owners.get(session) == key for session in met)
        called = world.last_versions(mine)
        assert row["versions"][: len(called)] == called


def _owners(seen: list[Seen]) -> dict[tuple[str, str], str]:
    """The client of each session: its earliest hello's, else the earliest that a line names."""
    first: dict[tuple[str, str], tuple[bool, int, str]] = {}
    for s in seen:
        if s.row.session and s.row.client:
            mine = (s.row.server, s.row.session)
            claim = (s.row.kind.word != "hello", s.row.time_us, s.row.client)
            first[mine] = min(first.get(mine, claim), claim)
    return {session: world.CLIENTS[claim[2]][0] for session, claim in first.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("tz", "start"), ZONES)
@pytest.mark.parametrize("by", ["none", "name", "client", "version"])
@pytest.mark.parametrize("metric", ["stale_calls", "clients", "callers"])
def test_series_count_what_the_definitions_count(
    engine: Engine, tz: str, start: int, by: str, metric: str
) -> None:
    """Per local day and group; all days of the range are there, with 0 where nobody called."""
    logs = Logs(engine, 3, start)
    keys = {
        "none": lambda s: None,
        "name": lambda s: s.name,
        "client": lambda s: logs.name(s.key),
        "version": world.version_of,
    }
    groups: dict[tuple[str, object], list[Seen]] = defaultdict(list)
    for s, day in zip(logs.stale, world.local_days(logs.stale, tz), strict=True):
        groups[day, keys[by](s)].append(s)
    counts = {
        "stale_calls": len,
        "clients": lambda calls: len({s.key for s in calls} - {None}),
        "callers": world.callers_of,
    }

    found = logs.ask("series", tz=tz, by=by, metric=metric)

    values = {(row["label"], row.get(by)): row["value"] for row in found}
    assert len(values) == len(found)
    expected = {group: counts[metric](calls) for group, calls in groups.items()}
    assert {group: value for group, value in values.items() if value} == {
        group: value for group, value in expected.items() if value
    }
    first, last = (world.local_days([_at(time)], tz).iloc[0] for time in (logs.since, logs.end - 1))
    assert (found[0]["label"], found[-1]["label"]) == (first, last)


def _at(time_us: int) -> Seen:
    row = world.random_rows(0, time_us, time_us + 1, 2)[0]
    return Seen(row, None, False, None, True, True)


@pytest.mark.parametrize("filters", [
    {},
    {"name": "route"},
    {"client": "CLAUDE-CODE/9"},
    {"client": ""},
    {"name": "map", "client": "zed"},
    {"server": "shop", "kind": "unknown_call"},
    {"kind": "hello", "client": "claude-code"},
    {"sort": "time"},
])  # fmt: skip
def test_events_page_through_what_the_definitions_hold(
    engine: Engine, seed: int, filters: dict[str, str]
) -> None:
    """In pages of seven, every event once and in order, whatever is asked for."""
    logs = Logs(engine, seed, FALL)
    wanted = [
        s
        for s in logs.within
        if filters.get("server") in (None, s.row.server)
        and filters.get("kind") in (None, s.row.kind.word)
        and filters.get("name") in (None, s.name)
        and (
            "client" not in filters
            or s.key == {"": None, "zed": "zed"}.get(filters["client"], "claude-code")
        )
    ]
    narrowed = "name" in filters or "client" in filters
    if narrowed:  # lines that another one stands for may be left out then
        wanted = [s for s in wanted if s.counted]
    sign = 1 if filters.get("sort") == "time" else -1
    wanted.sort(
        key=lambda s: (
            sign * s.row.time_us,
            s.row.kind,
            s.row.tool or "",
            world.CLIENTS[s.row.client][1] if s.row.client else "",
            s.row.key,
        )
    )

    found: list[dict[str, Any]] = []
    cursor = None
    while cursor is not None or not found:
        asked = {"since": iso(logs.since), "until": iso(logs.until), "as_of": iso(logs.as_of)}
        page = ask(engine, "events", **asked, **filters, limit=7, cursor=cursor)
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    if narrowed:
        found = [row for row in found if row["counted"]]
    assert [
        (row["time"], row["kind"], row["name"], row["resolved"], row["client"], row["inferred"],
         row["counted"], row["version"])
        for row in found
    ] == [
        (
            iso(s.row.time_us),
            s.row.kind.word,
            s.row.tool,
            s.name,
            world.CLIENTS[s.client][1] if s.client else None,
            s.inferred,
            s.counted,
            world.version_of(s),
        )
        for s in wanted
    ]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "collection",
    [
        *("servers", "names", "callers", "clients", "reactions", "events", "series"),
        *("cures", "uptake", "vintage"),
    ],
)
def test_an_answer_as_of_an_instant_is_that_of_a_database_without_what_came_later(
    new_engine: Any, seed: int, collection: str
) -> None:
    """Late hellos, later lines of the same call and cut days leave no trace; random instants."""
    rows = world.random_rows(seed, FALL, FALL + 9 * DAY)
    full = new_engine()
    world.store(full, rows)
    for number in range(3):
        as_of = FALL + random.Random(seed * 10 + number).randrange(DAY, 9 * DAY)
        cut = new_engine()
        world.store(cut, [row for row in rows if row.time_us < as_of])
        cases: tuple[dict[str, Any], ...] = ({}, {"since": iso(FALL + 2 * DAY // 3)})
        for more in cases:
            if collection == "series":
                more = {**more, "by": "client", "top": 2}
            answer, expected = (
                ask(engine, collection, as_of=iso(as_of), **more) for engine in (full, cut)
            )
            if collection == "servers":
                for row in (*answer["items"], *expected["items"]):
                    del row["last_heard"]  # hours are heard whole
            assert answer["items"] == expected["items"]
            assert answer["range"] == expected["range"]
