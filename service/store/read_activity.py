"""Who was there: first and last events, active clients, and their sessions."""

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from service.clock import QUARTER_US
from service.events import Kind
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_sets import Ids, among
from service.store.read_words import chunks
from service.store.schema import activity, event, session

KINDS = [int(kind) for kind in Kind]
NEAR = 1_000
"""Events that are looked through before the roll-up is asked where others are."""
SILENT = event.c.counted == sa.literal_column("0")
"""Names the partial index `ix_event_silent` in its own words: the roll-up leaves these rows out."""


def first_event(connection: Connection, as_of_us: int, server_id: int | None = None) -> int | None:
    """The time of the first event of any kind before `as_of_us`; None where there is none."""
    if server_id is None:
        first = connection.scalar(sa.select(sa.func.min(event.c.time_us)))
        return first if first is not None and first < as_of_us else None
    if (near := _near(connection, server_id, as_of_us, last=False)) is not None:
        return near
    # A line that another one stands for is not in the roll-up, but it always has a session.
    begun = (
        sa.select(session.c.first_us)
        # through the index that begins with the time: the other has all sessions of the server
        .where(session.c.server_id + 0 == server_id, session.c.first_us < as_of_us)
        .order_by(session.c.first_us)
        .limit(1)
    )
    if (quarter := _quarter(connection, server_id, last=False)) is not None:
        start_us = quarter * QUARTER_US
        counted = connection.scalar(
            sa.select(event.c.time_us)
            .where(event.c.time_us >= start_us, event.c.time_us < as_of_us)
            .where(event.c.server_id == server_id)
            .order_by(event.c.time_us)
            .limit(1)
        )
        earlier = connection.scalar(begun.where(session.c.first_us < start_us))
        return counted if earlier is None else earlier
    return connection.scalar(begun)


