"""
The write side: one portion of a delivery, stored exactly once with all that is derived from it.

Whatever the order, the split into portions and the re-sends of the same rows, the database says the
same in the end (but for the ids, and for which batch brought a row). A row that is stored already
leaves nothing but its place in the account, even where it says something else than the stored one, and
the note that its batch delivered it, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import compress
from operator import itemgetter

from service.clock import QUARTER_US
from service.events import Kind, Portion, Row, Stored, Subject
from service.store import calls, dimensions, identity, natives, redelivery, sessions, tallies
from service.store.dialect import insert_many
from service.store.dimensions import Ids, Place
from service.store.driver import Connection, Values
from service.store.numbers import ACCEPTED
from service.store.rollups import Cells, Changes, Fresh, Shared
from service.store.sessions import Session

_SUBJECT = itemgetter(2)
_SESSION = itemgetter(3)
_NOTHING: Values = (None,) * 5
"""The rare fields of a row that has none."""


def add(conn: Connection, portion: Portion, *, quarantine_days: int) -> Stored:
    """
    Store a portion within the write transaction that *conn* has open.

    Rejected records older than *quarantine_days* are dropped on the way.

    Returns:
        How many rows were new, how many were stored already, and the new ones by kind.
    """
    place = dimensions.place_of(conn, portion)
    rows = natives.numbered(conn, portion.rows, portion.natives)
    new, stored = identity.new_rows(conn, rows)
    if stored:
        redelivery.note(conn, place.batch, stored, portion.arrived_us)
    events: Counter[Kind] = Counter()
    for each, subjects in _by_server(new):
        events.update(_add_rows(conn, place, each, subjects))
    accepted = len(new)
    duplicates = len(rows) - accepted
    dropped = tallies.quarantine(conn, portion, place, days=quarantine_days)
    tallies.add_fates(conn, portion, place, accepted=accepted, duplicates=duplicates)
    tallies.add_hours(conn, portion, place)
    if dropped or portion.rows or portion.rejected or portion.ignored or portion.hours:
        raise_data_version(conn)
    return Stored(batch=place.batch, accepted=accepted, duplicates=duplicates, events=dict(events))


def raise_data_version(conn: Connection) -> None:
    """Tell readers that answers may differ from now on."""
    raise_counter(conn, "data_version")


def raise_counter(conn: Connection, name: str, by: int = 1) -> None:
    """Raise one of the counters in `meta`."""
    insert_many(
        conn,
        "meta",
        [(name, str(by))],
        conflict="ON CONFLICT (name) DO UPDATE "
        "SET value = CAST(CAST(meta.value AS BIGINT) + CAST(excluded.value AS BIGINT) AS TEXT)",
    )


def _by_server(rows: list[Row]) -> Iterable[tuple[list[Row], Counter[Subject]]]:
    """The rows of each server, and how many each subject has; nearly always there is one server."""
    subjects = Counter(map(_SUBJECT, rows))
    servers = {subject.server for subject in subjects}
    if len(servers) == 1:
        yield rows, subjects
        return
    for server in sorted(servers):
        part = [row for row in rows if row[2].server == server]
        yield part, Counter(map(_SUBJECT, part))


@dataclass(slots=True)
class _New:
    """Rows of one server, none of which is stored yet, in the order of time; what they point to."""

    rows: list[Row]
    ids: dict[Subject, Ids]
    sessions: dict[str, Session]
    """By digest."""
    unnamed: set[Subject]
    """The subjects that name no client."""
    silent: set[int] = field(default_factory=set)
    """Places of the rows that do not count, once `_settle` has found them."""

    @property
    def server(self) -> int:
        """Id of the server that all rows are of."""
        return next(iter(self.ids.values())).server


def _add_rows(
    conn: Connection, place: Place, rows: list[Row], subjects: Counter[Subject]
) -> dict[Kind, int]:
    """
    Store rows of one server, none of which is stored yet, with what is derived from them.

    Returns:
        How many there are of each kind.
    """
    new = _resolve(conn, rows, subjects)
    lines, extras = _sort_out(new)
    sessions.merge(conn, new.sessions.values())
    sessions.save(conn, new.server, new.sessions)
    silenced = _settle(conn, new, lines)
    _add_events(conn, place, new)
    insert_many(conn, "call_line", lines)
    insert_many(conn, "event_extra", extras)
    _roll_up(conn, new, silenced)
    raise_counter(conn, f"{ACCEPTED}{new.server}", len(rows))
    kinds: Counter[int] = Counter()  # by plain number: the hash of an enum is Python code
    for subject, number in subjects.items():
        kinds[new.ids[subject].kind] += number
    return {Kind(kind): number for kind, number in kinds.items()}


def _resolve(conn: Connection, rows: list[Row], subjects: Collection[Subject]) -> _New:
    """Find or make what the rows point to; new sessions have their ids and are yet to be stored."""
    ids = dimensions.ids_of(conn, subjects)
    unnamed = {subject for subject, said in ids.items() if said.client is None}
    new = _New(rows, ids, {}, unnamed)
    new.sessions = sessions.load(conn, new.server, set(map(_SESSION, rows)) - {None})
    return new


def _sort_out(new: _New) -> tuple[list[calls.Line], list[Values]]:
    """
    Tell the sessions of their rows.

    Returns:
        The lines of calls by session, so that neighbours in their table are written together, and
        the rows that have rare fields as `event_extra` has them.
    """
    lines: list[calls.Line] = []
    extras: list[Values] = []
    ids, unnamed = new.ids, new.unnamed
    rare = {subject: fields for subject in ids if (fields := _rare(subject)) is not None}
    hellos = {subject for subject in ids if subject.kind is Kind.HELLO}
    of: dict[str | None, Session] = dict(new.sessions.items())
    of[None] = Session(None)
    for time_us, key, subject, digest, request, ns in new.rows:
        session = of[digest]
        session.last_us = time_us
        if subject in unnamed:
            session.unnamed += 1
            if time_us < session.first_us:
                session.first_us = time_us
        elif time_us <= session.open_until_us or subject in hellos:
            session.take(time_us, subject, ids[subject])
        if request is not None and session.id is not None:
            lines.append((session.id, request, time_us, key))
            if request > session.request:
                session.request = request
            else:
                session.unordered = True
        if ns or subject in rare:
            extras.append((time_us, key, ns or None, *rare.get(subject, _NOTHING)))
    lines.sort(key=itemgetter(0))
    return lines, extras


def _rare(subject: Subject) -> Values | None:
    """The rare fields of a subject; None where it has none of them."""
    fields = (
        subject.trigger,
        subject.protocol_version,
        subject.ttl_ms,
        subject.listed_count,
        1 if subject.arrival else None,
    )
    return None if fields == _NOTHING else fields


def _settle(conn: Connection, new: _New, lines: list[calls.Line]) -> list[calls.Silenced]:
    """Decide which lines of calls count; returns the stored rows that no longer do."""
    known = {each.id for each in new.sessions.values() if each.before is not None}
    unordered = {each.id for each in new.sessions.values() if each.unordered}
    shared, stored = calls.shared(conn, lines, known, unordered)
    if not shared:
        return []
    places = {row[:2]: at for at, row in enumerate(new.rows)}

    def told(line: calls.Line) -> tuple[int | None, calls.Rank]:
        subject = new.rows[places[line[2:]]][2]
        said = new.ids[subject]
        client = None if said.client is None else subject.client
        return said.tool, calls.rank(
            said.kind, line[2], subject.tool, client, subject.version, line[3]
        )

    silent, silenced = calls.settle([line for line in lines if line[:2] in shared], told, stored)
    calls.silence(conn, silenced)
    new.silent = {places[line[2:]] for line in silent}
    return silenced


def _add_events(conn: Connection, place: Place, new: _New) -> None:
    """Store the rows themselves; ids that are the same in all of them are told once."""
    varying, constant = _varying(new.ids)
    constant |= {"source_id": place.source, "batch_id": place.batch, "counted": 1}
    of: dict[str | None, int | None] = {digest: each.id for digest, each in new.sessions.items()}
    of[None] = None
    events: Iterable[Values] = (
        (time_us, key, of[digest]) + varying[subject]  # a `*` would make a list first
        for time_us, key, subject, digest, _, _ in new.rows
    )
    if new.silent:
        del constant["counted"]
        events = ((*event, 0 if at in new.silent else 1) for at, event in enumerate(events))
    insert_many(conn, "event", events, constant=constant)


def _varying(ids: dict[Subject, Ids]) -> tuple[dict[Subject, Values], dict[str, int | None]]:
    """The ids that are not the same in every subject, and those that are, by column."""
    constant: dict[str, int | None] = {}
    columns = list(zip(*ids.values(), strict=True))
    varies = [len(set(values)) > 1 for values in columns]
    for name, values, differ in zip(dimensions.COLUMNS_OF_IDS, columns, varies, strict=True):
        if not differ:
            constant[name] = values[0]
    return {each: tuple(compress(said, varies)) for each, said in ids.items()}, constant


def _roll_up(conn: Connection, new: _New, silenced: list[calls.Silenced]) -> None:
    """Bring the roll-ups up to date."""
    by_id = {each.id: each for each in new.sessions.values() if each.id is not None}
    changes = Changes(new.server)
    fresh = _count(changes, new)
    for old in silenced:
        client = by_id[old.session_id].client_before if old.client_id is None else old.client_id
        changes.remove(old.tool_id, client, old.kind, old.time_us)
    changes.move(conn, {number: each for number, each in by_id.items() if each.moves}, fresh)
    changes.write(conn)


def _count(changes: Changes, new: _New) -> Fresh:
    """
    Count rows in their cells, but for those that `Changes.move` will count.

    Returns:
        How many of the latter there are.
    """
    fresh: Fresh = Counter()
    shared = Shared()
    named = {subject: shared.of(said, said.client or 0) for subject, said in new.ids.items()}
    if not new.silent and not new.unnamed:
        changes.add([named[row[2]] for row in new.rows], [row[0] for row in new.rows])
        return fresh
    clients = {digest: each.client for digest, each in new.sessions.items()}
    moving = {digest: each.id or 0 for digest, each in new.sessions.items() if each.moves}
    cells: list[Cells] = []
    times: list[int] = []
    for at, (time_us, _, subject, digest, _, _) in enumerate(new.rows):
        if at in new.silent:
            continue
        each = named[subject]
        if digest is not None and subject in new.unnamed:
            said = new.ids[subject]
            if digest in moving:
                fresh[moving[digest], said.kind, said.tool, time_us // QUARTER_US] += 1
                continue
            each = shared.of(said, clients[digest])
        cells.append(each)
        times.append(time_us)
    changes.add(cells, times)
    return fresh
