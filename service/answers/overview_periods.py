"""The periods of an overview, which all look back from one instant, and how they were watched."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from service.analysis import zones
from service.analysis.change import DAYS, Described, describe, matching
from service.analysis.coverage import Coverage
from service.answers.overview_counts import Mask, Matched, Part
from service.answers.query import Instant
from service.answers.scope import Scope
from service.clock import DAY_US, HOUR_US
from service.store import read_activity
from service.store.read_spans import Span

WINDOWS = (7, 30, 90)
STATE_DAYS = 7
CHANGE_DAYS = DAYS


@dataclass(frozen=True)
class Periods:
    """Spans that look back from `end_us`. A day is 24 hours, whatever the zone."""

    end_us: int

    def back(self, days: int, up_to: int = 0) -> Span:
        """From so many days before the end, up to so many before it."""
        since, until = (self.end_us - each * DAY_US for each in (days, up_to))
        return zones.hold(since), zones.hold(until)

    @cached_property
    def windows(self) -> dict[int, Span]:
        """By their days."""
        return {days: self.back(days) for days in WINDOWS}

    @property
    def recent(self) -> Span:
        """What the state of a name is told from."""
        return self.back(STATE_DAYS)

    @property
    def before(self) -> Span:
        """The earlier of the two periods that are compared."""
        return self.back(2 * CHANGE_DAYS, CHANGE_DAYS)

    @property
    def after(self) -> Span:
        """The later of the two periods that are compared."""
        return self.back(CHANGE_DAYS)

    @property
    def start_us(self) -> int:
        """When the earlier period began; unlike that of a span, it may be before all that is written."""
        return self.end_us - 2 * CHANGE_DAYS * DAY_US


@dataclass(frozen=True, slots=True)
class Watch:
    """Which hours were watched, and the hour in which that began; None: never."""

    coverage: Coverage
    began: int | None

    def hours(self, span: Span) -> tuple[int, int]:
        """How many of the hours that [since, until) shares were watched, and how many there are."""
        start, end = span[0] // HOUR_US, -(-span[1] // HOUR_US)
        return self.coverage.covered_hours(start, end), end - start

    def is_covered(self, span: Span) -> bool:
        """Whether each hour that [since, until) shares was watched, and there is one."""
        return self.coverage.is_covered(span[0] // HOUR_US, -(-span[1] // HOUR_US))

    def cells(self, periods: Periods) -> Mask:
        """Of each hour of the two periods that are compared, whether it was watched in both."""
        return matching(self.coverage, periods.start_us)

    def compare(self, periods: Periods, matched: Matched) -> Described:
        """Describe the calls of the two periods in the hours that match."""
        return describe(
            matched.before,
            matched.after,
            long_enough=self.began is not None and self.began <= periods.before[0] // HOUR_US,
            matched_hours=matched.hours,
        )


def watch_of(scope: Scope, server: str) -> Watch:
    """How one server was watched. That began when it had been heard and had an event."""
    (server_id,) = (id_ for id_, name in scope.servers.items() if name == server)
    heard = [source.hours for source in scope.heard if source.server == server]
    hours = [int(each[0]) for each in heard if each.size]
    first_us = read_activity.first_event(scope.connection, scope.cut.as_of_us, server_id)
    began = None if not hours or first_us is None else max(min(hours), first_us // HOUR_US)
    return Watch(scope.coverage_of(server), began)


def watch_of_all(scope: Scope, watches: Iterable[Watch]) -> Watch:
    """
    How the question's servers were watched. That began when it had for each of *watches* that ever was: of
    another there is no call in either period.
    """
    known = [watch.began for watch in watches if watch.began is not None]
    return Watch(scope.coverage, max(known, default=None))


def window(periods: Periods, watch: Watch, days: int, part: Part) -> dict[str, Any]:
    """The members of a `Window`."""
    since, until = periods.windows[days]
    covered, hours = watch.hours((since, until))
    return {
        "days": days,
        "since": Instant(since),
        "until": Instant(until),
        "stale_calls": part.calls,
        "clients": part.clients,
        "callers": part.callers,
        "covered_hours": covered,
        "hours": hours,
    }


def change(
    periods: Periods, watch: Watch, before: Part, after: Part, matched: Matched
) -> dict[str, Any]:
    """The members of a `Change`."""
    covered, hours = watch.hours(periods.after)
    covered_before, hours_before = watch.hours(periods.before)
    described = watch.compare(periods, matched)
    return {
        "days": CHANGE_DAYS,
        "since": Instant(periods.after[0]),
        "until": Instant(periods.after[1]),
        "before_since": Instant(periods.before[0]),
        "stale_calls": after.calls,
        "stale_calls_before": before.calls,
        "clients": after.clients,
        "clients_before": before.clients,
        "covered_hours": covered,
        "hours": hours,
        "covered_hours_before": covered_before,
        "hours_before": hours_before,
        "matched_hours": matched.hours,
        "matched_calls": matched.after,
        "matched_calls_before": matched.before,
        "word": described.word,
        "why": described.why,
        "pct": described.pct,
    }
