"""Calls that rules leave out, as a condition on rows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from service.events import TOOL_KINDS
from service.store.engine import Connection
from service.store.read_cut import Cut
from service.store.read_sets import among
from service.store.schema import event


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One rule by the ids that its words stand for: what has all of it is left out. None is for any."""

    server_id: int | None
    client_ids: Collection[int] | None
    version_id: int | None
    """0 where no line has the version."""
    versioned: Collection[int]
    """Spellings of clients that have the version in them: it counts where the line has none."""
    caller_ids: Collection[int] | None


def left_out(
    connection: Connection, cut: Cut, rules: Sequence[LeftOut]
) -> "sa.ColumnElement[bool]":
    """Whether a row is a call that one of these rules leaves out; never NULL."""
    calls = event.c.kind.in_([int(kind) for kind in TOOL_KINDS])
    return calls & sa.or_(sa.false(), *(_by(connection, cut, rule) for rule in rules))


def _by(connection: Connection, cut: Cut, rule: LeftOut) -> "sa.ColumnElement[bool]":
    where: list[sa.ColumnElement[bool]] = [sa.true()]
    if rule.server_id is not None:
        where.append(event.c.server_id == rule.server_id)
    if rule.client_ids is not None:
        where.append(among(connection, cut.client(), rule.client_ids))
    if rule.version_id is not None:
        said = sa.func.coalesce(event.c.version_id, 0)
        in_name = (said == 0) & among(connection, cut.client(), rule.versioned)
        where.append(sa.or_((said == rule.version_id) & (said != 0), in_name))
    if rule.caller_ids is not None:
        where.append(among(connection, sa.func.coalesce(event.c.caller_id, 0), rule.caller_ids))
    return sa.and_(*where)
