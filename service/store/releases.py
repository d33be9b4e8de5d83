"""Releases, written: one row a server and version."""

from service.events import Recorded, Release
from service.store import audit, dimensions
from service.store.driver import Connection
from service.store.writer import raise_counter, raise_data_version


def record(conn: Connection, release: Release, *, now_us: int, actor: str) -> Recorded:
    """
    Keep a release within the write transaction that *conn* has open; its server is made where it is new.

    A version that is known is not stored again: with another instant it is moved there, with the same
    one nothing changes, and readers are told of nothing. Each change leaves a line in the audit.
    """
    server_id = dimensions.server_id(conn, release.server)
    mine = (server_id, release.version)
    known = conn.rows("SELECT at_us FROM release WHERE server_id = ? AND version = ?", mine)
    if known == [(release.at_us,)]:
        return Recorded.UNCHANGED
    raise_data_version(conn)
    detail = {
        "server": release.server,
        "version": release.version,
        "at_us": release.at_us,
        "source": release.source,
        "was_us": known[0][0] if known else None,
    }
    subject = f"{release.server}/{release.version}"
    audit.record(conn, now_us, actor, "release", subject, detail)
    said = (release.at_us, release.source, *mine)
    if not known:
        conn.run(
            "INSERT INTO release (at_us, source, server_id, version) VALUES (?, ?, ?, ?)", said
        )
        return Recorded.CREATED
    conn.run("UPDATE release SET at_us = ?, source = ? WHERE server_id = ? AND version = ?", said)
    raise_counter(conn, "release_moves")
    return Recorded.MOVED
