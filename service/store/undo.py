"""
A batch taken back: the database is then as if it had never come.

An event that another batch delivered, too, is given to the oldest of those; it keeps what its first line
said, and a line without a time keeps the time at which it first came. Everything else of the batch goes.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from service.clock import DAY_US, HOUR_US, utc_text
from service.errors import NotFound, TooLate
from service.events import Kind
from service.store import audit, follow, removal, tallies, unused
from service.store.driver import Connection
from service.store.numbers import keep_number
from service.store.redelivery import KEPT_DAYS, KEPT_US
from service.store.writer import raise_data_version

_BATCH = """
SELECT b.id, s.id, v.id, v.name, s.name, b.kind, b.label, b.started_us
FROM batch AS b JOIN source AS s ON s.id = b.source_id JOIN server AS v ON v.id = s.server_id
WHERE b.id = ?
"""
_UNDONE = """
SELECT at_us FROM audit WHERE action = 'undo' AND subject = ? ORDER BY id DESC LIMIT 1
"""
_HEIRS = """
SELECT r.time_us, r.key, min(r.batch_id) AS batch_id
FROM redelivery AS r JOIN event AS e ON e.time_us = r.time_us AND e.key = r.key
WHERE e.batch_id = ? AND r.batch_id <> e.batch_id
GROUP BY r.time_us, r.key
"""
_NAME_HEIRS = f"""
INSERT INTO heir (time_us, key, batch_id, source_id)
SELECT h.time_us, h.key, h.batch_id, b.source_id
FROM ({_HEIRS}) AS h JOIN batch AS b ON b.id = h.batch_id
"""
_HAND_OVER = """
UPDATE event SET batch_id = h.batch_id, source_id = h.source_id
FROM heir AS h WHERE event.time_us = h.time_us AND event.key = h.key
"""
_SETTLE_NOTES = """
DELETE FROM redelivery WHERE (batch_id, time_us, key) IN (SELECT batch_id, time_us, key FROM heir)
"""
# Whether one that is no heir came before an heir is not known where it began before that one had ended.
_DOUBTED = f"""
SELECT DISTINCT r.batch_id
FROM heir AS h JOIN redelivery AS r ON r.time_us = h.time_us AND r.key = h.key
JOIN batch AS b ON b.id = h.batch_id JOIN batch AS other ON other.id = r.batch_id
WHERE other.id <> ? AND other.started_us < CASE b.kind
  WHEN 'http' THEN b.started_us + {HOUR_US}
  ELSE (SELECT {DAY_US} * (1 + max(t.day)) FROM tally AS t WHERE t.batch_id = b.id)
END
"""
_KINDS = "SELECT kind, count(*) FROM event WHERE batch_id = ? GROUP BY kind"
_HANDED_OVER = f"""
SELECT h.batch_id, e.kind, count(*) FROM ({_HEIRS}) AS h
JOIN event AS e ON e.time_us = h.time_us AND e.key = h.key GROUP BY h.batch_id, e.kind
"""
_RECORDS = "SELECT fate, sum(records) FROM tally WHERE batch_id = ? GROUP BY fate"
_REJECTS = "SELECT count(*) FROM reject WHERE batch_id = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What taking a batch back comes to, or (`dry_run`) would come to."""

    batch: int
    server: str
    source: str
    kind: str
    label: str
    started_us: int
    events: dict[Kind, int]
    """Events that go, by kind."""
    handed_over: dict[int, int]
    """Batch → how many events it is given."""
    records: dict[str, int]
    """Records of the batch by fate, whose account goes."""
    quarantined: int
    """Rejected records that go."""
    dry_run: bool

    def as_json(self) -> dict[str, Any]:
        """The form of `lastcall db undo --json`, of REST and, in part, of the audit."""
        return {
            "batch": self.batch,
            "server": self.server,
            "source": self.source,
            "kind": self.kind,
            "label": self.label,
            "deleted": sum(self.events.values()),
            "events": {kind.word: number for kind, number in sorted(self.events.items())},
            "handed_over": sum(self.handed_over.values()),
            "heirs": {str(batch): number for batch, number in sorted(self.handed_over.items())},
            "records": dict(sorted(self.records.items())),
            "quarantined": self.quarantined,
            "dry_run": self.dry_run,
        }


