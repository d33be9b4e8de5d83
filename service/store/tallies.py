"""
The account of what arrived: records by fate, hours heard, and the quarantine.
"""

from service import names
from service.clock import DAY_US
from service.events import Portion
from service.store.dialect import insert_many
from service.store.dimensions import Place
from service.store.driver import Connection

KEPT_REJECTS = 10_000
"""Rejected records of one batch that are kept; all of them are counted."""

_ADD_RECORDS = (
    "ON CONFLICT (batch_id, day, fate, reason) "
    "DO UPDATE SET records = tally.records + excluded.records"
)
_ADD_LINES = (
    "ON CONFLICT (source_id, hour, batch_id) DO UPDATE SET lines = ledger.lines + excluded.lines"
)


_BY_DAY = "SELECT day, records FROM tally WHERE batch_id = ? AND fate = ? ORDER BY day"
_NOTHING = "DELETE FROM tally WHERE batch_id = ? AND records = 0"


def add_fates(
    conn: Connection, portion: Portion, place: Place, *, accepted: int, duplicates: int
) -> None:
    """Count the records of a portion by fate, under the UTC day of their arrival."""
    fates = {
        ("accepted", ""): accepted,
        ("duplicate", ""): duplicates,
        ("ignored", ""): portion.ignored,
    }
    fates |= {("rejected", reason): records for reason, records in portion.reasons.items()}
    _add(conn, place.batch, portion.arrived_us // DAY_US, fates)


def add_suppressed(conn: Connection, batch_id: int, day: int, suppressed: int, resend: int) -> None:
    """
    Note what the duplicates of a whole delivery may have been, once it has ended.

    *day* is the UTC day of arrival, in days since 1970-01-01. *suppressed* duplicates may have been
    calls of their own, *resend* came from a delivery that was sent again. Neither is a fate: each is
    among the batch's duplicates already. Where a later commit makes resends of an earlier one calls,
    *resend* is negative; what `accept_duplicates` has settled since is not taken once more.
    """
    if resend < 0:
        left = -resend
        suppressed -= left - _take(conn, batch_id, "resend", left)
        resend = 0
    _add(conn, batch_id, day, {("suppressed", ""): suppressed, ("resend", ""): resend})
    conn.run(_NOTHING, (batch_id,))


def knows(conn: Connection, batch_id: int) -> bool:
    """Whether there is such a batch; one that was taken back is gone."""
    return bool(conn.rows("SELECT 1 FROM batch WHERE id = ?", (batch_id,)))


def accept_duplicates(conn: Connection, batch_id: int, number: int) -> None:
    """
    Count so many duplicates of a batch as accepted, since the events are its own now.

    They are taken from the earliest days, and from resends before what may have been calls.
    """
    _take(conn, batch_id, "duplicate", number, "accepted")
    left = number - _take(conn, batch_id, "resend", number)
    _take(conn, batch_id, "suppressed", left)
    conn.run(_NOTHING, (batch_id,))


def doubt_resends(conn: Connection, batch_id: int) -> None:
    """
    Count all resends of a batch as what may have been calls of their own.

    Some delivery of the batch brought something new, as is known now; which one is not, and what else it
    brought was no resend.
    """
    [(number,)] = conn.rows(
        "SELECT coalesce(sum(records), 0) FROM tally WHERE batch_id = ? AND fate = 'resend'",
        (batch_id,),
    )
    _take(conn, batch_id, "resend", int(number), "suppressed")
    conn.run(_NOTHING, (batch_id,))


def _take(conn: Connection, batch_id: int, fate: str, number: int, other: str | None = None) -> int:
    """
    Take so many records off a fate, the earliest days first; they become another where there is one.

    Returns how many there were to take.
    """
    left = number
    for day, records in conn.rows(_BY_DAY, (batch_id, fate)):
        taken = min(left, int(records))
        left -= taken
        more = {(fate, ""): -taken}
        if other is not None:
            more[other, ""] = taken
        _add(conn, batch_id, day, more)
    return number - left


def _add(conn: Connection, batch: int, day: int, fates: dict[tuple[str, str], int]) -> None:
    rows = [(batch, day, *fate, records) for fate, records in sorted(fates.items()) if records]
    insert_many(conn, "tally", rows, conflict=_ADD_RECORDS)


def add_hours(conn: Connection, portion: Portion, place: Place) -> None:
    """Note the hours in which the source was heard."""
    rows = [
        (place.source, hour, place.batch, lines) for hour, lines in sorted(portion.hours.items())
    ]
    insert_many(conn, "ledger", rows, conflict=_ADD_LINES)


def quarantine(conn: Connection, portion: Portion, place: Place, *, days: int) -> bool:
    """
    Keep the rejected records, as far as the batch has room, and drop those older than *days*.

    Call it before `add_fates`: the room is told from what has been counted so far. Returns whether
    something was dropped.
    """
    if portion.rejected:
        [(counted,)] = conn.rows(
            "SELECT coalesce(sum(records), 0) FROM tally WHERE batch_id = ? AND fate = 'rejected'",
            (place.batch,),
        )
        room = max(0, KEPT_REJECTS - int(counted))
        rows = [
            (
                place.batch,
                portion.arrived_us,
                each.position,
                each.rejected.reason.value,
                names.clean(each.rejected.excerpt),
                each.rejected.whole,
            )
            for each in portion.rejected[:room]
        ]
        insert_many(conn, "reject", rows)
    oldest = portion.arrived_us - days * DAY_US
    dropped: int = conn.run("DELETE FROM reject WHERE arrived_us < ?", (oldest,)).rowcount
    return dropped > 0
