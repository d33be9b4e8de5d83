"""Answers for commands, without a service in between."""

from typing import Any

from service.answers.callers import callers
from service.answers.names import names
from service.answers.query import Moment, Query
from service.answers.rejects import rejects as rejected
from service.clock import system_clock
from service.settings import Settings
from service.store import engine, migrate

ALL = 1_000
"""Rows of a report: as many as one page of an answer can hold."""


def _moment(settings: Settings) -> Moment:
    return Moment(system_clock(), settings.future_skew_s * 1_000_000)


def report(settings: Settings, *, tz: str) -> dict[str, Any]:
    """Who still calls what, as JSON: the collections `names` and `callers`, most calls first."""
    query = Query(sort="-stale_calls", limit=ALL, tz=tz)
    opened = engine.make_engine(settings.database_url)
    with engine.reading(opened) as connection:
        moment = _moment(settings)
        answer = {
            "names": names(connection, query, moment).as_json(),
            "callers": callers(connection, query, moment).as_json(),
        }
    opened.dispose()
    return answer


def rejects(settings: Settings, *, limit: int) -> dict[str, Any]:
    """Rejected records as JSON, newest first."""
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)
    with engine.reading(opened) as connection:
        answer = rejected(connection, Query(limit=limit), _moment(settings)).as_json()
    opened.dispose()
    return answer
