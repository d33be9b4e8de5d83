"""Batches, read: what can be taken back as one, with the records that came in it."""

from dataclasses import dataclass

import sqlalchemy as sa

from service.store.engine import Connection
from service.store.read_sets import Ids, among
from service.store.schema import batch, server, source, tally


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch, with its records by fate (`accepted`, `duplicate`, `ignored`, `rejected`)."""

    id: int
    server: str
    source: str
    kind: str
    label: str
    started_us: int
    records: dict[str, int]


def batches(
    connection: Connection,
    between: tuple[int | None, int],
    server_ids: Ids | None,
    source_name: str | None,
    before: int | None,
    limit: int,
) -> list[Batch]:
    """At most *limit* batches below the id *before* that began in [since, until), the newest first."""
    where = [batch.c.started_us < between[1]]
    if between[0] is not None:
        where.append(batch.c.started_us >= between[0])
    if server_ids is not None:
        where.append(among(connection, source.c.server_id, server_ids))
    if source_name is not None:
        where.append(source.c.name == source_name)
    if before is not None:
        where.append(batch.c.id < before)
    rows = connection.execute(
        sa.select(
            batch.c.id,
            server.c.name.label("server"),
            source.c.name.label("source"),
            batch.c.kind,
            batch.c.label,
            batch.c.started_us,
        )
        .join_from(batch, source, source.c.id == batch.c.source_id)
        .join(server, server.c.id == source.c.server_id)
        .where(*where)
        .order_by(batch.c.id.desc())
        .limit(limit)
    )
    found = {row.id: Batch(*row, records={}) for row in rows}
    fates = connection.execute(
        sa.select(tally.c.batch_id, tally.c.fate, sa.func.sum(tally.c.records))
        .where(tally.c.batch_id.in_(list(found)))
        .group_by(tally.c.batch_id, tally.c.fate)
        .order_by(tally.c.batch_id, tally.c.fate)
    )
    for number, fate, records in fates:
        found[number].records[fate] = int(records)
    return list(found.values())
