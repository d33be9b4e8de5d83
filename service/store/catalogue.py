"""
The catalogue, written: versions of entries and snapshots are added, and nothing is taken away.

The same content again adds nothing and is in no audit line. Whatever is added tells readers that
answers may differ.
"""

import json
from dataclasses import replace
from typing import Any

from service.entries import NAMES, Entry, Facts, Kept, Snapshot, Told, tools_text
from service.errors import BadParameter
from service.events import Release
from service.store import audit, dimensions, releases
from service.store.driver import Connection
from service.store.writer import raise_data_version

_LATEST = """
SELECT number, last_release, replaced_by, message, retired_us, hidden, source, said_us, actor
FROM entry WHERE server_id = ? AND name = ? ORDER BY number DESC LIMIT 1
"""
_CALLED = """
SELECT 1 FROM tool AS t WHERE t.name = ? AND EXISTS (
  SELECT 1 FROM event AS e WHERE e.server_id = ? AND e.tool_id = t.id AND e.kind <= 2)
"""
_SAME_TIME = "SELECT 1 FROM snapshot WHERE server_id = ? AND at_us = ?"


def tell(
    conn: Connection, server: str, said: Told, *, at_us: int, source: str, actor: str
) -> tuple[Entry, Kept]:
    """
    Add a version of an entry within the write transaction that *conn* has open, where it says
    something else than the one before; the server is made where it is new. A hidden entry stays so
    unless that is said, too.

    Returns:
        The version that holds, and what that changed.
    """
    server_id = dimensions.server_id(conn, server)
    before = _latest(conn, server_id, server, said.name)
    changes = said.changes(before)
    if before is not None and not changes:
        return before, Kept.UNCHANGED
    entry = Entry(
        server=server,
        name=said.name,
        number=before.number + 1 if before else 1,
        facts=(before.facts if before else Facts()).told(said.said),
        hidden=changes["hidden"][1] if "hidden" in changes else bool(before and before.hidden),
        source=source,
        said_us=at_us,
        actor=actor,
    )
    _append(conn, server_id, entry, "catalogue", changes)
    return entry, Kept.CHANGED if before else Kept.CREATED


def hide(
    conn: Connection, server: str, name: str, hidden: bool, *, at_us: int, actor: str
) -> tuple[Entry, Kept]:
    """
    Hide a name from all answers but the catalogue's, or show it again. A name that is only known from
    lines gets an entry by being hidden.

    Raises:
        BadParameter: The server has no such entry, and no line calls the name.
    """
    [(server_id,)] = conn.rows("SELECT id FROM server WHERE name = ?", (server,)) or [(None,)]
    before = None if server_id is None else _latest(conn, server_id, server, name)
    if server_id is None or (
        before is None and not (hidden and conn.rows(_CALLED, (name, server_id)))
    ):
        raise BadParameter(
            "name", f"{server} has no such retired name; `catalogue list` and `names` list them"
        )
    if before is not None and before.hidden == hidden:
        return before, Kept.UNCHANGED
    entry = Entry(
        server=server,
        name=name,
        number=before.number + 1 if before else 1,
        facts=before.facts if before else Facts(),
        hidden=hidden,
        source=before.source if before else "lines",
        said_us=at_us,
        actor=actor,
    )
    _append(conn, server_id, entry, "hide" if hidden else "unhide", {})
    return entry, Kept.CHANGED if before else Kept.CREATED


def snapshot(
    conn: Connection, taken: Snapshot, *, now_us: int, dated: bool, actor: str
) -> tuple[Snapshot, Kept]:
    """
    Keep what a server lists; its server is made where it is new. A version that was not known becomes
    a release. The same list, version and protocol as in the snapshot before it is `unchanged`.

    Args:
        dated: Whether somebody gave the instant; else another one is found where it is taken.

    Raises:
        BadParameter: There is another snapshot of that very instant.
    """
    server_id = dimensions.server_id(conn, taken.server)
    text = tools_text(taken.tools)
    before = conn.rows(
        "SELECT at_us, version, protocol_version, tools FROM snapshot WHERE server_id = ? "
        f"AND at_us <= ? AND source {'=' if taken.source == NAMES else '<>'} ? "
        "ORDER BY at_us DESC LIMIT 1",
        (server_id, taken.at_us, NAMES),
    )
    if before and before[0][1:] == (taken.version, taken.protocol_version, text):
        return replace(taken, at_us=before[0][0]), Kept.UNCHANGED
    while conn.rows(_SAME_TIME, (server_id, taken.at_us)):
        if dated:
            raise BadParameter("at", "there is another snapshot of that instant; give another one")
        taken = replace(taken, at_us=taken.at_us + 1)
    conn.run(
        "INSERT INTO snapshot (server_id, at_us, version, protocol_version, source, tools, actor) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            server_id,
            taken.at_us,
            taken.version,
            taken.protocol_version,
            taken.source,
            text,
            actor,
        ),
    )
    detail = {
        "server": taken.server,
        "at_us": taken.at_us,
        "version": taken.version,
        "tools": len(taken.tools),
    }
    audit.record(conn, now_us, actor, "snapshot", taken.server, detail)
    raise_data_version(conn)
    _release(conn, server_id, taken, now_us=now_us, actor=actor)
    return taken, Kept.CREATED


def _release(conn: Connection, server_id: int, taken: Snapshot, *, now_us: int, actor: str) -> None:
    """A snapshot of a version says that it had come by then, unless somebody said when."""
    if taken.version is None or taken.source == NAMES:
        return
    known = "SELECT at_us, source FROM release WHERE server_id = ? AND version = ?"
    rows = conn.rows(known, (server_id, taken.version))
    if not rows or (rows[0][1] == "snapshot" and rows[0][0] > taken.at_us):
        release = Release(
            server=taken.server, version=taken.version, at_us=taken.at_us, source="snapshot"
        )
        releases.record(conn, release, now_us=now_us, actor=actor)


def _latest(conn: Connection, server_id: int, server: str, name: str) -> Entry | None:
    for number, release, replaced, message, retired, hidden, source, said, actor in conn.rows(
        _LATEST, (server_id, name)
    ):
        facts = Facts(
            last_release=release,
            replaced_by=None if replaced is None else tuple(json.loads(replaced)),
            message=message,
            retired_us=retired,
        )
        return Entry(
            server=server,
            name=name,
            number=number,
            facts=facts,
            hidden=bool(hidden),
            source=source,
            said_us=said,
            actor=actor,
        )
    return None


def _append(
    conn: Connection, server_id: int, entry: Entry, action: str, changes: dict[str, tuple[Any, Any]]
) -> None:
    facts = entry.facts
    replaced = facts.replaced_by
    conn.run(
        "INSERT INTO entry (server_id, name, number, last_release, replaced_by, message, retired_us, "
        "hidden, source, said_us, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            server_id,
            entry.name,
            entry.number,
            facts.last_release,
            None if replaced is None else json.dumps(replaced),
            facts.message,
            facts.retired_us,
            entry.hidden,
            entry.source,
            entry.said_us,
            entry.actor,
        ),
    )
    detail = {"server": entry.server, "number": entry.number, "source": entry.source, **changes}
    audit.record(conn, entry.said_us, entry.actor, action, f"{entry.server}/{entry.name}", detail)
    raise_data_version(conn)
