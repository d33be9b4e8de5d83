"""Reactions from stored rows, against the definitions read literally, on both databases."""

import json
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.events import Fact, Kind, Outcome
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.world import Seen
from tests.told import Told

MINUTE, HOUR = 60_000_000, 3_600_000_000
START = 1_791_100_800_000_000
NOW = START + 1_000 * HOUR
REFRESH, COMPARE = 5 * MINUTE, 20 * MINUTE
MOMENT = Moment(NOW, 0, REFRESH, COMPARE)


def ask(
    engine: Engine,
    moment: Moment = MOMENT,
    **asked: Any,
) -> dict[str, Any]:
    with reading(engine) as connection:
        found = answers.reactions(connection, Query.of(**asked), moment).as_json()
    answer: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return answer


def literally(seen: list[Seen], since: int, until: int) -> dict[tuple[str, str], list[int]]:
    """(server, client key or "") → notifications, episodes, answered, before, after."""
    channels: dict[tuple[str, str, str | None], list[int]] = defaultdict(list)
    for s in seen:
        named = s.key is not None or s.row.session is not None
        if s.row.kind is Kind.NOTIFICATION and since <= s.row.time_us < until and named:
            channels[s.row.server, s.key or "", s.row.session].append(s.row.time_us)
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 5)
    for (server, key, session), times in channels.items():
        for episode in _episodes(sorted(times)):
            lists = [
                s.row.time_us
                for s in seen
                if s.row.kind is Kind.LISTING
                and s.row.server == server
                and (s.row.session == session if session else s.key == key)
            ]
            calls = [
                s.row.time_us
                for s in seen
                if s.stale and (s.row.server, s.key or "") == (server, key)
            ]
            mine = found[server, key]
            mine[0] += len(episode)
            mine[1] += 1
            mine[2] += any(episode[0] <= t <= episode[-1] + REFRESH for t in lists)
            mine[3] += sum(episode[0] - COMPARE <= t <= episode[0] for t in calls)
            mine[4] += sum(episode[-1] < t <= episode[-1] + COMPARE for t in calls)
    return found