def plan(conn: Connection, batch_id: int, now_us: int) -> Undone:
    """
    Count what taking back a batch would come to; a reading connection will do. Reads every event.

    Raises:
        NotFound: There is no such batch (any more).
        TooLate: It began more than 30 days ago.
    """
    found = conn.rows(_BATCH, (batch_id,))
    if not found:
        raise _not_found(conn, batch_id)
    _, _, _, server, source, kind, label, started_us = found[0]
    if started_us < now_us - KEPT_US:
        raise TooLate(
            f"batch {batch_id} began on {utc_text(started_us)}, more than {KEPT_DAYS} days ago; which of its "
            "events came again since is no longer known, so it cannot be taken back"
        )
    kinds: Counter[int] = Counter(dict(conn.rows(_KINDS, (batch_id,))))
    heirs: Counter[int] = Counter()
    for heir, number, rows in conn.rows(_HANDED_OVER, (batch_id,)):
        kinds[number] -= rows
        heirs[heir] += rows
    [(quarantined,)] = conn.rows(_REJECTS, (batch_id,))
    return Undone(
        batch=batch_id,
        server=server,
        source=source,
        kind=kind,
        label=label,
        started_us=started_us,
        events={Kind(number): rows for number, rows in kinds.items() if rows},
        handed_over=dict(heirs),
        records={fate: int(rows) for fate, rows in conn.rows(_RECORDS, (batch_id,))},
        quarantined=quarantined,
        dry_run=True,
    )


def undo(conn: Connection, batch_id: int, now_us: int, *, actor: str) -> Undone:
    """
    Take back a batch within the write transaction that *conn* has open.

    Raises:
        NotFound, TooLate: As `plan`.
    """
    done = replace(plan(conn, batch_id, now_us), dry_run=False)
    [(_, source_id, server_id, *_)] = conn.rows(_BATCH, (batch_id,))
    with removal.prepared(conn):
        if done.handed_over:
            _hand_over(conn, batch_id, done.handed_over)
        removal.gather(conn, "e.batch_id = ?", (batch_id,))
        servers = {
            server_id,
            *(each for (each,) in conn.rows("SELECT DISTINCT server_id FROM gone_event")),
        }
        removal.remove(conn)
    follow.forget_batch(conn, batch_id, done.handed_over)
    keep_number(conn, "batch")
    conn.run("DELETE FROM ledger WHERE source_id = ? AND batch_id = ?", (source_id, batch_id))
    for table in ("tally", "reject", "redelivery"):
        conn.run(f"DELETE FROM {table} WHERE batch_id = ?", (batch_id,))
    conn.run("DELETE FROM batch WHERE id = ?", (batch_id,))
    unused.drop_feed(conn, source_id)
    for each in sorted(servers):
        unused.drop_server(conn, each)
    detail = {
        name: said for name, said in done.as_json().items() if name not in ("batch", "dry_run")
    }
    audit.record(
        conn,
        now_us,
        actor,
        "undo",
        _subject(batch_id),
        {**detail, "started": utc_text(done.started_us)},
    )
    raise_data_version(conn)
    return done


def _hand_over(conn: Connection, batch_id: int, heirs: Mapping[int, int]) -> None:
    """Give the events that other batches delivered, too, to the oldest of those."""
    conn.run(_NAME_HEIRS, (batch_id,))
    removal.learn(conn, "heir")
    doubted = {number for (number,) in conn.rows(_DOUBTED, (batch_id,))}
    conn.run(_HAND_OVER)
    conn.run(_SETTLE_NOTES)
    for heir, events in sorted(heirs.items()):
        tallies.accept_duplicates(conn, heir, events)
    for each in sorted(doubted | heirs.keys()):
        tallies.doubt_resends(conn, each)


def _not_found(conn: Connection, batch_id: int) -> NotFound:
    undone = conn.rows(_UNDONE, (_subject(batch_id),))
    if undone:
        return NotFound(
            f"batch {batch_id} was taken back already, on {utc_text(undone[0][0])}; `lastcall db audit` tells more"
        )
    return NotFound(f"no batch {batch_id}; `lastcall db stats` lists them")


def _subject(batch_id: int) -> str:
    return f"batch {batch_id}"
