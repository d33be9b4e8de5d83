"""Vintages from stored rows, on both databases: stories told by hand, and random logs read literally."""

import json
from dataclasses import replace
from typing import Any

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.events import Caller, CallerLevel, Fact, Kind
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.test_listed import exclude
from tests.answers.test_reactions import HOUR, MINUTE, START
from tests.answers.world import Seen
from tests.told import Told

LATER = Moment(START + 1_000 * HOUR, 0)


def ask(engine: Engine, moment: Moment = LATER, **asked: Any) -> dict[str, Any]:
    with reading(engine) as connection:
        found = answers.vintage(connection, Query.of(limit=1_000, **asked), moment).as_json()
    answer: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return answer


def call(
    number: int,
    tool: str,
    release: str | None,
    address: str | None = None,
    client: str | None = "openai-mcp",
    kind: Kind = Kind.STALE_CALL,
) -> Told:
    """The number-th call, in its own minute."""
    stale = kind is Kind.STALE_CALL
    return Told(
        time_us=START + number * MINUTE,
        key=number,
        kind=kind,
        server="maps",
        client=client,
        tool=tool,
        caller=Caller(level=CallerLevel.ADDRESS, digest=address) if address else None,
        fact=Fact(last_release=release, replaced_by=None, message=None) if stale else None,
    )


TWO_VINTAGES = [
    call(0, "route", "1.9", "a"),
    call(1, "route", "1.9", "b"),
    call(2, "map", "1.10", "b"),  # b also holds a later name: its copy is as old as its oldest
    call(3, "map", "1.10", "c"),
    call(4, "geo", "1.6.10", "d"),
    call(5, "geo", "1.6.10", "d"),
]


def test_copies_of_one_client_are_told_apart_by_their_callers(engine: Engine) -> None:
    """A and b hold a name of 1.9, c only one of 1.10, d one of 1.6.10: three vintages, as text."""
    world.store(engine, TWO_VINTAGES)
    answer = ask(engine)

    assert answer["releases"] == ["1.6.10", "1.9", "1.10"]
    assert [
        (row["release"], row["callers"], row["stale_calls"], row["names"])
        for row in answer["items"]
    ] == [
        ("1.6.10", 1, 2, ["geo"]),
        ("1.9", 2, 3, ["map", "route"]),
        ("1.10", 1, 1, ["map"]),
    ]


def test_calls_of_nobody_are_copies_of_their_own(engine: Engine) -> None:
    """Two calls without caller and client may be of two copies: neither makes the other older."""
    world.store(engine, [call(0, "route", "1.9", client=None), call(1, "map", "1.10", client=None)])
    rows = ask(engine)["items"]

    assert [(row["client"], row["release"], row["callers"]) for row in rows] == [
        (None, "1.9", 0),
        (None, "1.10", 0),
    ]


def test_a_client_without_callers_is_one_copy(engine: Engine) -> None:
    """Where the log gives no caller, the client is one; whoever says no release comes last."""
    rows = [call(0, "route", "1.9"), call(1, "map", "1.10"), call(2, "geo", None, client="zed")]
    world.store(engine, rows)

    found = ask(engine)["items"]
    assert [(row["client"], row["release"], row["callers"]) for row in found] == [
        ("openai-mcp", "1.9", 1),
        ("zed", None, 1),
    ]


def test_stale_calls_are_a_share_of_the_clients_failed_calls(engine: Engine) -> None:
    """
    Six stale calls, two of names that never were, two that worked: six of eight failed. An unknown call
    to a retired name is a stale one.
    """
    world.store(
        engine,
        [
            *TWO_VINTAGES[:5],
            call(10, "geo", None, "d", kind=Kind.UNKNOWN_CALL),
            call(11, "typo", None, "d", kind=Kind.UNKNOWN_CALL),
            call(12, "typo", None, "a", kind=Kind.UNKNOWN_CALL),
            call(13, "plan", None, "a", kind=Kind.CALL),
            call(14, "plan", None, "a", kind=Kind.CALL),
            call(15, "plan", None, "z", client="zed", kind=Kind.CALL),
            call(16, "typo", None, "z", client="zed", kind=Kind.UNKNOWN_CALL),
        ],
    )
    rows = ask(engine)["items"]

    shares = {
        (row["client"], row["client_calls"], row["client_failed_calls"], row["client_stale_share"])
        for row in rows
    }
    assert shares == {("openai-mcp", 10, 8, 0.75)}