def _episodes(times: list[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for time in times:
        if found and time - found[-1][-1] <= REFRESH:
            found[-1].append(time)
        else:
            found.append([time])
    return found


def busy_rows(seed: int) -> list[Told]:
    """Three hours of rows, in which every other call has become a notification or a listing."""
    rows = world.random_rows(seed, START, START + 3 * HOUR, 300)
    turned = {0: Kind.NOTIFICATION, 1: Kind.LISTING}
    return [
        replace(row, kind=turned[place % 4], tool=None, outcome=None, fact=None, request_id=None)
        if place % 4 in turned
        else row
        for place, row in enumerate(rows)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_reactions_count_what_the_definitions_count(engine: Engine, seed: int) -> None:
    """Inferred clients, names known by gateways, calls logged twice, a range and an as_of that cut."""
    rows = busy_rows(seed)
    world.store(engine, rows, seed=seed)
    since, until, as_of = START + HOUR // 2, START + 2 * HOUR, START + (8 + seed) * HOUR // 4
    seen = world.read(rows, as_of)

    answer = ask(engine, since=iso(since), until=iso(until), as_of=iso(as_of))

    expected = literally(seen, since, min(until, as_of))
    words = ("notifications", "episodes", "answered", "stale_before", "stale_after")
    assert [
        (row["server"], row["client"], [row[word] for word in words]) for row in answer["items"]
    ] == [
        (server, world.display(seen, key) if key else None, expected[server, key])
        for server, key in sorted(expected)
    ]
    assert sum(row["answered"] for row in answer["items"]) > 0
    assert all(row["answered"] + row["ignored"] == row["episodes"] for row in answer["items"])
    assert answer["unattributed_notifications"] == sum(
        s.row.kind is Kind.NOTIFICATION and s.key is None and s.row.session is None
        for s in seen
        if since <= s.row.time_us < min(until, as_of)
    )


def test_the_order_of_arrival_leaves_no_trace(new_engine: Any) -> None:
    """The same rows in other transactions and another order are the same answer."""
    found = []
    for portions, seed in ((1, 1), (5, 2)):
        engine = new_engine()
        world.store(engine, busy_rows(9), portions, seed)
        found.append(ask(engine, as_of=iso(START + 2 * HOUR)))
    assert found[0] == found[1]


def test_filters_choose_rows_and_change_none(engine: Engine) -> None:
    """By server, by client in any spelling, and by none: what is left is as it was."""
    world.store(engine, busy_rows(4))
    every = ask(engine)["items"]
    keys = {"Claude-Code", "claude-code"}

    assert ask(engine, server="shop")["items"] == [r for r in every if r["server"] == "shop"]
    assert ask(engine, client="CLAUDE-CODE/9")["items"] == [r for r in every if r["client"] in keys]
    assert ask(engine, client="")["items"] == [r for r in every if r["client"] is None]
    unattributed = {ask(engine, client=c)["unattributed_notifications"] for c in (None, "", "zed")}
    assert len(unattributed) == 1


def test_pages_hold_every_row_once(engine: Engine) -> None:
    """Sorted by the most episodes, two a page."""
    world.store(engine, busy_rows(4))
    every = ask(engine, sort="-episodes")["items"]
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(engine, sort="-episodes", limit=2, cursor=cursor)
        found += page["items"]
        cursor = page["next_cursor"]
    assert found == every
    assert len(every) > 4
    numbers = [row["episodes"] for row in every]
    assert numbers == sorted(numbers, reverse=True)


def row(kind: Kind, at: int, client: str | None = "zed", session: str | None = "s") -> Told:
    stale = kind is Kind.STALE_CALL
    return Told(
        time_us=START + at * MINUTE,
        key=at * 10 + int(kind),
        kind=kind,
        server="maps",
        tool="route" if stale else None,
        client=client,
        session=session,
        outcome=Outcome.TOMBSTONE if stale else None,
        fact=Fact(last_release="1.0", replaced_by=None, message=None) if stale else None,
    )


def test_a_notification_belongs_to_its_client_its_session_or_nobody(engine: Engine) -> None:
    """By name; by session alone, whose hello names one; by a session without; by neither."""
    world.store(
        engine,
        [
            row(Kind.HELLO, 0, "zed", "s"),
            row(Kind.NOTIFICATION, 10, None, "s"),
            row(Kind.NOTIFICATION, 11, "zed", None),
            row(Kind.LISTING, 12, "zed", None),
            row(Kind.NOTIFICATION, 13, None, "nameless"),
            row(Kind.NOTIFICATION, 14, None, None),
        ],
    )

    answer = ask(engine)

    assert [
        (r["client"], r["notifications"], r["episodes"], r["answered"]) for r in answer["items"]
    ] == [(None, 1, 1, 0), ("zed", 2, 2, 1)]
    assert answer["unattributed_notifications"] == 1


def test_windows_are_those_of_the_settings(engine: Engine) -> None:
    """A listing after 10 minutes and a call after 30: by default neither answered nor left out."""
    world.store(
        engine,
        [
            row(Kind.STALE_CALL, 0),
            row(Kind.NOTIFICATION, 10),
            row(Kind.LISTING, 20),
            row(Kind.STALE_CALL, 40),
        ],
    )

    outcomes = {
        windows: ask(engine, Moment(NOW, 0, *windows))["items"][0]["outcome"]
        for windows in ((MINUTE, HOUR), (10 * MINUTE, HOUR), (10 * MINUTE, 15 * MINUTE))
    }

    assert list(outcomes.values()) == [
        "ignored_no_effect",
        "answered_no_effect",
        "answered_reduced",
    ]
    assert ask(engine, Moment(NOW))["items"][0]["outcome"] == "ignored_no_effect"


def test_what_lies_around_the_range_is_read_and_what_is_yet_to_come_is_said(engine: Engine) -> None:
    """A range of one minute has its hour before and after, up to as_of; cut by it, it is too early."""
    world.store(
        engine,
        [row(Kind.STALE_CALL, 0), row(Kind.NOTIFICATION, 10), row(Kind.STALE_CALL, 29)],
    )
    span: dict[str, Any] = {"since": iso(START + 10 * MINUTE), "until": iso(START + 11 * MINUTE)}

    (whole,) = ask(engine, **span)["items"]
    (cut,) = ask(engine, **span, as_of=iso(START + 29 * MINUTE))["items"]
    (now,) = ask(engine, Moment(START + 29 * MINUTE, 0, REFRESH, COMPARE), **span)["items"]

    assert (whole["stale_before"], whole["stale_after"]) == (1, 1)
    assert whole["outcome"] == "ignored_no_effect"
    assert (cut["stale_before"], cut["stale_after"], cut["outcome"]) == (1, 0, "too_early")
    assert now["outcome"] == "too_early"
