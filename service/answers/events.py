"""Single events: what every number goes back to."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from service.answers import calls as gather
from service.answers.paging import Key, bad_cursor
from service.answers.query import (
    ABSENT,
    Absent,
    Collection,
    Instant,
    Moment,
    Query,
    choice_asked,
    limit_asked,
)
from service.answers.retired import Name
from service.answers.scope import Scope, scope_of
from service.events import TOOL_KINDS, CallerLevel, Kind, Outcome
from service.store import read_events
from service.store.engine import Connection

SORTS = ("-time", "time")
KINDS = tuple(kind.word for kind in Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """
    One event. `name` is as logged, `resolved` the retired name it stands for. `client` is the
    line's, or where `inferred` that of its session's hello. `session` is a hash. `caller` says how
    the caller was told apart: principal, address, process or client. `counted` is false where another
    line of the same call stands for it.
    """

    time: Instant
    kind: str
    server: str
    name: str | None
    resolved: str | None
    client: str | None
    via: str | None
    inferred: bool
    session: str | None
    caller: str | None
    version: str | None
    outcome: str | None
    counted: bool
    batch: str | Absent = ABSENT
    source: str | Absent = ABSENT


def events(connection: Connection, query: Query, moment: Moment) -> Collection[EventRow]:
    """
    Events of every kind, the newest first (`sort=time`: the oldest), equal times by kind, name,
    the client that the line names, and key. With `provenance`, also the batch and source they came with.
    Calls that rules leave out are not among them, unless `excluded` asks for them; events of other kinds
    are no calls, and stay.

    The answer also holds `excluded_calls`, the stale calls of the range that rules leave out.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    newest_first = choice_asked("sort", query.sort or "-time", SORTS) == "-time"
    if query.kind is not None:
        choice_asked("kind", query.kind, KINDS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "events")
    found = _after(scope, newest_first, limit + 1)
    kept = found[:limit]
    last = _key(kept[-1]) if len(found) > limit else None
    rows = (_row(scope, event) for event in kept)
    return scope.answer(rows, last, excluded_calls=gather.left_out(scope))


def _key(event: read_events.Logged) -> Key:
    """The place of an event: of what its line says, since an inferred client may come later."""
    client = "" if event.inferred else event.client or ""
    return (event.time_us, event.kind, event.tool or "", client, event.key)


def _order(newest_first: bool) -> Callable[[read_events.Logged], Key]:
    """Time as asked; within an instant always ascending."""
    sign = -1 if newest_first else 1
    return lambda event: (sign * event.time_us, *_key(event)[1:])


def _after(scope: Scope, newest_first: bool, wanted: int) -> list[read_events.Logged]:
    """The first `wanted` events after the cursor, in order."""
    order = _order(newest_first)
    since_us, until_us = scope.start_us, scope.until_us
    found: list[read_events.Logged] = []
    if scope.after is not None:
        at, rest = _place(scope.after)
        tied = _read(scope, (at, at + 1), newest_first, 1)
        found = sorted((event for event in tied if _key(event)[1:] > rest), key=order)
        if newest_first:
            until_us = min(until_us, at)
        else:
            since_us = max(since_us, at + 1)
    if len(found) < wanted and since_us < until_us:
        more = _read(scope, (since_us, until_us), newest_first, wanted - len(found))
        found += sorted(more, key=order)
    return found[:wanted]


def _place(after: Key) -> tuple[int, Key]:
    good = len(after) == 5 and [type(value) for value in after] == [int, int, str, str, int]
    if not good or abs(after[0]) > 2**61:
        raise bad_cursor()
    return after[0], after[1:]


def _read(
    scope: Scope, between: tuple[int, int], newest_first: bool, at_least: int
) -> list[read_events.Logged]:
    query = scope.query
    tools, not_tools = None, _tools(())
    if query.name.any_of:
        tools = _tools(scope.names)
    elif query.name.is_set:  # what is about no name is about none of these
        not_tools = _tools(name for name in scope.retired if not query.name.takes(name.name))
    wanted = read_events.Wanted(
        since_us=between[0],
        until_us=between[1],
        server_ids=scope.servers_asked,
        kind=None if query.kind is None else Kind[query.kind.upper()],
        client_ids=scope.client_ids,
        tools=tools,
        not_tools=not_tools,
        rules=[rule.ids for rule in scope.exclusions.rules],
        only_left_out=scope.exclusions.only,
    )
    return read_events.events(
        scope.connection, scope.cut, wanted, newest_first=newest_first, at_least=at_least
    )


def _tools(names: Iterable[Name]) -> set[tuple[int, int]]:
    """(server, tool) ids of every spelling of these names."""
    return {(name.server_id, tool_id) for name in names for tool_id in name.tool_ids}


def _row(scope: Scope, event: read_events.Logged) -> EventRow:
    kind = Kind(event.kind)
    name = None
    if kind in TOOL_KINDS and event.tool_id is not None:
        name = scope.resolved.get((event.server_id, event.tool_id))
    outcome = None if event.outcome is None else Outcome(event.outcome)
    if kind is Kind.CALL and name is not None and event.time_us >= name.retired_us:
        outcome = outcome or Outcome.SUCCEEDED
    level = None if event.client is None else "client"
    if event.caller_level is not None:
        level = CallerLevel(event.caller_level).word
    asked = scope.query.provenance
    return EventRow(
        time=Instant(event.time_us),
        kind=kind.word,
        server=event.server,
        name=event.tool,
        resolved=None if name is None else name.name,
        client=event.client,
        via=event.via,
        inferred=event.inferred,
        session=event.session,
        caller=level,
        version=event.version,
        outcome=None if outcome is None else outcome.word,
        counted=event.counted,
        batch=event.batch if asked else ABSENT,
        source=event.source if asked else ABSENT,
    )
