"""Stale calls, who made them, or notifications over time, in local hours, days, weeks or months."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.analysis.counts import Column, codes, count_distinct
from service.analysis.zones import BUCKETS, Bucket, buckets, count_at_least, is_utc
from service.answers import calls as gather
from service.answers import notifications, tallies
from service.answers.paging import Order, page
from service.answers.people import NOBODY, People, people
from service.answers.query import (
    ABSENT,
    BUCKETS_MAX,
    Absent,
    Collection,
    Instant,
    Moment,
    Query,
    choice_asked,
    limit_asked,
)
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US, HOUR_US
from service.errors import BadParameter
from service.store.engine import Connection

METRICS = ("stale_calls", "clients", "callers", "notifications")
ADDED_UP = ("stale_calls", "notifications")
"""Metrics that are added up; of the others each member counts once."""
GROUPS = ("none", "name", "client", "version")
TOP_MAX = 100
ROWS_MAX = 200_000
OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRow:
    """
    One bucket of one series. `start` is an instant, `label` the local date (for hours the local time
    with its offset). `covered` says whether every hour of the bucket that has come was watched, and any
    has: a 0 where it was not is no zero. `members` is how many series the row `other` holds; no other row has it.
    """

    start: Instant
    label: str
    value: int
    covered: bool
    name: str | Absent = ABSENT
    client: str | Absent | None = ABSENT
    version: str | Absent | None = ABSENT
    members: int | Absent = ABSENT


Rank = tuple[bool, bool, str]
"""A place within a bucket that stays: `other` last, before it what names nothing, then by text."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """One value a bucket and group. `group` numbers `keys`; None is what names no client or version."""

    keys: tuple[str | None, ...]
    ranks: tuple[str, ...]
    """Stable texts of the groups, for ties."""
    bucket: Column
    group: Column
    weight: Column
    member: Column
    """What is counted once (clients, callers); 0 where calls or notifications are added up."""


def series(connection: Connection, query: Query, moment: Moment) -> Collection[SeriesRow]:
    """
    One row a bucket, or a bucket and group, zeros included: by time, then the greatest series first.

    With `top`, groups beyond the first N are one row `other` a bucket that says how many it holds;
    calls without a client or version stay a row of their own. In pages, the groups of a bucket come
    by their text.

    Raises:
        BadParameter: A parameter cannot be used, or there would be more than 10,000 buckets.
        Conflict: The data changed since the first page, and with it perhaps the first N.
    """
    choice_asked("metric", query.metric, METRICS)
    choice_asked("bucket", query.bucket, BUCKETS)
    choice_asked("by", query.by, GROUPS)
    if query.metric == "notifications":
        notifications.refuse(query)
    if query.top is not None and not 1 <= query.top <= TOP_MAX:
        raise BadParameter("top", f"must be a whole number from 1 to {TOP_MAX}")
    limit = limit_asked(query, default=ROWS_MAX)
    scope = scope_of(connection, query, moment, "series", changes=query.top is not None)
    made = _buckets(scope)
    rows = _rows(scope, made, _count(scope, made)) if made else []
    kept, last = (
        page(rows, lambda pair: ("", int(pair[1].start), *pair[0]), Order(), scope.after, limit)
        if query.limit is not None or scope.after is not None
        else (tuple(rows), None)
    )
    left_out = 0 if query.metric == "notifications" else gather.left_out(scope)
    return scope.answer((row for _, row in kept), last, excluded_calls=left_out)


def _buckets(scope: Scope) -> list[Bucket]:
    start, end, bucket = scope.start_us, scope.until_us, scope.query.bucket
    if start >= end:
        return []
    if count_at_least(start, end, scope.zone, bucket) <= BUCKETS_MAX:
        made: list[Bucket] = []
        for one in buckets(start, end, scope.zone, bucket):
            made.append(one)
            if len(made) > BUCKETS_MAX:
                break
        if len(made) <= BUCKETS_MAX:
            return made
    raise BadParameter(
        "bucket",
        f"there would be more than {BUCKETS_MAX:,} of one {bucket}; "
        "ask for a shorter range (since, until) or a longer bucket",
    )


def _count(scope: Scope, made: Sequence[Bucket]) -> _Counted:
    """Calls, or what is counted once, by bucket and group."""
    query = scope.query
    starts = np.array([bucket.start_us for bucket in made], dtype=np.int64)
    if query.metric == "notifications":
        return _sent(scope, starts)
    days = is_utc(query.tz) and query.bucket != "hour"
    if query.metric == "stale_calls" and query.by != "version" and days:
        found = gather.sums(scope, scope.names, by_client=query.by == "client", by_day=True)
        at = found.day * DAY_US
        known = people(scope, codes(found.client_id)[0]) if query.by == "client" else None
        name = gather.name_numbers(scope.names, found.server_id, found.tool_id)
        keys, ranks, group = _grouped(scope, name, found.client_id, known)
        return _Counted(keys, ranks, _place(starts, at), group, found.calls, at * 0)
    need = (
        set() if query.by in ("none", "name") and query.metric == "stale_calls" else {"client_id"}
    ) | {"time_us"}
    need |= {"version_id"} if query.by == "version" else set()
    need |= {"caller_id"} if query.metric == "callers" else set()
    calls = gather.rows(scope, scope.names, ((scope.start_us, scope.until_us),), need)
    known = people(scope, codes(calls.client_id)[0])
    if query.by == "version":
        texts, version = tallies.version_texts(scope, calls, known)
        keys, ranks, group = _texts(texts, version)
    else:
        name = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
        keys, ranks, group = _grouped(scope, name, calls.client_id, known)
    bucket = _place(starts, calls.time_us)
    one = np.ones(bucket.size, dtype=np.int64)
    if query.metric == "stale_calls":
        return _Counted(keys, ranks, bucket, group, one, bucket * 0)
    if query.metric == "callers":
        member = tallies.caller_numbers(calls, known)
        kept = member != 0
    else:
        member = known.groups(calls.client_id)
        kept = member != (known.keys.index(NOBODY) if NOBODY in known.keys else -1)
    return _Counted(keys, ranks, bucket[kept], group[kept], one[kept], member[kept])


def _sent(scope: Scope, starts: Column) -> _Counted:
    """Notifications by bucket and client."""
    by_client = scope.query.by == "client"
    sent = notifications.sent(scope, starts, by_client=by_client)
    known = people(scope, codes(sent.client_id)[0]) if by_client else None
    keys, ranks, group = _grouped(scope, sent.at_us * 0, sent.client_id, known)
    return _Counted(keys, ranks, _place(starts, sent.at_us), group, sent.number, sent.at_us * 0)


def _place(starts: Column, at: Column) -> Column:
    return (np.searchsorted(starts, at, side="right") - 1).astype(np.int64)


def _grouped(
    scope: Scope, name: Column, client_id: Column, known: People | None
) -> tuple[tuple[str | None, ...], tuple[str, ...], Column]:
    """Keys to show, stable texts, and each entry's group, for by none, name or client."""
    if scope.query.by == "client" and known is not None:
        shown = tuple(known.name(key) for key in known.keys)
        return shown, known.keys, known.groups(client_id)
    if scope.query.by == "name":
        return _texts([n.name for n in scope.names], name)
    return (None,), ("",), name * 0


