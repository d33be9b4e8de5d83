"""The catalogue, read: entries by their latest version, all versions, snapshots."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from service.entries import NAMES, Entry, Facts
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_sets import Chosen, among, text_among
from service.store.schema import entry, server, snapshot

_COLUMNS = (
    server.c.name.label("server"),
    entry.c.name,
    entry.c.number,
    entry.c.last_release,
    entry.c.replaced_by,
    entry.c.message,
    entry.c.retired_us,
    entry.c.hidden,
    entry.c.source,
    entry.c.said_us,
    entry.c.actor,
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A snapshot without its tools."""

    id: int
    server: str
    at_us: int
    version: str | None
    protocol_version: str | None
    source: str
    actor: str


@dataclass(frozen=True, slots=True)
class Change:
    """
    What was said at once of entries of a server: of how many `names`, the first of them, whether each of them was
    `known` before, and whether it hides them.
    """

    server: str
    said_us: int
    actor: str
    names: int
    name: str
    known: bool
    hidden: bool


def changes(
    connection: Connection,
    server_ids: Collection[int],
    names: Chosen[str] | None,
    between: tuple[int, int],
) -> list[Change]:
    """What was said of entries of these servers (of some names, if given) in [since, until), in no order."""
    together = (server.c.name, entry.c.said_us, entry.c.actor)
    kind = ((entry.c.number > 1).label("known"), entry.c.hidden)
    query = (
        sa.select(*together, sa.func.count(), sa.func.min(entry.c.name), *kind)
        .join(server, server.c.id == entry.c.server_id)
        .where(among(connection, entry.c.server_id, server_ids))
        .where(entry.c.said_us >= between[0], entry.c.said_us < between[1])
        .group_by(*together, *kind)
    )
    if names is not None:
        query = query.where(text_among(entry.c.name, names))
    return [Change(*row) for row in connection.execute(query)]


def entries(connection: Connection, server_ids: Collection[int]) -> list[tuple[Entry, int]]:
    """The version that holds of each entry of these servers, and when the first was said; in no order."""
    numbered = (
        sa.select(
            entry.c.server_id,
            entry.c.name,
            sa.func.max(entry.c.number).label("number"),
            sa.func.min(entry.c.said_us).label("first_us"),
        )
        .where(among(connection, entry.c.server_id, server_ids))
        .group_by(entry.c.server_id, entry.c.name)
        .subquery()
    )
    holds = (
        (entry.c.server_id == numbered.c.server_id)
        & (entry.c.name == numbered.c.name)
        & (entry.c.number == numbered.c.number)
    )
    query = (
        sa.select(*_COLUMNS, numbered.c.first_us)
        .select_from(numbered.join(entry, holds))
        .join(server, server.c.id == entry.c.server_id)
    )
    return [(_entry(row), row.first_us) for row in connection.execute(query)]


def versions(
    connection: Connection, server_ids: Collection[int], names: Chosen[str] | None
) -> list[Entry]:
    """Every version of the entries of these servers (of these names, if given), in no order."""
    query = (
        sa.select(*_COLUMNS)
        .join(server, server.c.id == entry.c.server_id)
        .where(among(connection, entry.c.server_id, server_ids))
    )
    query = query.where(text_among(entry.c.name, names))
    return [_entry(row) for row in connection.execute(query)]


def snapshots(connection: Connection, server_ids: Collection[int]) -> list[Listed]:
    """The snapshots of these servers, the name lists not among them, by server and time."""
    query = (
        sa.select(
            snapshot.c.id,
            server.c.name,
            snapshot.c.at_us,
            snapshot.c.version,
            snapshot.c.protocol_version,
            snapshot.c.source,
            snapshot.c.actor,
        )
        .join(server, server.c.id == snapshot.c.server_id)
        .where(among(connection, snapshot.c.server_id, server_ids), snapshot.c.source != NAMES)
        .order_by(server.c.name, snapshot.c.at_us)
    )
    return [Listed(*row) for row in connection.execute(query)]


def tool_counts(connection: Connection, snapshot_ids: Collection[int]) -> dict[int, int]:
    """How many tools each of these snapshots has, by its id; the database counts them."""
    listed = snapshot.c.tools if is_sqlite(connection) else sa.cast(snapshot.c.tools, sa.JSON)
    query = sa.select(snapshot.c.id, sa.func.json_array_length(listed).label("number"))
    rows = connection.execute(query.where(among(connection, snapshot.c.id, snapshot_ids)))
    return {row.id: row.number for row in rows}


def tools(connection: Connection, snapshot_id: int) -> tuple[dict[str, Any], ...]:
    """The tools of a snapshot, by name."""
    query = sa.select(snapshot.c.tools).where(snapshot.c.id == snapshot_id)
    return tuple(json.loads(connection.scalars(query).one()))


def listed_names(connection: Connection, server_id: int, *, names: bool = False) -> set[str] | None:
    """The names in a server's latest snapshot (with *names*: in its latest list of all names), None
    where there is none."""
    kind = snapshot.c.source == NAMES if names else snapshot.c.source != NAMES
    found = _latest(connection, (snapshot.c.server_id == server_id) & kind)
    return None if found is None else found[1]


def listed_before(
    connection: Connection, server_id: int, as_of_us: int
) -> tuple[int, set[str]] | None:
    """When a server's latest snapshot before an instant was taken, and the names in it."""
    before = (snapshot.c.at_us < as_of_us) & (snapshot.c.source != NAMES)
    return _latest(connection, (snapshot.c.server_id == server_id) & before)


def _latest(connection: Connection, where: "sa.ColumnElement[bool]") -> tuple[int, set[str]] | None:
    query = (
        sa.select(snapshot.c.at_us, snapshot.c.tools)
        .where(where)
        .order_by(snapshot.c.at_us.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return None if row is None else (row.at_us, {tool["name"] for tool in json.loads(row.tools)})


def _entry(row: Any) -> Entry:
    return Entry(
        server=row.server,
        name=row.name,
        number=row.number,
        facts=Facts(
            last_release=row.last_release,
            replaced_by=None if row.replaced_by is None else tuple(json.loads(row.replaced_by)),
            message=row.message,
            retired_us=row.retired_us,
        ),
        hidden=row.hidden,
        source=row.source,
        said_us=row.said_us,
        actor=row.actor,
    )
