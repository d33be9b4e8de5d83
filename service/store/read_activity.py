"""Who was there: first events, active clients, their sessions, and how they last spelled their name."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Connection
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_words import Spelling, chunks
from service.store.schema import activity, event, session

QUARTER_US = 900 * 1_000_000
_HOUR_US = 4 * QUARTER_US
_KINDS = [int(kind) for kind in Kind]


def first_event(connection: Connection, as_of_us: int, server_id: int | None = None) -> int | None:
    """The time of the first event of any kind before `as_of_us`; None where there is none."""
    if server_id is None:
        first = connection.scalar(sa.select(sa.func.min(event.c.time_us)))
        return first if first is not None and first < as_of_us else None
    steps = walk(activity.c.client_id, activity.c.server_id == server_id)
    kinds = [
        sa.select(sa.func.min(activity.c.quarter))
        .where(activity.c.server_id == server_id, activity.c.client_id == steps.c.id)
        .where(activity.c.kind == kind)
        .scalar_subquery()
        for kind in _KINDS
    ]
    quarters = connection.execute(sa.select(*kinds).where(steps.c.id.is_not(None)))
    known = [quarter for row in quarters for quarter in row if quarter is not None]
    if not known:
        return None
    # A line that another one stands for is not in the roll-up and may come a little before it.
    start_us = min(known) * QUARTER_US
    return connection.scalar(
        sa.select(event.c.time_us)
        .where(event.c.time_us >= start_us - _HOUR_US, event.c.time_us < as_of_us)
        .where(event.c.server_id == server_id)
        .order_by(event.c.time_us)
        .limit(1)
    )


def last_event(connection: Connection, as_of_us: int, server_id: int) -> int | None:
    """The time of the last event of any kind before `as_of_us`; None where there is none."""
    steps = walk(activity.c.client_id, activity.c.server_id == server_id)
    bound = -(-as_of_us // QUARTER_US)
    while True:
        kinds = [
            sa.select(sa.func.max(activity.c.quarter))
            .where(activity.c.server_id == server_id, activity.c.client_id == steps.c.id)
            .where(activity.c.kind == kind, activity.c.quarter < bound)
            .scalar_subquery()
            for kind in _KINDS
        ]
        quarters = connection.execute(sa.select(*kinds).where(steps.c.id.is_not(None)))
        known = [quarter for row in quarters for quarter in row if quarter is not None]
        if not known:
            return None
        bound = max(known)
        last = connection.scalar(
            sa.select(sa.func.max(event.c.time_us))
            .where(event.c.time_us >= bound * QUARTER_US, event.c.time_us < as_of_us)
            .where(event.c.server_id == server_id)
        )
        if last is not None:
            return last


def active_clients(
    connection: Connection, cut: Cut, server_id: int, since_us: int, until_us: int
) -> set[int]:
    """Ids of the clients with any event of the server in [since, until); 0 for events of none."""
    first = -(-since_us // QUARTER_US)
    last = max(min(until_us, cut.solid_us) // QUARTER_US, first)
    steps = walk(activity.c.client_id, activity.c.server_id == server_id)
    seen = sa.exists().where(
        activity.c.server_id == server_id,
        activity.c.client_id == steps.c.id,
        activity.c.kind.in_(_KINDS),
        activity.c.quarter >= first,
        activity.c.quarter < last,
    )
    found = set(connection.scalars(sa.select(steps.c.id).where(steps.c.id.is_not(None), seen)))
    for start, end in ((since_us, min(first * QUARTER_US, until_us)), (last * QUARTER_US, until_us)):
        if max(start, since_us) < end:
            query = (
                sa.select(cut.client())
                .where(event.c.time_us >= max(start, since_us), event.c.time_us < end)
                .where(event.c.server_id == server_id)
                .distinct()
            )
            found.update(connection.scalars(query))
    return found


def latest_spelling(connection: Connection, cut: Cut, candidates: Sequence[Spelling]) -> str:
    """The name of the spelling with the latest event before the cut; ties by the least text."""
    names = {spelling.id: spelling.name for spelling in candidates}
    bound = -(-cut.as_of_us // QUARTER_US)
    pairs = connection.execute(
        sa.select(activity.c.server_id, activity.c.client_id, activity.c.kind)
        .where(activity.c.client_id.in_(sorted(names)))
        .distinct()
    ).all()
    while pairs:
        last = max(
            (_last_quarter(connection, tuple(pair), bound) for pair in pairs), default=-1
        )
        if last < 0:
            break
        query = (
            sa.select(event.c.time_us, cut.client().label("client_id"))
            .where(event.c.time_us >= last * QUARTER_US)
            .where(event.c.time_us < min((last + 1) * QUARTER_US, cut.as_of_us))
            .where(cut.client().in_(sorted(names)))
        )
        rows = connection.execute(query).all()
        if rows:
            latest = max(row.time_us for row in rows)
            return min(names[row.client_id] for row in rows if row.time_us == latest)
        bound = last
    return min(names.values())


def _last_quarter(connection: Connection, pair: tuple[int, int, int], bound: int) -> int:
    """The last quarter-hour before `bound` with an event of (server, client, kind); -1 for none."""
    server_id, client_id, kind = pair
    found = connection.scalar(
        sa.select(sa.func.max(activity.c.quarter)).where(
            activity.c.server_id == server_id,
            activity.c.client_id == client_id,
            activity.c.kind == kind,
            activity.c.quarter < bound,
        )
    )
    return -1 if found is None else found


@dataclass(frozen=True, slots=True)
class Opened:
    """Sessions of one client and version: how many, and when the last of them began."""

    client_id: int
    version_id: int
    sessions: int
    last_us: int


def sessions(
    connection: Connection, cut: Cut, server_ids: Collection[int], since_us: int, until_us: int
) -> list[Opened]:
    """
    Sessions that overlap [since, until), by client (its hello's, else the first one named; 0 for
    none) and the version of its hello (0 for none).
    """
    hello = session.c.hello_us < cut.as_of_us
    named = session.c.named_us < cut.as_of_us
    client = sa.case(
        (hello, session.c.hello_client_id), (named, session.c.named_client_id), else_=None
    )
    version = sa.case((hello, session.c.hello_version_id), else_=None)
    query = (
        sa.select(
            sa.func.coalesce(client, 0).label("client_id"),
            sa.func.coalesce(version, 0).label("version_id"),
            sa.func.count().label("sessions"),
            sa.func.max(session.c.first_us).label("last_us"),
        )
        .where(session.c.server_id.in_(sorted(server_ids)))
        .where(session.c.first_us < until_us, session.c.last_us >= since_us)
        .where(session.c.id.not_in(_gone_quiet(connection, cut, since_us)))
        .group_by(sa.text("1"), sa.text("2"))
    )
    return [Opened(*row) for row in connection.execute(query)]


def _gone_quiet(connection: Connection, cut: Cut, since_us: int) -> list[int]:
    """Sessions from before `since` that are only known to go on by lines that come after the cut."""
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
