"""Ordinary calls, to names that may still be listed."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import walk
from service.store.read_sets import among
from service.store.read_spans import Span, between
from service.store.read_words import tool_names
from service.store.schema import call_day, event


@dataclass(frozen=True, slots=True)
class Worked:
    """One entry a tool, client and caller (ids of 0 stand for none): calls, the first and the last."""

    tool_id: Column
    client_id: Column
    caller_id: Column
    calls: Column
    first_us: Column
    last_us: Column


def worked(
    connection: Connection,
    cut: Cut,
    server_id: int,
    tool_ids: Collection[int],
    span: Span,
    client_ids: Collection[int] | None,
) -> Worked:
    """The counted ordinary calls of these tools in [since, until); every event of the span is read."""
    client, caller = cut.client(), sa.func.coalesce(event.c.caller_id, 0)
    query = (
        sa.select(
            event.c.tool_id,
            client,
            caller,
            sa.func.count(),
            sa.func.min(event.c.time_us),
            sa.func.max(event.c.time_us),
        )
        .where(event.c.server_id == server_id, event.c.kind == int(Kind.CALL))
        .where(between(span), cut.counted(), among(connection, event.c.tool_id, tool_ids))
        .group_by(event.c.tool_id, client, caller)
    )
    if client_ids is not None:
        query = query.where(among(connection, client, client_ids))
    if not tool_ids or span[0] >= span[1]:
        return Worked(*(np.empty(0, dtype=np.int64) for _ in Worked.__slots__))
    return Worked(*columns(connection, query, len(Worked.__slots__)))


def called(connection: Connection, server_id: int) -> dict[int, str]:
    """Every tool that a call to the server spells, by id."""
    steps = walk(call_day.c.tool_id, call_day.c.server_id == server_id)
    return tool_names(connection, set(connection.scalars(sa.select(steps.c.id))) - {None})


def working_names(connection: Connection, server_id: int) -> set[str]:
    """The names that ordinary calls to the server spell."""
    ids = called(connection, server_id)
    steps = sa.select(call_day.c.tool_id).where(
        call_day.c.server_id == server_id, call_day.c.kind == int(Kind.CALL)
    )
    met = set(
        connection.scalars(steps.where(among(connection, call_day.c.tool_id, ids)).distinct())
    )
    return {name for id_, name in ids.items() if id_ in met}
