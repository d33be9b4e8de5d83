"""Whether names are still called, for a machine: called, quiet, or unknown, with one line of reason."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from service.analysis import zones
from service.analysis.counts import codes
from service.analysis.zones import EARLIEST_US
from service.answers import calls as gather
from service.answers.callers import CallerRow, rows_of
from service.answers.people import people
from service.answers.query import (
    Instant,
    Moment,
    Query,
    one_asked,
)
from service.answers.retired import Name, told
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US, HOUR_US
from service.store.engine import Connection

Verdict = Literal["quiet", "called", "unknown"]
EXIT: dict[Verdict, int] = {"quiet": 0, "called": 1, "unknown": 3}
"""Exit status of a command; 2 is bad usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """
    One name over the last `days` times 24 hours. `open_calls` are its stale calls that count; beside them
    stand `resolved_calls`, which somebody said are fixed since, `excluded_calls`, which rules leave out, and
    `working_calls`, its ordinary calls before it is known as retired (`retired_at`).

    It is `called` with an open call, and `quiet` where there is none, nor a working one, and each hour was
    watched. Else it is `unknown`: silence in a gap proves nothing, and a name that worked was not silent.
    """

    server: str
    name: str
    verdict: Verdict
    reason: str
    open_calls: int
    resolved_calls: int
    excluded_calls: int
    working_calls: int
    clients: int
    last_call: Instant | None
    retired_at: Instant
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
    for parameter in ("server", "name"):
        one_asked(parameter, getattr(query, parameter))
    scope = scope_of(connection, replace(query, since=None, until=None), moment, "check")
    end_us = min(scope.cut.as_of_us, moment.now_us)
    since_us = zones.hold(end_us - days * DAY_US)
    scope = replace(scope, since_us=since_us)
    # calls by a clock that is ahead are calls, too: up to the cut
    calls = gather.rows(scope, scope.names, ((scope.start_us, scope.until_us),))
    found: dict[tuple[str, str], list[CallerRow]] = {}
    for _, row in rows_of(scope, calls, people(scope, codes(calls.client_id)[0])):
        found.setdefault((row.server, row.name), []).append(row)
    span = (since_us, end_us)
    only = replace(scope, query=replace(scope.query, excluded="only"))
    names = tuple(
        _checked(scope, name, found.get((name.server, name.name), ()), span, *beside)
        for name, *beside in zip(
            scope.names,
            gather.counted(only, scope.names, span).tolist(),
            _working(scope, span),
            strict=True,
        )
    )
    verdict, reason = _together(scope, names, days)
    return Check(
        verdict=verdict,
        reason=reason,
        days=days,
        since=Instant(since_us),
        as_of=Instant(end_us),
        excluded_calls=gather.left_out(scope),
        names=names,
    )


def _working(scope: Scope, span: tuple[int, int]) -> list[int]:
    """Of each name the ordinary calls before it was retired, without those before a resolution."""
    names = scope.names
    calls = gather.working(scope, names, span)
    known = people(scope, codes(calls.client_id)[0])
    number = gather.name_numbers(names, calls.server_id, calls.tool_id)
    width = max(len(known.keys), 1)
    pairs, place = codes(number * width + known.groups(calls.client_id))
    since = [
        scope.marks.of(
            names[pair // width].server, names[pair // width].name, known.keys[pair % width]
        ).resolved_us
        for pair in pairs.tolist()
    ]
    after = np.array([EARLIEST_US if at is None else at for at in since], dtype=np.int64)
    late = calls.time_us > after[place] if place.size else np.zeros(0, dtype=np.bool_)
    counted: list[int] = np.bincount(number[late], minlength=len(names)).tolist()
    return counted


def _checked(
    scope: Scope,
    name: Name,
    rows: Sequence[CallerRow],
    span: tuple[int, int],
    excluded: int,
    working: int,
) -> Checked:
    callers = [row for row in rows if row.open_calls]
    calls = sum(row.open_calls for row in callers)
    last = max((row.last_call for row in callers if row.last_call is not None), default=None)
    start, end = span[0] // HOUR_US, -(-span[1] // HOUR_US)
    covered, hours = scope.coverage_of(name.server).covered_hours(start, end), end - start
    clients = sum(row.client is not None for row in callers)
    resolved = sum(row.stale_calls for row in rows) - calls
    days = (span[1] - span[0]) // DAY_US
    none = f"no {'open ' if resolved or excluded else ''}call in {_counted(days, 'day')}"
    verdict: Verdict
    if calls:
        who = _counted(clients, "client") if clients else "no client named"
        verdict = "called"
        reason = f"{_counted(calls, 'call')} in {_counted(days, 'day')} ({who}), the last {last}"
    elif covered < max(hours, 1):
        verdict, reason = "unknown", f"{none}, but only {covered} of {hours} hours were watched"
    elif working:
        verdict = "unknown"
        reason = f"{_counted(working, 'ordinary call')} in {_counted(days, 'day')}, before {_retired(name)}"
    else:
        verdict, reason = "quiet", f"{none}, all of them watched"
    return Checked(
        server=name.server,
        name=name.name,
        verdict=verdict,
        reason=reason + _aside(resolved, excluded),
        open_calls=calls,
        resolved_calls=resolved,
        excluded_calls=excluded,
        working_calls=working,
        clients=clients,
        last_call=last,
        retired_at=Instant(name.retired_us),
        covered_hours=covered,
        hours=hours,
    )


def _retired(name: Name) -> str:
    """Since when it is retired; of a name that was only entered, that it may be said."""
    at = Instant(name.retired_us)
    if name.dated:
        return f"it was retired ({at})"
    return f"it was entered ({at}); say since when it is retired (retired_at)"


def _aside(resolved: int, excluded: int) -> str:
    parts = [f"{resolved:,} before a resolution"] if resolved else []
    parts += [f"{excluded:,} left out by rules"] if excluded else []
    return f"; {', '.join(parts)}" if parts else ""


def _together(scope: Scope, names: Sequence[Checked], days: int) -> tuple[Verdict, str]:
    if not names:
        return "unknown", _nothing(scope)
    called = [each for each in names if each.verdict == "called"]
    unknown = [each for each in names if each.verdict == "unknown"]
    verdict = (called or unknown or names)[0].verdict
    if called:
        most = max(called, key=lambda each: (each.open_calls, each.server, each.name))
    else:
        most = min(unknown or names, key=lambda each: each.covered_hours)
    if len(names) == 1:
        return verdict, f"{most.name}: {most.reason}"
    if verdict != "quiet":
        found = called or unknown
        return verdict, f"{len(found)} of {len(names)} names: {most.name}: {most.reason}"
    resolved = sum(each.resolved_calls for each in names)
    excluded = sum(each.excluded_calls for each in names)
    none = f"no {'open ' if resolved or excluded else ''}call in {_counted(days, 'day')}, all of them watched"
    return verdict, f"{len(names):,} names: {none}{_aside(resolved, excluded)}"


def _nothing(scope: Scope) -> str:
    """Why there is no name to check."""
    name, server = scope.query.name.one, scope.query.server.one
    at = f" at {server}" if server else ""
    if name is None:
        return f"no retired name is known{at}"
    entries = told(scope.connection, {id_: scope.servers[id_] for id_ in scope.server_ids})
    mine = [each[name].entry for each in entries.values() if name in each]
    if any(entry.hidden for entry in mine):
        return f"{name} is hidden{at}; `lastcall catalogue unhide` shows it again"
    if mine:
        return f"{name} is not retired yet{at}"
    return f"{name} was never seen{at}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
