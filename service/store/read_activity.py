"""Who was there: first events, active clients, their sessions, and how they last spelled their name."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Connection
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_words import Spelling, chunks
from service.store.schema import activity, client, event, server, session

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
    first_us: int | None = connection.scalar(
        sa.select(event.c.time_us)
        .where(event.c.time_us >= start_us - _HOUR_US, event.c.time_us < as_of_us)
        .where(event.c.server_id == server_id)
        .order_by(event.c.time_us)
        .limit(1)
    )
    return first_us


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
        last: int | None = connection.scalar(
            sa.select(sa.func.max(event.c.time_us))
            .where(event.c.time_us >= bound * QUARTER_US, event.c.time_us < as_of_us)
            .where(event.c.server_id == server_id)
        )
        if last is not None:
            return last


def active_clients(
    connection: Connection, cut: Cut, server_id: int, since_us: int, until_us: int
) -> set[int]:
    """Ids of the clients with a counted event of the server in [since, until); 0 for none named."""
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
    for start, end in (
        (since_us, min(first * QUARTER_US, until_us)),
        (last * QUARTER_US, until_us),
    ):
        if max(start, since_us) < end:
            query = (
                sa.select(cut.client())
                .where(event.c.time_us >= max(start, since_us), event.c.time_us < end)
                .where(event.c.server_id == server_id, cut.counted())
                .distinct()
            )
            found.update(connection.scalars(query))
    return found


def last_quarters(
    connection: Connection, client_ids: Collection[int], before: int
) -> dict[int, int]:
    """The last quarter-hour below `before` in which each client had an event; absent where none."""
    servers = list(connection.scalars(sa.select(server.c.id)))
    found: dict[int, int] = {}
    lasts = [
        sa.select(sa.func.max(activity.c.quarter))
        .where(activity.c.server_id == sa.bindparam("at"), activity.c.client_id == client.c.id)
        .where(activity.c.kind == kind, activity.c.quarter < before)
        .scalar_subquery()
        for kind in _KINDS
    ]
    for part in chunks(sorted(client_ids)):
        query = sa.select(client.c.id, *lasts).where(client.c.id.in_(part))
        for server_id in servers:
            for id_, *quarters in connection.execute(query, {"at": server_id}):
                known = [quarter for quarter in quarters if quarter is not None]
                if known:
                    found[id_] = max([*known, found.get(id_, 0)])
    return found


def latest_names(
    connection: Connection, cut: Cut, groups: Mapping[str, Sequence[Spelling]]
) -> dict[str, str]:
    """
    The name to show for each group of spellings: that of the spelling with the latest event before
    the cut; ties, and groups without any event, by the least text.
    """
    shown = {key: min(s.name for s in group) for key, group in groups.items()}
    open_ = {key: group for key, group in groups.items() if len({s.name for s in group}) > 1}
    names = {spelling.id: spelling.name for group in open_.values() for spelling in group}
    if not names:
        return shown
    before = cut.solid_us // QUARTER_US  # from here on the roll-up may know more than the cut does
    rows = _latest_rows(connection, cut, names, before * QUARTER_US, cut.as_of_us)
    quarters = last_quarters(connection, names, before)
    for key, group in open_.items():
        found = [rows[spelling.id] for spelling in group if spelling.id in rows]
        last = max(quarters.get(spelling.id, -1) for spelling in group)
        if not found and last >= 0:
            latest = {s.id: s.name for s in group if quarters.get(s.id, -1) == last}
            if len(set(latest.values())) == 1:
                shown[key] = next(iter(latest.values()))
                continue
            span = (last * QUARTER_US, (last + 1) * QUARTER_US)
            found = list(_latest_rows(connection, cut, latest, *span).values())
        if found:
            at = max(time_us for time_us, _ in found)
            shown[key] = min(name for time_us, name in found if time_us == at)
    return shown


def _latest_rows(
    connection: Connection, cut: Cut, names: Mapping[int, str], since_us: int, until_us: int
) -> dict[int, tuple[int, str]]:
    """The last counted event of each of these clients in [since, until): its time, and the name."""
    found: dict[int, tuple[int, str]] = {}
    spoken = cut.client()
    for part in chunks(sorted(names)) if since_us < until_us else ():
        query = (
            sa.select(spoken.label("client_id"), sa.func.max(event.c.time_us).label("last_us"))
            .where(event.c.time_us >= since_us, event.c.time_us < until_us)
            .where(spoken.in_(part), cut.counted())
            .group_by(sa.text("1"))
        )
        found.update(
            (r.client_id, (r.last_us, names[r.client_id])) for r in connection.execute(query)
        )
    return found


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
    spoken = sa.case(
        (hello, session.c.hello_client_id), (named, session.c.named_client_id), else_=None
    )
    version = sa.case((hello, session.c.hello_version_id), else_=None)
    query = (
        sa.select(
            sa.func.coalesce(spoken, 0).label("client_id"),
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
