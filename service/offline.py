"""Answers for commands, without a service in between."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from service.answers.audit import audit as audited
from service.answers.callers import callers
from service.answers.check import Check
from service.answers.check import check as checked
from service.answers.names import names
from service.answers.query import Collection, Instant, Moment, Query, moment_at
from service.answers.rejects import rejects as rejected
from service.answers.servers import servers
from service.clock import system_clock
from service.settings import Settings
from service.store import engine, migrate

PAGE = 1_000
"""Rows asked for at a time."""


def _moment(settings: Settings) -> Moment:
    return moment_at(system_clock(), settings)


def report(settings: Settings, *, tz: str) -> dict[str, Any]:
    """
    Who still calls what, as JSON: the collections `names` and `callers`, whole, most calls first.

    The range ends with the last event: a file that was read says nothing about what came later.
    """
    moment = _moment(settings)
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)  # where no file could be read, nobody has
    with engine.reading(opened) as connection:
        ends = [row.last_event for row in servers(connection, Query(limit=PAGE), moment).items]
        last = max((end for end in ends if end is not None), default=None)
        until = None if last is None else str(Instant(last + 1))
        query = Query(sort="-stale_calls", limit=PAGE, tz=tz, until=until)
        answer = {
            answered.__name__: _whole(answered, connection, query, moment)
            for answered in (names, callers)
        }
    opened.dispose()
    return answer


def _whole(
    answered: Callable[[engine.Connection, Query, Moment], Collection[Any]],
    connection: engine.Connection,
    query: Query,
    moment: Moment,
) -> dict[str, Any]:
    """All pages of a collection as one."""
    page = answered(connection, query, moment)
    whole = page.as_json()
    while page.next_cursor is not None:
        page = answered(connection, replace(query, cursor=page.next_cursor), moment)
        whole["items"] += page.as_json()["items"]
    return whole | {"next_cursor": None}


def rejects(settings: Settings, *, limit: int) -> dict[str, Any]:
    """Rejected records as JSON, newest first."""
    return _first(rejected, settings, limit)


def audit(settings: Settings, *, limit: int) -> dict[str, Any]:
    """Lines of the audit as JSON, newest first."""
    return _first(audited, settings, limit)


def _first(
    answered: Callable[[engine.Connection, Query, Moment], Collection[Any]],
    settings: Settings,
    limit: int,
) -> dict[str, Any]:
    """The first page of a collection."""
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)
    with engine.reading(opened) as connection:
        answer = answered(connection, Query(limit=limit), _moment(settings)).as_json()
    opened.dispose()
    return answer


def check(
    settings: Settings, *, server: str | None, name: str | None, days: int, as_of: str | None
) -> Check:
    """
    Whether names are still called.

    Raises:
        BadParameter: `as_of` cannot be used.
    """
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)
    with engine.reading(opened) as connection:
        query = Query.of(server=server, name=name, as_of=as_of)
        found = checked(connection, query, _moment(settings), days=days)
    opened.dispose()
    return found
