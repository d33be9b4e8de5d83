"""
Tokens, within a transaction that *conn* has open. A row is never deleted: so no name is given twice, and a
database that ever had a token is known.
"""

from hmac import compare_digest

from service.store import audit
from service.store.driver import Connection, Values
from service.store.writer import raise_data_version
from service.tokens import Limits, Scope, Token

_COLUMNS = (
    "id, name, scope, server, records_per_s, burst, sent_bytes, body_bytes, line_bytes, depth, "
    "created_us, actor, used_us, revoked_us, revoked_by"
)


def ever_any(conn: Connection) -> bool:
    """Whether a token was ever made, revoked ones included."""
    return bool(conn.rows("SELECT 1 FROM token LIMIT 1"))


def tokens(conn: Connection) -> list[Token]:
    """Every token, the oldest first, revoked ones too."""
    return [_token(row) for row in conn.rows(f"SELECT {_COLUMNS} FROM token ORDER BY id")]


def by_digest(conn: Connection, digest: str) -> Token | None:
    """The token of that digest, unless it is revoked."""
    found = conn.rows(
        f"SELECT digest, {_COLUMNS} FROM token WHERE digest = ? AND revoked_us IS NULL", (digest,)
    )
    # The index compared digests, from which no secret can be found step by step; this is for certain.
    if not found or not compare_digest(str(found[0][0]), digest):
        return None
    return _token(found[0][1:])


def by_name(conn: Connection, name: str) -> tuple[Token, str] | None:
    """The token of that name and its digest, revoked or not."""
    found = conn.rows(f"SELECT digest, {_COLUMNS} FROM token WHERE name = ?", (name,))
    return (_token(found[0][1:]), str(found[0][0])) if found else None


def by_number(conn: Connection, id_: int) -> tuple[Token, str] | None:
    """The token of that number and its digest, unless it is revoked."""
    found = conn.rows(
        f"SELECT digest, {_COLUMNS} FROM token WHERE id = ? AND revoked_us IS NULL", (id_,)
    )
    return (_token(found[0][1:]), str(found[0][0])) if found else None


def keep_token(conn: Connection, token: Token, digest: str) -> int:
    """Keep a new token, whose name no token ever had; its number."""
    limits = token.limits
    [(id_,)] = conn.rows(
        "INSERT INTO token (name, digest, scope, server, records_per_s, burst, sent_bytes, body_bytes, "
        "line_bytes, depth, created_us, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            token.name,
            digest,
            str(token.scope),
            token.server,
            limits.records_per_s,
            limits.burst,
            limits.sent_bytes,
            limits.body_bytes,
            limits.line_bytes,
            limits.depth,
            token.created_us,
            token.actor,
        ),
    )
    detail = {"scope": token.scope_text, **limits.given()}
    if token.server is not None:
        detail["server"] = token.server
    audit.record(conn, token.created_us, token.actor, "add token", f"token {token.name}", detail)
    raise_data_version(conn)
    return int(id_)


def revoke_token(conn: Connection, token: Token, at_us: int, actor: str) -> None:
    """End a token that stands."""
    conn.run(
        "UPDATE token SET revoked_us = ?, revoked_by = ? WHERE id = ?", (at_us, actor, token.id)
    )
    detail = {"scope": token.scope_text} | ({"server": token.server} if token.server else {})
    audit.record(conn, at_us, actor, "revoke token", f"token {token.name}", detail)
    raise_data_version(conn)


def note_use(conn: Connection, id_: int, at_us: int) -> None:
    """Keep when a token was last used. No answer changes by it."""
    conn.run(
        "UPDATE token SET used_us = ? WHERE id = ? AND (used_us IS NULL OR used_us < ?)",
        (at_us, id_, at_us),
    )


def _token(row: Values) -> Token:
    id_, name, scope, server, *limits, created_us, actor, used_us, revoked_us, revoked_by = row
    rate, burst, sent, body, line, depth = limits
    return Token(
        id=id_,
        name=name,
        scope=Scope(scope),
        server=server,
        limits=Limits(
            records_per_s=rate,
            burst=burst,
            sent_bytes=sent,
            body_bytes=body,
            line_bytes=line,
            depth=depth,
        ),
        created_us=created_us,
        actor=actor,
        used_us=used_us,
        revoked_us=revoked_us,
        revoked_by=revoked_by,
    )
