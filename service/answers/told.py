"""What people told, as rows: aliases, exclusions with what they leave out, marks with what came since."""

from dataclasses import dataclass, replace

import numpy as np

from service.analysis.counts import codes
from service.answers import calls as gather
from service.answers.marks import Status
from service.answers.names import moment_of
from service.answers.paging import Order, page
from service.answers.people import people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_told
from service.store.engine import Connection
from service.store.read_calls import Calls
from service.told import Mark, MarkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRow:
    """
    One client that is read as another. `client` is its key: case and spacing aside, every spelling.
    `actor` is the way in which it was said.
    """

    client: str
    target: str
    note: str
    said_at: Instant
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRow:
    """
    One rule of what not to count, and what it leaves out in the range: stale calls, how many names and
    clients they are of, and the last of them. A call that several rules leave out is told of by each.
    """

    id: int
    server: str | None
    client: str | None
    version: str | None
    network: str | None
    note: str
    said_at: Instant
    actor: str
    stale_calls: int
    names: int
    clients: int
    last_call: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRow:
    """
    What somebody said of a client at an instant: `contacted`, `known` or `resolved`. `client` is None
    for whatever names none, `name` for every retired name. `calls_since` are its stale calls after
    that, up to `as_of`, and `last_call` is the last of all. `status` is that of the mark: `reopened` where
    it was resolved and there are calls since.
    """

    id: int
    kind: MarkKind
    server: str
    client: str | None
    name: str | None
    at: Instant
    note: str
    said_at: Instant
    actor: str
    status: Status
    calls_since: int
    last_call: Instant | None


def aliases(connection: Connection, query: Query, moment: Moment) -> Collection[AliasRow]:
    """
    Every alias, by client.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "aliases")
    told = read_told.aliases(connection)
    kept, last = page(told, lambda alias: ("", alias.client), Order(), scope.after, limit)
    return scope.answer(
        (
            AliasRow(
                client=alias.client,
                target=alias.target,
                note=alias.note,
                said_at=Instant(alias.said_us),
                actor=alias.actor,
            )
            for alias in kept
        ),
        last,
    )


def exclusions(connection: Connection, query: Query, moment: Moment) -> Collection[ExclusionRow]:
    """
    Every rule, the oldest first; with `server`, those that concern it.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "exclusions")
    told = [
        rule
        for rule in read_told.exclusions(connection)
        if query.server is None or rule.server in (None, query.server)
    ]
    kept, last = page(told, lambda rule: ("", rule.id), Order(), scope.after, limit)
    rules = {rule.told.id: rule for rule in scope.exclusions.rules}
    calls = _every_call(scope) if kept else Calls.join(())
    name = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    known = people(scope, codes(calls.client_id)[0])
    person = np.where(calls.client_id > 0, known.groups(calls.client_id), -1)
    rows = []
    for rule in kept:
        mine = rules[rule.id].mask(calls) if rule.id in rules else np.zeros(name.size, dtype=bool)
        rows.append(
            ExclusionRow(
                id=rule.id,
                server=rule.server,
                client=rule.client,
                version=rule.version,
                network=rule.network,
                note=rule.note,
                said_at=Instant(rule.said_us),
                actor=rule.actor,
                stale_calls=int(mine.sum()),
                names=len(set(name[mine].tolist())),
                clients=len(set(person[mine].tolist()) - {-1}),
                last_call=moment_of(int(calls.time_us[mine].max()) if mine.any() else None),
            )
        )
    return scope.answer(rows, last)


def marks(connection: Connection, query: Query, moment: Moment) -> Collection[MarkRow]:
    """
    Every mark that stands, the oldest first; with filters, those of that server, client and name.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "marks")
    told = [mark for mark in read_told.marks(connection) if _asked(scope, mark)]
    kept, last = page(told, lambda mark: ("", mark.id), Order(), scope.after, limit)
    calls = _every_call(scope) if kept else Calls.join(())
    known = people(scope, codes(calls.client_id)[0])
    name = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    person = known.groups(calls.client_id)
    rows = []
    for mark in kept:
        key = scope.aliases.canonical(mark.client)
        places = [
            place
            for place, each in enumerate(scope.names)
            if each.server == mark.server and mark.name in (None, each.name)
        ]
        group = known.keys.index(key) if key in known.keys else -1
        times = calls.time_us[np.isin(name, places) & (person == group)]
        since = int((times > mark.at_us).sum())
        reopened = mark.kind is MarkKind.RESOLVED and since > 0
        rows.append(
            MarkRow(
                id=mark.id,
                kind=mark.kind,
                server=mark.server,
                client=None if key == "" else known.name(key) if group >= 0 else mark.client,
                name=mark.name,
                at=Instant(mark.at_us),
                note=mark.note,
                said_at=Instant(mark.said_us),
                actor=mark.actor,
                status="reopened" if reopened else mark.kind.value,
                calls_since=since,
                last_call=moment_of(int(times.max()) if times.size else None),
            )
        )
    return scope.answer(rows, last)


def _asked(scope: Scope, mark: Mark) -> bool:
    query = scope.query
    if query.server not in (None, mark.server):
        return False
    if query.name is not None and mark.name not in (None, query.name):
        return False
    return scope.client_keys is None or scope.aliases.canonical(mark.client) in scope.client_keys


def _every_call(scope: Scope) -> Calls:
    """The stale calls of the range, whether they count or not."""
    every = replace(scope, query=replace(scope.query, excluded="count", name=None, client=None))
    return gather.rows(every, scope.names, ((scope.start_us, scope.until_us),))
