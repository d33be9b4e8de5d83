"""Whether names are still called, for a machine: called, quiet, or unknown, with one line of reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from service.answers.callers import CallerRow
from service.answers.callers import callers as callers_of
from service.answers.query import LIMIT_MAX, Instant, Moment, Query, iso
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US, HOUR_US
from service.store.engine import Connection

Verdict = Literal["quiet", "called", "unknown"]
EXIT: dict[Verdict, int] = {"quiet": 0, "called": 1, "unknown": 3}
"""Exit status of a command; 2 is bad usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """
    One name over the last `days` times 24 hours. `open_calls` are its stale calls that count: those that
    no rule leaves out, after whatever was said to be resolved. It is `called` with one of them, `quiet`
    where there is none and each hour was watched, else `unknown`: silence in a gap proves nothing.
    """

    server: str
    name: str
    verdict: Verdict
    reason: str
    open_calls: int
    clients: int
    last_call: Instant | None
    covered_hours: int
    hours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """
    All names together: `called` where one is, else `unknown` where one is or there is none, else `quiet`.
    """

    verdict: Verdict
    reason: str
    days: int
    since: Instant
    as_of: Instant
    excluded_calls: int
    names: tuple[Checked, ...]

    @property
    def exit_status(self) -> int:
        """That of the command."""
        return EXIT[self.verdict]


def check(connection: Connection, query: Query, moment: Moment, *, days: int) -> Check:
    """
    Check the names of a question (`server`, `name`, `as_of`), each over the last *days* before `as_of` or
    now, whichever comes first.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    scope = scope_of(connection, replace(query, since=None, until=None), moment, "check")
    end_us = min(scope.cut.as_of_us, moment.now_us)
    since_us = end_us - days * DAY_US
    # calls by a clock that is ahead are calls, too
    asked = replace(query, since=iso(since_us), until=None, limit=LIMIT_MAX, cursor=None)
    found: dict[tuple[str, str], list[CallerRow]] = {}
    left_out = 0
    while True:
        answer = callers_of(connection, asked, moment)
        left_out = answer.more["excluded_calls"]
        for row in answer.items:
            found.setdefault((row.server, row.name), []).append(row)
        if answer.next_cursor is None:
            break
        asked = replace(asked, cursor=answer.next_cursor)
    span = (since_us // HOUR_US, -(-end_us // HOUR_US))
    names = tuple(
        _checked(scope, name.server, name.name, found.get((name.server, name.name), ()), span, days)
        for name in scope.names
    )
    verdict, reason = _together(query, names, days)
    return Check(
        verdict=verdict,
        reason=reason,
        days=days,
        since=Instant(since_us),
        as_of=Instant(end_us),
        excluded_calls=left_out,
        names=names,
    )


def _checked(
    scope: Scope,
    server: str,
    name: str,
    rows: Sequence[CallerRow],
    span: tuple[int, int],
    days: int,
) -> Checked:
    callers = [row for row in rows if row.open_calls]
    calls = sum(row.open_calls for row in callers)
    last = max((row.last_call for row in callers if row.last_call is not None), default=None)
    covered, hours = scope.coverage_of(server).covered_hours(*span), span[1] - span[0]
    clients = sum(row.client is not None for row in callers)
    if calls:
        who = _counted(clients, "client") if clients else "no client named"
        verdict: Verdict = "called"
        reason = f"{_counted(calls, 'call')} in {days} days ({who}), the last {last}"
    elif covered < hours:
        verdict = "unknown"
        reason = f"no call in {days} days, but only {covered} of {hours} hours were watched"
    else:
        verdict = "quiet"
        reason = f"no call in {days} days, all of them watched"
    return Checked(
        server=server,
        name=name,
        verdict=verdict,
        reason=reason,
        open_calls=calls,
        clients=clients,
        last_call=last,
        covered_hours=covered,
        hours=hours,
    )


def _together(query: Query, names: Sequence[Checked], days: int) -> tuple[Verdict, str]:
    called = [each for each in names if each.verdict == "called"]
    unknown = [each for each in names if each.verdict == "unknown"]
    if not names:
        what = "no retired name is known" if query.name is None else f"{query.name} was never seen"
        return "unknown", what + (f" at {query.server}" if query.server else "")
    if called:
        most = max(called, key=lambda each: (each.open_calls, each.server, each.name))
        return "called", f"{len(called)} of {len(names)} names: {most.name}: {most.reason}"
    if unknown:
        first = min(unknown, key=lambda each: each.covered_hours)
        return "unknown", f"{len(unknown)} of {len(names)} names: {first.name}: {first.reason}"
    return "quiet", f"{_counted(len(names), 'name')}: no call in {days} days, all of them watched"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
