"""How a client is shown: by the spelling with its latest event."""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from service.clock import QUARTER_US
from service.store.engine import Connection
from service.store.read_activity import KINDS, SILENT
from service.store.read_cut import Cut
from service.store.read_words import Spelling, chunks
from service.store.schema import activity, client, event, server, session

Times = dict[int, int]
"""Client id → an instant, or a quarter-hour."""


def latest_names(
    connection: Connection, cut: Cut, groups: Mapping[str, Sequence[Spelling]]
) -> dict[str, str]:
    """
    The name to show for each group of spellings: that of the spelling with the latest event of any
    kind before the cut; ties, and groups without any event, by the least text.
    """
    shown = {key: min(s.name for s in group) for key, group in groups.items()}
    open_ = {key: group for key, group in groups.items() if len({s.name for s in group}) > 1}
    if not open_:
        return shown
    before = cut.solid_us // QUARTER_US  # from here on the roll-up may know more than the cut does
    ids = {spelling.id for group in open_.values() for spelling in group}
    times = _latest_rows(connection, cut, ids, before * QUARTER_US, cut.as_of_us)
    quiet = {k: g for k, g in open_.items() if not any(s.id in times for s in g)}
    quarters = _last_quarters(connection, cut, list(quiet.values()), before)
    within: dict[int, set[int]] = {}
    for key, group in quiet.items():
        latest = _latest(group, quarters)
        if len({s.name for s in latest}) > 1:  # the quarter-hour does not tell: ask its rows
            within.setdefault(quarters[latest[0].id], set()).update(s.id for s in latest)
        elif latest:
            shown[key] = latest[0].name
    for quarter, members in within.items():
        span = (quarter * QUARTER_US, (quarter + 1) * QUARTER_US)
        times |= _latest_rows(connection, cut, members, *span)
    for key, group in open_.items():
        if latest := _latest(group, times):
            shown[key] = min(s.name for s in latest)
    return shown


def _latest(group: Sequence[Spelling], times: Times) -> list[Spelling]:
    """The spellings of a group that share its latest time; none where no time is known."""
    last = max((times[s.id] for s in group if s.id in times), default=None)
    return [s for s in group if last is not None and times.get(s.id) == last]


def _latest_rows(
    connection: Connection, cut: Cut, ids: Collection[int], since_us: int, until_us: int
) -> Times:
    """When each of these clients had its last event in [since, until)."""
    found: Times = {}
    spoken = cut.client()
    for part in chunks(sorted(ids)) if since_us < until_us else ():
        query = (
            sa.select(spoken.label("client_id"), sa.func.max(event.c.time_us).label("last_us"))
            .where(event.c.time_us >= since_us, event.c.time_us < until_us)
            .where(spoken.in_(part))
            .group_by(sa.text("1"))
        )
        found.update((row.client_id, row.last_us) for row in connection.execute(query))
    return found


def _last_quarters(
    connection: Connection, cut: Cut, groups: Sequence[Sequence[Spelling]], before: int
) -> Times:
    """The last quarter-hour below `before` in which each spelling had an event; absent where none."""
    ids = sorted(spelling.id for group in groups for spelling in group)
    found = _counted_quarters(connection, ids, before)
    for id_, time_us in _silent_times(connection, ids, before * QUARTER_US).items():
        found[id_] = max(found.get(id_, 0), time_us // QUARTER_US)
    # what lies before every group's latest quarter-hour cannot be its latest
    lasts = [max((found.get(s.id, 0) for s in group), default=0) for group in groups]
    span = (min(lasts, default=0) * QUARTER_US, before * QUARTER_US)
    for id_, time_us in _inferred_times(connection, cut, ids, span).items():
        found[id_] = max(found.get(id_, 0), time_us // QUARTER_US)
    return found


def _counted_quarters(connection: Connection, ids: Sequence[int], before: int) -> Times:
    """The last quarter-hour of each client in the roll-up."""
    servers = list(connection.scalars(sa.select(server.c.id))) if ids else []
    found: Times = {}
    lasts = [
        sa.select(sa.func.max(activity.c.quarter))
        .where(activity.c.server_id == sa.bindparam("at"), activity.c.client_id == client.c.id)
        .where(activity.c.kind == kind, activity.c.quarter < before)
        .scalar_subquery()
        for kind in KINDS
    ]
    for part in chunks(ids):
        query = sa.select(client.c.id, *lasts).where(client.c.id.in_(part))
        for server_id in servers:
            for id_, *quarters in connection.execute(query, {"at": server_id}):
                known = [quarter for quarter in quarters if quarter is not None]
                if known:
                    found[id_] = max([*known, found.get(id_, 0)])
    return found


def _silent_times(connection: Connection, ids: Sequence[int], until_us: int) -> Times:
    """The last line of each client that another line stands for: such lines are in no roll-up."""
    last = (
        sa.select(sa.func.max(event.c.time_us))
        .where(SILENT, event.c.client_id == client.c.id, event.c.time_us < until_us)
        .scalar_subquery()
    )
    found: Times = {}
    for part in chunks(ids):
        rows = connection.execute(sa.select(client.c.id, last).where(client.c.id.in_(part)))
        found.update((id_, time_us) for id_, time_us in rows if time_us is not None)
    return found


def _inferred_times(
    connection: Connection, cut: Cut, ids: Sequence[int], span: tuple[int, int]
) -> Times:
    """As `_silent_times`, of the lines that name no client but whose session's hello does."""
    heard = (
        sa.select(event.c.session_id, sa.func.max(event.c.time_us).label("last_us"))
        .where(SILENT, event.c.client_id.is_(None))
        .where(event.c.time_us >= span[0], event.c.time_us < span[1])
        .group_by(event.c.session_id)
        .subquery()
    )
    query = (
        sa.select(session.c.hello_client_id, sa.func.max(heard.c.last_us))
        .join(heard, heard.c.session_id == session.c.id)
        .where(session.c.hello_us < cut.as_of_us)
        .group_by(session.c.hello_client_id)
    )
    found: Times = {}
    for part in chunks(ids) if span[0] < span[1] else ():
        rows = connection.execute(query.where(session.c.hello_client_id.in_(part)))
        found.update((row[0], row[1]) for row in rows)
    return found
