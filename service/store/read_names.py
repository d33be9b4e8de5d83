"""What the rows say of tool names: which were called, since when they are retired, what replaces them."""

import json
from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Connection
from service.store.read_cut import Cut
from service.store.read_words import chunks, tool_names
from service.store.schema import call_day, event, fact

STALE_INDEX = event.c.kind <= sa.literal_column("2")
"""Names the partial index `ix_event_stale` in its own words, so that it can be used."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A name as a server's calls spell it; `first_stale_us` is None where no stale call does."""

    tool_id: int
    name: str
    first_stale_us: int | None


@dataclass(frozen=True, slots=True)
class Said:
    """What stale calls before the cut last said of one spelling."""

    tool_id: int
    time_us: int
    last_release: str | None
    replaced_by: tuple[str, ...] | None
    message: str | None


def logged_names(connection: Connection, cut: Cut, server_id: int) -> list[Logged]:
    """Every name that a call to the server spelled before the cut, in the order of ids; one look-up a name."""
    stale = (event.c.server_id == server_id) & STALE_INDEX
    steps = walk(event.c.tool_id, stale)
    first = (
        sa.select(event.c.time_us)
        .where(stale, event.c.tool_id == steps.c.id, event.c.time_us < cut.as_of_us)
        .where(event.c.kind == int(Kind.STALE_CALL))
        .order_by(event.c.time_us)
        .limit(1)
        .scalar_subquery()
    )
    rows = connection.execute(sa.select(steps.c.id, first.label("first_us")))
    firsts = {row.id: row.first_us for row in rows if row.first_us is not None}
    counted = walk(call_day.c.tool_id, (call_day.c.server_id == server_id) & cut.begun())
    ids = {*firsts, *connection.scalars(sa.select(counted.c.id))}
    ids |= {row.tool_id for row in cut.promoted if row.server_id == server_id}
    names = tool_names(connection, ids - {None})
    return [Logged(id_, names[id_], firsts.get(id_)) for id_ in sorted(names)]


def walk(column: "sa.Column[int]", where: "sa.ColumnElement[bool]") -> sa.CTE:
    """
    The distinct values of a column, by one step through its index a value.

    Returns:
        A table with the one column `id`, the last row of which is NULL.
    """
    steps = sa.select(sa.func.min(column).label("id")).where(where).cte(recursive=True)
    following = sa.select(sa.func.min(column)).where(where, column > steps.c.id)
    return steps.union_all(sa.select(following.scalar_subquery()).where(steps.c.id.is_not(None)))


def said(
    connection: Connection, server_id: int, tool_ids: Collection[int], as_of_us: int
) -> list[Said]:
    """What stale calls before `as_of_us` said of these names, each fact with when it was last said."""
    last = (
        sa.select(sa.func.max(event.c.time_us))
        .where(event.c.fact_id == fact.c.id, event.c.fact_id.is_not(None))
        .where(event.c.time_us < as_of_us)
        .scalar_subquery()
    )
    query = sa.select(
        fact.c.tool_id,
        fact.c.last_release,
        fact.c.replaced_by,
        fact.c.message,
        last.label("last_us"),
    )
    found: list[Said] = []
    for part in chunks(sorted(tool_ids)):
        mine = query.where(fact.c.server_id == server_id, fact.c.tool_id.in_(part))
        for row in connection.execute(mine):
            if row.last_us is not None:
                replaced = None if row.replaced_by is None else tuple(json.loads(row.replaced_by))
                found.append(
                    Said(row.tool_id, row.last_us, row.last_release, replaced, row.message)
                )
    return found


def messages(connection: Connection, fact_ids: Collection[int]) -> dict[int, str | None]:
    """The message that each of these facts tells its callers; None where it holds none."""
    found: dict[int, str | None] = {}
    for part in chunks(sorted(fact_ids)):
        query = sa.select(fact.c.id, fact.c.message).where(fact.c.id.in_(part))
        found.update((row.id, row.message) for row in connection.execute(query))
    return found
