"""
The two secrets of a database: one keys the identity of events, one hashes who sent them.

They are part of every back-up and never change while there is an event, since neither keys nor
hashes can be computed again from what is stored.
"""

import secrets

from service.errors import LastCallError
from service.store.dialect import insert_many
from service.store.driver import SECRETS, Connection

SECRET_BYTES = 32


def read_secrets(conn: Connection) -> tuple[bytes, bytes]:
    """
    Return (key secret, identity secret), 32 bytes each; a reading connection will do.

    Raises:
        LastCallError: The database has none: it was not brought up by `migrate`.
    """
    found = _stored(conn)
    if len(found) < len(SECRETS):
        raise LastCallError("the database has no secrets; run `lastcall db upgrade`")
    key, identity = (bytes.fromhex(found[name]) for name in SECRETS)
    return key, identity


def has_secrets(conn: Connection) -> bool:
    """Whether the database has both of its secrets."""
    return len(_stored(conn)) == len(SECRETS)


def make_secrets(conn: Connection) -> None:
    """
    Make the secrets that the database lacks; *conn* is a writing one.

    Raises:
        LastCallError: One is lacking although there are events, all of which would be taken for new
            ones when they are sent again.
    """
    found = _stored(conn)
    missing = [name for name in SECRETS if name not in found]
    if not missing:
        return
    if _holds_events(conn):
        raise LastCallError(
            "the secrets of the database are lost, so the keys of its events cannot be computed any "
            "more; restore it from a back-up, which holds them"
        )
    insert_many(conn, "meta", [(name, secrets.token_hex(SECRET_BYTES)) for name in missing])


def set_secrets(conn: Connection, key: bytes, identity: bytes) -> None:
    """
    Give an empty database the secrets of another one, as restoring a back-up does.

    Raises:
        LastCallError: The database holds events already, or a secret is not 32 bytes long.
    """
    if {len(key), len(identity)} != {SECRET_BYTES}:
        raise LastCallError(f"each secret is {SECRET_BYTES} bytes long; take both from a back-up")
    if _holds_events(conn):
        raise LastCallError(
            "the database holds events, whose keys depend on its secrets; restore into an empty one"
        )
    insert_many(
        conn,
        "meta",
        list(zip(SECRETS, (key.hex(), identity.hex()), strict=True)),
        conflict="ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )


def _holds_events(conn: Connection) -> bool:
    return bool(conn.rows("SELECT 1 FROM event LIMIT 1"))


def _stored(conn: Connection) -> dict[str, str]:
    return dict(conn.rows("SELECT name, value FROM meta WHERE name IN (?, ?)", SECRETS))
