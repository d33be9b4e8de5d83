"""
What people tell, written within the write transaction that *conn* has open. Each change raises the version of
the data and leaves a line in the audit; telling the same again does neither.
"""

from collections.abc import Collection

from service.events import Recorded
from service.names import TEXT_LIMIT, shown_key
from service.store import audit
from service.store.driver import Connection, Values
from service.store.numbers import keep_number, new_number
from service.store.writer import raise_data_version
from service.told import Alias, Exclusion, Mark, Note


def key_shown(conn: Connection, name: str) -> str | None:
    """
    The key of the client that answers show as *name*; None where there is none. Read as a line's name,
    what looks like a bridge or a version would be taken off a second time, and a cut name cut again.
    """
    wanted = name.strip()
    found = conn.rows("SELECT key FROM client WHERE key = ? LIMIT 1", (shown_key(wanted),))
    if not found and len(wanted) > TEXT_LIMIT:
        found = conn.rows("SELECT key FROM client WHERE name = ? LIMIT 1", (wanted,))
    return str(found[0][0]) if found else None


def leads_to(conn: Connection, client: str, other: str) -> bool:
    """Whether the client *client*, by its aliases, is *other* in the end or on the way."""
    targets: dict[str, str] = dict(conn.rows("SELECT key, target FROM alias"))
    seen: set[str] = set()
    while client not in seen:
        if client == other:
            return True
        seen.add(client)
        client = shown_key(targets[client]) if client in targets else client
    return False


def tell_alias(conn: Connection, alias: Alias) -> Recorded:
    """Keep an alias; a client that had another one has this one from now on."""
    known = conn.rows("SELECT target, note FROM alias WHERE key = ?", (alias.client,))
    if known == [(alias.target, alias.note)]:
        return Recorded.UNCHANGED
    conn.run("DELETE FROM alias WHERE key = ?", (alias.client,))
    conn.run(
        "INSERT INTO alias (key, target, note, said_us, actor) VALUES (?, ?, ?, ?, ?)",
        (alias.client, alias.target, alias.note, alias.said_us, alias.actor),
    )
    detail = {"is": alias.target, "note": alias.note}
    audit.record(conn, alias.said_us, alias.actor, "alias", alias.client, detail)
    raise_data_version(conn)
    return Recorded.MOVED if known else Recorded.CREATED


def drop_alias(conn: Connection, client: str, at_us: int, actor: str) -> bool:
    """Take an alias back; False where there is none."""
    known = conn.rows("SELECT target FROM alias WHERE key = ?", (client,))
    if not known:
        return False
    conn.run("DELETE FROM alias WHERE key = ?", (client,))
    audit.record(conn, at_us, actor, "unalias", client, {"was": known[0][0]})
    raise_data_version(conn)
    return True


_RULE = ("server", "client", "version", "network")


def tell_exclusion(conn: Connection, rule: Exclusion) -> tuple[int, Recorded]:
    """Keep a rule; the number by which it can be taken back, also of one that was known."""
    wanted = tuple(getattr(rule, part) for part in _RULE)
    for id_, *parts in conn.rows(f"SELECT id, {', '.join(_RULE)} FROM exclusion ORDER BY id"):
        if tuple(parts) == wanted:
            return id_, Recorded.UNCHANGED
    id_ = new_number(conn, "exclusion")
    conn.run(
        "INSERT INTO exclusion (id, server, client, version, network, note, said_us, actor) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (id_, *wanted, rule.note, rule.said_us, rule.actor),
    )
    detail = {part: value for part, value in zip(_RULE, wanted, strict=True) if value is not None}
    detail["note"] = rule.note
    audit.record(conn, rule.said_us, rule.actor, "exclude", f"exclusion {id_}", detail)
    raise_data_version(conn)
    return id_, Recorded.CREATED


def drop_exclusion(conn: Connection, id_: int, at_us: int, actor: str) -> bool:
    """Take a rule back; False where there is none."""
    known = conn.rows(f"SELECT {', '.join(_RULE)} FROM exclusion WHERE id = ?", (id_,))
    if not known:
        return False
    keep_number(conn, "exclusion")
    conn.run("DELETE FROM exclusion WHERE id = ?", (id_,))
    was = {part: value for part, value in zip(_RULE, known[0], strict=True) if value is not None}
    audit.record(conn, at_us, actor, "include", f"exclusion {id_}", was)
    raise_data_version(conn)
    return True


