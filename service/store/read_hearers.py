"""Around notifications: what triggered one, what its client did just before, and who could hear it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from service.clock import QUARTER_US
from service.events import Kind
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_sets import among
from service.store.read_signals import cells
from service.store.read_spans import Span, few, within
from service.store.schema import event, event_extra, session

_FIRST = -100_000_000
"""A quarter-hour before all that can be stored."""


@dataclass(frozen=True, slots=True)
class Moments:
    """One entry an event, in no order; a client of 0 is none."""

    server_id: Column
    client_id: Column
    time_us: Column


def own_events(
    connection: Connection, cut: Cut, server_ids: Collection[int], spans: Sequence[Span]
) -> Moments:
    """What clients did in these stretches of time, which do not overlap: any event but notifications."""
    query = sa.select(event.c.server_id, cut.client(), event.c.time_us).where(
        event.c.kind != int(Kind.NOTIFICATION), event.c.server_id.in_(sorted(server_ids))
    )
    return _moments(connection, [query.where(times) for times in within(spans)])


def triggered_by(
    connection: Connection,
    cut: Cut,
    server_ids: Collection[int],
    trigger: str,
    instants: Collection[int],
) -> Moments:
    """Those of the notifications at these instants that say they were triggered so."""
    query = (
        sa.select(event.c.server_id, cut.client(), event.c.time_us)
        .join(
            event_extra,
            (event_extra.c.time_us == event.c.time_us) & (event_extra.c.key == event.c.key),
        )
        .where(event.c.kind == int(Kind.NOTIFICATION), event_extra.c.trigger == trigger)
        .where(event.c.server_id.in_(sorted(server_ids)))
    )
    return _moments(
        connection, [query.where(among(connection, event.c.time_us, instants))] if instants else []
    )


def _moments(
    connection: Connection, queries: Sequence["sa.Select[tuple[int, int, int]]"]
) -> Moments:
    parts = [[np.empty(0, dtype=np.int64) for _ in range(3)]]
    parts += [columns(connection, query, 3) for query in queries]
    return Moments(*(np.concatenate(each) for each in zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True)
class Channels:
    """
    One entry a session that opened a stream which can carry a notification, in no order: from its first
    opening to the last event of the session that is known at the cut.
    """

    server_id: Column
    session_id: Column
    client_id: Column
    """0 for none."""
    opened_us: Column
    last_us: Column


def channels(
    connection: Connection, cut: Cut, server_ids: Collection[int], before_us: int
) -> Channels:
    """
    The streams that sessions of these servers opened before an instant. One whose line names no session
    is left out: nobody knows how long it stayed open.
    """
    known = cells(
        connection,
        server_ids,
        Kind.LISTEN,
        (_FIRST, -(-before_us // QUARTER_US)),
        by_client=False,
    )
    spans = few(known.quarter * QUARTER_US, (known.quarter + 1) * QUARTER_US)
    last = sa.case((session.c.last_us < cut.as_of_us, session.c.last_us), else_=cut.as_of_us)
    query = (
        sa.select(
            event.c.server_id,
            cut.client(),
            event.c.session_id,
            event.c.time_us,
            last,
        )
        .join(session, session.c.id == event.c.session_id)
        .where(event.c.kind == int(Kind.LISTEN), event.c.time_us < min(before_us, cut.as_of_us))
        .where(event.c.server_id.in_(sorted(server_ids)))
    )
    parts = [[np.empty(0, dtype=np.int64) for _ in range(5)]]
    parts += [columns(connection, query.where(times), 5) for times in within(spans)]
    server_id, client_id, session_id, time_us, last_us = (
        np.concatenate(each) for each in zip(*parts, strict=True)
    )
    order = np.lexsort((time_us, session_id))
    _, first = np.unique(session_id[order], return_index=True)
    kept = order[first]
    return Channels(
        server_id[kept], session_id[kept], client_id[kept], time_us[kept], last_us[kept]
    )