def test_what_rules_leave_out_is_told_of_and_still_in_the_share(engine: Engine) -> None:
    """A rule by version hides one of the calls; the client's share of stale calls is that of all it did."""
    rows = [
        replace(call(0, "route", "1.9", "a"), version="0.0.0-test"),
        call(1, "map", "1.10", "a"),
        call(2, "typo", None, "a", kind=Kind.UNKNOWN_CALL),
        call(3, "plan", None, "a", kind=Kind.CALL),
    ]
    world.store(engine, rows)
    exclude(engine, version="0.0.0-test")

    answer = ask(engine)
    [row] = answer["items"]
    assert (row["release"], row["stale_calls"], answer["excluded_calls"]) == ("1.10", 1, 1)
    assert (row["client_calls"], row["client_failed_calls"]) == (4, 3)
    assert row["client_stale_share"] == 0.6667
    [row] = ask(engine, excluded="count")["items"]
    assert (row["release"], row["stale_calls"]) == ("1.9", 2)
    [row] = ask(engine, excluded="only")["items"]
    assert (row["release"], row["stale_calls"], row["client_stale_share"]) == ("1.9", 1, 0.6667)


def test_where_no_ordinary_calls_are_logged_there_is_no_share(engine: Engine) -> None:
    world.store(engine, TWO_VINTAGES)
    for row in ask(engine)["items"]:
        assert (
            row["client_calls"] is row["client_failed_calls"] is row["client_stale_share"] is None
        )


def last_release(seen: list[Seen], server: str, name: str) -> str | None:
    """What the latest stale call that says so says; ties by text."""
    said = [
        (-s.row.time_us, s.row.fact.last_release)
        for s in seen
        if (s.row.server, s.name) == (server, name) and s.row.fact and s.row.fact.last_release
    ]
    return min(said)[1] if said else None


def literally(seen: list[Seen], since: int, until: int) -> dict[tuple[str, str, str], list[int]]:
    """(server, release or "~", client key or "") → calls, callers."""
    calls = [s for s in seen if s.stale and since <= s.row.time_us < until]
    copies: dict[Any, list[Seen]] = {}
    for place, s in enumerate(calls):
        caller: Any = s.row.caller.digest if s.row.caller else s.key and ("client",)
        copies.setdefault((s.row.server, s.key or "", caller or place), []).append(s)
    found: dict[tuple[str, str, str], list[int]] = {}
    for (server, key, who), mine in copies.items():
        said = [r for s in mine if (r := last_release(seen, server, s.name or ""))]
        # the random logs know of 1.6.9 and 1.6.10 only
        release = "1.6.9" if "1.6.9" in said else "1.6.10" if said else "~"
        total = found.setdefault((server, release, key), [0, 0])
        total[0] += len(mine)
        total[1] += not isinstance(who, int)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_vintages_are_what_the_definition_counts(engine: Engine, seed: int) -> None:
    """Inferred clients, gateways' names, calls logged twice, a range and an as_of that cut; shares too."""
    rows = world.random_rows(seed, START, START + 3 * HOUR)
    world.store(engine, rows, seed=seed)
    since, until, as_of = START + HOUR // 2, START + 2 * HOUR, START + (8 + seed) * HOUR // 4
    seen = world.read(rows, as_of)

    found = ask(engine, since=iso(since), until=iso(until), as_of=iso(as_of))["items"]

    expected = literally(seen, since, min(until, as_of))
    place = {"1.6.9": 0, "1.6.10": 1, "~": 2}
    in_order = sorted(expected, key=lambda k: (k[0], place[k[1]], k[2]))
    assert [
        (row["server"], row["release"], row["client"], [row["stale_calls"], row["callers"]])
        for row in found
    ] == [
        (
            server,
            None if release == "~" else release,
            world.display(seen, key) if key else None,
            expected[server, release, key],
        )
        for server, release, key in in_order
    ]
    inside = [s for s in seen if s.counted and since <= s.row.time_us < min(until, as_of)]
    for row, (server, _, key) in zip(found, in_order, strict=True):
        mine = [s for s in inside if (s.row.server, s.key or "") == (server, key)]
        failed = [s for s in mine if s.row.kind in (Kind.STALE_CALL, Kind.UNKNOWN_CALL)]
        assert row["client_calls"] == sum(s.row.kind in world.TOOL_KINDS for s in mine)
        assert row["client_failed_calls"] == len(failed)
        stale = sum(s.stale for s in failed)
        assert row["client_stale_share"] == (round(stale / len(failed), 4) if failed else None)


def test_pages_hold_every_row_once(engine: Engine) -> None:
    """Two a page, in the order of releases, which is not that of text."""
    world.store(engine, world.random_rows(5, START, START + HOUR))
    every = ask(engine)["items"]
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        with reading(engine) as connection:
            page = answers.vintage(connection, Query(limit=2, cursor=cursor), LATER).as_json()
        found += page["items"]
        cursor = page["next_cursor"]
    assert found == every
