"""The dimension tables, read: ids to text and back, a few thousand at a time."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import sqlalchemy as sa

from service.names import TEXT_LIMIT
from service.store.engine import Connection
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
