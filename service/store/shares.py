"""
Links that show one filter, within a transaction that *conn* has open. A row is never deleted: so no number is given
twice, and the audit's lines stay true.
"""

from dataclasses import replace
from hmac import compare_digest

from service.names import read_client, shown_key
from service.shares import Bound, Share
from service.store import audit
from service.store.driver import Connection, Values
from service.store.told import key_shown
from service.store.writer import raise_data_version

_COLUMNS = (
    "id, server, name, client, embed, created_us, actor, expires_us, used_us, revoked_us, "
    "revoked_by"
)


def shares(conn: Connection) -> list[Share]:
    """Every link, the oldest first, those that have ended too."""
    return [_share(row) for row in conn.rows(f"SELECT {_COLUMNS} FROM share ORDER BY id")]


def by_digest(conn: Connection, digest: str) -> Share | None:
    """The link of that digest, whether it still stands or not."""
    found = conn.rows(f"SELECT digest, {_COLUMNS} FROM share WHERE digest = ?", (digest,))
    # The index compared digests, from which no secret can be found step by step; this is for certain.
    if not found or not compare_digest(str(found[0][0]), digest):
        return None
    share = _share(found[0][1:])
    return (
        replace(share, known_as=known_as(conn, share.bound.client)) if share.bound.client else share
    )


def by_number(conn: Connection, id_: int) -> Share | None:
    """The link of that number."""
    found = conn.rows(f"SELECT {_COLUMNS} FROM share WHERE id = ?", (id_,))
    return _share(found[0]) if found else None


def servers(conn: Connection) -> list[str]:
    """The names of all servers, in their order."""
    return [str(name) for (name,) in conn.rows("SELECT name FROM server ORDER BY name")]


def knows_name(conn: Connection, server: str, name: str) -> bool:
    """Whether a tool of that name was ever called, or the catalogue of the server has it."""
    return bool(
        conn.rows("SELECT 1 FROM tool WHERE name = ?", (name,))
        or conn.rows(
            "SELECT 1 FROM entry JOIN server ON server.id = entry.server_id "
            "WHERE server.name = ? AND entry.name = ? LIMIT 1",
            (server, name),
        )
    )


def knows_client(conn: Connection, client: str) -> bool:
    """Whether a client was ever seen under that name, or was given it."""
    read = read_client(client)
    if key_shown(conn, client) or (read is not None and key_shown(conn, read.key)):
        return True
    return any(shown_key(target) == shown_key(client) for target in _given(conn).values())


def known_as(conn: Connection, client: str) -> frozenset[str]:
    """Every key that stands for a client, by the names that it was given."""
    read, given = read_client(client), _given(conn)
    mine = {shown_key(client)} | (set() if read is None else {read.key})
    ends = {_end(given, key) for key in mine}
    others = {key for key in given if _end(given, key) in ends}
    return frozenset(mine | ends | others)


def _given(conn: Connection) -> dict[str, str]:
    return {str(key): str(target) for key, target in conn.rows("SELECT key, target FROM alias")}


def _end(given: dict[str, str], key: str) -> str:
    """Where the names that a client was given end; of a circle, which telling refuses, anywhere."""
    met = {key}
    while key in given and (following := shown_key(given[key])) not in met:
        key = following
        met.add(key)
    return key


def keep_share(conn: Connection, share: Share, digest: str) -> int:
    """Keep a new link; its number."""
    bound = share.bound
    [(id_,)] = conn.rows(
        "INSERT INTO share (digest, server, name, client, embed, created_us, actor, expires_us) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            digest,
            bound.server,
            bound.name,
            bound.client,
            " ".join(share.embed),
            share.created_us,
            share.actor,
            share.expires_us,
        ),
    )
    detail = {**bound.given(), "embed": list(share.embed), "expires_us": share.expires_us}
    audit.record(conn, share.created_us, share.actor, "share", f"link {id_}", detail)
    raise_data_version(conn)
    return int(id_)


def revoke_share(conn: Connection, share: Share, at_us: int, actor: str) -> None:
    """End a link that stands."""
    conn.run(
        "UPDATE share SET revoked_us = ?, revoked_by = ? WHERE id = ?", (at_us, actor, share.id)
    )
    audit.record(conn, at_us, actor, "revoke share", f"link {share.id}", share.bound.given())
    raise_data_version(conn)


def note_use(conn: Connection, id_: int, at_us: int) -> None:
    """Keep when a link was last used. No answer changes by it."""
    conn.run(
        "UPDATE share SET used_us = ? WHERE id = ? AND (used_us IS NULL OR used_us < ?)",
        (at_us, id_, at_us),
    )


def _share(row: Values) -> Share:
    id_, server, name, client, embed, created_us, actor, expires_us, used_us, revoked_us, by = row
    return Share(
        id=id_,
        bound=Bound(server=server, name=name, client=client),
        embed=tuple(str(embed).split()),
        created_us=created_us,
        actor=actor,
        expires_us=expires_us,
        used_us=used_us,
        revoked_us=revoked_us,
        revoked_by=by,
    )
