"""Releases, read."""

import sqlalchemy as sa

from service.events import Release
from service.store.engine import Connection
from service.store.read_sets import Ids, among
from service.store.schema import meta, release, server


def releases(
    connection: Connection, server_ids: Ids | None, since_us: int, until_us: int
) -> list[Release]:
    """Releases of these servers (None: of all) that came in [since, until), in no order."""
    query = (
        sa.select(server.c.name, release.c.version, release.c.at_us, release.c.source)
        .join(server, server.c.id == release.c.server_id)
        .where(release.c.at_us >= since_us, release.c.at_us < until_us)
        .where(_of(connection, server_ids))
    )
    return [
        Release(server=name, version=version, at_us=at_us, source=source)
        for name, version, at_us, source in connection.execute(query)
    ]


def first_release(connection: Connection, server_ids: Ids | None, as_of_us: int) -> int | None:
    """When the first release of these servers (None: of all) before `as_of_us` came."""
    first: int | None = connection.scalar(
        sa.select(sa.func.min(release.c.at_us))
        .where(release.c.at_us < as_of_us)
        .where(_of(connection, server_ids))
    )
    return first


def moves(connection: Connection) -> str:
    """A text that changes whenever a release that was known is given another instant."""
    value = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "release_moves"))
    return value or "0"


def _of(connection: Connection, server_ids: Ids | None) -> "sa.ColumnElement[bool]":
    if server_ids is None:
        return sa.true()
    return among(connection, release.c.server_id, server_ids)
