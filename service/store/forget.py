"""
A client or a whole server forgotten: events, what was derived from them, and what was said of them.

Unlike a batch taken back, nothing is left to anybody. The account of what arrived (records by fate) and the
hours heard stay for a client: they are numbers that name nobody.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from service import names
from service.errors import NotFound
from service.events import Kind
from service.store import audit, forget_told, removal
from service.store.dialect import run_each
from service.store.driver import Connection, Values
from service.store.numbers import ACCEPTED, keep_number
from service.store.writer import raise_data_version

_ONE_CLIENT = """
(e.client_id IN (SELECT c.id FROM client AS c WHERE c.key = ?)
 OR (e.client_id IS NULL AND e.session_id IN (
   SELECT s.id FROM session AS s JOIN client AS c
     ON c.id = coalesce(s.hello_client_id, s.named_client_id) WHERE c.key = ?)))
"""
_ONLY_THERE = """
SELECT count(*) FROM (
  SELECT e.{column} FROM event AS e WHERE e.{column} IS NOT NULL GROUP BY e.{column}
  HAVING sum(CASE WHEN {which} THEN 0 ELSE 1 END) = 0) AS only_there
"""
_NOTES = """
DELETE FROM redelivery
WHERE (time_us, key) IN (SELECT time_us, key FROM gone_event)
"""
_REJECTS = """
SELECT r.id, r.excerpt FROM reject AS r JOIN batch AS b ON b.id = r.batch_id
JOIN source AS s ON s.id = b.source_id WHERE r.id > ? AND ({of}) ORDER BY r.id LIMIT 1000
"""
_SPELLINGS = "SELECT id, raw FROM client WHERE key = ? ORDER BY raw"
_UNUSED_SPELLINGS = """
DELETE FROM client WHERE key = ?
  AND id NOT IN (SELECT client_id FROM activity)
  AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.client_id = client.id AND e.counted = 0)
"""
_BATCHES = (
    "SELECT b.id FROM batch AS b JOIN source AS s ON s.id = b.source_id WHERE s.server_id = ?"
)
_SOURCES = "SELECT id FROM source WHERE server_id = ?"
_SAID_OF_SERVER = ("release", "entry", "snapshot")
"""Tables of what was told that name the server by its id."""
_SUBJECTS = "SELECT id FROM subject WHERE server_id = ?"
_OF_SERVER = (
    ("reject", f"batch_id IN ({_BATCHES})"),
    ("redelivery", f"batch_id IN ({_BATCHES})"),
    ("tally", f"batch_id IN ({_BATCHES})"),
    ("ledger", f"source_id IN ({_SOURCES})"),
    ("batch", f"source_id IN ({_SOURCES})"),
    ("said", f"subject_id IN ({_SUBJECTS})"),
    *(
        (table, "server_id = ?")
        for table in ("source", *_SAID_OF_SERVER, "subject", "fact", "caller", "session")
    ),
    ("server", "id = ?"),
)
"""What goes with a server, by its id, in an order that foreign keys allow."""
_PLANNED = "plan_id IN (SELECT id FROM plan WHERE server = ?)"
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")
_TOLD_OF_SERVER = ("mark", "exclusion", "note", "plan")
"""Tables that name the server by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What forgetting comes to, or (`dry_run`) would come to. Numbers of rows that go."""

    client: str | None
    """Its key."""
    server: str | None
    spellings: list[str]
    """Raw spellings of the client; those that another server still has stay."""
    events: dict[Kind, int]
    sessions: int
    callers: int
    quarantined: int
    told: int
    """Marks, exclusions, places in plans, words of the weekly log and, of a client, aliases; of a server also
    releases, the catalogue and lists of tools."""
    batches: int = 0
    places: int = 0
    """Followed files."""
    dry_run: bool = True
    quarantined_ids: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The form of `lastcall db forget --json`."""
        return {
            "client": self.client,
            "server": self.server,
            "spellings": self.spellings,
            "deleted": sum(self.events.values()),
            "events": {kind.word: number for kind, number in sorted(self.events.items())},
            "sessions": self.sessions,
            "callers": self.callers,
            "quarantined": self.quarantined,
            "told": self.told,
            "batches": self.batches,
            "followed": self.places,
            "dry_run": self.dry_run,
        }


def plan(conn: Connection, client: str | None, server: str | None) -> Forgotten:
    """
    Count what forgetting a client (at one server, or everywhere) or a whole server comes to; a reading
    connection will do. Reads every event a few times.

    Raises:
        NotFound: Nothing is known of it.
    """
    server_id = None if server is None else _server_id(conn, server)
    if client is not None:
        return _plan_client(conn, client, server, server_id)
    assert server is not None and server_id is not None  # noqa: S101, PT018 - the caller sees to it
    which, values = "e.server_id = ?", (server_id,)
    told = sum(_count(conn, table, "server_id = ?", (server_id,)) for table in _SAID_OF_SERVER)
    told += sum(_count(conn, table, "server = ?", (server,)) for table in _TOLD_OF_SERVER)
    told += _count(conn, "said", f"subject_id IN ({_SUBJECTS})", (server_id,))
    return _with_events(
        conn,
        which,
        values,
        Forgotten(
            client=None,
            server=server,
            spellings=[],
            events={},
            sessions=_count(conn, "session", "server_id = ?", (server_id,)),
            callers=_count(conn, "caller", "server_id = ?", (server_id,)),
            quarantined=_count(conn, "reject", f"batch_id IN ({_BATCHES})", (server_id,)),
            told=told,
            batches=_count(conn, "batch", f"source_id IN ({_SOURCES})", (server_id,)),
            places=_count(conn, "followed", "server = ?", (server,)),
        ),
    )


