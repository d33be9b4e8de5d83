"""The audit, read."""

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_sets import Chosen
from service.store.schema import audit


@dataclass(frozen=True, slots=True)
class Done:
    """One line of the audit."""

    id: int
    at_us: int
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


def lines(
    connection: Connection,
    since_us: int | None,
    until_us: int,
    servers: Chosen[str] | None,
    before: tuple[int, int] | None,
    limit: int,
) -> list[Done]:
    """
    At most *limit* lines of [since, until), the newest first; of some servers only those whose `detail` names one.

    *before* is the instant and id of the line after which to go on.
    """
    where = [audit.c.at_us < until_us]
    if since_us is not None:
        where.append(audit.c.at_us >= since_us)
    if servers is not None:
        find = sa.func.instr if is_sqlite(connection) else sa.func.strpos
        # as `audit.record` writes it
        said = (f'"server": {json.dumps(each, ensure_ascii=False)}' for each in servers.values)
        named = sa.or_(sa.false(), *(find(audit.c.detail, text) > 0 for text in sorted(said)))
        where.append(sa.not_(named) if servers.outside else named)
    if before is not None:
        where.append(sa.tuple_(audit.c.at_us, audit.c.id) < before)
    query = sa.select(audit).where(*where).order_by(audit.c.at_us.desc(), audit.c.id.desc())
    return [
        Done(row.id, row.at_us, row.actor, row.action, row.subject, json.loads(row.detail))
        for row in connection.execute(query.limit(limit))
    ]


def number_of(connection: Connection, action: str) -> int:
    """How many lines tell of this action."""
    query = sa.select(sa.func.count()).select_from(audit).where(audit.c.action == action)
    return connection.scalar(query) or 0
