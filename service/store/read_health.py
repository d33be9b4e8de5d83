"""How the watching itself goes: hours heard, accounts of records, quarantine, and kinds of lines."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from service.clock import HOUR_US
from service.events import Kind
from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_sets import Ids, among
from service.store.read_words import chunks
from service.store.schema import (
    VERSION_TABLE,
    batch,
    call_day,
    event,
    ledger,
    reject,
    server,
    source,
    tally,
    tool,
)

_TOOL_KINDS = (Kind.STALE_CALL, Kind.UNKNOWN_CALL, Kind.CALL)


@dataclass(frozen=True, slots=True)
class Heard:
    """One source and the hours (since 1970-01-01T00Z) it was heard in, ascending, each once."""

    server: str
    source: str
    retired: bool
    hours: Column


@dataclass(frozen=True, slots=True)
class Account:
    """Records of one source on one UTC day of arrival."""

    server: str
    source: str
    day: int
    fate: str
    reason: str
    records: int


@dataclass(frozen=True, slots=True)
class Refused:
    """One record in quarantine; `id` tells apart what is equal in everything else."""

    id: int
    arrived_us: int
    server: str
    source: str
    batch: str
    position: int
    reason: str
    excerpt: str
    whole: bool


@dataclass(frozen=True, slots=True)
class DayOfCalls:
    """Counted calls to one spelling on one UTC day, by kind of line, with the first and last of them."""

    tool_id: int
    day: int
    kind: int
    unattributed: int
    calls: int
    first_us: int
    last_us: int


def heard(connection: Connection, as_of_us: int, server_ids: Ids | None) -> list[Heard]:
    """
    Every source, by server and name, with the hours it was heard in before `as_of_us`. The ledger cannot
    tell when within the hour of that instant: there only a source counts that brought an event before it.
    """
    query = (
        sa.select(source.c.id, server.c.name.label("server"), source.c.name, source.c.retired_us)
        .join(server, server.c.id == source.c.server_id)
        .order_by(server.c.name, source.c.name)
    )
    if server_ids is not None:
        query = query.where(among(connection, source.c.server_id, server_ids))
    sources = connection.execute(query).all()
    last = as_of_us // HOUR_US
    started = sa.select(event.c.source_id).where(
        event.c.time_us >= last * HOUR_US, event.c.time_us < as_of_us
    )
    lately = set(connection.scalars(started.distinct()))
    found = []
    for row in sources:
        hours = _hours(connection, row.id, last)
        hours = np.append(hours, last) if row.id in lately else hours
        found.append(Heard(row.server, row.name, row.retired_us is not None, hours))
    return found


def _hours(connection: Connection, source_id: int, before: int) -> Column:
    """The hours below *before* in which a source was heard; several batches may hold one hour."""
    query = sa.select(ledger.c.hour).where(ledger.c.source_id == source_id, ledger.c.hour < before)
    (hours,) = columns(connection, query.distinct(), 1)
    return np.sort(hours)


def accounts(
    connection: Connection,
    days: tuple[int, int] | None,
    server_ids: Ids | None,
    source_name: str | None,
) -> list[Account]:
    """Tallies by source and UTC day of arrival in [days[0], days[1]), of each fate and reason."""
    words = (server.c.name, source.c.name, tally.c.day, tally.c.fate, tally.c.reason)
    query = (
        sa.select(*words, sa.cast(sa.func.sum(tally.c.records), sa.BigInteger))
        .select_from(tally)
        .join(batch, batch.c.id == tally.c.batch_id)
        .join(source, source.c.id == batch.c.source_id)
        .join(server, server.c.id == source.c.server_id)
        .group_by(*words)
    )
    if days is not None:
        query = query.where(tally.c.day >= days[0], tally.c.day < days[1])
    if server_ids is not None:
        query = query.where(among(connection, source.c.server_id, server_ids))
    if source_name is not None:
        query = query.where(source.c.name == source_name)
    return [Account(*row) for row in connection.execute(query)]


def refused(
    connection: Connection,
    between: tuple[int | None, int],
    server_ids: Ids | None,
    source_name: str | None,
    at_least: int,
) -> list[Refused]:
    """
    The last records in quarantine that arrived in [since, until), in no order within an instant.

    At least `at_least`, if there are that many, with all of the earliest instant among them.
    """
    label = (batch.c.kind + sa.literal(" ") + batch.c.label).label("batch")
    where = [reject.c.arrived_us < between[1]]
    if between[0] is not None:
        where.append(reject.c.arrived_us >= between[0])
    if server_ids is not None:
        where.append(among(connection, source.c.server_id, server_ids))
    if source_name is not None:
        where.append(source.c.name == source_name)
    query = (
        sa.select(
            reject.c.id,
            reject.c.arrived_us,
            server.c.name.label("server"),
            source.c.name.label("source"),
            label,
            reject.c.position,
            reject.c.reason,
            reject.c.excerpt,
            reject.c.whole,
        )
        # + 0: by time of arrival, up to the limit, and not all of each batch by its index
        .join(batch, batch.c.id == reject.c.batch_id + 0)
        .join(source, source.c.id == batch.c.source_id)
        .join(server, server.c.id == source.c.server_id)
        .where(*where)
    )
    newest = query.order_by(reject.c.arrived_us.desc()).limit(at_least)
    found = [Refused(*row) for row in connection.execute(newest)]
    if len(found) < at_least:
        return found
    last = found[-1].arrived_us
    tied = connection.execute(query.where(reject.c.arrived_us == last))
    return [row for row in found if row.arrived_us > last] + [Refused(*row) for row in tied]


def kinds_met(
    connection: Connection, cut: Cut, server_id: int, tool_ids: Collection[int]
) -> dict[int, set[Kind]]:
    """The kinds of lines that stood for a call to each of these tools before the cut; one look-up a kind."""
    met = [
        sa.exists().where(
            call_day.c.server_id == server_id,
            call_day.c.tool_id == tool.c.id,
            call_day.c.kind == int(kind),
            cut.begun(),
        )
        for kind in _TOOL_KINDS
    ]
    found: dict[int, set[Kind]] = {}
    for part in chunks(sorted(tool_ids)):
        for id_, *each in connection.execute(sa.select(tool.c.id, *met).where(tool.c.id.in_(part))):
            found[id_] = {kind for kind, there in zip(_TOOL_KINDS, each, strict=True) if there}
    for row in cut.promoted:
        if row.server_id == server_id and row.tool_id in found:
            found[row.tool_id].add(Kind(row.kind))
    return found


def days_of_calls(
    connection: Connection, server_id: int, tool_ids: Collection[int], days: tuple[int, int]
) -> list[DayOfCalls]:
    """The roll-up of these tools for the UTC days [days[0], days[1]), over all clients."""
    nobody = sa.case((call_day.c.client_id == 0, call_day.c.calls), else_=0)
    groups = (call_day.c.tool_id, call_day.c.day, call_day.c.kind)
    query = (
        sa.select(
            *groups,
            sa.cast(sa.func.sum(nobody), sa.BigInteger),
            sa.cast(sa.func.sum(call_day.c.calls), sa.BigInteger),
            sa.func.min(call_day.c.first_us),
            sa.func.max(call_day.c.last_us),
        )
        .where(call_day.c.server_id == server_id)
        .where(call_day.c.kind.in_([int(kind) for kind in _TOOL_KINDS]))
        .where(call_day.c.day >= days[0], call_day.c.day < days[1])
        .group_by(*groups)
    )
    found: list[DayOfCalls] = []
    for part in chunks(sorted(tool_ids)):
        rows = connection.execute(query.where(call_day.c.tool_id.in_(part)))
        found += [DayOfCalls(*row) for row in rows]
    return found


def database(connection: Connection) -> tuple[str, str | None]:
    """The kind of database (`sqlite` or `postgresql`) and the revision of its schema."""
    revision = None
    if sa.inspect(connection).has_table(VERSION_TABLE):
        table = sa.table(VERSION_TABLE, sa.column("version_num"))
        revision = connection.scalar(sa.select(table.c.version_num))
    return connection.dialect.name, revision
