"""What clients did after notifications that the list of tools has changed: one row a server and client."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from service.analysis import labels as labelling
from service.analysis import reactions as analysis
from service.analysis.counts import Column
from service.analysis.labels import LABELS
from service.analysis.shares import Share, excess, wilson
from service.analysis.survival import kaplan_meier
from service.answers.paging import Order, order_asked, page
from service.answers.people import NOBODY
from service.answers.query import (
    ABSENT,
    Collection,
    Moment,
    Query,
    choice_asked,
    limit_asked,
)
from service.answers.reaction_evidence import Evidence, gathered
from service.answers.reaction_rows import ReactionRow, ReactionTotals, Shares
from service.answers.scope import scope_of
from service.clock import SECOND_US
from service.store.engine import Connection

GROUPS = ("none", "version", "era")
_OF_SHARES = ("measured", "refreshed", "share", "excess", "median_s", "background_share")
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
    "in_flight",
    *_OF_SHARES,
)
_AT_ONCE = [LABELS.index(label) for label in sorted(labelling.AT_ONCE)]
Key = tuple[str, str]
"""What a row is told apart by beside its server: the key of its client, and its version or era."""


def reactions(connection: Connection, query: Query, moment: Moment) -> Collection[ReactionRow]:
    """
    Every client that was notified in the range, by server and client; with `by`, each version of it, or
    each era of the protocol.

    The range chooses notifications; listings and calls around them are read beyond it, up to `as_of`.
    The answer also holds `totals`, over all rows, `unattributed_notifications`: those of the range that
    name neither client nor session, whatever client is asked for, and `excluded_notifications`: those to
    clients that a rule leaves out.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    choice_asked("by", query.by, GROUPS)
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "reactions", changes=order.changes)
    evidence, nobodys, left_out = gathered(scope)
    kept, last = page(
        rows_of(evidence, query.by),
        lambda pair: (_sort(pair[1], order), pair[1].server, *pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer(
        (row for _, row in kept),
        last,
        totals=moment.once(("reaction totals", id(evidence)), lambda: totals_of(evidence)),
        unattributed_notifications=nobodys,
        excluded_notifications=left_out if query.excluded == "hide" else 0,
    )


def _sort(row: ReactionRow, order: Order) -> Any:
    if order.column is None:
        return ""
    return getattr(row.shares if order.column in _OF_SHARES else row, order.column)


def rows_of(evidence: Evidence, by: str) -> list[tuple[Key, ReactionRow]]:
    """Each row of `GROUPS` with what tells it apart, by server and that."""
    texts = {"version": evidence.versions, "era": evidence.eras}.get(by)
    nothing: list[str | None] = [None] * evidence.sent.time_us.size
    named, split = _numbered(nothing if texts is None else texts)
    groups = analysis.grouped(evidence.found, split)
    moment = evidence.scope.moment
    found = analysis.reactions(
        evidence.notifications,
        evidence.lists,
        evidence.calls,
        refresh_us=moment.refresh_window_us,
        compare_us=moment.compare_window_us,
        end_us=evidence.end_us,
        groups=groups,
    )
    shares = shares_of(evidence, groups)
    flying = labelling.in_flight(evidence.notifications, split, evidence.calls, groups)
    elsewhere = groups.sums(evidence.elsewhere)
    versions, eras = (
        _said(evidence.versions, evidence, groups),
        _said(evidence.eras, evidence, groups),
    )
    rows = []
    for place, each in enumerate(found):
        text = named[int(groups.split[place])]
        key = evidence.known.keys[each.client]
        row = ReactionRow(
            server=evidence.scope.servers[each.server],
            client=evidence.known.name(key),
            notifications=each.notifications,
            episodes=each.episodes,
            answered=each.answered,
            ignored=each.ignored,
            stale_before=each.stale_before,
            stale_after=each.stale_after,
            change_pct=each.change_pct,
            outcome=each.outcome,
            in_flight=int(flying[place]),
            listed_elsewhere=int(elsewhere[place]),
            versions=len(versions[place]),
            eras=tuple(sorted(eras[place])),
            channel="logged" if each.server in evidence.follower.streaming else "unknown",
            shares=shares[place],
            version=text if by == "version" else ABSENT,
            era=text if by == "era" else ABSENT,
        )
        # what is not known comes after all that is
        rows.append(((key, "1" if texts is not None and text is None else f"0{text or ''}"), row))
    return rows


def totals_of(evidence: Evidence) -> ReactionTotals:
    """All episodes together."""
    groups = analysis.grouped(evidence.found)
    named = [evidence.known.keys[client] != NOBODY for client in groups.client.tolist()]
    none = np.zeros_like(evidence.sent.time_us)
    flying = labelling.in_flight(evidence.notifications, none, evidence.calls, groups)
    hits, number = evidence.background(groups)
    seen = np.unique(groups.client[groups.of[evidence.measured]])
    shares = _shares(
        evidence,
        np.arange(evidence.found.row.size),
        Share(int(hits.sum()), int(number.sum())),
        few=seen.size < 2,
    )
    return ReactionTotals(
        clients=len(set(groups.client[np.array(named, dtype=np.bool_)].tolist())),
        notifications=int(evidence.sent.time_us.size),
        episodes=int(evidence.found.row.size),
        in_flight=int(flying.sum()),
        listed_elsewhere=int(evidence.elsewhere.sum()),
        shares=shares,
    )


def shares_of(evidence: Evidence, groups: analysis.Groups) -> list[Shares]:
    """The shares of each group."""
    hits, number = evidence.background(groups)
    order = np.argsort(groups.of, kind="stable")
    ends = np.searchsorted(groups.of[order], np.arange(groups.size), side="right")
    return [
        _shares(evidence, mine, Share(int(hits[place]), int(number[place])))
        for place, mine in enumerate(np.split(order, ends)[: groups.size])
    ]


def _shares(evidence: Evidence, mine: Column, background: Share, *, few: bool = False) -> Shares:
    """
    Of the episodes in these places; *few* where they are of one client only, which no share is shown of.
    """
    label = evidence.labels[mine]
    measured = evidence.measured[mine]
    share = Share(int(np.isin(label[measured], _AT_ONCE).sum()), int(measured.sum()))
    alone = few or share.n < 2
    interval = None if alone else wilson(share)
    beyond = None if alone else excess(share, background)
    times, happened = evidence.durations
    watched = mine[~evidence.state.closed[mine]]
    curve = kaplan_meier(times[watched], happened[watched])
    low, high = curve.median_interval
    counts = np.bincount(label, minlength=len(LABELS)).tolist()
    return Shares(
        labels=dict(zip(LABELS, counts, strict=True)),
        measured=share.n,
        refreshed=share.hits,
        share=None if alone else rounded(share.value),
        share_low=None if interval is None else rounded(interval[0]),
        share_high=None if interval is None else rounded(interval[1]),
        background_n=background.n,
        background_listed=background.hits,
        background_share=rounded(background.value),
        excess=None if beyond is None else rounded(beyond.value),
        excess_low=None if beyond is None else rounded(beyond.interval[0]),
        excess_high=None if beyond is None else rounded(beyond.interval[1]),
        watched=curve.n,
        median_s=seconds(curve.median),
        median_low_s=seconds(low),
        median_high_s=seconds(high),
    )


def rounded(value: float | None) -> float | None:
    """A share to four decimals."""
    return None if value is None else round(float(value), 4) + 0.0


def seconds(time_us: int | None) -> float | None:
    """A length of time in seconds."""
    return None if time_us is None else time_us / SECOND_US


def _numbered(texts: Sequence[str | None]) -> tuple[list[str | None], Column]:
    """The distinct texts, ascending, None last, and the number of each."""
    ordered = [*sorted({text for text in texts if text is not None}), None]
    numbers = {text: number for number, text in enumerate(ordered)}
    return ordered, np.array([numbers[text] for text in texts], dtype=np.int64)


def _said(
    texts: Sequence[str | None], evidence: Evidence, groups: analysis.Groups
) -> list[set[str]]:
    """The distinct texts of the episodes of each group."""
    found: list[set[str]] = [set() for _ in range(groups.size)]
    for group, place in zip(groups.of.tolist(), evidence.found.row.tolist(), strict=True):
        if (text := texts[place]) is not None:
            found[group].add(text)
    return found
