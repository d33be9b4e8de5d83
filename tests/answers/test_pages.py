"""Pages while lines arrive: what was there comes exactly once, or the next page is refused."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.callers import SORTS as CALLERS
from service.answers.clients import SORTS as CLIENTS
from service.answers.names import SORTS as NAMES
from service.answers.paging import Place, write_cursor
from service.answers.query import iso
from service.answers.servers import SORTS as SERVERS
from service.errors import BadParameter, Conflict
from service.events import BatchName, Kind, Portion
from service.store import writer
from service.store.engine import Engine, driver_of, reading, writing
from tests.answers import world
from tests.answers.test_against_definitions import FALL, NOW, ask
from tests.answers.world import DAY
from tests.told import Told

HOUR = 3_600_000_000
SORTS = {"names": NAMES, "callers": CALLERS, "clients": CLIENTS, "servers": SERVERS}
STILL = {"server", "name"}
IDENTITY: dict[str, Callable[[dict[str, Any]], Any]] = {
    "names": lambda row: (row["server"], row["name"]),
    "callers": lambda row: (row["server"], row["name"], (row["client"] or "").casefold()),
    "clients": lambda row: (row["client"] or "").casefold(),
    "servers": lambda row: row["server"],
    "events": lambda row: tuple(
        row[c] for c in ("time", "kind", "server", "name", "session", "version")
    ),
    "series": lambda row: (row["start"], row.get("name"), (row.get("client") or "").casefold()),
    "coverage": lambda row: (row["server"], row["source"], row["since"]),
}


def pages(
    engine: Engine, collection: str, between: Callable[[], None] | None = None, **asked: Any
) -> list[dict[str, Any]]:
    """All rows in pages; *between* happens once, after the first."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        answer = ask(engine, collection, cursor=cursor, **asked)
        found += answer["items"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return found
        if between is not None:
            between()
            between = None


def late(engine: Engine) -> None:
    """Lines of every kind, before and after all that is there; their version is theirs alone."""
    rows = world.random_rows(9, FALL - DAY, FALL + 6 * DAY, 60)
    world.store(engine, [replace(row, version="late") for row in rows], portions=1)


def logs(engine: Engine) -> None:
    world.store(engine, world.random_rows(4, FALL, FALL + 5 * DAY, 120))


@pytest.mark.parametrize("descending", ["", "-"])
@pytest.mark.parametrize(
    ("collection", "sort"), [(c, s) for c, sorts in SORTS.items() for s in sorts]
)
def test_pages_by_a_column_are_whole_or_refused_once_lines_have_come(
    engine: Engine, collection: str, sort: str, descending: str
) -> None:
    """Without writes: the whole order. With them: server and name go on, all other columns are 409."""
    logs(engine)
    asked: dict[str, Any] = {"sort": f"{descending}{sort}"}
    whole = ask(engine, collection, **asked)["items"]
    limit = max(len(whole) // 2, 1)

    assert pages(engine, collection, limit=limit, **asked) == whole
    if len(whole) > limit and sort not in STILL:
        with pytest.raises(Conflict, match=r"begin again without cursor.* limit.* sort by name"):
            pages(engine, collection, lambda: late(engine), limit=limit, **asked)
    else:
        identity = IDENTITY[collection]
        found = Counter(
            map(identity, pages(engine, collection, lambda: late(engine), limit=limit, **asked))
        )
        assert all(found[identity(row)] == 1 for row in whole)


@pytest.mark.parametrize(("collection", "asked"), [
    ("names", {}), ("callers", {}), ("clients", {}), ("servers", {}),
    ("events", {}), ("events", {"sort": "time"}), ("events", {"name": "route"}),
    ("series", {"by": "name"}), ("series", {"by": "client"}), ("coverage", {}),
])  # fmt: skip
def test_pages_in_the_order_of_their_own_never_skip_or_repeat(
    engine: Engine, collection: str, asked: dict[str, str]
) -> None:
    """Whatever is written after the first page, every row that was there comes once."""
    logs(engine)
    before = ask(engine, collection, limit=1000, **asked)["items"]
    identity = IDENTITY[collection]
    expected = Counter(map(identity, before))

    limit = max(len(before) // 3, 1)
    rows = pages(engine, collection, lambda: late(engine), limit=limit, **asked)

    found = Counter(map(identity, rows))
    assert {each: found[each] for each in expected} == expected


def test_the_first_n_of_a_series_are_refused_once_they_may_be_others(engine: Engine) -> None:
    """With top, a page after a write could leave out a group that has moved into it."""
    logs(engine)
    with pytest.raises(Conflict):
        pages(engine, "series", lambda: late(engine), by="client", top=1, limit=2)


def test_a_client_that_is_inferred_later_does_not_move_its_event(engine: Engine) -> None:
    """Two events of one instant; a late hello names the client of the first: the second follows."""
    row = Told(time_us=FALL, key=1, kind=Kind.STALE_CALL, server="maps", tool="route", session="s")
    world.store(engine, [row, replace(row, key=2, client="m", session="t")], portions=1)
    hello = Told(time_us=FALL - 1, key=3, kind=Kind.HELLO, server="maps", session="s", client="zed")

    found = pages(
        engine, "events", lambda: world.store(engine, [hello], 1), since=iso(FALL), limit=1
    )

    assert [row["session"] for row in found] == ["s", "t"]


def test_a_silence_that_goes_on_is_one_gap(engine: Engine) -> None:
    """The end of an open gap moves with the clock; the next page does not show it again."""
    start = FALL // HOUR
    heard = {"files": [*range(24 * 14)], "http": [*range(24 * 16), 24 * 20]}
    with writing(engine) as connection:
        for source, hours in heard.items():
            portion = Portion(
                server="maps",
                source=source,
                batch=BatchName(kind="ingest", label=source),
                arrived_us=0,
                rows=[],
                hours={start + hour: 1 for hour in hours},
            )
            writer.add(driver_of(connection), portion, quarantine_days=14)
    query = Query(since=iso(FALL), until=iso(FALL + 60 * DAY), limit=1)
    with reading(engine) as connection:
        first = answers.coverage(connection, query, Moment(FALL + 30 * DAY))
        following = replace(query, limit=5, cursor=first.next_cursor)
        second = answers.coverage(connection, following, Moment(FALL + 31 * DAY))

    assert [gap.source for gap in first.items] == ["files"]
    assert [gap.source for gap in second.items] == ["http", "http"]


def test_an_empty_cursor_is_none(engine: Engine) -> None:
    """As in a form whose field was left empty; for a series it asks for no pages either."""
    logs(engine)
    for collection in (*IDENTITY, "health", "rejects", "releases"):
        assert ask(engine, collection, cursor="") == ask(engine, collection), collection


def test_a_cursor_without_the_version_that_its_order_needs_is_damaged(engine: Engine) -> None:
    """A cursor that was put together by hand is refused as what it is."""
    logs(engine)
    query = Query(sort="-stale_calls")
    forged = write_cursor("names", query, Place(NOW, None, None, (3, "maps", "map")))
    with pytest.raises(BadParameter, match="damaged"):
        ask(engine, "names", sort="-stale_calls", cursor=forged)
