"""Who calls the names that still work, against the definitions, over ranges that cut days anywhere."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from service.answers.query import iso
from service.events import Caller, CallerLevel, Kind
from service.store import told
from service.store.engine import Engine, driver_of, writing
from service.store.schema import call_day
from service.told import Exclusion
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.world import DAY, Seen
from tests.told import Told

LIVE = ["live", "plan", "x.plan"]
ZONE = "America/Los_Angeles"


def rows_of(seed: int) -> list[Told]:
    """A random log of which half of the ordinary calls are to names that still work."""
    rng = random.Random(seed)
    rows = world.random_rows(seed, FALL, FALL + 9 * DAY, 400)
    kept = [row for row in rows if row.kind is not Kind.CALL]
    for row in rows:
        if row.kind is Kind.CALL:
            tool = rng.choice(LIVE) if rng.random() < 0.7 else row.tool
            kept.append(replace(row, tool=tool))
    return kept


def expected(seen: list[Seen], all_seen: list[Seen]) -> list[dict[str, Any]]:
    """What the definitions, read literally, come to."""
    groups: defaultdict[tuple[str, str], list[Seen]] = defaultdict(list)
    for each in seen:
        if each.row.kind is Kind.CALL and each.counted and each.name is None:
            groups[each.row.server, each.row.tool or ""].append(each)
    found = []
    for (server, name), calls in sorted(groups.items()):
        by_client = Counter(each.key for each in calls if each.key is not None)
        most = sorted(by_client, key=lambda key: (-by_client[key], key))[:3]
        times = [each.row.time_us for each in calls]
        found.append(
            {
                "server": server,
                "name": name,
                "listed": None,
                "calls": len(calls),
                "clients": len(by_client),
                "active_days": len({at // DAY for at in times}),
                "top_clients": [world.display(all_seen, key) for key in most],
                "unattributed_calls": sum(each.key is None for each in calls),
                "first_call": iso(min(times)),
                "last_call": iso(max(times)),
            }
        )
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ordinary_calls_are_counted_as_the_definitions_do(engine: Engine, seed: int) -> None:
    """Calls, clients, days, first and last, whatever instants the range and the cut lie at."""
    rows = rows_of(seed)
    world.store(engine, rows)
    rng = random.Random(seed)
    for _ in range(6):
        since = FALL + rng.randrange(8 * DAY)
        until = since + rng.randrange(1, 8 * DAY)
        as_of = rng.choice([until, until - (until - since) // 3, FALL + 20 * DAY])
        seen = world.read(rows, as_of)
        within = [s for s in seen if since <= s.row.time_us < min(until, as_of)]
        asked = {"since": iso(since), "until": iso(until), "as_of": iso(as_of), "tz": ZONE}

        assert ask(engine, "listed", **asked)["items"] == expected(within, seen)


def exclude(engine: Engine, **parts: str) -> None:
    """Leave calls out by a rule."""
    every = dict.fromkeys(("server", "client", "version", "network"))
    rule = Exclusion(id=0, **{**every, **parts}, note="", said_us=0, actor="rest")
    with writing(engine) as connection:
        told.tell_exclusion(driver_of(connection), rule)


@pytest.mark.parametrize(
    "parts", [{"client": "zed"}, {"version": "2.0"}], ids=["client", "version"]
)
def test_what_rules_leave_out_is_told_of(engine: Engine, parts: dict[str, str]) -> None:
    """Hidden, counted, or nothing else; by client from sums, by version from each call."""
    rows = rows_of(4)
    world.store(engine, rows)
    exclude(engine, **parts)
    since, until = FALL + DAY // 3, FALL + 7 * DAY + DAY // 5
    asked = {"since": iso(since), "until": iso(until), "as_of": iso(until)}
    seen = world.read(rows, until)
    within = [s for s in seen if since <= s.row.time_us]

    def is_left_out(each: Seen) -> bool:
        if "client" in parts:
            return each.key == "zed"
        return each.row.version == "2.0"

    counts = [s for s in within if not is_left_out(s)]
    others = [s for s in within if is_left_out(s)]
    hidden = ask(engine, "listed", **asked)
    assert hidden["items"] == expected(counts, seen)
    left_out = expected(others, seen)
    assert hidden["excluded_calls"] == sum(row["calls"] for row in left_out) > 0
    assert ask(engine, "listed", excluded="only", **asked)["items"] == left_out
    assert ask(engine, "listed", excluded="count", **asked)["items"] == expected(within, seen)


def test_whole_days_are_not_read_call_by_call(engine: Engine) -> None:
    """A cell of a whole day that is altered by hand shows; that of a cut day does not."""
    caller = Caller(level=CallerLevel.ADDRESS, digest="a")
    world.store(
        engine,
        [
            Told(time_us=at, key=at, kind=Kind.CALL, server="maps", tool="plan", caller=caller)
            for at in (FALL + DAY // 4, FALL + DAY + 1, FALL + 2 * DAY + 1)
        ],
    )
    with writing(engine) as connection:
        connection.execute(call_day.update().values(calls=sa.literal(1_000)))

    asked = {"since": iso(FALL + 1), "until": iso(FALL + 2 * DAY + DAY // 2)}
    (row,) = ask(engine, "listed", **asked)["items"]
    assert row["calls"] == 1 + 1_000 + 1