def last_event(connection: Connection, as_of_us: int, server_id: int) -> int | None:
    """The time of the last event of any kind before `as_of_us`; None where there is none."""
    if (near := _near(connection, server_id, as_of_us, last=True)) is not None:
        return near
    mine = (
        sa.select(event.c.time_us)
        .where(event.c.server_id == server_id, event.c.time_us < as_of_us)
        .order_by(event.c.time_us.desc())
        .limit(1)
    )
    before = -(-as_of_us // QUARTER_US)
    while (quarter := _quarter(connection, server_id, last=True, before=before)) is not None:
        before = quarter
        last: int | None = connection.scalar(mine.where(event.c.time_us >= quarter * QUARTER_US))
        if last is not None:
            return last
    # What is left are lines for which only others after `as_of_us` stand.
    first = first_event(connection, as_of_us, server_id)
    return None if first is None else connection.scalar(mine.where(event.c.time_us >= first))


def _near(connection: Connection, server_id: int, as_of_us: int, *, last: bool) -> int | None:
    """The server's first or last event, if it is among the first or last few of all servers'."""
    order = event.c.time_us.desc() if last else event.c.time_us
    some = (
        sa.select(event.c.time_us, event.c.server_id)
        .where(event.c.time_us < as_of_us)
        .order_by(order)
        .limit(NEAR)
        .subquery()
    )
    end = sa.func.max if last else sa.func.min
    found: int | None = connection.scalar(
        sa.select(end(some.c.time_us)).where(some.c.server_id == server_id)
    )
    return found


def _quarter(
    connection: Connection, server_id: int, *, last: bool, before: int | None = None
) -> int | None:
    """The first or last quarter-hour (below *before*) with a counted event of the server."""
    steps = walk(activity.c.client_id, activity.c.server_id == server_id)
    end = sa.func.max if last else sa.func.min
    below = sa.true() if before is None else activity.c.quarter < before
    kinds = [
        sa.select(end(activity.c.quarter))
        .where(activity.c.server_id == server_id, activity.c.client_id == steps.c.id)
        .where(activity.c.kind == kind, below)
        .scalar_subquery()
        for kind in KINDS
    ]
    rows = connection.execute(sa.select(*kinds).where(steps.c.id.is_not(None)))
    known = [quarter for row in rows for quarter in row if quarter is not None]
    return (max if last else min)(known, default=None)


def active_clients(
    connection: Connection, cut: Cut, server_id: int, since_us: int, until_us: int
) -> set[int]:
    """Ids of the clients with any event of the server in [since, until); 0 for none named."""
    first = -(-since_us // QUARTER_US)
    last = max(min(until_us, cut.solid_us) // QUARTER_US, first)
    steps = walk(activity.c.client_id, activity.c.server_id == server_id)
    seen = sa.exists().where(
        activity.c.server_id == server_id,
        activity.c.client_id == steps.c.id,
        activity.c.kind.in_(KINDS),
        activity.c.quarter >= first,
        activity.c.quarter < last,
    )
    found = set(connection.scalars(sa.select(steps.c.id).where(steps.c.id.is_not(None), seen)))
    whole = (first * QUARTER_US, last * QUARTER_US)
    for start, end in ((since_us, min(whole[0], until_us)), (whole[1], until_us)):
        if max(start, since_us) < end:
            query = (
                sa.select(cut.client())
                .where(event.c.time_us >= max(start, since_us), event.c.time_us < end)
                .where(event.c.server_id == server_id)
                .distinct()
            )
            found.update(connection.scalars(query))
    return found | _silent_clients(connection, cut, server_id, *whole)


def counts(
    connection: Connection,
    cut: Cut,
    server_id: int,
    kinds: Collection[Kind],
    since_us: int,
    until_us: int,
    client_ids: Ids | None = None,
) -> dict[Kind, dict[int, int]]:
    """
    How many counted events of each of these kinds each client (of these, None for all) has at the server in
    [since, until); of client 0 are those that name none.
    """
    first = -(-since_us // QUARTER_US)
    last = max(min(until_us, cut.solid_us) // QUARTER_US, first)
    wanted = sorted(int(kind) for kind in kinds)
    found: dict[Kind, dict[int, int]] = {kind: {} for kind in kinds}
    # Each kind by itself, and all of the server's clients: in the order of the key, without sorting.
    # A sum of big integers is a decimal on PostgreSQL.
    whole = (
        sa.select(
            activity.c.kind,
            activity.c.client_id,
            sa.cast(sa.func.sum(activity.c.events), sa.BigInteger),
        )
        .where(activity.c.server_id == server_id, activity.c.kind.in_(wanted))
        .where(activity.c.quarter >= first, activity.c.quarter < last)
        .group_by(activity.c.client_id, activity.c.kind)
    )
    if client_ids is not None:
        whole = whole.where(among(connection, activity.c.client_id, client_ids))
    edges = []
    for start, end in ((since_us, first * QUARTER_US), (last * QUARTER_US, until_us)):
        low, high = max(start, since_us), min(end, until_us)
        if low < high:
            rows = sa.select(event.c.kind, cut.client().label("client_id"), sa.func.count())
            rows = rows.where(event.c.time_us >= low, event.c.time_us < high)
            rows = rows.where(event.c.server_id == server_id, event.c.kind.in_(wanted))
            if client_ids is not None:
                rows = rows.where(among(connection, cut.client(), client_ids))
            edges.append(rows.where(cut.counted()).group_by(sa.text("1"), sa.text("2")))
    for query in (whole, *edges):
        for kind, client_id, events in connection.execute(query):
            mine = found[Kind(kind)]
            mine[client_id] = mine.get(client_id, 0) + int(events)
    return found


def _silent_clients(
    connection: Connection, cut: Cut, server_id: int, since_us: int, until_us: int
) -> set[int]:
    """Ids of the clients of the rows that the roll-up leaves out, 0 for none named."""
    if since_us >= until_us:
        return set()
    mine = SILENT & sa.and_(
        event.c.server_id == server_id, event.c.time_us >= since_us, event.c.time_us < until_us
    )
    steps = walk(event.c.client_id, SILENT)
    seen = sa.exists().where(mine, event.c.client_id == steps.c.id)
    named = connection.scalars(sa.select(steps.c.id).where(steps.c.id.is_not(None), seen))
    unnamed = sa.select(event.c.session_id).where(mine, event.c.client_id.is_(None))
    hello = sa.case((session.c.hello_us < cut.as_of_us, session.c.hello_client_id), else_=None)
    inferred = connection.scalars(
        sa.select(sa.func.coalesce(hello, 0)).where(session.c.id.in_(unnamed)).distinct()
    )
    return {*named, *inferred}


@dataclass(frozen=True, slots=True)
class Opened:
    """
    Sessions by client and version of their hello, in one entry or several: how many there are, and when
    the last of them began.
    """

    client_id: Column
    version_id: Column
    sessions: Column
    last_us: Column


def sessions(
    connection: Connection, cut: Cut, server_ids: Collection[int], since_us: int, until_us: int
) -> Opened:
    """
    Sessions that overlap [since, until), with the client of their hello, else the first one named (0 for
    none), and the version of their hello (0 for none).
    """
    hello = session.c.hello_us < cut.as_of_us
    named = session.c.named_us < cut.as_of_us
    spoken = sa.case(
        (hello, session.c.hello_client_id), (named, session.c.named_client_id), else_=None
    )
    version = sa.case((hello, session.c.hello_version_id), else_=None)
    client, said = sa.func.coalesce(spoken, 0), sa.func.coalesce(version, 0)
    first, server = session.c.first_us + 0, session.c.server_id + 0
    if is_sqlite(connection):
        # It sorts in order to group, which takes longer than to hand over each session; and it is to go
        # from end to end: by way of an index, each would be looked up in an order of its own.
        query = sa.select(client, said, sa.literal_column("1"), session.c.first_us)
    else:  # which plans well by what it knows of the columns themselves
        first, server = session.c.first_us, session.c.server_id
        query = sa.select(client, said, sa.func.count(), sa.func.max(first))
        query = query.group_by(sa.text("1"), sa.text("2"))
    query = query.where(
        session.c.last_us >= since_us,  # which the fewest pass
        first < until_us,
        among(connection, server, server_ids),
    )
    if quiet := _gone_quiet(connection, cut, since_us):
        query = query.where(sa.not_(among(connection, session.c.id, quiet)))
    return Opened(*columns(connection, query, 4))


def _gone_quiet(connection: Connection, cut: Cut, since_us: int) -> list[int]:
    """Sessions from before `since` that are only known to go on by lines that come after the cut."""
    if cut.is_latest:
        return []
    open_ = connection.scalars(
        sa.select(session.c.id).where(
            session.c.first_us < since_us, session.c.last_us >= cut.as_of_us
        )
    ).all()
    heard: set[int] = set()
    for part in chunks(open_):
        query = (
            sa.select(event.c.session_id)
            .where(event.c.time_us >= since_us, event.c.time_us < cut.as_of_us)
            .where(event.c.session_id.in_(part))
            .distinct()
        )
        heard.update(id_ for id_ in connection.scalars(query) if id_ is not None)
    return sorted(set(open_) - heard)
