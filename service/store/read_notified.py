"""Notifications with what only they say, the sessions they were sent to, and what their clients did later."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from service.clock import QUARTER_US
from service.events import Kind
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_sets import among, table_of
from service.store.read_signals import SIGNAL_INDEX
from service.store.read_spans import Span, any_of
from service.store.read_words import chunks
from service.store.schema import activity, event, event_extra, session

STALE = (Kind.STALE_CALL, Kind.UNKNOWN_CALL)
OTHER = (Kind.CALL, Kind.HELLO)
"""Sessions and ordinary calls: with stale calls, what makes a client active."""
_CELLS = 3
"""So many cells of the roll-up are added up; each holds one event at least."""


@dataclass(frozen=True, slots=True)
class Notified:
    """One entry a notification, in no order. Ids of 0 stand for none; texts are None where it has none."""

    server_id: Column
    session_id: Column
    client_id: Column
    version_id: Column
    time_us: Column
    trigger: tuple[str | None, ...]
    protocol: tuple[str | None, ...]


def notified(connection: Connection, cut: Cut, server_ids: Collection[int], span: Span) -> Notified:
    """The notifications of these servers in a stretch of time."""
    query = (
        sa.select(
            event.c.server_id,
            sa.func.coalesce(event.c.session_id, 0),
            cut.client(),
            sa.func.coalesce(event.c.version_id, 0),
            event.c.time_us,
            event_extra.c.trigger,
            event_extra.c.protocol_version,
        )
        .outerjoin(
            event_extra,
            (event_extra.c.time_us == event.c.time_us) & (event_extra.c.key == event.c.key),
        )
        .where(
            SIGNAL_INDEX,
            event.c.kind == sa.literal_column(str(int(Kind.NOTIFICATION))),
            # not through the index of calls, which begins with the server
            among(connection, event.c.server_id + 0, server_ids),
            any_of([span]),
        )
    )
    rows = connection.execute(query).all()
    server, named, client, version, time = (
        np.array([row[place] for row in rows], dtype=np.int64) for place in range(5)
    )
    trigger, protocol = (tuple(row[place] for row in rows) for place in (5, 6))
    return Notified(server, named, client, version, time, trigger, protocol)


@dataclass(frozen=True, slots=True)
class Opened:
    """A session: its first event, its first greeting that names a client, and its last, before the cut."""

    first_us: int
    hello_us: int | None
    version_id: int
    protocol: str | None
    last_us: int


def opened(connection: Connection, cut: Cut, session_ids: Collection[int]) -> dict[int, Opened]:
    """These sessions, by id."""
    greeted = session.c.hello_us < cut.as_of_us
    rows: list[Any] = []
    for part in chunks(sorted(session_ids)):
        query = sa.select(
            session.c.id,
            sa.case((greeted, session.c.hello_us), else_=None),
            sa.case((greeted, sa.func.coalesce(session.c.hello_version_id, 0)), else_=0),
            session.c.first_us,
            session.c.last_us,
        ).where(session.c.id.in_(part))
        rows += connection.execute(query).all()
    said = _protocols(connection, {row[0]: row[1] for row in rows if row[1] is not None})
    going_on = {row[0]: row[3] for row in rows if row[4] >= cut.as_of_us}
    lasts = _lasts(connection, cut, going_on)
    return {
        id_: Opened(first_us, hello_us, version_id, said.get(id_), lasts.get(id_, last_us))
        for id_, hello_us, version_id, first_us, last_us in rows
    }


def _protocols(connection: Connection, hellos: dict[int, int]) -> dict[int, str]:
    """Session → the protocol version that its hello names."""
    found: dict[int, str] = {}
    for part in chunks(sorted(set(hellos.values()))):
        query = (
            sa.select(event.c.session_id, event.c.time_us, event_extra.c.protocol_version)
            .join(
                event_extra,
                (event_extra.c.time_us == event.c.time_us) & (event_extra.c.key == event.c.key),
            )
            .where(event.c.time_us.in_(part), event_extra.c.time_us.in_(part))
            .where(event.c.kind == int(Kind.HELLO), event_extra.c.protocol_version.is_not(None))
        )
        for id_, time_us, text in connection.execute(query):
            if hellos.get(id_) == time_us:
                # of several at one instant the least, whichever came first
                found[id_] = min(text, found.get(id_, text))
    return found


def _lasts(connection: Connection, cut: Cut, firsts: dict[int, int]) -> dict[int, int]:
    """Session → its last event before the cut, of sessions that go on after it, by when they began."""
    if not firsts:
        return {}
    query = (
        sa.select(event.c.session_id, sa.func.max(event.c.time_us))
        .where(event.c.time_us >= min(firsts.values()), event.c.time_us < cut.as_of_us)
        .where(among(connection, event.c.session_id, firsts))
        .group_by(event.c.session_id)
    )
    return {int(row[0]): int(row[1]) for row in connection.execute(query)}


def connects(
    connection: Connection, cut: Cut, server_ids: Collection[int], client_ids: Collection[int]
) -> tuple[Column, Column, Column]:
    """(server, client, time) of the first greeting of each session of these clients, before the cut."""
    query = sa.select(session.c.server_id, session.c.hello_client_id, session.c.hello_us).where(
        session.c.hello_us < cut.as_of_us,
        among(connection, session.c.server_id + 0, server_ids),
        among(connection, session.c.hello_client_id, client_ids),
    )
    server, client, time = columns(connection, query, 3)
    return server, client, time


def first_seen(
    connection: Connection, cut: Cut, pairs: Collection[tuple[int, int]]
) -> dict[tuple[int, int], int]:
    """(server, client) → the start of the quarter-hour in which the client was first heard there before the cut."""
    if not pairs:
        return {}
    asked = table_of(is_sqlite(connection), list(pairs))
    firsts = [
        sa.select(sa.func.min(activity.c.quarter))
        .where(activity.c.server_id == asked.c.c0, activity.c.client_id == asked.c.c1)
        .where(activity.c.kind == int(kind))
        .scalar_subquery()
        for kind in Kind
    ]
    solid = cut.solid_us // QUARTER_US
    found = {}
    for server, client, *quarters in connection.execute(sa.select(*asked.c, *firsts)):
        known = [quarter for quarter in quarters if quarter is not None and quarter < solid]
        if known:
            found[server, client] = min(known) * QUARTER_US
    return _first_rows(connection, cut, set(pairs) - found.keys(), solid * QUARTER_US) | found


def _first_rows(
    connection: Connection, cut: Cut, pairs: Collection[tuple[int, int]], since_us: int
) -> dict[tuple[int, int], int]:
    """The same from rows, for clients that were not heard before *since_us*."""
    if not pairs:
        return {}
    client: sa.ColumnElement[Any] = cut.client()
    query = (
        sa.select(event.c.server_id, client, sa.func.min(event.c.time_us))
        .where(event.c.time_us >= since_us, event.c.time_us < cut.as_of_us, cut.counted())
        .where(among(connection, event.c.server_id, {server for server, _ in pairs}))
        .group_by(event.c.server_id, sa.text("2"))
    )
    wanted = set(pairs)
    return {
        (server, client): time_us // QUARTER_US * QUARTER_US
        for server, client, time_us in connection.execute(query)
        if (server, client) in wanted
    }


@dataclass(frozen=True, slots=True)
class Later:
    """
    What a client did in quarter-hours: `asked` numbers the question. Stale calls count from the
    quarter-hour `stale_from` on, sessions and other calls from `from_`; both before `until`.
    """

    asked: int
    server_id: int
    client_id: int
    from_: int
    stale_from: int
    until: int


def later(connection: Connection, questions: Sequence[Later]) -> dict[int, int]:
    """
    For each question, how many sessions and calls there were by the roll-up: exact below three, which is
    all that is counted, so that a long range takes no longer than a short one.
    """
    found: dict[int, int] = {}
    # most clients that go on make ordinary calls, and then nothing else need be looked for
    for kinds in ((Kind.CALL,), (*STALE, Kind.HELLO)):
        rest = [q for q in questions if found.get(q.asked, 0) < _CELLS]
        for number, total in _later(connection, rest, kinds):
            found[number] = found.get(number, 0) + total
    return found


def _later(
    connection: Connection, questions: Sequence[Later], kinds: Sequence[Kind]
) -> Iterator[tuple[int, int]]:
    """(question, events) of these kinds, for each."""
    if not questions:
        return
    asked = table_of(
        is_sqlite(connection),
        [(q.asked, q.server_id, q.client_id, q.from_, q.stale_from, q.until) for q in questions],
    )
    counts = []
    for kind in kinds:
        begins = asked.c.c4 if kind in STALE else asked.c.c3
        cells = (
            sa.select(activity.c.events)
            .where(activity.c.server_id == asked.c.c1, activity.c.client_id == asked.c.c2)
            .where(activity.c.kind == int(kind), activity.c.quarter >= begins)
            .where(activity.c.quarter < asked.c.c5)
            .order_by(activity.c.quarter)
            .limit(_CELLS)
            .correlate(asked)
            .subquery()
        )
        total = sa.select(sa.cast(sa.func.coalesce(sa.func.sum(cells.c.events), 0), sa.BigInteger))
        counts.append(total.scalar_subquery())
    for number, *each in connection.execute(sa.select(asked.c.c0, *counts)):
        yield number, sum(each)


@dataclass(frozen=True, slots=True)
class Acts:
    """One entry a session's hello, call or opening of a stream, in no order."""

    server_id: Column
    client_id: Column
    session_id: Column
    kind: Column
    time_us: Column


def acts(
    connection: Connection,
    cut: Cut,
    server_ids: Collection[int],
    kinds: Collection[Kind],
    spans: Sequence[Span],
) -> Acts:
    """The counted rows of these kinds in stretches of time that do not overlap."""
    one = sa.literal(next(iter(server_ids))) if len(server_ids) == 1 else event.c.server_id
    query = sa.select(
        one,
        cut.client(),
        sa.func.coalesce(event.c.session_id, 0),
        event.c.kind,
        event.c.time_us,
    ).where(
        # by time, not through an index that begins with something else
        (event.c.kind + 0).in_(sorted(map(int, kinds))),
        among(connection, event.c.server_id + 0, server_ids),
        cut.counted(),
    )
    if not spans:
        return Acts(*(np.empty(0, dtype=np.int64) for _ in range(5)))
    # One look-up by time a stretch, however many: joined, they would soon be all there is.
    asked = table_of(is_sqlite(connection), spans)
    query = query.join_from(
        asked, event, (event.c.time_us >= asked.c.c0) & (event.c.time_us < asked.c.c1)
    )
    return Acts(*columns(connection, query, 5))
