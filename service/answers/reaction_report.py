"""Clients' reactions as a report for whoever makes a client: what was measured, how, and how sure it is."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from service.analysis import reaction_texts as texts
from service.analysis import zones
from service.answers.query import ABSENT, Moment, Query, choice_asked, iso
from service.answers.reaction_evidence import gathered
from service.answers.reaction_rows import ReactionRow, ReactionTotals, Shares
from service.answers.reactions import GROUPS, rows_of, totals_of
from service.answers.scope import Scope, scope_of
from service.clock import SECOND_US
from service.store.engine import Connection

_MINUTE = "%Y-%m-%d %H:%M"


def reaction_report(connection: Connection, query: Query, moment: Moment) -> str:
    """
    The report about all rows of `reactions`, as Markdown: strangers' text stands in code spans.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    choice_asked("by", query.by, GROUPS)
    scope = scope_of(connection, replace(query, cursor=None, limit=None), moment, "reactions")
    evidence, _, _ = gathered(scope)
    rows = [
        row
        for _, row in sorted(
            rows_of(evidence, query.by), key=lambda pair: (pair[1].server, pair[0])
        )
    ]
    heard = scope.summary()
    end_us = max(min(scope.until_us, moment.now_us), scope.start_us)
    return texts.report(
        texts.Case(
            whole=_whole(totals_of(evidence), rows),
            parts=[_part(scope, row) for row in rows],
            since=_local(scope, scope.start_us),
            until=_local(scope, end_us),
            as_of=_local(scope, scope.cut.as_of_us),
            tz=query.tz,
            covered_hours=heard.covered_hours,
            hours=heard.hours,
            gaps=heard.gap_count,
            refresh_s=moment.refresh_window_us // SECOND_US,
        )
    )


def _whole(totals: ReactionTotals, rows: list[ReactionRow]) -> texts.Part:
    return texts.Part(
        clients=totals.clients,
        notifications=totals.notifications,
        episodes=totals.episodes,
        in_flight=totals.in_flight,
        elsewhere=totals.listed_elsewhere,
        known_channel=all(row.channel == "logged" for row in rows),
        **_numbers(totals.shares),
    )


def _part(scope: Scope, row: ReactionRow) -> texts.Part:
    split = row.version if row.version is not ABSENT else row.era
    return texts.Part(
        server=row.server,
        client=row.client,
        split=None if split is ABSENT else str(split or "not known"),
        clients=int(row.client is not None),
        notifications=row.notifications,
        episodes=row.episodes,
        in_flight=row.in_flight,
        elsewhere=row.listed_elsewhere,
        known_channel=row.channel == "logged",
        events=_events(scope, row),
        **_numbers(row.shares),
    )


def _numbers(shares: Shares) -> dict[str, Any]:
    return {
        "labels": shares.labels,
        "measured": shares.measured,
        "refreshed": shares.refreshed,
        "share": _span(shares.share, shares.share_low, shares.share_high),
        "background": (shares.background_listed, shares.background_n),
        "excess": _span(shares.excess, shares.excess_low, shares.excess_high),
        "watched": shares.watched,
        "median_s": shares.median_s,
    }


def _span(*values: float | None) -> tuple[float, float, float] | None:
    value, low, high = values
    return None if value is None or low is None or high is None else (value, low, high)


def _events(scope: Scope, row: ReactionRow) -> str:
    asked = {
        "server": row.server,
        "client": row.client or "",
        "kind": "notification",
        "since": iso(scope.start_us),
        "until": iso(scope.until_us),
    }
    return f"/api/v1/events?{urlencode(asked)}"


def _local(scope: Scope, instant_us: int) -> str:
    return zones.local(zones.hold(instant_us), scope.zone).strftime(_MINUTE)
