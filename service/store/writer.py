"""
The write side: one portion of a delivery, stored exactly once with all that is derived from it.

Whatever the order, the split into portions and the re-sends of the same rows, the database says the
same in the end (but for the ids, and for which batch brought a row). A row that is stored already
leaves nothing but its place in the account, even where it says something else than the stored one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from service.clock import QUARTER_US
from service.events import Portion, Row, Stored
from service.store import calls, dimensions, schema, sessions, tallies
from service.store.calls import Identity
from service.store.dialect import Values, insert_many, run_matching
from service.store.dimensions import Ids, Place
from service.store.engine import Connection
from service.store.rollups import Changes
from service.store.sessions import Naming, Session, SessionKey

_EVENT = [
    "time_us",
    "key",
    "kind",
    "server_id",
    "source_id",
    "batch_id",
    "client_id",
    "caller_id",
    "session_id",
    "tool_id",
    "version_id",
    "fact_id",
    "outcome",
    "counted",
]
_EXTRA = [
    "time_us",
    "key",
    "call",
    "request_id",
    "trigger",
    "protocol_version",
    "ttl_ms",
    "listed_count",
    "ns",
    "arrival",
]

_STORED = """
SELECT e.time_us, e.key FROM {wanted} CROSS JOIN event AS e
WHERE e.time_us = wanted.column1 AND e.key = wanted.column2
"""


def add(conn: Connection, portion: Portion, *, quarantine_days: int) -> Stored:
    """
    Store a portion within the write transaction that *conn* has open.

    Rejected records older than *quarantine_days* are dropped on the way.

    Returns:
        How many rows were new, how many were stored already, and the new ones by kind.
    """
    place = dimensions.place_of(conn, portion)
    new = _new_rows(conn, _with_first_times(conn, portion.rows))
    if new:
        _add_rows(conn, place, new)
    accepted = len(new)
    duplicates = len(portion.rows) - accepted
    dropped = tallies.quarantine(conn, portion, place, days=quarantine_days)
    tallies.add_fates(conn, portion, place, accepted=accepted, duplicates=duplicates)
    tallies.add_hours(conn, portion, place)
    if dropped or portion.rows or portion.rejected or portion.ignored or portion.hours:
        raise_data_version(conn)
    events = Counter(row.kind for row in new.values())
    return Stored(batch=place.batch, accepted=accepted, duplicates=duplicates, events=dict(events))


def raise_data_version(conn: Connection) -> None:
    """Tell readers that answers may differ from now on."""
    raise_counter(conn, "data_version")


def raise_counter(conn: Connection, name: str) -> None:
    """Raise one of the counters in `meta` by one."""
    insert_many(
        conn,
        schema.meta,
        ["name", "value"],
        [(name, "1")],
        conflict="ON CONFLICT (name) DO UPDATE "
        "SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)",
    )


def _with_first_times(conn: Connection, rows: list[Row]) -> Iterable[Row]:
    """Give each row that has only the time of its arrival the time at which it first arrived."""
    arrivals: dict[int, int] = {}
    for row in rows:
        if row.arrival:
            arrivals.setdefault(row.key, row.time_us)
    if not arrivals:
        return rows
    keys = [(key,) for key in arrivals]
    select = (
        "SELECT a.key, a.time_us FROM {wanted} CROSS JOIN arrival AS a WHERE a.key = wanted.column1"
    )
    known: dict[int, int] = dict(run_matching(conn, select, ["int8"], keys))
    new = sorted((key, time_us) for key, time_us in arrivals.items() if key not in known)
    insert_many(conn, schema.arrival, ["key", "time_us"], new)
    first = arrivals | known
    return [replace(row, time_us=first[row.key]) if row.arrival else row for row in rows]


def _new_rows(conn: Connection, rows: Iterable[Row]) -> dict[Identity, Row]:
    """
    The rows whose identity is not stored yet, the first of each, in the order of time and key.

    Nobody else can store them before this transaction ends: there is one writer.
    """
    first: dict[Identity, Row] = {}
    for row in rows:
        first.setdefault((row.time_us, row.key), row)
    wanted = sorted(first)
    stored = set(run_matching(conn, _STORED, ["int8", "int8"], wanted))
    return {identity: first[identity] for identity in wanted if identity not in stored}


def _add_rows(conn: Connection, place: Place, rows: dict[Identity, Row]) -> None:
    """Store *rows*, none of which is stored yet, with what is derived from them."""
    ids = dimensions.ids_of(conn, rows.values())
    joined = _sessions(conn, ids, rows.values())
    ofs = {
        identity: call for identity, row in rows.items() if (call := calls.call_of(row)) is not None
    }
    silent, silenced = _settle(conn, ids, rows, ofs)
    values = [
        _event(place, ids, joined, row, 0 if identity in silent else 1)
        for identity, row in rows.items()
    ]
    insert_many(conn, schema.event, _EVENT, values)
    extras = [_extra(row, ofs.get(identity)) for identity, row in rows.items()]
    insert_many(conn, schema.event_extra, _EXTRA, [extra for extra in extras if extra])
    _derive(conn, joined, list(zip(rows.values(), values, strict=True)), silenced)


def _sessions(conn: Connection, ids: Ids, rows: Iterable[Row]) -> dict[SessionKey, Session]:
    """The sessions of *rows*, made where they are new."""
    firsts: dict[SessionKey, int] = {}
    for row in rows:
        if row.session is not None:
            firsts.setdefault((ids.servers[row.server], row.session), row.time_us)
    return sessions.load(conn, firsts) if firsts else {}


def _settle(
    conn: Connection, ids: Ids, rows: dict[Identity, Row], ofs: dict[Identity, int]
) -> tuple[set[Identity], list[calls.Silenced]]:
    """Which of *rows*, and of the stored ones, do not count beside another line of their call."""
    arriving: dict[int, dict[Identity, calls.Rank]] = {}
    for identity, call in ofs.items():
        row = rows[identity]
        client = row.client if row.client and ids.clients[row.client] else None
        arriving.setdefault(call, {})[identity] = calls.rank(
            int(row.kind), row.time_us, row.tool, client, row.version, row.key
        )
    if not arriving:
        return set(), []
    silent, silenced = calls.settle(conn, arriving)
    calls.silence(conn, silenced)
    return silent, silenced


def _event(
    place: Place, ids: Ids, joined: dict[SessionKey, Session], row: Row, counted: int
) -> Values:
    """The values of `_EVENT` for one row."""
    server = ids.servers[row.server]
    tool = None if row.tool is None else ids.tools[row.tool]
    who, fact = row.caller, row.fact
    return (
        row.time_us,
        row.key,
        int(row.kind),
        server,
        place.source,
        place.batch,
        None if row.client is None else ids.clients[row.client],
        None if who is None else ids.callers[server, int(who.level), who.digest],
        None if row.session is None else joined[server, row.session].id,
        tool,
        None if row.version is None else ids.versions[row.version],
        None if fact is None or tool is None else ids.facts[server, tool, fact],
        None if row.outcome is None else int(row.outcome),
        counted,
    )


def _extra(row: Row, call: int | None) -> Values | None:
    """The values of `_EXTRA` for one row; None where it has nothing rare."""
    rare = (
        call,
        row.request_id,
        row.trigger,
        row.protocol_version,
        row.ttl_ms,
        row.listed_count,
        row.ns or None,
        1 if row.arrival else None,
    )
    return (row.time_us, row.key, *rare) if any(value is not None for value in rare) else None


def _derive(
    conn: Connection,
    joined: dict[SessionKey, Session],
    new: list[tuple[Row, Values]],
    silenced: list[calls.Silenced],
) -> None:
    """Bring sessions and roll-ups up to date with the newly stored rows."""
    before = {s.id: (s, s.client_id or 0, s.unnamed) for s in joined.values()}
    for row, values in new:
        if row.session is not None:
            naming = _naming(row, values)
            joined[values[3], row.session].add(row.kind, row.time_us, naming)
    sessions.save(conn, joined.values())
    moved = {
        number: (session, client)
        for number, (session, client, unnamed) in before.items()
        if unnamed and (session.client_id or 0) != client
    }
    changes = Changes()
    fresh: Counter[tuple[int, int, int | None, int]] = Counter()
    for row, values in new:
        if not values[13]:
            continue
        kind, server, client, session, tool = values[2], values[3], values[6], values[8], values[9]
        if client is None and session is not None:
            if session in moved:
                fresh[session, kind, tool, row.time_us // QUARTER_US] += 1
                continue
            client = before[session][0].client_id
        changes.add(server, tool, client or 0, kind, row.time_us)
    for old in silenced:
        client = before[old.session_id][1] if old.client_id is None else old.client_id
        changes.remove(old.server_id, old.tool_id, client, old.kind, old.time_us)
    changes.move(conn, moved, fresh)
    changes.write(conn)


def _naming(row: Row, values: Values) -> Naming | None:
    """What a row says about its session's client."""
    if row.client is None or values[6] is None:
        return None
    return Naming(
        row.time_us, row.client, row.version is None, row.version or "", values[6], values[10]
    )