def unknown(conn: Connection, mark: Mark, rests: Collection[str] = ()) -> tuple[str, ...]:
    """
    What of a mark's `server`, `client` and `name` no line and nothing that was told has. The name is
    known where one of *rests* is in the catalogue: what is left of it after a gateway's prefix.
    """
    asked: dict[str, tuple[tuple[str, Values], ...]] = {
        "server": (("SELECT 1 FROM server WHERE name = ? LIMIT 1", (mark.server,)),),
        "client": (
            ("SELECT 1 FROM client WHERE key = ? LIMIT 1", (mark.client,)),
            ("SELECT 1 FROM alias WHERE key = ? LIMIT 1", (mark.client,)),
        ),
        "name": (
            ("SELECT 1 FROM tool WHERE name = ? LIMIT 1", (mark.name,)),
            *(("SELECT 1 FROM entry WHERE name = ? LIMIT 1", (n,)) for n in (mark.name, *rests)),
        ),
    }
    given = {"server": True, "client": mark.client != "", "name": mark.name is not None}
    return tuple(
        what
        for what, queries in asked.items()
        if given[what] and not any(conn.rows(query, values) for query, values in queries)
    )


def tell_mark(conn: Connection, mark: Mark, client: str) -> int:
    """Keep a mark of what was called *client*; the number by which it can be taken back."""
    id_ = new_number(conn, "mark")
    conn.run(
        "INSERT INTO mark (id, kind, server, client, tool, at_us, note, said_us, actor) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            id_,
            str(mark.kind),
            mark.server,
            mark.client,
            mark.name,
            mark.at_us,
            mark.note,
            mark.said_us,
            mark.actor,
        ),
    )
    detail = {
        "server": mark.server,
        "client": client,
        "name": mark.name,
        "at_us": mark.at_us,
        "note": mark.note,
    }
    audit.record(conn, mark.said_us, mark.actor, str(mark.kind), f"mark {id_}", detail)
    raise_data_version(conn)
    return id_


def withdraw_mark(conn: Connection, id_: int, at_us: int, actor: str) -> bool:
    """Take a mark back; False where there is none that stands."""
    known = conn.rows("SELECT kind FROM mark WHERE id = ? AND withdrawn_us IS NULL", (id_,))
    if not known:
        return False
    conn.run("UPDATE mark SET withdrawn_us = ? WHERE id = ?", (at_us, id_))
    audit.record(conn, at_us, actor, "withdraw", f"mark {id_}", {"was": known[0][0]})
    raise_data_version(conn)
    return True


def tell_note(conn: Connection, note: Note) -> tuple[int, Recorded]:
    """Keep a note; the number by which it can be taken back, also of one that was known."""
    known = conn.rows(
        "SELECT id, server FROM note WHERE at_us = ? AND text = ? ORDER BY id",
        (note.at_us, note.text),
    )
    for id_, server in known:
        if server == note.server:
            return id_, Recorded.UNCHANGED
    id_ = new_number(conn, "note")
    conn.run(
        "INSERT INTO note (id, server, at_us, text, said_us, actor) VALUES (?, ?, ?, ?, ?, ?)",
        (id_, note.server, note.at_us, note.text, note.said_us, note.actor),
    )
    detail = {"server": note.server, "at_us": note.at_us, "text": note.text}
    audit.record(conn, note.said_us, note.actor, "note", f"note {id_}", detail)
    raise_data_version(conn)
    return id_, Recorded.CREATED


def drop_note(conn: Connection, id_: int, at_us: int, actor: str) -> bool:
    """Take a note back; False where there is none."""
    known = conn.rows("SELECT server, at_us, text FROM note WHERE id = ?", (id_,))
    if not known:
        return False
    keep_number(conn, "note")
    conn.run("DELETE FROM note WHERE id = ?", (id_,))
    was = dict(zip(("server", "at_us", "text"), known[0], strict=True))
    audit.record(conn, at_us, actor, "unnote", f"note {id_}", was)
    raise_data_version(conn)
    return True
