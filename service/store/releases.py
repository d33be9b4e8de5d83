"""Releases, written: one row a server and version."""

import sqlalchemy as sa

from service.events import Recorded, Release
from service.store import dimensions
from service.store.engine import Connection
from service.store.schema import release as table
from service.store.writer import raise_counter, raise_data_version


def record(conn: Connection, release: Release) -> Recorded:
    """
    Keep a release within the write transaction that *conn* has open; its server is made where it is new.

    A version that is known is not stored again: with another instant it is moved there, with the same
    one nothing changes, and readers are told of nothing.
    """
    server_id = dimensions.server_id(conn, release.server)
    mine = (table.c.server_id == server_id) & (table.c.version == release.version)
    known = conn.scalar(sa.select(table.c.at_us).where(mine))
    if known == release.at_us:
        return Recorded.UNCHANGED
    said = {"at_us": release.at_us, "source": release.source}
    raise_data_version(conn)
    if known is None:
        conn.execute(sa.insert(table).values(server_id=server_id, version=release.version, **said))
        return Recorded.CREATED
    conn.execute(sa.update(table).where(mine).values(**said))
    raise_counter(conn, "release_moves")
    return Recorded.MOVED
