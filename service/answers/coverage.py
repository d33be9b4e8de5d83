"""When the servers were watched, and when not."""

from dataclasses import dataclass

from service.analysis.coverage import Gap
from service.answers.paging import Order, page
from service.answers.query import Collection, GapRow, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, gap_row, scope_of
from service.clock import HOUR_US
from service.store.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRow:
    """One source: from the start of its first heard hour to the end of its last, before the cut."""

    server: str
    source: str
    heard_hours: int
    first_heard: Instant
    last_heard: Instant
    retired: bool


def coverage(connection: Connection, query: Query, moment: Moment) -> Collection[GapRow]:
    """
    Every gap that meets the range, by start, server and source; beside them, as `sources`, the span
    of each source that was ever heard.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "coverage")
    start, end = scope.start_us // HOUR_US, -(-scope.until_us // HOUR_US)
    met = [gap for gap in scope.coverage.gaps if gap.start < end and gap.end > start]
    kept, last = page(met, _key, Order(), scope.after, limit)
    return scope.answer((gap_row(gap) for gap in kept), last, sources=spans(scope))


def _key(gap: Gap) -> tuple[str, int, str, str]:
    """What tells gaps apart; not the end, which moves on while a source stays silent."""
    return ("", gap.start, gap.server, gap.source)


def spans(scope: Scope) -> tuple[SpanRow, ...]:
    """The span of each source that was heard before the cut, by server and source."""
    return tuple(
        SpanRow(
            server=source.server,
            source=source.source,
            heard_hours=source.hours.size,
            first_heard=Instant(int(source.hours[0]) * HOUR_US),
            last_heard=Instant((int(source.hours[-1]) + 1) * HOUR_US),
            retired=source.retired,
        )
        for source in scope.heard
        if source.hours.size
    )


def silent(scope: Scope) -> tuple[Gap, ...]:
    """The gaps of sources that are silent now, or were at the cut: those that have not ended."""
    limit_us = min(scope.cut.as_of_us, scope.moment.now_us)
    return tuple(gap for gap in scope.coverage.gaps if gap.end >= limit_us // HOUR_US)


def heard_until(scope: Scope) -> dict[str, Instant]:
    """Each server of the answer that was heard before the cut: when it was last, now at the latest."""
    now_us = min(scope.cut.as_of_us, scope.moment.now_us)
    found: dict[str, Instant] = {}
    for span in spans(scope):
        if span.server in scope.about:
            last = max(span.last_heard, found.get(span.server, span.last_heard))
            found[span.server] = Instant(min(last, now_us))
    return found
