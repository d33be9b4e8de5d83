"""
What no event points to any more: names, callers and facts, feeds and servers.
"""

from typing import NamedTuple

from service.store.driver import Connection

AT_ONCE = 200
"""So many names of a kind go with a batch at most: for each, the database looks through all sessions. Others
stay where nothing shows them."""


class _Names(NamedTuple):
    """A table of names. `used` says by roll-ups and indexes that one is pointed to; where it is not told
    so, and not `told` for certain, the events are looked through."""

    number: int
    table: str
    used: str
    told: bool


_IN_ROLLUP = "EXISTS (SELECT 1 FROM server AS s JOIN {table} AS r ON r.server_id = s.id AND r.{column} = n.id)"
# Facts before the tools that they are of. A client's counted events are in `activity` under its id, the
# others in an index, and so are all events with a fact.
_EVERY = (
    _Names(5, "fact", "EXISTS (SELECT 1 FROM event AS e WHERE e.fact_id = n.id)", told=True),
    _Names(
        3,
        "tool",
        f"{_IN_ROLLUP.format(table='call_day', column='tool_id')} "
        f"OR {_IN_ROLLUP.format(table='fact', column='tool_id')}",
        told=False,
    ),
    _Names(
        1,
        "client",
        f"{_IN_ROLLUP.format(table='activity', column='client_id')} "
        "OR EXISTS (SELECT 1 FROM event AS e WHERE e.client_id = n.id AND e.counted = 0)",
        told=True,
    ),
    _Names(2, "caller", "1 = 0", told=False),
    _Names(4, "version", "1 = 0", told=False),
)

_TOLD = (
    ("source", "server_id"),
    ("release", "server_id"),
    ("caller", "server_id"),
    ("session", "server_id"),
    ("fact", "server_id"),
    ("entry", "server_id"),
    ("snapshot", "server_id"),
    ("subject", "server_id"),
    ("activity", "server_id"),
)
"""What a server is there for."""


def drop_unused(conn: Connection, *, every_name: bool) -> None:
    """
    Delete what the events in `gone_event` pointed to and no event does any more.

    Sessions and roll-ups must be up to date. Of clients, tools and versions at most `AT_ONCE` go, unless
    *every_name*.
    """
    for names in _EVERY:
        column = f"{names.table}_id"
        conn.run(
            f"INSERT INTO gone_name (kind, id) SELECT DISTINCT {names.number}, {column} "
            f"FROM gone_event WHERE {column} IS NOT NULL"
        )
        mine = f"SELECT id FROM gone_name WHERE kind = {names.number}"
        conn.run(
            f"DELETE FROM gone_name WHERE kind = {names.number} "
            f"AND id IN (SELECT n.id FROM {names.table} AS n WHERE n.id IN ({mine}) AND ({names.used}))"
        )
        if not names.told and conn.rows(f"{mine} LIMIT 1"):
            conn.run(
                f"DELETE FROM gone_name WHERE kind = {names.number} "
                f"AND id IN (SELECT {column} FROM event WHERE {column} IN ({mine}))"
            )
        bounded = "" if every_name or names.table in ("fact", "caller") else f"LIMIT {AT_ONCE}"
        conn.run(f"DELETE FROM {names.table} WHERE id IN ({mine} ORDER BY id {bounded})")


def drop_feed(conn: Connection, source_id: int) -> None:
    """Delete a source that has no batch any more, unless somebody has said of it that it has ended."""
    conn.run(
        "DELETE FROM source WHERE id = ? AND retired_us IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM batch AS b WHERE b.source_id = source.id)",
        (source_id,),
    )


def drop_server(conn: Connection, server_id: int) -> None:
    """Delete a server of which nothing is known any more."""
    nothing = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {table} AS t WHERE t.{column} = server.id)"
        for table, column in _TOLD
    )
    conn.run(f"DELETE FROM server WHERE id = ? AND {nothing}", (server_id,))
