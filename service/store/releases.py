"""Releases, written: one row a server and version."""

from service.events import Recorded, Release
from service.store import dimensions
from service.store.driver import Connection
from service.store.writer import raise_counter, raise_data_version


def record(conn: Connection, release: Release) -> Recorded:
    """
    Keep a release within the write transaction that *conn* has open; its server is made where it is new.

    A version that is known is not stored again: with another instant it is moved there, with the same
    one nothing changes, and readers are told of nothing.
    """
    server_id = dimensions.server_id(conn, release.server)
    mine = (server_id, release.version)
    known = conn.rows("SELECT at_us FROM release WHERE server_id = ? AND version = ?", mine)
    if known == [(release.at_us,)]:
        return Recorded.UNCHANGED
    raise_data_version(conn)
    said = (release.at_us, release.source, *mine)
    if not known:
        conn.run(
            "INSERT INTO release (at_us, source, server_id, version) VALUES (?, ?, ?, ?)", said
        )
        return Recorded.CREATED
    conn.run("UPDATE release SET at_us = ?, source = ? WHERE server_id = ? AND version = ?", said)
    raise_counter(conn, "release_moves")
    return Recorded.MOVED
