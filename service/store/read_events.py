"""Events, newest or oldest first: whole instants at a time, so that a page can end inside one."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from service.clock import DAY_US, QUARTER_US
from service.events import TOOL_KINDS, Kind
from service.store.engine import Connection
from service.store.read_cut import Cut
from service.store.read_names import STALE_INDEX
from service.store.read_sets import among
from service.store.read_words import chunks
from service.store.schema import (
    activity,
    batch,
    call_day,
    caller,
    client,
    event,
    server,
    session,
    source,
    tool,
    version,
)

_STALE = (int(Kind.STALE_CALL), int(Kind.UNKNOWN_CALL))


@dataclass(frozen=True, slots=True)
class Logged:
    """One event with its words. Ids do not leave `store`, but for the tool's, which names resolve."""

    time_us: int
    key: int
    kind: int
    server_id: int
    server: str
    tool_id: int | None
    tool: str | None
    client: str | None
    via: str | None
    inferred: bool
    session: str | None
    caller_level: int | None
    version: str | None
    outcome: int | None
    counted: bool
    batch: str
    source: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events. None means any; `tools` are (server, tool) ids."""

    since_us: int | None
    until_us: int
    server_ids: Collection[int] | None = None
    kind: Kind | None = None
    client_ids: Collection[int] | None = None
    tools: Collection[tuple[int, int]] | None = None


def events(
    connection: Connection, cut: Cut, wanted: Wanted, *, newest_first: bool, at_least: int
) -> list[Logged]:
    """
    The first `at_least` events of a range, if there are that many, in no order within an instant.

    All events of the last instant are among them. With `tools` or `client_ids`, lines that another
    line of the same call stands for may be left out where they lie far from it.
    """
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for where in _ways(connection, cut, wanted):
        keys = _first_keys(connection, cut, wanted, where, newest_first, at_least)
        found.update((key, key) for key in keys)
    ordered = sorted(found, reverse=newest_first)
    if len(ordered) > at_least:
        last = ordered[at_least - 1][0]
        ordered = [k for k in ordered if (k[0] >= last if newest_first else k[0] <= last)]
    return _words(connection, cut, ordered)


def _ways(connection: Connection, cut: Cut, wanted: Wanted) -> "Iterator[sa.ColumnElement[bool]]":
    """Conditions that together find every event and that an index serves."""
    kind = wanted.kind
    if wanted.tools is None:
        where: list[sa.ColumnElement[bool]] = [sa.true()]
        if kind is not None:
            where.append(event.c.kind == int(kind))
        if wanted.server_ids is not None:
            where.append(among(connection, event.c.server_id, wanted.server_ids))
        yield sa.and_(*where)
        return
    for server_id in sorted({server_id for server_id, _ in wanted.tools}):
        tools = sorted(tool_id for id_, tool_id in wanted.tools if id_ == server_id)
        mine = (event.c.server_id == server_id) & among(connection, event.c.tool_id, tools)
        if kind is None or int(kind) in _STALE:
            only = sa.true() if kind is None else event.c.kind == int(kind)
            yield sa.and_(mine, STALE_INDEX, only)
        if kind in (None, Kind.CALL):
            days = {row.time_us // DAY_US for row in cut.promoted}
            days.update(_call_days(connection, server_id, tools))
            for start, end in _runs(days, DAY_US):
                yield sa.and_(
                    mine,
                    event.c.kind == int(Kind.CALL),
                    event.c.time_us >= start,
                    event.c.time_us < end,
                )


def _call_days(connection: Connection, server_id: int, tools: list[int]) -> Sequence[int]:
    query = (
        sa.select(call_day.c.day)
        .where(call_day.c.server_id == server_id, among(connection, call_day.c.tool_id, tools))
        .where(call_day.c.kind == int(Kind.CALL))
        .distinct()
    )
    return connection.scalars(query).all()


def _runs(places: Iterable[int], width: int) -> list[tuple[int, int]]:
    """Half-open ranges of instants of runs of adjacent days or quarter-hours."""
    runs: list[tuple[int, int]] = []
    for place in sorted(places):
        start = place * width
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], start + width)
        else:
            runs.append((start, start + width))
    return runs


def _first_keys(
    connection: Connection,
    cut: Cut,
    wanted: Wanted,
    where: "sa.ColumnElement[bool]",
    newest_first: bool,
    at_least: int,
) -> list[tuple[int, int]]:
    """(time, key) of the first events, with every one of the last instant."""
    if wanted.client_ids is not None:
        where = where & among(connection, cut.client(), wanted.client_ids)
    order = event.c.time_us.desc() if newest_first else event.c.time_us
    query = sa.select(event.c.time_us, event.c.key)
    found: list[tuple[int, int]] = []
    for start, end in _windows(connection, cut, wanted, newest_first):
        # one bound a side: beside a second, a database may seek by the wider one
        narrowed = event.c.time_us < end
        if start is not None:
            narrowed = narrowed & (event.c.time_us >= start)
        rows = connection.execute(
            query.where(where, narrowed).order_by(order).limit(at_least - len(found))
        )
        found += [(row.time_us, row.key) for row in rows]
        if len(found) >= at_least:
            tied = connection.execute(query.where(where, event.c.time_us == found[-1][0]))
            return list({*found, *((row.time_us, row.key) for row in tied)})
    return found


def _windows(
    connection: Connection, cut: Cut, wanted: Wanted, newest_first: bool
) -> Iterator[tuple[int | None, int]]:
    """Stretches of time, in order, outside which no event can be: all of it, unless a client is asked."""
    if wanted.client_ids is None or wanted.tools is not None or not wanted.client_ids:
        yield wanted.since_us, wanted.until_us
        return
    quarters = _active_quarters(connection, wanted)
    # A line that another one stands for is not in the roll-up; the two lie close together.
    runs = _runs({quarter + step for quarter in quarters for step in (-1, 0, 1)}, QUARTER_US)
    if cut.solid_us < wanted.until_us:  # the roll-up may know another client than the cut does
        runs = [(start, min(end, cut.solid_us)) for start, end in runs if start < cut.solid_us]
        runs.append((cut.solid_us, wanted.until_us))
    since_us = 0 if wanted.since_us is None else wanted.since_us
    for start, end in reversed(runs) if newest_first else runs:
        if max(start, since_us) < min(end, wanted.until_us):
            yield max(start, since_us), min(end, wanted.until_us)


def _active_quarters(connection: Connection, wanted: Wanted) -> set[int]:
    """The quarter-hours in which the clients that are asked for were active."""
    servers = wanted.server_ids
    if servers is None:
        servers = connection.scalars(sa.select(server.c.id)).all()
    query = sa.select(activity.c.quarter).where(
        among(connection, activity.c.server_id, servers),
        among(connection, activity.c.client_id, wanted.client_ids or ()),
        activity.c.quarter < -(-wanted.until_us // QUARTER_US) + 1,
    )
    if wanted.since_us is not None:
        query = query.where(activity.c.quarter >= wanted.since_us // QUARTER_US - 1)
    # the line that stands for another one may be of another kind of call
    kinds = tuple(Kind) if wanted.kind is None else (wanted.kind,)
    if wanted.kind in TOOL_KINDS:
        kinds = TOOL_KINDS
    query = query.where(activity.c.kind.in_([int(kind) for kind in kinds]))
    return set(connection.scalars(query.distinct()))


def _words(connection: Connection, cut: Cut, keys: list[tuple[int, int]]) -> list[Logged]:
    """The events with these keys, in their order."""
    spoken = cut.client()
    named = client.alias("named")
    query = (
        sa.select(
            event.c.time_us,
            event.c.key,
            event.c.kind,
            event.c.server_id,
            server.c.name.label("server"),
            event.c.tool_id,
            tool.c.name.label("tool"),
            named.c.name.label("client"),
            named.c.via,
            (event.c.client_id.is_(None) & named.c.id.is_not(None)).label("inferred"),
            session.c.digest.label("session"),
            caller.c.level.label("caller_level"),
            sa.func.coalesce(version.c.name, named.c.version).label("version"),
            event.c.outcome,
            sa.case((cut.counted(), 1), else_=0).label("counted"),
            (batch.c.kind + sa.literal(" ") + batch.c.label).label("batch"),
            source.c.name.label("source"),
        )
        .select_from(event)
        .join(server, server.c.id == event.c.server_id)
        .join(batch, batch.c.id == event.c.batch_id)
        .join(source, source.c.id == event.c.source_id)
        .outerjoin(tool, tool.c.id == event.c.tool_id)
        .outerjoin(named, named.c.id == spoken)
        .outerjoin(session, session.c.id == event.c.session_id)
        .outerjoin(caller, caller.c.id == event.c.caller_id)
        .outerjoin(version, version.c.id == event.c.version_id)
    )
    # By time alone: a list of times beside a list of keys would be looked up pair by pair.
    times = sorted({time for time, _ in keys})
    rows: dict[tuple[int, int], Any] = {}
    for part in chunks(times):
        for row in connection.execute(query.where(event.c.time_us.in_(part))):
            rows[row.time_us, row.key] = row
    return [_logged(rows[key]) for key in keys]


def _logged(row: Any) -> Logged:
    return Logged(**{**row._asdict(), "inferred": bool(row.inferred), "counted": bool(row.counted)})