def forget(
    conn: Connection, client: str | None, server: str | None, now_us: int, *, actor: str
) -> Forgotten:
    """
    Forget a client or a server within the write transaction that *conn* has open.

    Raises:
        NotFound: As `plan`.
    """
    done = replace(plan(conn, client, server), dry_run=False)
    server_id = None if server is None else _server_id(conn, server)
    if done.client is not None:
        which, values = _of_client(done.client, server_id)
    else:
        which, values = "e.server_id = ?", (server_id,)
    with removal.prepared(conn):
        removal.gather(conn, which, values)
        conn.run(_NOTES)
        removal.remove(conn, every_name=True)
    if done.client is not None:
        _forget_client(conn, done.client, done)
    elif server_id is not None:
        _forget_server(conn, done, server_id)
    # Which client it was must not be told for ever by the very line that says it was forgotten.
    subject = f"server {server}" if done.client is None else "a client"
    said = done.as_json()
    detail = {name: said[name] for name in ("server", "deleted", "quarantined", "batches")}
    audit.record(conn, now_us, actor, "forget", subject, detail)
    raise_data_version(conn)
    return done


def _plan_client(
    conn: Connection, client: str, server: str | None, server_id: int | None
) -> Forgotten:
    key = _key(conn, client)
    spellings = [raw for _, raw in conn.rows(_SPELLINGS, (key,))]
    which, values = _of_client(key, server_id)
    rejects = list(_rejects_naming(conn, key, [client, *spellings], server_id))
    sessions, callers = (
        conn.rows(_ONLY_THERE.format(column=column, which=which), values)[0][0]
        for column in ("session_id", "caller_id")
    )
    found = _with_events(
        conn,
        which,
        values,
        Forgotten(
            client=key,
            server=server,
            spellings=spellings,
            events={},
            sessions=sessions,
            callers=callers,
            quarantined=len(rejects),
            quarantined_ids=rejects,
            told=forget_told.count(conn, key, server),
        ),
    )
    if not (found.events or rejects or found.told or (spellings and server is None)):
        at = "" if server is None else f" at server {server!r}"
        raise NotFound(f"nothing is known of client {client!r}{at}; /api/v1/clients lists them")
    return found


def _forget_client(conn: Connection, key: str, done: Forgotten) -> None:
    conn.run(_UNUSED_SPELLINGS, (key,))
    run_each(conn, "DELETE FROM reject WHERE id = ?", [(each,) for each in done.quarantined_ids])
    forget_told.forget(conn, key, done.server)


def _forget_server(conn: Connection, done: Forgotten, server_id: int) -> None:
    for table in ("batch", *_TOLD_OF_SERVER):
        keep_number(conn, table)
    for table, where in _OF_SERVER:
        conn.run(f"DELETE FROM {table} WHERE {where}", (server_id,))
    conn.run("DELETE FROM meta WHERE name = ?", (f"{ACCEPTED}{server_id}",))
    conn.run(f"DELETE FROM plan_unit WHERE {_PLANNED}", (done.server,))
    for table in _TOLD_OF_SERVER:
        conn.run(f"DELETE FROM {table} WHERE server = ?", (done.server,))
    mine = "SELECT id FROM followed WHERE server = ?"
    conn.run(f"DELETE FROM followed_page WHERE followed_id IN ({mine})", (done.server,))
    conn.run("DELETE FROM followed WHERE server = ?", (done.server,))


def _key(conn: Connection, client: str) -> str:
    """The key of a client by any spelling or, first, by the name that answers show it by."""
    shown = names.shown_key(client)
    cut = client.strip()
    found = conn.rows(
        "SELECT key FROM client WHERE key = ? OR (name = ? AND ? > ?) LIMIT 1",
        (shown, cut, len(cut), names.TEXT_LIMIT),
    )
    if found:
        return str(found[0][0])
    read = names.read_client(client)
    if read is None:
        raise NotFound(
            "nothing is left of this name once it is read; name a client as answers show it"
        )
    return read.key


def _of_client(key: str, server_id: int | None) -> tuple[str, Values]:
    if server_id is None:
        return _ONE_CLIENT, (key, key)
    return f"({_ONE_CLIENT} AND e.server_id = ?)", (key, key, server_id)


def _with_events(conn: Connection, which: str, values: Values, found: Forgotten) -> Forgotten:
    sql = f"SELECT e.kind, count(*) FROM event AS e WHERE {which} GROUP BY e.kind"
    return replace(found, events={Kind(kind): n for kind, n in conn.rows(sql, values)})


def _rejects_naming(
    conn: Connection, key: str, spellings: Sequence[str], server_id: int | None
) -> Iterator[int]:
    """Ids of the rejected records whose excerpt names the client, as text or as JSON writes it."""
    texts = {text.strip().casefold() for text in (key, *spellings)} - {""}
    found = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))
    naming = re.compile(rf"(?<!\w)(?:{found})(?!\w)")
    of, values = ("1 = 1", ()) if server_id is None else ("s.server_id = ?", (server_id,))
    last = 0
    while page := conn.rows(_REJECTS.format(of=of), (last, *values)):
        yield from (number for number, excerpt in page if naming.search(_plain(excerpt)))
        last = page[-1][0]


def _plain(excerpt: str) -> str:
    """An excerpt in lower case, with what JSON escapes as itself."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), excerpt)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").casefold()


def _server_id(conn: Connection, server: str) -> int:
    found = conn.rows("SELECT id FROM server WHERE name = ?", (server,))
    if not found:
        raise NotFound(f"no server {server!r}; /api/v1/servers lists them")
    return int(found[0][0])


def _count(conn: Connection, table: str, where: str, values: Values) -> int:
    [(rows,)] = conn.rows(f"SELECT count(*) FROM {table} WHERE {where}", values)
    return int(rows)
