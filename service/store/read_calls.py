"""
Calls to retired names, from rows and from the daily roll-up, as columns of whole numbers.

Rows of the kinds stale_call and unknown_call come through the partial index; those of kind call are
read by time, where the roll-up knows of some.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from service.clock import DAY_US
from service.events import Kind
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_names import STALE_INDEX, walk
from service.store.read_sets import Ids, among, table_of
from service.store.read_spans import Span, between, within
from service.store.read_words import chunks
from service.store.schema import call_day, event


@dataclass(frozen=True, slots=True)
class Calls:
    """
    One entry a call. Ids of 0 stand for none; `inferred` is 1 where the client is the session's, and
    comes with the client.
    """

    time_us: Column
    kind: Column
    server_id: Column
    tool_id: Column
    client_id: Column
    inferred: Column
    caller_id: Column
    version_id: Column
    session_id: Column
    fact_id: Column

    @staticmethod
    def join(parts: "Iterable[Calls]") -> "Calls":
        """All calls of several parts."""
        listed = [_NO_CALLS, *parts]
        return Calls(*(np.concatenate([getattr(p, f) for p in listed]) for f in Calls.__slots__))

    def where(self, mask: Any) -> "Calls":
        """The calls for which *mask* holds."""
        return Calls(*(getattr(self, f)[mask] for f in Calls.__slots__))


_NO_CALLS = Calls(*(np.empty(0, dtype=np.int64) for _ in Calls.__slots__))

CLIENT = ("time_us", "client_id")
EVERYTHING = ("time_us", "client_id", "caller_id", "version_id")
CALLERS = ("caller_id", "client_id")
SESSIONS = (*EVERYTHING, "session_id")
KINDS = ("time_us", "kind", *CALLERS)
INDEXED = (*SESSIONS, "kind")
FACTS = ("time_us", "client_id", "caller_id", "session_id", "fact_id")


def _call_columns(cut: Cut) -> dict[str, sa.ColumnElement[Any]]:
    return {
        "time_us": event.c.time_us,
        "kind": event.c.kind,
        "tool_id": event.c.tool_id,
        # negative where it is the session's: one column to hand over in place of two
        "client_id": sa.case((event.c.client_id.is_(None), -cut.client()), else_=event.c.client_id),
        "caller_id": sa.func.coalesce(event.c.caller_id, 0),
        "version_id": sa.func.coalesce(event.c.version_id, 0),
        "session_id": sa.func.coalesce(event.c.session_id, 0),
        "fact_id": sa.func.coalesce(event.c.fact_id, 0),
    }


def stale_calls(
    connection: Connection,
    cut: Cut,
    server_id: int,
    tool_ids: Collection[int],
    since_us: int,
    until_us: int,
    client_ids: Ids | None = None,
    need: Collection[str] = EVERYTHING,
) -> Calls:
    """
    Counted stale_call and unknown_call rows of these tools in [since, until), of these clients; of
    the columns beside names those that are needed.
    """
    return Calls.join(
        _read(
            connection,
            cut,
            server_id,
            STALE_INDEX & event.c.tool_id.in_(part),
            between((since_us, until_us)),
            client_ids,
            need,
        )
        for part in chunks(sorted(tool_ids))
        if since_us < until_us
    )


def succeeded_calls(
    connection: Connection,
    cut: Cut,
    server_id: int,
    tool_ids: Collection[int],
    spans: Sequence[Span],
    client_ids: Ids | None = None,
    need: Collection[str] = EVERYTHING,
) -> Calls:
    """Counted rows of kind `call` of these tools in each of the stretches, with time."""
    return Calls.join(
        _read(
            connection,
            cut,
            server_id,
            (event.c.kind == int(Kind.CALL)) & event.c.tool_id.in_(part),
            times,
            client_ids,
            {"time_us", *need},
        )
        for times in within(spans)
        for part in chunks(sorted(tool_ids))
    )


def _read(
    connection: Connection,
    cut: Cut,
    server_id: int,
    where: sa.ColumnElement[bool],
    times: "sa.ColumnElement[bool]",
    client_ids: Ids | None,
    need: Collection[str],
) -> Calls:
    """Rows with the columns that are needed; the others are 0 throughout."""
    every = _call_columns(cut)
    chosen = [name for name in every if name == "tool_id" or name in need]
    query = sa.select(*(every[name] for name in chosen)).where(
        event.c.server_id == server_id,
        where,
        times,
        cut.counted(),
    )
    if client_ids is not None:
        query = query.where(among(connection, cut.client(), client_ids))
    found = dict(zip(chosen, columns(connection, query, len(chosen)), strict=True))
    zero = np.zeros(found["tool_id"].size, dtype=np.int64)
    found["server_id"] = zero + server_id
    signed = found.get("client_id", zero)
    found["client_id"], found["inferred"] = np.abs(signed), (signed < 0).astype(np.int64)
    return Calls(*(found.get(name, zero) for name in Calls.__slots__))


@dataclass(frozen=True, slots=True)
class Sums:
    """One entry a group: how many calls, and the first and last of them."""

    server_id: Column
    tool_id: Column
    client_id: Column
    day: Column
    """0 where the group is of all days."""
    calls: Column
    unattributed: Column
    """How many of the calls name no client."""
    first_us: Column
    last_us: Column

    @staticmethod
    def join(parts: "Iterable[Sums]") -> "Sums":
        """All groups of several parts."""
        listed = [_NO_SUMS, *parts]
        return Sums(*(np.concatenate([getattr(p, f) for p in listed]) for f in Sums.__slots__))

    def where(self, mask: Any) -> "Sums":
        """The groups for which *mask* holds."""
        return Sums(*(getattr(self, f)[mask] for f in Sums.__slots__))


_NO_SUMS = Sums(*(np.empty(0, dtype=np.int64) for _ in Sums.__slots__))


def daily(
    connection: Connection,
    server_id: int,
    tool_ids: Collection[int],
    days: tuple[int, int],
    kinds: Collection[Kind],
    *,
    by_client: bool,
    by_day: bool,
    client_ids: Ids | None = None,
) -> Sums:
    """
    Sums of the roll-up's cells for the UTC days [days[0], days[1]), by tool, one a kind of line.

    Without `by_client`, `client_id` is 0 and of all clients; without `by_day`, so is `day`.
    """
    zero: sa.ColumnElement[int] = sa.literal(0)
    nobody = sa.case((call_day.c.client_id == 0, call_day.c.calls), else_=0)
    # in the order of the key, so that groups need no sorting; hence the kind among them
    groups: list[sa.ColumnElement[Any]] = [
        call_day.c.server_id,
        call_day.c.tool_id,
        call_day.c.kind,
    ]
    groups += [call_day.c.day] if by_day else []
    groups += [call_day.c.client_id] if by_client else []
    parts = []
    for part in chunks(sorted(tool_ids)) if days[0] < days[1] else ():
        query = (
            sa.select(
                sa.literal(server_id),
                call_day.c.tool_id,
                call_day.c.client_id if by_client else zero,
                call_day.c.day if by_day else zero,
                # a sum of big integers is a decimal on PostgreSQL
                sa.cast(sa.func.sum(call_day.c.calls), sa.BigInteger),
                sa.cast(sa.func.sum(nobody), sa.BigInteger),
                sa.func.min(call_day.c.first_us),
                sa.func.max(call_day.c.last_us),
            )
            .where(call_day.c.server_id == server_id, call_day.c.tool_id.in_(part))
            .where(call_day.c.day >= days[0], call_day.c.day < days[1])
            .where(call_day.c.kind.in_(sorted(int(kind) for kind in kinds)))
            .group_by(*groups)
        )
        if client_ids is not None:
            query = query.where(among(connection, call_day.c.client_id, client_ids))
        parts.append(Sums(*columns(connection, query, len(Sums.__slots__))))
    return Sums.join(parts)


def succeeded(
    connection: Connection, server_id: int, since: Mapping[int, int], until_day: int
) -> Sums:
    """
    The roll-up's cells of kind `call`, one a tool, client and UTC day below `until_day`.

    `since` are the tools that are asked for, each with the first day that is.
    """
    if not since:
        return _NO_SUMS
    # The server stands in the table too: a planner then goes from it to the roll-up, not back.
    rows = [(server_id, tool_id, day) for tool_id, day in since.items()]
    wanted = table_of(is_sqlite(connection), rows)
    mine = (call_day.c.server_id == wanted.c.c0) & (call_day.c.tool_id == wanted.c.c1)
    query = (
        sa.select(
            sa.literal(server_id),
            call_day.c.tool_id,
            call_day.c.client_id,
            call_day.c.day,
            call_day.c.calls,
            sa.case((call_day.c.client_id == 0, call_day.c.calls), else_=0),
            call_day.c.first_us,
            call_day.c.last_us,
        )
        .select_from(wanted.join(call_day, mine))
        .where(call_day.c.kind == int(Kind.CALL))
        .where(call_day.c.day >= wanted.c.c2, call_day.c.day < until_day)
    )
    return Sums(*columns(connection, query, len(Sums.__slots__)))


def logs_ordinary_calls(
    connection: Connection, cut: Cut, server_id: int, since_us: int, until_us: int
) -> bool:
    """Whether the server logged any counted call of kind `call` in [since, until)."""
    span = (since_us, until_us)
    steps = walk(call_day.c.tool_id, call_day.c.server_id == server_id)

    def holds(where: sa.ColumnElement[bool]) -> bool:
        """Whether a cell is like that: name by name, since those of other kinds lie between."""
        cell = sa.exists().where(
            call_day.c.server_id == server_id,
            call_day.c.tool_id == steps.c.id,
            call_day.c.kind == int(Kind.CALL),
            call_day.c.day >= since_us // DAY_US,
            call_day.c.day <= until_us // DAY_US,
            where,
        )
        return connection.scalar(sa.select(steps.c.id).where(cell).limit(1)) is not None

    ends = [
        (instant >= since_us) & (instant < until_us)
        for instant in (call_day.c.first_us, call_day.c.last_us)
    ]
    if not cut.promoted and holds(sa.or_(*ends)):
        return True
    around = (call_day.c.first_us < since_us) & (call_day.c.last_us >= until_us)
    if not cut.promoted and not holds(around):
        return False
    row = (event.c.server_id == server_id) & (event.c.kind == int(Kind.CALL))
    found = sa.select(event.c.time_us).where(row, between(span), cut.counted()).limit(1)
    return connection.scalar(found) is not None
