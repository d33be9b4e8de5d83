"""
The two secrets of a database: one keys the identity of events, one hashes who sent them.

They are part of every back-up and never change while there is an event, since neither keys nor
hashes can be computed again from what is stored.
"""

import secrets

import sqlalchemy as sa

from service.errors import LastCallError
from service.store.engine import Connection
from service.store.schema import event, meta

SECRET_BYTES = 32
_NAMES = ("key_secret", "identity_secret")


def read_secrets(conn: Connection) -> tuple[bytes, bytes]:
    """
    Return (key secret, identity secret), 32 bytes each; a reading connection will do.

    Raises:
        LastCallError: The database has none: it was not brought up by `migrate`.
    """
    found = _stored(conn)
    if len(found) < len(_NAMES):
        raise LastCallError("the database has no secrets; run `lastcall db upgrade`")
    key, identity = (bytes.fromhex(found[name]) for name in _NAMES)
    return key, identity


def has_secrets(conn: Connection) -> bool:
    """Whether the database has both of its secrets."""
    return len(_stored(conn)) == len(_NAMES)


def make_secrets(conn: Connection) -> None:
    """
    Make the secrets that the database lacks; *conn* is a writing one.

    Raises:
        LastCallError: One is lacking although there are events, all of which would be taken for new
            ones when they are sent again.
    """
    found = _stored(conn)
    missing = [name for name in _NAMES if name not in found]
    if not missing:
        return
    if _holds_events(conn):
        raise LastCallError(
            "the secrets of the database are lost, so the keys of its events cannot be computed any "
            "more; restore it from a back-up, which holds them"
        )
    made = [{"name": name, "value": secrets.token_hex(SECRET_BYTES)} for name in missing]
    conn.execute(meta.insert(), made)


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
    conn.execute(meta.delete().where(meta.c.name.in_(_NAMES)))
    values = zip(_NAMES, (key.hex(), identity.hex()), strict=True)
    conn.execute(meta.insert(), [{"name": name, "value": value} for name, value in values])


def _holds_events(conn: Connection) -> bool:
    return bool(conn.scalar(sa.select(sa.exists(sa.select(event.c.key)))))


def _stored(conn: Connection) -> dict[str, str]:
    rows = conn.execute(sa.select(meta.c.name, meta.c.value).where(meta.c.name.in_(_NAMES)))
    return {row.name: row.value for row in rows}
