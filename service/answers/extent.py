"""What there is at all: the servers, and the first and last event."""

from dataclasses import dataclass

from service.answers.query import Instant, Moment, Query
from service.answers.scope import scope_of
from service.store import read_activity
from service.store.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """All servers by name, and the first and last event of those asked for; None: there is none."""

    servers: tuple[str, ...]
    first_event: Instant | None
    last_event: Instant | None


def extent(connection: Connection, query: Query, moment: Moment) -> Extent:
    """
    The span of all events before `as_of`; of *query*, only `server`, `tz` and `as_of` count.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    asked = Query(server=query.server, tz=query.tz, as_of=query.as_of)
    scope = scope_of(connection, asked, moment, "extent")
    lasts = (
        read_activity.last_event(connection, scope.cut.as_of_us, server_id)
        for server_id in scope.server_ids
    )
    last = max((at for at in lasts if at is not None), default=None)
    return Extent(
        servers=tuple(sorted(scope.servers.values())),
        first_event=None if scope.since_us is None or last is None else Instant(scope.since_us),
        last_event=None if last is None else Instant(last),
    )
