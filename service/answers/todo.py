"""What is to be done: whom to reach about which retired name, the most pressing client first."""

from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column
from service.analysis.evidence import Evidence
from service.answers import calls as gather
from service.answers import tallies
from service.answers.callers import CallerRow, groups
from service.answers.contact import Found, MessageRow, Packs
from service.answers.cure_evidence import Gathered, evidence, gathered
from service.answers.cures import row_of
from service.answers.marks import Status
from service.answers.paging import Order, page
from service.answers.people import NOBODY
from service.answers.query import Collection, Instant, Moment, Query, choice_asked, limit_asked
from service.answers.scope import scope_of
from service.store.engine import Connection

SHOW = ("due", "all")
MESSAGES = 10
"""Clients that messages are written for, beside a page of rows."""
DUE: tuple[Status, ...] = ("open", "reopened")
"""What somebody has to do something about."""
_EVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoRow:
    """
    One thing to do: a client's calls to one retired name; `client` is None for calls that name none.

    `cure`, `do` and `why` are those of `cures`, `status`, `marked_at` and `open_calls` those of
    `callers`. `client_days` and `client_calls` are the days with open calls of all of the client's rows
    that are `open` or `reopened`, and these calls: by them the rows are in order.
    """

    server: str
    name: str
    client: str | None
    status: Status
    cure: str
    do: str
    why: tuple[str, ...]
    product: str | None
    vendor: str | None
    replaced_by: tuple[str, ...]
    stale_calls: int
    open_calls: int
    active_days: int
    callers: int
    versions: tuple[str, ...]
    version_count: int
    first_call: Instant | None
    last_call: Instant | None
    inferred_calls: int
    marked_at: Instant | None
    client_days: int
    client_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoTotals:
    """
    Clients that say their name, by what their rows come to: `to_reach` have one that is `open` or
    `reopened`; the others count those with a row of that status. `unattributed_calls` are the open calls
    that name no client. `rows` are all rows, `due` those that are `open` or `reopened`.
    """

    to_reach: int
    reopened: int
    contacted: int
    known: int
    resolved: int
    unattributed_calls: int
    due: int
    rows: int


def todo(connection: Connection, query: Query, moment: Moment) -> Collection[TodoRow]:
    """
    Every server, name and client that is `open` or `reopened` (with `show=all` the others, too): clients
    by the days of their open calls, then by these calls, the most first; then by server and name.

    The answer also holds `totals`, `messages` to the first clients among its rows that something is due
    of (see `contact`), and `excluded_calls`, which rules leave out.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The data changed since the first page, and with it the order.
    """
    show = choice_asked("show", query.show, SHOW)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "todo", changes=True)
    source = gathered(scope)
    found = list(evidence(source)) if scope.names else []
    days, calls = _pressing(source, [row for _, row, _ in found])
    place = {key: at for at, key in enumerate(source.known.keys)}
    shown = [each for each in found if show == "all" or each[1].status in DUE]
    kept, last = page(
        shown,
        lambda each: (
            "",
            -int(days[place[each[0]]]),
            -int(calls[place[each[0]]]),
            each[0],
            each[1].server,
            each[1].name,
        ),
        Order(),
        scope.after,
        limit,
    )
    rows = (
        _row(row, said, int(days[place[key]]), int(calls[place[key]])) for key, row, said in kept
    )
    return scope.answer(
        rows,
        last,
        totals=_totals([(key, row) for key, row, _ in found]),
        messages=_messages(source, found, [key for key, row, _ in kept if row.status in DUE]),
        excluded_calls=gather.left_out(scope),
    )


def _pressing(source: Gathered, rows: list[CallerRow]) -> tuple[Column, Column]:
    """By the number of a client: the local days of its open calls that are due, and these calls."""
    scope, calls, width = source.scope, source.calls, len(source.known.keys)
    if not rows:
        none = np.zeros(width, dtype=np.int64)
        return none, none
    pairs, group = groups(scope, calls, source.known)
    keys = source.known.keys
    resolved = [
        scope.marks.of(row.server, row.name, keys[int(pair) % width]).resolved_us
        for pair, row in zip(pairs, rows, strict=True)
    ]
    since = np.array([_EVER if each is None else each for each in resolved], dtype=np.int64)
    due = np.array([row.status in DUE for row in rows])
    mine = calls.where(due[group] & (calls.time_us > since[group]))
    client = source.known.groups(mine.client_id)
    days = tallies.local_days(scope, client, mine, width)
    return days, np.bincount(client, minlength=width).astype(np.int64)


def _messages(
    source: Gathered, found: list[tuple[str, CallerRow, Evidence]], keys: list[str]
) -> tuple[MessageRow, ...]:
    """What to write to the first of these clients, about all that each calls."""
    first = [key for key in dict.fromkeys(keys) if key != NOBODY][:MESSAGES]
    about: dict[str, list[Found]] = {key: [] for key in first}
    for key, row, said in found:
        if key in about:
            about[key].append((row, said))
    packs = Packs(source.scope) if about else None
    return tuple(packs.message(each) for each in about.values()) if packs else ()


def _totals(rows: list[tuple[str, CallerRow]]) -> TodoTotals:
    clients: dict[Status, set[str]] = {}
    for key, row in rows:
        if key != NOBODY:
            clients.setdefault(row.status, set()).add(key)
    reach: set[str] = set().union(*(clients.get(status, set()) for status in DUE))
    nobody = [row for key, row in rows if key == NOBODY and row.status in DUE]
    return TodoTotals(
        to_reach=len(reach),
        reopened=len(clients.get("reopened", ())),
        contacted=len(clients.get("contacted", ())),
        known=len(clients.get("known", ())),
        resolved=len(clients.get("resolved", ())),
        unattributed_calls=sum(row.open_calls for row in nobody),
        due=sum(row.status in DUE for _, row in rows),
        rows=len(rows),
    )


def _row(row: CallerRow, said: Evidence, days: int, calls: int) -> TodoRow:
    told = row_of(row, said)
    return TodoRow(
        server=row.server,
        name=row.name,
        client=row.client,
        status=row.status,
        cure=told.cure,
        do=told.do,
        why=told.why,
        product=told.product,
        vendor=told.vendor,
        replaced_by=said.replaced_by,
        stale_calls=row.stale_calls,
        open_calls=row.open_calls,
        active_days=row.active_days,
        callers=row.callers,
        versions=row.versions,
        version_count=row.version_count,
        first_call=row.first_call,
        last_call=row.last_call,
        inferred_calls=row.inferred_calls,
        marked_at=row.marked_at,
        client_days=days,
        client_calls=calls,
    )
