"""What a page asks: a snapshot of the database, the state of its address, and questions in its range."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from fastapi import Request

from dashboards.figures.calls import SHOWN
from dashboards.figures.releases import ReleaseCalls, by_release
from dashboards.figures.timeline import Mark, Timeline
from dashboards.state import State, View, read_state, view_of
from service import answers
from service.analysis.zones import EARLIEST_US
from service.answers import Collection, HealthRow, Moment, NameRow, Query, ReleaseRow, SeriesRow
from service.answers.calls import left_out
from service.answers.extent import Extent, extent
from service.answers.query import LIMIT_MAX, moment_at
from service.answers.scope import scope_of
from service.store.engine import Connection, reading

RowT = TypeVar("RowT")


class Answer(Protocol[RowT]):
    """One of `service.answers`, which bears the name of its collection."""

    __name__: str

    def __call__(
        self, connection: Connection, query: Query, moment: Moment, /
    ) -> Collection[RowT]: ...


@dataclass(frozen=True)
class Reading:
    """One look at the data, for one page."""

    connection: Connection
    moment: Moment
    view: View
    extent: Extent

    @property
    def state(self) -> State:
        """The state of the address."""
        return self.view.state

    def ask(self, answer: Answer[RowT], **more: Any) -> Collection[RowT]:
        """Put the page's question, with *more*, to one of `service.answers`."""
        return answer(self.connection, self.view.query(answer.__name__, **more), self.moment)

    @cached_property
    def left_out(self) -> int:
        """How many stale calls of the page's question rules leave out."""
        query = self.view.query("callers")
        return left_out(scope_of(self.connection, query, self.moment, "callers"))

    @cached_property
    def timeline(self) -> Timeline:
        """
        The buckets of the range that have begun, with the notifications and releases of the page's
        server (and client) in them.
        """
        bucket = self.view.bucket
        sent = self.ask(answers.series, name=None, bucket=bucket, metric="notifications").items
        begun = [row for row in sent if row.start < self.moment.now_us]
        return Timeline(
            labels=tuple(row.label for row in begun),
            covered=tuple(row.covered for row in begun),
            bucket=bucket,
            tz=self.state.tz,
            notified=tuple(
                Mark(row.label, (f"{row.value} notification{'' if row.value == 1 else 's'} sent",))
                for row in begun
                if row.value
            ),
            released=_releases(begun, self._releases()),
        )

    def _releases(self) -> list[ReleaseRow]:
        found: list[ReleaseRow] = []
        cursor = None
        while True:
            part = self.ask(
                answers.releases, name=None, client=None, limit=LIMIT_MAX, cursor=cursor
            )
            found += part.items
            cursor = part.next_cursor
            if cursor is None:
                return found


@contextmanager
def reading_of(request: Request, *, arrivals: bool = False) -> Iterator[Reading]:
    """
    Open what a request asks for. A page about *arrivals* looks at days before the first event, too.

    Raises:
        BadParameter: The address holds something that cannot be used.
    """
    state = read_state(request.query_params.multi_items())
    app = request.app.state
    moment = moment_at(app.clock(), app.settings)
    with app.outages.reading.watching(), reading(app.engine) as connection:
        query = Query(server=state.server, tz=state.tz, as_of=state.as_of)
        span = extent(connection, query, moment)
        first_us = EARLIEST_US if arrivals else span.first_event
        yield Reading(connection, moment, view_of(state, moment, first_us), span)


@dataclass(frozen=True, slots=True)
class Chart:
    """
    A figure's rows and its axis, from which both the picture and its table are made. `asked` is what
    the figure asks `series` beside the page's question.
    """

    rows: tuple[SeriesRow, ...]
    timeline: Timeline
    by: str
    asked: dict[str, Any]


def calls_chart(look: Reading, by: str) -> Chart:
    """Stale calls over time by client or name."""
    return _chart(look, by=by, top=SHOWN)


def callers_chart(look: Reading) -> Chart:
    """Distinct callers over time."""
    return _chart(look, metric="callers")


def _chart(look: Reading, **more: Any) -> Chart:
    asked = {"bucket": look.view.bucket, **more}
    begun = set(look.timeline.labels)
    found = look.ask(answers.series, **asked)
    rows = tuple(row for row in found.items if row.label in begun)
    return Chart(rows, look.timeline, more.get("by", "none"), asked)


def _releases(begun: Sequence[SeriesRow], released: Sequence[ReleaseRow]) -> tuple[Mark, ...]:
    """One mark a bucket in which anything was released."""
    starts = [row.start for row in begun]
    said: dict[str, list[str]] = {}
    for row in released:
        at = bisect_right(starts, row.at) - 1
        if at >= 0:
            said.setdefault(begun[at].label, []).append(f"{row.server} {row.version}")
    return tuple(Mark(label, tuple(each)) for label, each in said.items())


def release_calls(look: Reading) -> tuple[ReleaseCalls, ...]:
    """Stale calls in the range by the release that listed the called name last."""
    found: list[NameRow] = []
    cursor = None
    while True:
        part = look.ask(answers.names, limit=LIMIT_MAX, cursor=cursor)
        found += part.items
        cursor = part.next_cursor
        if cursor is None:
            return by_release(found)


def arrivals(look: Reading, **more: Any) -> Collection[HealthRow]:
    """The account of what arrived in the range; without a start, from the first arrival on."""
    whole = {"until": None} if look.view.since_day is None and look.state.as_of is None else {}
    return look.ask(answers.health, name=None, client=None, **whole, **more)
