"""Notifications and listings, as columns of whole numbers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_sets import Ids, among
from service.store.read_spans import Span, within
from service.store.schema import activity, event

SIGNAL_INDEX = event.c.kind.in_([sa.literal_column("4"), sa.literal_column("5")])
"""Names the partial index `ix_event_signal` in its own words, so that it can be used."""


@dataclass(frozen=True, slots=True)
class Signals:
    """One entry a row, in no order. Ids of 0 stand for none; the client may be the session's."""

    server_id: Column
    session_id: Column
    client_id: Column
    time_us: Column

    def where(self, mask: Any) -> "Signals":
        """The rows for which *mask* holds."""
        return Signals(*(getattr(self, f)[mask] for f in Signals.__slots__))


def signals(
    connection: Connection, cut: Cut, server_ids: Collection[int], kind: Kind, spans: Sequence[Span]
) -> Signals:
    """Notifications or listings of these servers, in stretches of time that do not overlap."""
    one = sa.literal(next(iter(server_ids))) if len(server_ids) == 1 else event.c.server_id
    query = sa.select(
        one,
        sa.func.coalesce(event.c.session_id, 0),
        cut.client(),
        event.c.time_us,
    ).where(
        SIGNAL_INDEX,
        event.c.kind == sa.literal_column(str(int(kind))),
        # not through the index of calls, which begins with the server
        among(connection, event.c.server_id + 0, server_ids),
    )
    parts = [[np.empty(0, dtype=np.int64) for _ in range(4)]]
    parts += [columns(connection, query.where(times), 4) for times in within(spans)]
    return Signals(*(np.concatenate(each) for each in zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True)
class Cells:
    """One entry a quarter-hour and client: how many events."""

    quarter: Column
    client_id: Column
    """0 for none, and throughout where the cells are of all clients."""
    events: Column


def cells(
    connection: Connection,
    server_ids: Iterable[int],
    kind: Kind,
    quarters: tuple[int, int],
    *,
    by_client: bool,
    client_ids: Ids | None = None,
) -> Cells:
    """
    The roll-up of a kind for the quarter-hours [quarters[0], quarters[1]), of these servers, in several
    entries a cell.
    """
    client: sa.ColumnElement[int] = activity.c.client_id if by_client else sa.literal_column("0")
    parts = [[np.empty(0, dtype=np.int64) for _ in range(3)]]
    for server_id in sorted(server_ids) if quarters[0] < quarters[1] else ():
        steps = walk(activity.c.client_id, activity.c.server_id == server_id)
        query = (
            # a sum of big integers is a decimal on PostgreSQL
            sa.select(
                activity.c.quarter, client, sa.cast(sa.func.sum(activity.c.events), sa.BigInteger)
            )
            .join(steps, activity.c.client_id == steps.c.id)
            .where(activity.c.server_id == server_id, activity.c.kind == int(kind))
            .where(activity.c.quarter >= quarters[0], activity.c.quarter < quarters[1])
            .group_by(activity.c.quarter, *([activity.c.client_id] if by_client else []))
        )
        if client_ids is not None:
            query = query.where(among(connection, activity.c.client_id, client_ids))
        parts.append(columns(connection, query, 3))
    return Cells(*(np.concatenate(each) for each in zip(*parts, strict=True)))
