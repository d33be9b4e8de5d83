"""The dimension tables, read: ids to text and back, a few thousand at a time."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import sqlalchemy as sa

from service.names import TEXT_LIMIT
from service.store.engine import Connection
from service.store.numbers import ACCEPTED
from service.store.schema import client, meta, server, tool, version

_CHUNK = 5_000


@dataclass(frozen=True, slots=True)
class Spelling:
    """One raw spelling of a client."""

    id: int
    raw: str
    key: str
    name: str
    via: str | None
    version: str | None


def chunks(ids: Iterable[int], size: int = _CHUNK) -> Iterator[list[int]]:
    """The ids in lists that fit into one statement."""
    rest = iter(ids)
    while part := list(islice(rest, size)):
        yield part


def data_version(connection: Connection) -> str:
    """A text that changes with every transaction that stores something."""
    value = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "data_version"))
    return value or "0"


def accepted(connection: Connection, server_ids: Collection[int] | None) -> int:
    """How many lines these servers (None: all) have brought anew; never less, whatever is taken back."""
    query = sa.select(meta.c.value)
    if server_ids is None:  # every name that begins so: "`" follows "_"
        query = query.where(meta.c.name >= ACCEPTED, meta.c.name < f"{ACCEPTED[:-1]}`")
    else:
        query = query.where(meta.c.name.in_([f"{ACCEPTED}{id_}" for id_ in sorted(server_ids)]))
    return sum(map(int, connection.scalars(query)))


def servers(connection: Connection) -> dict[int, str]:
    """Every server by id."""
    return {row.id: row.name for row in connection.execute(sa.select(server.c.id, server.c.name))}


def spellings(connection: Connection, ids: Collection[int]) -> dict[int, Spelling]:
    """The spellings of clients with these ids."""
    return _spellings(connection, (client.c.id.in_(part) for part in chunks(sorted(ids))))


def spellings_of(connection: Connection, keys: Sequence[str]) -> dict[int, Spelling]:
    """Every spelling whose key is one of these."""
    parts = (keys[at : at + _CHUNK] for at in range(0, len(keys), _CHUNK))
    return _spellings(connection, (client.c.key.in_(part) for part in parts))


def keys_holding(connection: Connection, text: str, limit: int) -> list[str]:
    """At most so many keys of clients that hold *text*: those that begin with it first, then the shorter ones."""
    key = client.c.key
    found = (
        sa.select(key)
        .where(key.contains(text, autoescape=True))
        .group_by(key)
        .order_by(
            sa.case((key.startswith(text, autoescape=True), 0), else_=1), sa.func.length(key), key
        )
        .limit(limit)
    )
    return list(connection.scalars(found))


def some_names(connection: Connection, limit: int) -> list[str]:
    """A spelling of each of at most so many clients, by their keys."""
    query = sa.select(sa.func.min(client.c.name)).where(client.c.key != "")
    return list(
        connection.scalars(query.group_by(client.c.key).order_by(client.c.key).limit(limit))
    )


def spellings_shown(connection: Connection, name: str, key: str) -> list[int]:
    """Ids of the spellings of the client with that key, or whose cut name is shown as *name*."""
    found = client.c.key == key
    if len(name) > TEXT_LIMIT:
        found = sa.or_(found, client.c.name == name)
    return list(connection.scalars(sa.select(client.c.id).where(found)))


def tool_names(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Tool names as logged, by id."""
    return _texts(connection, tool, ids)


def version_names(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Versions, by id."""
    return _texts(connection, version, ids)


def _spellings(
    connection: Connection, wanted: "Iterable[sa.ColumnElement[bool]]"
) -> dict[int, Spelling]:
    query = sa.select(
        client.c.id, client.c.raw, client.c.key, client.c.name, client.c.via, client.c.version
    )
    return {
        row.id: Spelling(*row) for each in wanted for row in connection.execute(query.where(each))
    }


def _texts(connection: Connection, table: sa.Table, ids: Collection[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in chunks(sorted(ids)):
        query = sa.select(table.c.id, table.c.name).where(table.c.id.in_(part))
        found.update((row.id, row.name) for row in connection.execute(query))
    return found
