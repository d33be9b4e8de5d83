"""
Which batches delivered an event that was stored already, so that taking back the batch that it belongs to
leaves it to another one.
"""

from collections.abc import Mapping

from service.clock import DAY_US
from service.store.dialect import insert_many, run_matching
from service.store.driver import Connection

KEPT_DAYS = 30
KEPT_US = KEPT_DAYS * DAY_US
"""How long after its beginning a batch can be taken back."""

_STARTED = """
SELECT b.id, b.started_us FROM {wanted} CROSS JOIN batch AS b WHERE b.id = wanted.column1
"""
_NEAR = "SELECT 1 FROM redelivery WHERE batch_id = ? AND time_us BETWEEN ? AND ? LIMIT 1"
# That of an old batch stays while the batch to which the event belongs can still be taken back.
_PRUNE = """
DELETE FROM redelivery
WHERE batch_id IN (SELECT id FROM batch WHERE started_us < ?)
  AND NOT EXISTS (
    SELECT 1 FROM event AS e WHERE e.time_us = redelivery.time_us AND e.key = redelivery.key
      AND e.batch_id IN (SELECT id FROM batch WHERE started_us >= ?))
"""


def note(conn: Connection, batch: int, stored: Mapping[tuple[int, int], int], now_us: int) -> None:
    """
    Note that a batch delivered events that were stored before.

    Args:
        conn: The open write transaction.
        batch: Which batch.
        stored: Time and key of the events → the batch that each belongs to.
        now_us: When they arrived; what belongs to a batch that cannot be taken back any more needs
            no note.
    """
    others = set(stored.values()) - {batch}
    if not others:
        return
    started = run_matching(conn, _STARTED, ["int4"], [(number,) for number in others])
    young = {number for number, started_us in started if started_us >= now_us - KEPT_US}
    rows = sorted(identity for identity, of in stored.items() if of in young)
    if not rows:
        return
    near = conn.rows(_NEAR, (batch, rows[0][0], rows[-1][0]))
    insert_many(
        conn,
        "redelivery",
        rows,
        constant={"batch_id": batch},
        conflict="ON CONFLICT DO NOTHING"
        if near
        else "",  # without, PostgreSQL copies them straight
    )


def prune(conn: Connection, now_us: int) -> None:
    """Drop the notes that nothing will need any more. Comes with each new batch: seldom enough."""
    conn.run(_PRUNE, (now_us - KEPT_US, now_us - KEPT_US))
