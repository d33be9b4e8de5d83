"""Filters that take any of some values and none of others, on random logs, by the definitions."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service import answers
from service.answers import Moment, Query
from service.answers.query import EVERY, Filter, iso, only
from service.answers.scope import scope_of
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.world import DAY, Seen

NOW = 1_800_000_000_000_000
START = int(datetime.fromisoformat("2026-10-30T00:00:00+00:00").timestamp()) * 1_000_000
SINCE, UNTIL = START + DAY // 3, START + 7 * DAY + DAY // 5
ROWS = world.random_rows(11, START, START + 9 * DAY, 400)
SEEN = [s for s in world.read(ROWS, 2**62) if SINCE <= s.row.time_us < UNTIL]
KEYS = {
    "": "",
    "CLAUDE-code/9": "claude-code",
    "claude-code (via x)": "claude-code",
    "zed": "zed",
    "Anthropic/ClaudeAI": "anthropic/claudeai",
    "unknown": "unknown",
    "nobody ever": "nobody ever",
}
"""What is asked for, and the key of the client that it stands for."""


def filters_of(*values: str) -> st.SearchStrategy[Filter]:
    """Any filter of these values, those that contradict themselves among them."""
    side = st.lists(st.sampled_from(values), max_size=3).map(tuple)
    return st.builds(Filter, side, side)


QUESTIONS = st.builds(
    Query,
    server=filters_of("maps", "shop", "never"),
    name=filters_of("route", "map", "geo", "never"),
    client=filters_of(*KEYS),
    since=st.just(iso(SINCE)),
    until=st.just(iso(UNTIL)),
    limit=st.just(1_000),
)


@pytest.fixture
def stored(engine: Engine) -> Engine:
    """The log in a database."""
    world.store(engine, ROWS)
    return engine


def ask(engine: Engine, collection: str, query: Query, **more: Any) -> list[Any]:
    """The rows of an answer."""
    with reading(engine) as connection:
        answer = getattr(answers, collection)(connection, replace(query, **more), Moment(NOW))
    return list(answer.items)


def takes(asked: Filter, value: str | None) -> bool:
    """Whether a value passes, by the words: it is any of some, and it is none of others."""
    if asked.any_of and value not in asked.any_of:
        return False
    return value not in asked.none_of


def met(query: Query, seen: Seen) -> bool:
    """Whether an event is of a server and client that pass."""
    keys = Filter(
        *(tuple(KEYS[v] for v in side) for side in (query.client.any_of, query.client.none_of))
    )
    return takes(query.server, seen.row.server) and takes(keys, seen.key or "")


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(query=QUESTIONS)
def test_every_collection_holds_what_passes_the_filters(stored: Engine, query: Query) -> None:
    """Whatever they are: names, callers, clients, series and events, one by one."""
    near = [s for s in SEEN if met(query, s)]
    stale = [s for s in near if s.stale and takes(query.name, s.name)]
    per_name = Counter((s.row.server, s.name) for s in stale)
    per_caller = Counter((s.row.server, s.name, s.key) for s in stale)

    names = ask(stored, "names", query)
    assert {(r.server, r.name): r.stale_calls for r in names if r.stale_calls} == per_name
    assert all(takes(query.server, r.server) and takes(query.name, r.name) for r in names)
    if query.client.is_set:
        assert len(names) == len(per_name), "without those that nobody who passes called"

    shown = {key: world.display(SEEN_EVER, key) for key in {s.key for s in near} if key}
    assert {(r.server, r.name, r.client): r.stale_calls for r in ask(stored, "callers", query)} == {
        (s, n, shown.get(k or "")): calls for (s, n, k), calls in per_caller.items()
    }

    there = stale if query.name.is_set else near
    assert {r.client: r.stale_calls for r in ask(stored, "clients", query)} == {
        shown.get(key or ""): sum(s.key == key for s in stale) for key in {s.key for s in there}
    }
    for by in ("none", "client", "name"):
        rows = ask(stored, "series", query, by=by, limit=None)
        assert sum(r.value for r in rows) == len(stale), by

    events = Counter(
        (r.time, r.kind, r.server, r.name, r.client)
        for r in ask(stored, "events", query)
        if r.counted
    )
    assert events == Counter(
        (
            s.row.time_us,
            s.row.kind.word,
            s.row.server,
            s.row.tool,
            s.client and world.CLIENTS[s.client][1],
        )
        for s in near
        if s.counted and (takes(query.name, s.name) if s.name or query.name.any_of else True)
    )


SEEN_EVER = world.read(ROWS, 2**62)
SUMS = {
    "names": ("stale_calls", "unattributed_calls"),
    "callers": ("stale_calls", "inferred_calls"),
    "clients": ("stale_calls", "inferred_calls"),
    "cures": ("stale_calls", "open_calls"),
    "uptake": ("stale_calls", "too_early", "cannot_tell"),
    "compare": ("stale_calls", "stale_calls_before"),
    "overview": ("stale_calls",),
    "stopped": ("stale_calls",),
    "last_releases": ("stale_calls",),
    "listed": ("calls", "unattributed_calls"),
    "vintage": ("stale_calls",),
    "reactions": ("notifications", "episodes", "answered", "ignored"),
    "series": ("value",),
}
"""Numbers of each collection that add up over clients."""


SIDES = {
    "client": (("claude-code",), ("", "zed")),
    "name": (("route",), ("map", "never")),
    "server": (("shop",),),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", SIDES)
def test_what_is_and_what_is_not_add_up_to_the_whole(stored: Engine, by: str) -> None:
    """Of every number that adds up, for one value and for two of them together."""
    query = Query(since=iso(SINCE), until=iso(UNTIL), limit=1_000)
    for collection, members in SUMS.items():
        if by == "name" and collection in ("reactions", "vintage"):
            continue  # they are of no name
        form = replace(query, limit=None) if collection == "series" else query

        def totals(
            asked: Filter, form: Query = form, collection: str = collection, members: Any = members
        ) -> list[int]:
            more: dict[str, Any] = {by: asked}
            rows = ask(stored, collection, form, **more)
            return [sum(getattr(row, each) for row in rows) for each in members]

        every = totals(EVERY)
        assert every[0], f"{collection} has something to add up"
        for side in SIDES[by]:
            some, others = totals(Filter(side)), totals(Filter((), side))
            assert [a + b for a, b in zip(some, others, strict=True)] == every, collection


def test_events_add_up_too_page_by_page(stored: Engine) -> None:
    """What names no name is not of a name, and pages of a negation neither skip nor repeat."""
    query = Query(since=iso(SINCE), until=iso(UNTIL))
    for by, value in (
        ("client", "claude-code"),
        ("client", ""),
        ("name", "route"),
        ("server", "shop"),
    ):
        found = []
        for asked in (only(value), Filter((), (value,))):
            more: dict[str, Any] = {by: asked, "limit": 9}
            cursor: str | None = ""
            while cursor is not None:
                with reading(stored) as connection:
                    page = answers.events(
                        connection, replace(query, **more, cursor=cursor), Moment(NOW)
                    )
                found += [
                    (r.time, r.kind, r.server, r.name, r.client) for r in page.items if r.counted
                ]
                cursor = page.next_cursor
        assert Counter(found) == Counter(
            (
                s.row.time_us,
                s.row.kind.word,
                s.row.server,
                s.row.tool,
                s.client and world.CLIENTS[s.client][1],
            )
            for s in SEEN
            if s.counted
        ), by


def test_coverage_is_of_the_servers_that_met_a_client_which_passes(engine: Engine) -> None:
    """Silence of a server where nobody passes proves nothing of those who do."""
    where = {"maps": "zed", "shop": "unknown"}
    world.store(engine, [replace(row, client=where[row.server], session=None) for row in ROWS])
    with reading(engine) as connection:

        def about(**asked: Filter) -> frozenset[str]:
            return scope_of(connection, Query.of(**asked), Moment(NOW), "callers").about

        assert about() == about(client=Filter((), ("",))) == {"maps", "shop"}
        assert about(client=Filter((), ("zed",))) == about(client=only("unknown")) == {"shop"}
        assert about(client=Filter(("zed", "unknown"), ("unknown",))) == {"maps"}
        assert about(server=Filter((), ("shop",))) == {"maps"}


def test_equal_filters_are_one_question() -> None:
    """In whichever order their values stand, and however often; a cursor of one fits the other."""
    assert Filter(("b", "a", "b"), ("d", "c")) == Filter(("a", "b"), ("c", "d", "d"))
    assert hash(Query(client=Filter(("b", "a")))) == hash(Query(client=Filter(("a", "b"))))
    assert Filter((), ()) == EVERY
    assert not EVERY.is_set
    assert Filter(("a",), ("b",)).one is None
