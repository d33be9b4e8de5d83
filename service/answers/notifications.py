"""
Notifications that were sent, gathered over time: from the quarter-hours of the activity roll-up that lie
in one bucket, from rows for the others and for what is left at both edges of the range.
"""

from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column
from service.answers.query import Query
from service.answers.scope import Scope
from service.clock import QUARTER_US
from service.errors import BadParameter
from service.events import Kind
from service.store import read_signals, read_spans

GROUPS = ("none", "client")


@dataclass(frozen=True, slots=True)
class Sent:
    """One entry a notification, or a quarter-hour of them; the instant is then its start."""

    at_us: Column
    client_id: Column
    number: Column


def refuse(query: Query) -> None:
    """
    Refuse what cannot be asked of notifications.

    Raises:
        BadParameter: They are asked for by something that they do not have.
    """
    if query.name.is_set:
        raise BadParameter(
            "name",
            "a notification is about the whole list of tools and no name of it; leave name out, "
            "or use metric=stale_calls",
        )
    if query.by not in GROUPS:
        raise BadParameter(
            "by", f"notifications have no {query.by}; use one of {', '.join(GROUPS)}"
        )


def sent(scope: Scope, starts: Column, *, by_client: bool) -> Sent:
    """
    Every notification in the range, of the client that is asked for. *starts* are those of the buckets,
    ascending, the first of them not after the range's. Without `by_client` the clients are left out.
    """
    start, end = scope.start_us, scope.until_us
    first = -(-start // QUARTER_US)
    last = max(min(end, scope.cut.solid_us) // QUARTER_US, first)
    within = starts[(starts > start) & (starts % QUARTER_US != 0)]
    shared = np.unique(within // QUARTER_US)  # quarter-hours that belong to two buckets or more
    inner = read_spans.join(shared * QUARTER_US, (shared + 1) * QUARTER_US)
    edges = ((start, min(first * QUARTER_US, end)), (last * QUARTER_US, end))
    spans = [span for span in edges if span[0] < span[1]]
    spans += read_spans.clip(inner, (first * QUARTER_US, last * QUARTER_US))
    rows = read_signals.signals(
        scope.connection, scope.cut, scope.server_ids, Kind.NOTIFICATION, spans
    )
    cells = read_signals.cells(
        scope.connection,
        scope.server_ids,
        Kind.NOTIFICATION,
        (first, last),
        by_client=by_client,
        client_ids=scope.client_ids,
    )
    whole = ~np.isin(cells.quarter, shared)
    parts = [
        Sent(cells.quarter[whole] * QUARTER_US, cells.client_id[whole], cells.events[whole]),
        _each(scope, rows),
    ]
    return Sent(*(np.concatenate([getattr(p, f) for p in parts]) for f in Sent.__slots__))


def _each(scope: Scope, rows: read_signals.Signals) -> Sent:
    """Each row as one, of the client that is asked for."""
    if scope.client_ids is not None:
        rows = rows.where(scope.client_ids.mask(rows.client_id))
    return Sent(rows.time_us, rows.client_id, np.ones(rows.time_us.size, dtype=np.int64))
