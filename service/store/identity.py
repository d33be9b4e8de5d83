"""
Which rows are stored already: time and key tell an event from every other.
"""

from itertools import pairwise
from operator import eq, itemgetter

from service.events import Row
from service.store.dialect import insert_many, run_matching
from service.store.driver import Connection

_STORED = """
SELECT e.time_us, e.key, e.batch_id FROM {wanted} CROSS JOIN event AS e
WHERE e.time_us = wanted.column1 AND e.key = wanted.column2
"""
_BETWEEN = """
SELECT (SELECT min(time_us) FROM event WHERE time_us >= ?),
       (SELECT max(time_us) FROM event WHERE time_us <= ?)
"""
_ARRIVED = """
SELECT a.key, a.time_us FROM {wanted} CROSS JOIN arrival AS a WHERE a.key = wanted.column1
"""
_TIME = itemgetter(0)
_IDENTITY = itemgetter(0, 1)


Stored = dict[tuple[int, int], int]
"""Time and key of stored events → the batch that each belongs to."""


def new_rows(conn: Connection, rows: list[Row]) -> tuple[list[Row], Stored]:
    """
    The rows whose identity is not stored yet, the first of each, in the order of time and key; and the
    others.

    One that has only the time of its arrival takes the time at which it first arrived. Nobody else can store them before this transaction ends: there is one writer.
    """
    ordered = sorted(_with_first_times(conn, rows), key=_TIME)
    if not ordered:
        return ordered, {}
    times = list(map(_TIME, ordered))
    if any(map(eq, times, times[1:])):
        ordered.sort(key=_IDENTITY)
        ordered[1:] = [
            row for before, row in pairwise(ordered) if row[0] != before[0] or row[1] != before[1]
        ]
    [(since, until)] = conn.rows(_BETWEEN, (ordered[0][0], ordered[-1][0]))
    if since is None or until is None or since > until:
        return ordered, {}
    wanted = [row[:2] for row in ordered if since <= row[0] <= until]
    found = run_matching(conn, _STORED, ["int8", "int8"], wanted)
    stored = {(time_us, key): batch for time_us, key, batch in found}
    return ([row for row in ordered if row[:2] not in stored] if stored else ordered), stored


def _with_first_times(conn: Connection, rows: list[Row]) -> list[Row]:
    """Give each row that has only the time of its arrival the time at which it first arrived."""
    if not any(subject.arrival for subject in set(map(itemgetter(2), rows))):
        return rows
    arrivals: dict[int, int] = {}
    for time_us, key, subject, *_ in rows:
        if subject.arrival:
            arrivals.setdefault(key, time_us)
    known: dict[int, int] = dict(
        run_matching(conn, _ARRIVED, ["int8"], [(key,) for key in arrivals])
    )
    new = sorted((key, time_us) for key, time_us in arrivals.items() if key not in known)
    insert_many(conn, "arrival", new)
    first = arrivals | known
    return [(first[row[1]], *row[1:]) if row[2].arrival else row for row in rows]
