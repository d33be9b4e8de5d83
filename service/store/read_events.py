"""Events, newest or oldest first: whole instants at a time, so that a page can end inside one."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import sqlalchemy as sa

from service.clock import DAY_US, QUARTER_US
from service.events import TOOL_KINDS, Kind
from service.store import read_spans
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import columns
from service.store.read_cut import Cut
from service.store.read_left_out import LeftOut, left_out
from service.store.read_names import STALE_INDEX
from service.store.read_sets import Chosen, Ids, among, pairs_among
from service.store.read_spans import Span, between
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
FEW = 20
"""Spellings of a name that are read one after the other."""


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
    """
    Which events. None means any; `tools` are (server, tool) ids, `not_tools` those of which an event is not
    wanted.
    """

    since_us: int | None
    until_us: int
    server_ids: Ids | None = None
    kind: Kind | None = None
    client_ids: Chosen[int] | None = None
    tools: Collection[tuple[int, int]] | None = None
    not_tools: Collection[tuple[int, int]] = ()
    rules: Sequence[LeftOut] = ()
    """The calls that they leave out are not wanted; with `only_left_out` nothing but these."""
    only_left_out: bool = False


def events(
    connection: Connection, cut: Cut, wanted: Wanted, *, newest_first: bool, at_least: int
) -> list[Logged]:
    """
    The first `at_least` events of a range, if there are that many, in no order within an instant.

    All events of the last instant are among them. With `tools` or `client_ids`, lines that another
    line of the same call stands for may be left out where they lie far from it.
    """
    found: set[_Key] = set()
    for where, spans in _ways(connection, cut, wanted):
        found.update(_first_keys(connection, cut, wanted, where, spans, newest_first, at_least))
        if len(found) >= at_least:  # further ways are read no farther than the last of these
            last = sorted(found, reverse=newest_first)[at_least - 1][0]
            found = {key for key in found if (key[0] >= last if newest_first else key[0] <= last)}
            if newest_first:
                wanted = replace(wanted, since_us=last)
            else:
                wanted = replace(wanted, until_us=min(wanted.until_us, last + 1))
    return _words(connection, cut, sorted(found, reverse=newest_first))


_Key = tuple[int, int]
_Way = tuple[sa.ColumnElement[bool], Callable[[Wanted], list[Span]]]
"""A condition that an index serves, and where in a range events that meet it can be."""


def _ways(connection: Connection, cut: Cut, wanted: Wanted) -> "Iterator[_Way]":
    """What together finds every event."""
    kind = wanted.kind
    if wanted.tools is None:
        where: list[sa.ColumnElement[bool]] = [sa.true()]
        if kind is not None:
            where.append(event.c.kind == int(kind))
        if wanted.server_ids is not None:
            where.append(among(connection, event.c.server_id, wanted.server_ids))
        is_few = wanted.client_ids is not None and not wanted.client_ids.outside
        spans = partial(_active, connection, cut) if is_few else _whole
        yield sa.and_(*where), spans
        return
    for server_id in sorted({server_id for server_id, _ in wanted.tools}):
        tools = sorted(tool_id for id_, tool_id in wanted.tools if id_ == server_id)
        mine = (event.c.server_id == server_id) & among(connection, event.c.tool_id, tools)
        if kind is None or int(kind) in _STALE:
            only = sa.true() if kind is None else event.c.kind == int(kind)
            # of one tool the index has the events in order, so that a page reads no more of them
            each = (
                [event.c.tool_id == tool_id for tool_id in tools] if len(tools) <= FEW else [mine]
            )
            for one in each:
                yield sa.and_(event.c.server_id == server_id, one, STALE_INDEX, only), _whole
        if kind in (None, Kind.CALL):
            call = mine & (event.c.kind == int(Kind.CALL))
            yield call, partial(_called, connection, cut, server_id, tools)


def _whole(wanted: Wanted) -> list[Span]:
    return read_spans.clip([(-(2**62), wanted.until_us)], _range(wanted))


def _range(wanted: Wanted) -> Span:
    return (-(2**62) if wanted.since_us is None else wanted.since_us, wanted.until_us)


def _called(
    connection: Connection, cut: Cut, server_id: int, tools: list[int], wanted: Wanted
) -> list[Span]:
    """Around the calls that the roll-up knows of; a line that another one stands for lies close to it."""
    since_us, until_us = _range(wanted)
    days = (max(since_us, -(2**60)) // DAY_US - 1, until_us // DAY_US + 2)
    solid = min(max(cut.solid_us // DAY_US, days[0]), days[1])
    cells = (
        sa.select(call_day.c.first_us, call_day.c.last_us, call_day.c.calls)
        .where(call_day.c.server_id == server_id, among(connection, call_day.c.tool_id, tools))
        .where(call_day.c.kind == int(Kind.CALL))
        .where(call_day.c.day >= days[0], call_day.c.day < solid)
    )
    day, spoken = event.c.time_us // DAY_US, cut.client()
    of_day: list[sa.ColumnElement[Any]] = [
        sa.func.min(event.c.time_us),
        sa.func.max(event.c.time_us),
        sa.func.count(),
    ]
    rows = (
        sa.select(*of_day)
        .where(between((solid * DAY_US, min(days[1] * DAY_US, cut.as_of_us))))
        .where(event.c.server_id == server_id, among(connection, event.c.tool_id, tools))
        .where(event.c.kind == int(Kind.CALL), cut.counted())
        .group_by(event.c.tool_id, spoken, day)
    )
    if wanted.client_ids is not None:
        cells = cells.where(among(connection, call_day.c.client_id, wanted.client_ids))
        rows = rows.where(among(connection, spoken, wanted.client_ids))
    found = (columns(connection, cells, 3), columns(connection, rows, 3))
    first, last, calls = (np.concatenate(part) for part in zip(*found, strict=True))
    exact = calls <= 2  # then these are their instants
    starts = np.concatenate([first, last[exact]]) - QUARTER_US
    ends = np.concatenate([np.where(exact, first, last), last[exact]]) + QUARTER_US
    return read_spans.clip(read_spans.join(starts, ends), (since_us, until_us))


def _active(connection: Connection, cut: Cut, wanted: Wanted) -> list[Span]:
    """Around the quarter-hours in which the clients that are asked for were active."""
    since_us, until_us = _range(wanted)
    servers = wanted.server_ids
    if servers is None:
        servers = connection.scalars(sa.select(server.c.id)).all()
    # the line that stands for another one may be of another kind of call
    kinds = tuple(Kind) if wanted.kind is None else (wanted.kind,)
    if wanted.kind in TOOL_KINDS:
        kinds = TOOL_KINDS
    near = (max(since_us, -(2**60)) // QUARTER_US - 1, until_us // QUARTER_US + 2)
    solid = min(max(cut.solid_us // QUARTER_US, near[0]), near[1])
    clients: Ids = () if wanted.client_ids is None else wanted.client_ids
    numbers = [int(kind) for kind in kinds]
    cells = (
        sa.select(activity.c.quarter)
        .where(among(connection, activity.c.server_id, servers))
        .where(among(connection, activity.c.client_id, clients))
        .where(activity.c.kind.in_(numbers))
        .where(activity.c.quarter >= near[0], activity.c.quarter < solid)
    )
    rows = (  # from here on the roll-up may know another client than the cut does
        sa.select(event.c.time_us)
        .where(between((solid * QUARTER_US, min(near[1] * QUARTER_US, cut.as_of_us))))
        .where(among(connection, event.c.server_id, servers), event.c.kind.in_(numbers))
        .where(among(connection, cut.client(), clients), cut.counted())
    )
    (quarters,), (times,) = (columns(connection, query, 1) for query in (cells, rows))
    quarters = np.concatenate([quarters, np.unique(times // QUARTER_US)])
    # A line that another one stands for is not in the roll-up; the two lie close together.
    spans = read_spans.join((quarters - 1) * QUARTER_US, (quarters + 2) * QUARTER_US)
    return read_spans.clip(spans, (since_us, until_us))


def _first_keys(
    connection: Connection,
    cut: Cut,
    wanted: Wanted,
    where: "sa.ColumnElement[bool]",
    spans: "Callable[[Wanted], list[Span]]",
    newest_first: bool,
    at_least: int,
) -> list[_Key]:
    """(time, key) of the first events, with every one of the last instant."""
    if wanted.client_ids is not None:
        where = where & among(connection, cut.client(), wanted.client_ids)
    if wanted.not_tools:
        columns_ = (event.c.server_id, event.c.tool_id)
        met = pairs_among(is_sqlite(connection), columns_, wanted.not_tools)
        where = where & (event.c.tool_id.is_(None) | sa.not_(met))
    if wanted.only_left_out:
        where = where & left_out(connection, cut, wanted.rules)
    elif wanted.rules:
        where = where & sa.not_(left_out(connection, cut, wanted.rules))
    order = event.c.time_us.desc() if newest_first else event.c.time_us
    query = sa.select(event.c.time_us, event.c.key)
    found: list[_Key] = []
    left = spans(wanted)
    if newest_first:
        left.reverse()
    at, size = 0, 1
    while at < len(left) and len(found) < at_least:
        # the first alone, in order and no farther than needed; then ever more together
        times = read_spans.any_of(left[at : at + size])
        at, size = at + size, min(size * 2, read_spans.RANGES)
        rows = connection.execute(
            query.where(where, times).order_by(order).limit(at_least - len(found))
        )
        found += [(row.time_us, row.key) for row in rows]
    if len(found) >= at_least:
        tied = connection.execute(query.where(where, event.c.time_us == found[-1][0]))
        return list({*found, *((row.time_us, row.key) for row in tied)})
    return found


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
