"""On which days clients were there: events by UTC day, from the activity roll-up, edges from rows."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from service.clock import DAY_US, QUARTER_US
from service.events import Kind
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_sets import Ids, among, table_of
from service.store.schema import activity, event


@dataclass(frozen=True, slots=True)
class Present:
    """One entry a client (0 for none), kind and day, or several: how many counted events there were."""

    client_id: Column
    kind: Column
    day: Column
    events: Column


def present(
    connection: Connection,
    cut: Cut,
    server_id: int,
    kinds: Collection[Kind],
    client_ids: Ids | None,
    since_us: int,
    until_us: int,
) -> Present:
    """
    Counted events of these kinds of the server in [since, until), by UTC day; of these clients, None for
    all.
    """
    wanted = sorted(int(kind) for kind in kinds)
    mine = sa.true() if client_ids is None else among(connection, activity.c.client_id, client_ids)
    first, last = _whole(cut, since_us, until_us)
    cells = (
        sa.select(
            activity.c.client_id,
            activity.c.kind,
            activity.c.quarter // (DAY_US // QUARTER_US),
            # a sum of big integers is a decimal on PostgreSQL
            sa.cast(sa.func.sum(activity.c.events), sa.BigInteger),
        )
        .where(activity.c.server_id == server_id, activity.c.kind.in_(wanted))
        .where(mine)
        .where(activity.c.quarter >= first, activity.c.quarter < last)
        .group_by(sa.text("1"), sa.text("2"), sa.text("3"))
    )
    queries = [cells] if first < last else []
    spoken = sa.true() if client_ids is None else among(connection, cut.client(), client_ids)
    for low, high in _edges(first, last, since_us, until_us):
        rows = (
            sa.select(cut.client(), event.c.kind, event.c.time_us // DAY_US, sa.func.count())
            .where(event.c.time_us >= low, event.c.time_us < high)
            .where(event.c.server_id == server_id, event.c.kind.in_(wanted))
            .where(spoken, cut.counted())
            .group_by(sa.text("1"), sa.text("2"), sa.text("3"))
        )
        queries.append(rows)
    parts = [columns(connection, query, 4) for query in queries]
    empty = np.empty(0, dtype=np.int64)
    return Present(*(np.concatenate(each) for each in zip([empty] * 4, *parts, strict=True)))


def last_days(
    connection: Connection,
    cut: Cut,
    server_id: int,
    kinds: Collection[Kind],
    client_ids: Collection[int],
    since_us: int,
    until_us: int,
) -> dict[tuple[int, Kind], int]:
    """
    (client, kind) → the last UTC day in [since, until) with a counted event; one look-up for each of them.
    """
    if not client_ids:
        return {}
    first, last = _whole(cut, since_us, until_us)
    asked = table_of(is_sqlite(connection), [(client_id,) for client_id in client_ids])
    lasts = [
        sa.select(sa.func.max(activity.c.quarter))
        .where(activity.c.server_id == server_id, activity.c.client_id == asked.c.c0)
        .where(activity.c.kind == int(kind))
        .where(activity.c.quarter >= first, activity.c.quarter < last)
        .scalar_subquery()
        for kind in kinds
    ]
    found: dict[tuple[int, Kind], int] = {}
    for client_id, *quarters in connection.execute(sa.select(asked.c.c0, *lasts)):
        for kind, quarter in zip(kinds, quarters, strict=True):
            if quarter is not None:
                found[client_id, kind] = quarter // (DAY_US // QUARTER_US)
    for low, high in _edges(first, last, since_us, until_us):
        rows = (
            sa.select(cut.client(), event.c.kind, sa.func.max(event.c.time_us) // DAY_US)
            .where(event.c.time_us >= low, event.c.time_us < high)
            .where(event.c.server_id == server_id, event.c.kind.in_(sorted(map(int, kinds))))
            .where(among(connection, cut.client(), client_ids), cut.counted())
            .group_by(sa.text("1"), sa.text("2"))
        )
        for client_id, kind, day in connection.execute(rows):
            found[client_id, Kind(kind)] = max(day, found.get((client_id, Kind(kind)), day))
    return found


def _whole(cut: Cut, since_us: int, until_us: int) -> tuple[int, int]:
    """The quarter-hours [first, last) of a range of which the roll-up may be read."""
    first = -(-since_us // QUARTER_US)
    return first, max(min(until_us, cut.solid_us) // QUARTER_US, first)


def _edges(first: int, last: int, since_us: int, until_us: int) -> Iterator[tuple[int, int]]:
    """What of the range is left to be read from rows."""
    for start, end in ((since_us, first * QUARTER_US), (last * QUARTER_US, until_us)):
        low, high = max(start, since_us), min(end, until_us)
        if low < high:
            yield low, high


def first_quarter(connection: Connection, server_ids: Sequence[int], kind: Kind) -> int | None:
    """The first quarter-hour with a counted event of a kind at any of the servers; None without any."""
    found: list[int | None] = []
    for server_id in server_ids:
        steps = walk(activity.c.client_id, activity.c.server_id == server_id)
        first = (
            sa.select(sa.func.min(activity.c.quarter))
            .where(activity.c.server_id == server_id, activity.c.client_id == steps.c.id)
            .where(activity.c.kind == int(kind))
            .scalar_subquery()
        )
        found += connection.scalars(sa.select(first).where(steps.c.id.is_not(None)))
    return min((quarter for quarter in found if quarter is not None), default=None)