def _texts(
    texts: Sequence[str | None], place: Column
) -> tuple[tuple[str | None, ...], tuple[str, ...], Column]:
    """Groups of equal texts (a name may be one of several servers)."""
    keys = sorted(set(texts), key=lambda text: text or "")
    number = {text: place for place, text in enumerate(keys)}
    where = np.array([number[text] for text in texts], dtype=np.int64)
    return tuple(keys), tuple(key or "" for key in keys), where[place] if place.size else place


def _rows(scope: Scope, made: Sequence[Bucket], counted: _Counted) -> list[tuple[Rank, SeriesRow]]:
    """Every bucket of every group, zeros included, each with its place in the bucket."""
    chosen, other = _chosen(scope, counted)
    if len(made) * max(len(chosen) + bool(other), 1) > ROWS_MAX:
        raise BadParameter(
            "by", f"there would be more than {ROWS_MAX:,} rows; add top=10 or a longer bucket"
        )
    slot = np.full(len(counted.keys), len(chosen), dtype=np.int64)
    slot[chosen] = np.arange(len(chosen))
    width = len(chosen) + 1
    cell = counted.bucket * width + (slot[counted.group] if counted.group.size else counted.group)
    values = _sum(scope.query.metric, cell, counted, len(made) * width)
    rows = []
    for place, bucket in enumerate(made):
        form: dict[str, Any] = {
            "start": Instant(bucket.start_us),
            "label": bucket.label,
            "covered": _is_covered(scope, bucket),
        }
        for number, group in enumerate(chosen):
            value = int(values[place * width + number])
            key = counted.keys[group]
            rank = (False, key is None, counted.ranks[group])
            rows.append((rank, SeriesRow(**form, value=value, **_key(scope, key))))
        if other:
            value = int(values[place * width + len(chosen)])
            row = SeriesRow(**form, value=value, members=other, **_key(scope, OTHER))
            rows.append(((True, False, ""), row))
    return rows


def _key(scope: Scope, key: str | None) -> dict[str, Any]:
    return {} if scope.query.by == "none" else {scope.query.by: key}


def _sum(metric: str, cell: Column, counted: _Counted, cells: int) -> Column:
    """Add up what each cell holds, or count its distinct members."""
    if metric in ADDED_UP:
        total = np.zeros(cells, dtype=np.int64)
        np.add.at(total, cell, counted.weight)
        return total
    return count_distinct(cell, counted.member, cells)


def _chosen(scope: Scope, counted: _Counted) -> tuple[list[int], int]:
    """Groups to show, the greatest first (ties by text), and how many others there are."""
    if scope.query.by == "none":
        return [0], 0
    size = len(counted.keys)
    total = _sum(scope.query.metric, counted.group, counted, size)
    present = set(codes(counted.group)[0].tolist())
    order = sorted(present, key=lambda g: (-int(total[g]), counted.ranks[g]))
    if scope.query.top is None:
        return order, 0
    named = [g for g in order if counted.keys[g] is not None]
    shown = set(named[: scope.query.top]) | {g for g in order if counted.keys[g] is None}
    return [g for g in order if g in shown], len(order) - len(shown)


def _is_covered(scope: Scope, bucket: Bucket) -> bool:
    """Whether every hour that the bucket shares with the range, and that has come, was watched."""
    start = max(bucket.start_us, scope.start_us) // HOUR_US
    end = -(-min(bucket.end_us, scope.until_us, scope.moment.now_us) // HOUR_US)
    return scope.coverage.is_covered(start, end)
