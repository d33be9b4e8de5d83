"""
Lines of one call: which of them counts.

An access log and an application log may both tell of one call. Lines with the same server, session,
tool and request are one: the stale_call stands for it before the unknown_call before the call, then
the earliest line, then the least text.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from service.store.dialect import run_matching
from service.store.driver import Connection, Values

Request = tuple[int, int]
"""Session id (a session belongs to one server), request."""
Line = tuple[int, int, int, int]
"""Session id, request, time in µs, key."""
Call = tuple[int, int, int | None]
"""Session id, request, tool id."""
Rank = tuple[int, int, bool, str, bool, str, bool, str, int]

_STORED = """
SELECT l.session_id, l.request, e.tool_id, e.time_us, e.key, e.kind, t.name, c.raw, v.name,
       e.counted, e.client_id
FROM {wanted} CROSS JOIN call_line AS l
CROSS JOIN event AS e
LEFT JOIN tool AS t ON t.id = e.tool_id
LEFT JOIN client AS c ON c.id = e.client_id
LEFT JOIN version AS v ON v.id = e.version_id
WHERE l.session_id = wanted.column1
  AND l.request >= wanted.column2 AND l.request <= wanted.column3
  AND e.time_us = l.time_us AND e.key = l.key
"""
_SILENCE = """
UPDATE event SET counted = 0
WHERE (time_us, key) IN (SELECT wanted.column1, wanted.column2 FROM {wanted})
"""
_WIDE = 1_000
"""The requests of a session that asked in order, as most do, are looked up as one range of this width
at most; those of another one as ranges in which they lie no farther apart than `_STEP`."""
_STEP = 8


@dataclass(frozen=True, slots=True)
class Silenced:
    """A stored row that counted until a line of the same call arrived which comes before it."""

    time_us: int
    key: int
    kind: int
    tool_id: int
    client_id: int | None
    session_id: int


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A stored line of a call."""

    call: Call
    rank: Rank
    counted: bool
    row: Silenced


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


def shared(
    conn: Connection,
    lines: Sequence[Line],
    known: Collection[int | None],
    unordered: Collection[int | None],
) -> tuple[set[Request], list[StoredLine]]:
    """
    The requests of arriving lines that another line, stored or arriving, has too, and the stored ones.

    Whether the lines of a request name one tool, and so are one call, is for `settle` to see.

    Args:
        conn: The open write transaction.
        lines: The arriving lines; those of a session stand side by side.
        known: Ids of the sessions that may have stored lines.
        unordered: Ids of the sessions that may have two lines among *lines* with one request.
    """
    stored = _stored(conn, lines, known, unordered) if known else []
    found = {each.call[:2] for each in stored}
    if unordered:
        numbers = Counter(line[:2] for line in lines if line[0] in unordered)
        found |= {request for request, number in numbers.items() if number > 1}
    return found, stored


def settle(
    lines: Iterable[Line],
    told: Callable[[Line], tuple[int | None, Rank]],
    stored: Iterable[StoredLine],
) -> tuple[list[Line], list[Silenced]]:
    """
    Decide which lines of each call count.

    Args:
        lines: The arriving lines whose requests are shared.
        told: Tells tool id and rank of an arriving line.
        stored: What `shared` found.

    Returns:
        The arriving lines that do not count, and the stored rows that no longer do.
    """
    calls: dict[Call, list[tuple[Rank, Line | StoredLine]]] = {}
    for line in lines:
        tool, its_rank = told(line)
        calls.setdefault((line[0], line[1], tool), []).append((its_rank, line))
    for each in stored:
        if each.call in calls:
            calls[each.call].append((each.rank, each))
    silent: list[Line] = []
    silenced: list[Silenced] = []
    for ranked in calls.values():
        ranked.sort(key=itemgetter(0))
        for _, other in ranked[1:]:
            if not isinstance(other, StoredLine):
                silent.append(other)
            elif other.counted:
                silenced.append(other.row)
    return silent, silenced


def silence(conn: Connection, rows: Iterable[Silenced]) -> None:
    """Store that *rows* no longer count."""
    run_matching(conn, _SILENCE, ["int8", "int8"], [(row.time_us, row.key) for row in rows])


def _stored(
    conn: Connection,
    lines: Sequence[Line],
    known: Collection[int | None],
    unordered: Collection[int | None],
) -> list[StoredLine]:
    """The stored lines of *known* sessions with the requests of *lines*, and a few others; each once."""
    first = {line[0]: line[1] for line in reversed(lines) if line[0] in known}
    last = {line[0]: line[1] for line in lines if line[0] in known}
    apart = {
        session
        for session, request in first.items()
        if session in unordered or last[session] - request > _WIDE
    }
    ranges: list[Values] = [
        (session, request, last[session])
        for session, request in first.items()
        if session not in apart
    ]
    ranges += _runs(line for line in lines if line[0] in apart) if apart else []
    found: dict[Line, StoredLine] = {}
    for session, request, tool_id, time_us, key, kind, tool, client, version, *rest in run_matching(
        conn, _STORED, ["int4", "int8", "int8"], ranges
    ):
        counted, client_id = rest
        row = Silenced(time_us, key, kind, tool_id, client_id, session)
        its_rank = rank(kind, time_us, tool, client, version, key)
        line = StoredLine((session, request, tool_id), its_rank, bool(counted), row)
        found[session, request, time_us, key] = line
    return list(found.values())


def _runs(lines: Iterable[Line]) -> Iterator[Values]:
    """Ranges of requests (session, first, last) in which those of *lines* lie, and little else."""
    of, first, last = 0, 0, 0
    for session, request, _, _ in lines:
        if session == of and first - _STEP <= request <= last + _STEP:
            first, last = min(first, request), max(last, request)
            continue
        if of:
            yield of, first, last
        of, first, last = session, request, request
    if of:
        yield of, first, last
