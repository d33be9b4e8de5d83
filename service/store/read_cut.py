"""
What a question as of an instant may use.

Everything stored is derived from all rows. As of an earlier instant three things can differ: a
session's hello may not have come yet, a call may be known only by a line that a later one replaces,
and days are cut. A `Cut` says up to where the derived tables hold nothing later.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from service.clock import DAY_US
from service.store.calls import Rank, rank
from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_sets import among, pairs_among, table_of
from service.store.schema import call_day, call_line, client, event, session, tool, version


class Promoted(NamedTuple):
    """A row that stands for its call as of the cut, although `counted` is 0."""

    time_us: int
    key: int
    server_id: int
    tool_id: int
    kind: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Rows before `as_of_us` exist; roll-ups hold for what lies before `solid_us`."""

    as_of_us: int
    solid_us: int
    promoted: tuple[Promoted, ...] = ()
    embedded: bool = True
    """Whether the database is SQLite."""
    is_latest: bool = False
    """Whether nothing stored comes after the cut."""

    def client(self) -> "sa.ColumnElement[int]":
        """The client of a row: its own, else its session's by a hello before the cut, else 0."""
        return _client(self.as_of_us)

    def counted(self) -> "sa.ColumnElement[bool]":
        """Whether a row stands for its call."""
        if not self.promoted:
            return event.c.counted == 1
        pairs = [(row.time_us, row.key) for row in self.promoted]
        standing = pairs_among(self.embedded, (event.c.time_us, event.c.key), pairs)
        return sa.or_(event.c.counted == 1, standing)

    def begun(self) -> "sa.ColumnElement[bool]":
        """Whether a cell of the daily roll-up holds a call from before the cut; `promoted` are not in it."""
        if self.is_latest:
            return sa.true()
        return (call_day.c.day <= self.as_of_us // DAY_US) & (call_day.c.first_us < self.as_of_us)


@lru_cache(maxsize=16)
def _client(as_of_us: int) -> "sa.ColumnElement[int]":
    """Kept, since an answer asks for it in each of its statements."""
    opened = session.alias()
    hello = (
        sa.select(opened.c.hello_client_id)
        .where(opened.c.id == event.c.session_id, opened.c.hello_us < as_of_us)
        .correlate(event)
        .scalar_subquery()
    )
    return sa.func.coalesce(event.c.client_id, hello, 0)


def cut_at(connection: Connection, as_of_us: int) -> Cut:
    """Find out what must be read from rows to answer exactly as of `as_of_us`."""
    latest = connection.scalar(sa.select(sa.func.max(event.c.time_us)))
    if latest is None or latest < as_of_us:
        return Cut(as_of_us, as_of_us, is_latest=True)
    begun = session.c.first_us < as_of_us
    unnamed = connection.scalar(
        sa.select(sa.func.min(session.c.first_us)).where(
            begun, session.c.hello_us >= as_of_us, session.c.unnamed > 0
        )
    )
    promoted = _promoted(connection, as_of_us)
    first = [at for at in (unnamed, *(row.time_us for row in promoted)) if at is not None]
    return Cut(as_of_us, min([as_of_us, *first]), promoted, is_sqlite(connection))


def _promoted(connection: Connection, as_of_us: int) -> tuple[Promoted, ...]:
    """The row that stood for each call whose standing row is not before the cut."""
    requests = _requests_cut(connection, as_of_us)
    if not requests:
        return ()
    wanted = table_of(is_sqlite(connection), requests)
    lines = (
        sa.select(
            call_line.c.session_id,
            call_line.c.request,
            event.c.server_id,
            event.c.tool_id,
            event.c.time_us,
            event.c.key,
            event.c.kind,
            event.c.counted,
            tool.c.name.label("tool"),
            client.c.raw.label("client"),
            version.c.name.label("version"),
        )
        .select_from(wanted)
        .join(
            call_line,
            (call_line.c.session_id == wanted.c.c0) & (call_line.c.request == wanted.c.c1),
        )
        .join(event, (event.c.time_us == call_line.c.time_us) & (event.c.key == call_line.c.key))
        .outerjoin(tool, tool.c.id == event.c.tool_id)
        .outerjoin(client, client.c.id == event.c.client_id)
        .outerjoin(version, version.c.id == event.c.version_id)
    )
    calls: dict[tuple[int, ...], list[Any]] = {}
    for row in connection.execute(lines):
        calls.setdefault((row.session_id, row.request, row.tool_id), []).append(row)
    promoted = []
    for rows in calls.values():
        before = [row for row in rows if row.time_us < as_of_us]
        if before and not any(row.counted for row in before):
            promoted.append(min(before, key=_rank))
    return tuple(
        Promoted(row.time_us, row.key, row.server_id, row.tool_id, row.kind) for row in promoted
    )


def _requests_cut(connection: Connection, as_of_us: int) -> list[tuple[int, int]]:
    """
    The requests, as (session, request), that have lines on both sides of the cut.

    The sessions come first and by themselves: joined, both databases go through the lines of all.
    """
    at_the_cut = sa.select(session.c.id).where(
        session.c.first_us < as_of_us, session.c.last_us >= as_of_us
    )
    sessions = connection.scalars(at_the_cut).all()
    if not sessions:
        return []
    cut = (
        sa.select(call_line.c.session_id, call_line.c.request)
        .where(among(connection, call_line.c.session_id, sessions))
        .group_by(call_line.c.session_id, call_line.c.request)
        .having(sa.func.min(call_line.c.time_us) < as_of_us)
        .having(sa.func.max(call_line.c.time_us) >= as_of_us)
    )
    return [(row.session_id, row.request) for row in connection.execute(cut)]


def _rank(row: Any) -> Rank:
    """Which line of a call stands for it: the least."""
    return rank(row.kind, row.time_us, row.tool, row.client, row.version, row.key)
