"""
What was told of a client, forgotten with it: marks, rules that name it, places in plans, words of the weekly
log, aliases of it and onto it. Where it is
forgotten everywhere, its name leaves the audit, too: the lines stay and say what was done, not of whom.
"""

import json
from collections.abc import Iterator
from typing import Any

from service.names import shown_key
from service.store.dialect import run_each
from service.store.driver import Connection, Values
from service.store.numbers import keep_number

NOBODY = "a forgotten client"
_TABLES = ("mark", "exclusion")
_SAID = """
SELECT id, subject, detail FROM audit
WHERE action IN ('alias', 'unalias', 'exclude', 'include', 'contacted', 'known', 'resolved')
"""
_MEMBERS = ("client", "is", "was")
"""Members of an audit line's detail that name a client."""


def count(conn: Connection, key: str, server: str | None) -> int:
    """How many rows go, for the client with this key: at one server, or (None) everywhere."""
    found = 0
    for table, where, values in _rows(key, server):
        if table == "subject":
            continue  # whom words were about, which are counted
        [(number,)] = conn.rows(f"SELECT count(*) FROM {table} WHERE {where}", values)
        found += number
    return found + len(_aliases(conn, key, server))


def forget(conn: Connection, key: str, server: str | None) -> None:
    """Delete what was told of the client, within the write transaction that *conn* has open."""
    for table, where, values in _rows(key, server):
        if table in _TABLES:
            keep_number(conn, table)
        conn.run(f"DELETE FROM {table} WHERE {where}", values)
    run_each(conn, "DELETE FROM alias WHERE key = ?", _aliases(conn, key, server))
    if server is None:
        lines = list(_blanked(conn, key))
        run_each(conn, "UPDATE audit SET subject = ?, detail = ? WHERE id = ?", lines)


def _rows(key: str, server: str | None) -> Iterator[tuple[str, str, Values]]:
    """
    Table, condition and values of marks, of rules (a pattern such as `zed*` names nobody alone), of places in
    plans, and of what the weekly log said of it, its words before whom they were about.
    """
    for table in _TABLES:
        if server is None:
            yield table, "client = ?", (key,)
        else:
            yield table, "client = ? AND server = ?", (key, server)
    values = (key,) if server is None else (key, server)
    of = "" if server is None else " AND plan_id IN (SELECT id FROM plan WHERE server = ?)"
    yield "plan_unit", f"client = ?{of}", values
    of = "" if server is None else " AND server_id IN (SELECT id FROM server WHERE name = ?)"
    subjects = f"client = ? AND everyone = 0{of}"
    yield "said", f"subject_id IN (SELECT id FROM subject WHERE {subjects})", values
    yield "subject", subjects, values


def _aliases(conn: Connection, key: str, server: str | None) -> list[Values]:
    """Keys of the aliases that name the client; an alias is of all servers."""
    if server is not None:
        return []
    rows = conn.rows("SELECT key, target FROM alias")
    return [(of,) for of, target in rows if key in (of, shown_key(target))]


def _blanked(conn: Connection, key: str) -> Iterator[Values]:
    """Subject, detail and id of the audit's lines about the client, as they are without its name."""
    for id_, subject, text in conn.rows(_SAID):
        detail: dict[str, Any] = json.loads(text)
        named = [
            member
            for member in _MEMBERS
            if isinstance(detail.get(member), str) and shown_key(detail[member]) == key
        ]
        if subject != key and not named:
            continue
        detail |= dict.fromkeys(named, NOBODY)
        if "note" in detail:
            detail["note"] = ""  # which may name it
        said = json.dumps(detail, ensure_ascii=False, sort_keys=True)
        yield NOBODY if subject == key else subject, said, id_
