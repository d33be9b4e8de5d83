"""Ordinary calls, to names that may still be listed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from service.clock import DAY_US
from service.events import Kind
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_sets import Ids, among, table_of
from service.store.read_spans import Span, between
from service.store.read_words import tool_names
from service.store.schema import call_day, event


@dataclass(frozen=True, slots=True)
class Worked:
    """
    One entry a tool, client and UTC day, and where asked for a version and caller (ids of 0 stand for
    none): calls, the first and the last.
    """

    tool_id: Column
    client_id: Column
    day: Column
    version_id: Column
    caller_id: Column
    calls: Column
    first_us: Column
    last_us: Column

    @staticmethod
    def join(parts: "Iterable[Worked]") -> "Worked":
        """All entries of several parts."""
        listed = [_NONE, *parts]
        return Worked(*(np.concatenate([getattr(p, f) for p in listed]) for f in Worked.__slots__))

    def where(self, mask: Any) -> "Worked":
        """The entries for which *mask* holds."""
        return Worked(*(getattr(self, f)[mask] for f in Worked.__slots__))


_NONE = Worked(*(np.empty(0, dtype=np.int64) for _ in Worked.__slots__))
_ZERO: "sa.ColumnElement[int]" = sa.literal(0)


def worked(
    connection: Connection,
    server_id: int,
    tool_ids: Collection[int],
    days: Span,
    client_ids: Ids | None,
) -> Worked:
    """The ordinary calls of these tools in the UTC days [days[0], days[1]), from the roll-up."""
    if not tool_ids or days[0] >= days[1]:
        return _NONE
    query = (
        sa.select(
            call_day.c.tool_id,
            call_day.c.client_id,
            call_day.c.day,
            _ZERO,
            _ZERO,
            call_day.c.calls,
            call_day.c.first_us,
            call_day.c.last_us,
        )
        .where(call_day.c.server_id == server_id, call_day.c.kind == int(Kind.CALL))
        .where(among(connection, call_day.c.tool_id, tool_ids))
        .where(call_day.c.day >= days[0], call_day.c.day < days[1])
    )
    if client_ids is not None:
        query = query.where(among(connection, call_day.c.client_id, client_ids))
    return Worked(*columns(connection, query, len(Worked.__slots__)))


def worked_rows(
    connection: Connection,
    cut: Cut,
    server_id: int,
    tool_ids: Collection[int],
    span: Span,
    client_ids: Ids | None,
    *,
    fine: bool,
) -> Worked:
    """
    The counted ordinary calls of these tools in [since, until), from rows: every event of the span is
    read. With *fine*, versions and callers are told apart.
    """
    if not tool_ids or span[0] >= span[1]:
        return _NONE
    day, client = event.c.time_us // sa.literal_column(str(DAY_US), sa.BigInteger), cut.client()
    own = [sa.func.coalesce(each, 0) for each in (event.c.version_id, event.c.caller_id)]
    groups = [event.c.tool_id, client, day, *own] if fine else [event.c.tool_id, client, day]
    query = (
        sa.select(
            event.c.tool_id,
            client,
            day,
            *(own if fine else [_ZERO, _ZERO]),
            sa.func.count(),
            sa.func.min(event.c.time_us),
            sa.func.max(event.c.time_us),
        )
        .where(event.c.server_id == server_id, event.c.kind == int(Kind.CALL))
        .where(between(span), cut.counted(), among(connection, event.c.tool_id, tool_ids))
        .group_by(*groups)
    )
    if client_ids is not None:
        query = query.where(among(connection, client, client_ids))
    return Worked(*columns(connection, query, len(Worked.__slots__)))


def called(connection: Connection, server_id: int) -> dict[int, str]:
    """Every tool that a call to the server spells, by id."""
    steps = walk(call_day.c.tool_id, call_day.c.server_id == server_id)
    return tool_names(connection, set(connection.scalars(sa.select(steps.c.id))) - {None})


def working_names(connection: Connection, cut: Cut, server_id: int) -> set[str]:
    """The names that ordinary calls to the server spelled before the cut."""
    ids = called(connection, server_id)
    if not ids:
        return set()
    asked = table_of(is_sqlite(connection), [(server_id, id_) for id_ in ids])
    # one look-up a name: most have thousands of cells
    called_one = sa.exists().where(
        call_day.c.server_id == asked.c.c0,
        call_day.c.tool_id == asked.c.c1,
        call_day.c.kind == int(Kind.CALL),
        cut.begun(),
    )
    met = set(connection.scalars(sa.select(asked.c.c1).where(called_one)))
    met |= {
        row.tool_id for row in cut.promoted if (row.server_id, row.kind) == (server_id, Kind.CALL)
    }
    return {name for id_, name in ids.items() if id_ in met}
