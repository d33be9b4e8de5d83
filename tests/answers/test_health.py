"""What health says of the lines: shares, kinds side by side, status, and at what price."""

from dataclasses import replace

import sqlalchemy as sa

from service import answers
from service.answers import Collection, HealthRow, Moment, Query
from service.answers.query import iso
from service.events import Kind
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.world import DAY
from tests.told import Told

HOUR = 3_600_000_000
NOON = 20_000 * DAY + 12 * HOUR
NOW = NOON + 8 * HOUR


def row(at: int, key: int, kind: Kind = Kind.STALE_CALL, client: str | None = "zed") -> Told:
    return Told(time_us=at, key=key, kind=kind, server="maps", tool="route", client=client)


def health(engine: Engine, now: int = NOW, as_of: str | None = None) -> Collection[HealthRow]:
    with reading(engine) as connection:
        return answers.health(connection, Query(as_of=as_of), Moment(now))


def test_calls_of_the_morning_before_a_name_was_retired_are_no_stale_calls(engine: Engine) -> None:
    """30 ordinary calls without a client until noon, then 2 stale ones with: no share, no two kinds."""
    morning = [row(NOON - HOUR - i, i, Kind.CALL, None) for i in range(30)]
    world.store(engine, [*morning, row(NOON, 100), row(NOON + 1, 101)])

    answer = health(engine).more

    (share,) = answer["unattributed"]
    assert (share.recent, share.recent_calls) == (0.0, 2)
    assert answer["parallel"] == ()
    assert (answer["warnings"], answer["status"]) == ((), "ok")


def test_ordinary_calls_from_the_instant_on_are(engine: Engine) -> None:
    """Of 4 ordinary calls on that day, the one at noon and the one after it count beside a stale one."""
    calls = [row(NOON + d, 10 + i, Kind.CALL, None) for i, d in enumerate((-HOUR, -1, 0, HOUR))]
    world.store(engine, [row(NOON, 1), *calls])

    answer = health(engine).more

    (share,) = answer["unattributed"]
    assert share.recent_calls == 3
    (parallel,) = answer["parallel"]
    assert (parallel.kinds, parallel.days, parallel.calls) == (("stale_call", "call"), 1, 3)
    assert answer["status"] == "warning"


def test_what_comes_after_the_cut_is_in_no_share(engine: Engine) -> None:
    """As of one o'clock the lines of two o'clock have not come, though their day has."""
    world.store(engine, [row(NOON, 1), row(NOON + 2 * HOUR, 2, Kind.UNKNOWN_CALL, None)])

    answer = health(engine, as_of=iso(NOON + HOUR)).more

    (share,) = answer["unattributed"]
    assert (share.recent, share.recent_calls) == (0.0, 1)
    assert answer["parallel"] == ()


def test_a_source_that_is_silent_now_is_a_warning(engine: Engine) -> None:
    """Two weeks of every hour, then nothing for three days."""
    world.store(engine, [row(NOON - i * HOUR, i) for i in range(14 * 24)], portions=1)

    assert health(engine, NOON + HOUR).more["status"] == "ok"
    later = health(engine, NOW + 3 * DAY).more
    assert later["status"] == "warning"
    assert "silent_source" in {warned.kind for warned in later["warnings"]}


def test_health_asks_the_database_little_however_many_names_there_are(engine: Engine) -> None:
    """251 retired names, some by lines of two kinds and with calls on their last day: 20 statements."""
    rows = []
    for i in range(251):
        mine = [
            row(NOON - (i % 30) * DAY, i),
            row(NOON - (i % 30) * DAY - HOUR, 1000 + i, Kind.CALL),
        ]
        if i % 3 == 0:
            mine.append(row(NOON - (i % 30) * DAY + HOUR, 2000 + i, Kind.CALL))
        rows += [replace(each, tool=f"name-{i}") for each in mine]
    world.store(engine, rows, portions=1)
    asked: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda _c, _u, text, *_: asked.append(text))

    answer = health(engine).more

    assert len(answer["parallel"]) == 84
    assert all(found.calls == 2 for found in answer["parallel"])
    assert len(asked) <= 24
