"""What is to be done: whom to reach about which retired name, the most pressing client first."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column
from service.analysis.evidence import Evidence
from service.analysis.stopped import Word
from service.answers import calls as gather
from service.answers import tallies
from service.answers.callers import CallerRow, groups, still_open
from service.answers.contact import Found, MessageRow, Packs, of_client
from service.answers.cure_evidence import Gathered, evidence, gathered
from service.answers.cures import CureRow, row_of
from service.answers.marks import DUE, Status
from service.answers.paging import Order, page
from service.answers.people import NOBODY
from service.answers.query import Collection, Instant, Moment, Query, choice_asked, limit_asked
from service.answers.scope import scope_of
from service.answers.stopped import words_of
from service.store.engine import Connection

SHOW = ("due", "all")
MESSAGES = 10
"""Clients that messages are written for, beside a page of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoRow:
    """
    One thing to do: a client's calls to one retired name; `client` is None for calls that name none.

    `replaced_by` is what to call instead: in place of a name that is retired itself what replaces that.
    `cure`, `do`, `why` and `verdict` are those of `cures`, `status`, `marked_at`, `open_calls` and `open_days`
    those of `callers`. `client_days` and `client_calls` are the days with open calls of all of the client's rows
    that are due (`open`, `unheeded` or `reopened`), and these calls: by them the rows are in order.
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
    no_replacement: bool
    stale_calls: int
    open_calls: int
    open_days: int
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
    verdict: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoTotals:
    """
    Clients that say their name, by what their rows come to: `to_reach` have one that is due (`open`,
    `unheeded` or `reopened`); the others count those with a row of that status. `unattributed_calls` are
    the open calls that name no client, `unattributed_told` those of rows that are contacted, known or
    resolved. `rows` are all rows, `due` those that are due.
    """

    to_reach: int
    reopened: int
    unheeded: int
    contacted: int
    known: int
    resolved: int
    unattributed_calls: int
    unattributed_told: int
    due: int
    rows: int


def todo(connection: Connection, query: Query, moment: Moment) -> Collection[TodoRow]:
    """
    Every server, name and client that is due: `open`, `unheeded` or `reopened` (with `show=all` the others,
    too): clients by the days of their open calls, then by these calls, the most first; then by server and
    name.

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
    written = _written([key for key, row, _ in kept if row.status in DUE])
    about = [row for key, row, _ in found if key in written] + [row for _, row, _ in kept]
    words = words_of(scope, {(row.server, row.name) for row in about})
    rows = (
        _row(
            row_of(row, said, words[row.server, row.name, key]), said, int(days[at]), int(calls[at])
        )
        for key, row, said in kept
        for at in [place[key]]
    )
    return scope.answer(
        rows,
        last,
        totals=_totals([(key, row) for key, row, _ in found]),
        messages=_messages(source, found, written, words),
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
    marks = [
        scope.marks.of(row.server, row.name, keys[int(pair) % width])
        for pair, row in zip(pairs, rows, strict=True)
    ]
    due = np.array([row.status in DUE for row in rows])
    mine = calls.where(due[group] & still_open(calls, group, marks))
    client = source.known.groups(mine.client_id)
    days = tallies.local_days(scope, client, mine, width)
    return days, np.bincount(client, minlength=width).astype(np.int64)


def _written(keys: list[str]) -> list[str]:
    """The clients that messages are written for: the first of these that are one."""
    return [key for key in dict.fromkeys(keys) if key != NOBODY][:MESSAGES]


def _messages(
    source: Gathered,
    found: list[tuple[str, CallerRow, Evidence]],
    keys: list[str],
    words: Mapping[tuple[str, str, str], Word],
) -> tuple[MessageRow, ...]:
    """What to write to these clients, about all that each calls."""
    about: dict[str, list[Found]] = {key: [] for key in keys}
    for key, row, said in found:
        if key in about:
            about[key].append((row, said))
    packs = Packs(source.scope) if about else None
    if packs is None:
        return ()
    return tuple(packs.message(each, of_client(words, key)) for key, each in about.items())


def _totals(rows: list[tuple[str, CallerRow]]) -> TodoTotals:
    clients: dict[Status, set[str]] = {}
    for key, row in rows:
        if key != NOBODY:
            clients.setdefault(row.status, set()).add(key)
    reach: set[str] = set().union(*(clients.get(status, set()) for status in DUE))
    nobody = [row for key, row in rows if key == NOBODY]
    return TodoTotals(
        to_reach=len(reach),
        reopened=len(clients.get("reopened", ())),
        unheeded=len(clients.get("unheeded", ())),
        contacted=len(clients.get("contacted", ())),
        known=len(clients.get("known", ())),
        resolved=len(clients.get("resolved", ())),
        unattributed_calls=sum(row.open_calls for row in nobody if row.status in DUE),
        unattributed_told=sum(row.stale_calls for row in nobody if row.status not in DUE),
        due=sum(row.status in DUE for _, row in rows),
        rows=len(rows),
    )


def _row(row: CureRow, said: Evidence, days: int, calls: int) -> TodoRow:
    return TodoRow(
        server=row.server,
        name=row.name,
        client=row.client,
        status=row.status,
        cure=row.cure,
        do=row.do,
        why=row.why,
        product=row.product,
        vendor=row.vendor,
        replaced_by=said.replaced_by,
        no_replacement=said.no_replacement,
        stale_calls=row.stale_calls,
        open_calls=row.open_calls,
        open_days=row.open_days,
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
        verdict=row.verdict,
    )
