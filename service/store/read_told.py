"""What people told, read. There are few of each, so all of them are."""

from collections.abc import Collection

import sqlalchemy as sa

from service.store.engine import Connection
from service.store.read_sets import Chosen, text_among
from service.store.read_words import chunks
from service.store.schema import alias, caller, client, exclusion, mark, note, version
from service.told import Alias, Exclusion, Mark, MarkKind, Note


def aliases(connection: Connection) -> list[Alias]:
    """Every alias, by the client's key."""
    return [
        Alias(
            client=row.key, target=row.target, note=row.note, said_us=row.said_us, actor=row.actor
        )
        for row in connection.execute(sa.select(alias).order_by(alias.c.key))
    ]


def exclusions(connection: Connection) -> list[Exclusion]:
    """Every rule, the oldest first."""
    rows = connection.execute(sa.select(exclusion).order_by(exclusion.c.id)).mappings()
    return [Exclusion(**row) for row in rows]


def marks(connection: Connection, *, withdrawn: bool = False) -> list[Mark]:
    """Every mark that stands, the oldest first; with *withdrawn*, the others too."""
    query = sa.select(mark).order_by(mark.c.id)
    if not withdrawn:
        query = query.where(mark.c.withdrawn_us.is_(None))
    return [
        Mark(
            id=row.id,
            kind=MarkKind(row.kind),
            server=row.server,
            client=row.client,
            name=row.tool,
            at_us=row.at_us,
            note=row.note,
            said_us=row.said_us,
            actor=row.actor,
            withdrawn_us=row.withdrawn_us,
        )
        for row in connection.execute(query)
    ]


def notes(
    connection: Connection, servers: Chosen[str] | None, since_us: int | None, until_us: int
) -> list[Note]:
    """Notes of these servers, and of all; None: of whichever. In [since, until), or up to it; in no order."""
    query = sa.select(note).where(note.c.at_us < until_us)
    if since_us is not None:
        query = query.where(note.c.at_us >= since_us)
    if servers is not None:
        query = query.where(note.c.server.is_(None) | text_among(note.c.server, servers))
    return [Note(**row) for row in connection.execute(query).mappings()]


def client_keys(connection: Connection) -> set[str]:
    """The key of every client."""
    return set(connection.scalars(sa.select(client.c.key).distinct()))


def clients_of_version(connection: Connection, text: str) -> set[int]:
    """Ids of the spellings that have this version in them."""
    return set(connection.scalars(sa.select(client.c.id).where(client.c.version == text)))


def version_id(connection: Connection, text: str) -> int | None:
    """The id of a version."""
    found: int | None = connection.scalar(sa.select(version.c.id).where(version.c.name == text))
    return found


def networks(connection: Connection) -> set[str]:
    """Every range of addresses that callers were in."""
    found = sa.select(caller.c.network).where(caller.c.network.is_not(None)).distinct()
    return set(connection.scalars(found))


def callers_in(connection: Connection, ranges: Collection[str]) -> set[int]:
    """Ids of the callers in these ranges."""
    found: set[int] = set()
    query = sa.select(caller.c.id)
    listed = sorted(ranges)
    for places in chunks(range(len(listed))):
        part = [listed[place] for place in places]
        found |= set(connection.scalars(query.where(caller.c.network.in_(part))))
    return found
