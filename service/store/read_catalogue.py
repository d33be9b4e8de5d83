"""The catalogue, read: entries by their latest version, all versions, snapshots."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from service.entries import NAMES, Entry, Facts
from service.store.engine import Connection
from service.store.read_sets import among
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


def versions(connection: Connection, server_ids: Collection[int], name: str | None) -> list[Entry]:
    """Every version of the entries of these servers (of one name, if given), in no order."""
    query = (
        sa.select(*_COLUMNS)
        .join(server, server.c.id == entry.c.server_id)
        .where(among(connection, entry.c.server_id, server_ids))
    )
    if name is not None:
        query = query.where(entry.c.name == name)
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


def tools(connection: Connection, snapshot_id: int) -> tuple[dict[str, Any], ...]:
    """The tools of a snapshot, by name."""
    query = sa.select(snapshot.c.tools).where(snapshot.c.id == snapshot_id)
    return tuple(json.loads(connection.scalars(query).one()))


def listed_names(connection: Connection, server_id: int, *, names: bool = False) -> set[str] | None:
    """The names in a server's latest snapshot (with *names*: in its latest list of all names), None
    where there is none."""
    kind = snapshot.c.source == NAMES if names else snapshot.c.source != NAMES
    query = (
        sa.select(snapshot.c.tools)
        .where(snapshot.c.server_id == server_id, kind)
        .order_by(snapshot.c.at_us.desc())
        .limit(1)
    )
    text = connection.scalar(query)
    return None if text is None else {tool["name"] for tool in json.loads(text)}


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
