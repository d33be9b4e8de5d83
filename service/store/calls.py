"""
Lines of one call: which of them counts.

An access log and an application log may both tell of one call. Lines with the same server, session
and request id are one: the stale_call stands for it before the unknown_call before the call, then
the earliest line, then the least text.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from service.events import TOOL_KINDS, Row
from service.store.dialect import run_matching
from service.store.engine import Connection

Identity = tuple[int, int]
"""Time in µs, key."""
Rank = tuple[int, int, bool, str, bool, str, bool, str, int]

_EXISTING = """
SELECT x.call, e.time_us, e.key, e.kind, t.name, c.raw, v.name, e.counted,
       e.server_id, e.tool_id, e.client_id, e.session_id
FROM {wanted} CROSS JOIN event_extra AS x
CROSS JOIN event AS e
LEFT JOIN tool AS t ON t.id = e.tool_id
LEFT JOIN client AS c ON c.id = e.client_id
LEFT JOIN version AS v ON v.id = e.version_id
WHERE x.call = wanted.column1 AND x.call IS NOT NULL
  AND e.time_us = x.time_us AND e.key = x.key
"""
_SILENCE = """
UPDATE event SET counted = 0
WHERE (time_us, key) IN (SELECT wanted.column1, wanted.column2 FROM {wanted})
"""


@dataclass(frozen=True, slots=True)
class Silenced:
    """A stored row that counted until a line of the same call arrived which comes before it."""

    time_us: int
    key: int
    kind: int
    server_id: int
    tool_id: int
    client_id: int | None
    session_id: int


def call_of(row: Row) -> int | None:
    """
    The 64-bit number, signed, of the call that *row* is a line of; None where it cannot be told.

    Lines of one call name one tool: a request id that a session uses again for another tool is
    another call.
    """
    if row.kind not in TOOL_KINDS or row.session is None or row.request_id is None:
        return None
    told = f"{row.server}\0{row.session}\0{row.request_id}\0{row.tool}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), signed=True)


def rank(
    kind: int, time_us: int, tool: str | None, client: str | None, version: str | None, key: int
) -> Rank:
    """Place among the lines of a call: the least counts. The key decides only between equals."""
    return (
        kind,
        time_us,
        tool is None,
        tool or "",
        client is None,
        client or "",
        version is None,
        version or "",
        key,
    )


def settle(
    conn: Connection, arriving: dict[int, dict[Identity, Rank]]
) -> tuple[set[Identity], list[Silenced]]:
    """
    Decide which lines of each call count, given the arriving ones by call.

    Returns:
        The arriving rows that do not count, and the stored rows that no longer do.
    """
    groups = {call: dict(ranks) for call, ranks in arriving.items()}
    counting: dict[Identity, Silenced] = {}
    for call, time_us, key, kind, tool, client, version, counted, *ids in run_matching(
        conn, _EXISTING, ["int8"], [(call,) for call in arriving]
    ):
        groups[call][time_us, key] = rank(kind, time_us, tool, client, version, key)
        if counted:
            counting[time_us, key] = Silenced(time_us, key, kind, *ids)
    silent: set[Identity] = set()
    for ranks in groups.values():
        if len(ranks) > 1:
            first = min(ranks, key=ranks.__getitem__)
            silent.update(identity for identity in ranks if identity != first)
    return silent, [row for identity, row in counting.items() if identity in silent]


def silence(conn: Connection, rows: Iterable[Silenced]) -> None:
    """Store that *rows* no longer count."""
    run_matching(conn, _SILENCE, ["int8", "int8"], [(row.time_us, row.key) for row in rows])
