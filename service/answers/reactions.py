"""What clients did after notifications that the list of tools has changed: one row a server and client."""

from dataclasses import dataclass

import numpy as np

from service.analysis import reactions as analysis
from service.answers import calls as gather
from service.answers.names import sortable
from service.answers.paging import order_asked, page
from service.answers.people import People, people
from service.answers.query import Collection, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.events import Kind
from service.store import read_calls, read_signals, read_spans
from service.store.engine import Connection
from service.store.read_signals import Signals

SORTS = (
    "server",
    "client",
    "notifications",
    "episodes",
    "answered",
    "ignored",
    "stale_before",
    "stale_after",
    "change_pct",
    "outcome",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRow:
    """
    What one client of one server did after notifications; `client` is None for those whose session
    names no client.

    Notifications to a session with gaps of at most the refresh window are one of the `episodes`;
    those without a session are taken as one session of their client. It is `answered` by a listing of
    the session from the first notification to the refresh window after the last, else `ignored`.
    `stale_before` and `stale_after` are the client's stale calls in the compare window up to the first
    notification, and after the last, summed over its episodes. `change_pct` is None when nothing came
    before.

    `outcome` describes and does not judge: before and after, not adjusted, not a cause. `answered_…`,
    `ignored_…` or `mixed_…` (all, none, some of the episodes), then `…_reduced`, `…_no_effect` or
    `…_increased`; `no_stale_calls` where none came before or after; `too_early` while the windows of
    an episode are not over.
    """

    server: str
    client: str | None
    notifications: int
    episodes: int
    answered: int
    ignored: int
    stale_before: int
    stale_after: int
    change_pct: float | None
    outcome: str


def reactions(connection: Connection, query: Query, moment: Moment) -> Collection[ReactionRow]:
    """
    Every client that was notified in the range, by server and client.

    The range chooses notifications; listings and calls around them are read beyond it, up to `as_of`.
    The answer also holds `unattributed_notifications`: those of the range that name neither client nor
    session, whatever client is asked for.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "reactions", changes=order.changes)
    sent = read_signals.signals(
        connection,
        scope.cut,
        scope.server_ids,
        Kind.NOTIFICATION,
        [(scope.start_us, scope.until_us)],
    )
    nobodys = (sent.client_id == 0) & (sent.session_id == 0)
    asked = ~nobodys
    if scope.client_ids is not None:
        asked &= np.isin(sent.client_id, sorted(scope.client_ids))
    kept, last = page(
        _rows(scope, sent.where(asked)),
        lambda pair: (sortable(pair[1], order.column), pair[1].server, pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer(
        (row for _, row in kept), last, unattributed_notifications=int(nobodys.sum())
    )


def _rows(scope: Scope, sent: Signals) -> list[tuple[str, ReactionRow]]:
    """(client key, row) of each client that these notifications were sent to."""
    if not sent.time_us.size:
        return []
    refresh_us, compare_us = scope.moment.refresh_window_us, scope.moment.compare_window_us
    first, last = int(sent.time_us.min()), int(sent.time_us.max())
    answers = read_spans.few(sent.time_us, sent.time_us + refresh_us + 1)
    lists = read_signals.signals(
        scope.connection,
        scope.cut,
        scope.server_ids,
        Kind.LISTING,
        read_spans.clip(answers, (first, scope.cut.as_of_us)),
    )
    around = (first - compare_us, min(last + compare_us + 1, scope.cut.as_of_us))
    calls = gather.rows(scope, scope.names, (around,), read_calls.CLIENT)
    known = people(scope, np.concatenate([sent.client_id, lists.client_id, calls.client_id]))
    stale = analysis.Rows(
        calls.server_id, calls.time_us * 0, known.groups(calls.client_id), calls.time_us
    )
    found = analysis.reactions(
        _of(sent, known),
        _of(lists, known),
        stale,
        refresh_us=refresh_us,
        compare_us=compare_us,
        end_us=min(scope.cut.as_of_us, scope.moment.now_us),
    )
    return [(known.keys[each.client], _row(scope, known, each)) for each in found]


def _row(scope: Scope, known: People, found: analysis.Reaction) -> ReactionRow:
    return ReactionRow(
        server=scope.servers[found.server],
        client=known.name(known.keys[found.client]),
        notifications=found.notifications,
        episodes=found.episodes,
        answered=found.answered,
        ignored=found.ignored,
        stale_before=found.stale_before,
        stale_after=found.stale_after,
        change_pct=found.change_pct,
        outcome=found.outcome,
    )


def _of(rows: Signals, known: People) -> analysis.Rows:
    return analysis.Rows(
        rows.server_id, rows.session_id, known.groups(rows.client_id), rows.time_us
    )
