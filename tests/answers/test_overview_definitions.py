"""The overview against the definitions read literally, and against the other collections."""

import random
from collections import Counter
from typing import Any

import pytest

from service.answers.query import iso
from service.events import Kind
from service.store.engine import Engine
from tests.answers import world
from tests.answers.overview_world import DAY, END, HOUR, ask, days, store
from tests.answers.world import Seen

NAME_COLUMNS = [
    "server", "name", "stale_calls", "clients", "callers", "active_days", "first_call", "last_call",
    "last_release", "replaced_by", "no_replacement", "unattributed_calls", "message", "source",
]  # fmt: skip


def expected(calls: list[Seen]) -> dict[str, int]:
    return {
        "stale_calls": len(calls),
        "clients": len({s.key for s in calls} - {None}),
        "callers": world.callers_of(calls),
    }


@pytest.mark.parametrize("seed", [3, 8])
def test_an_overview_counts_what_the_definitions_count(engine: Engine, seed: int) -> None:
    """Periods by name and over all names, first and last, top client; as of a random instant."""
    rng = random.Random(seed)
    rows = world.random_rows(seed, END - 110 * DAY, END, 400)
    world.store(engine, rows)
    as_of = END - rng.randrange(20 * DAY)
    since = as_of - rng.randrange(40 * DAY, 60 * DAY)
    seen = world.read(rows, as_of)
    stale = [s for s in seen if s.stale]

    answer = ask(engine, as_of=iso(as_of), since=iso(since))

    ago = {d: [s for s in stale if s.row.time_us >= as_of - d * DAY] for d in (7, 28, 30, 56, 90)}
    before = [s for s in ago[56] if s not in ago[28]]
    for row in answer["items"]:
        mine = {id(s) for s in stale if (s.row.server, s.name) == (row["server"], row["name"])}

        def of(calls: list[Seen], mine: set[int] = mine) -> list[Seen]:
            return [s for s in calls if id(s) in mine]

        for window in row["windows"]:
            counted = expected(of(ago[window["days"]]))
            assert {key: window[key] for key in counted} == counted
        after, earlier = expected(of(ago[28])), expected(of(before))
        for member in ("stale_calls", "clients"):
            assert row["change"][member] == after[member]
            assert row["change"][f"{member}_before"] == earlier[member]
        last = max(s.row.time_us for s in of(stale))
        assert row["last_call_ever"] == iso(last)
        said = [s.row.time_us for s in of(stale) if s.row.kind is Kind.STALE_CALL]
        assert row["retired_at"] == iso(min(said))
        assert row["quiet_hours"] == as_of // HOUR - -(-last // HOUR)
        assert (row["state"] == "called") == (last >= as_of - 7 * DAY)
        top = Counter(s.key or "" for s in of(stale) if s.row.time_us >= since)
        best = min(top, key=lambda key: (-top[key], key), default=None)
        assert row["top_client"] == (
            None
            if best is None
            else {
                "client": world.display(seen, best) if best else None,
                "stale_calls": top[best],
            }
        )
    totals = answer["totals"]
    for window in totals["windows"]:
        calls = ago[window["days"]]
        counted = {**expected(calls), "names": len({(s.row.server, s.name) for s in calls})}
        assert {key: window[key] for key in counted} == counted
    ranged = [s for s in stale if s.row.time_us >= since]
    assert {key: totals[key] for key in expected(ranged)} == expected(ranged)
    assert totals["unattributed_calls"] == sum(s.key is None for s in ranged)
    assert totals["names"] == len(answer["items"]) == sum(totals["state"].values())


@pytest.mark.parametrize("seed", range(4))
def test_an_overview_says_what_names_and_series_say(engine: Engine, seed: int) -> None:
    """The same question asked of each: every column of `names`, every bucket of `series`."""
    rng = random.Random(seed)
    start = END - 160 * DAY
    world.store(engine, world.random_rows(seed, start, END, 300))
    store(engine, [], days(160, 0), server="shop")
    for _ in range(5):
        since = start + rng.randrange(150 * DAY)
        asked: dict[str, Any] = {
            "since": iso(since),
            "until": iso(since + rng.randrange(HOUR, 150 * DAY)),
            "tz": rng.choice(["UTC", "Asia/Kathmandu", "America/Los_Angeles"]),
            "as_of": rng.choice([None, iso(since + rng.randrange(DAY, 60 * DAY))]),
            "client": rng.choice([None, None, "", "Claude-Code", "zed"]),
            "server": rng.choice([None, "maps", "shop"]),
            "name": rng.choice([None, None, "route"]),
            "sort": rng.choice([None, "-stale_calls", "last_release", "-first_call"]),
        }
        answer = ask(engine, **asked)

        names = ask(engine, collection="names", **asked)
        assert [{key: row[key] for key in NAME_COLUMNS} for row in answer["items"]] == names[
            "items"
        ], asked
        assert answer["range"] == names["range"]
        assert answer["coverage"] == names["coverage"]
        for row in answer["items"][:3]:
            one = {**asked, "server": row["server"], "name": row["name"], "sort": None}
            series = ask(engine, collection="series", bucket=answer["bucket"], **one)["items"]
            assert row["spark"] == series
            assert sum(point["value"] for point in row["spark"]) == row["stale_calls"]


def test_an_overview_as_of_an_instant_is_that_of_a_database_without_what_came_later(
    new_engine: Any,
) -> None:
    """Late hellos, later lines of the same call and cut days leave no trace."""
    rows = world.random_rows(5, END - 100 * DAY, END, 300)
    full = new_engine()
    world.store(full, rows)
    for back in (3 * DAY + 7, 31 * DAY + HOUR, 70 * DAY):
        cut = new_engine()
        world.store(cut, [row for row in rows if row.time_us < END - back])
        more: tuple[dict[str, Any], ...] = ({}, {"client": "zed"}, {"since": iso(END - 80 * DAY)})
        for asked in more:
            answer, without = (
                ask(engine, as_of=iso(END - back), **asked) for engine in (full, cut)
            )
            assert answer == without
            assert answer["items"]
