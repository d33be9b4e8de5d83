"""What a page asks: a snapshot of the database, the state of its address, and questions in its range."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from fastapi import Request

from dashboards import happened
from dashboards.compared import earlier
from dashboards.figures.calls import SHOWN
from dashboards.figures.timeline import Earlier, Mark, Timeline
from dashboards.happened import Axis
from dashboards.state import State, View, read_state, view_of
from service import answers
from service.analysis.zones import EARLIEST_US, day_text
from service.answers import (
    AnnotationRow,
    Collection,
    EffectWeekRow,
    HealthRow,
    LatencyRow,
    Moment,
    PlanRead,
    Query,
    SeriesRow,
)
from service.answers.calls import left_out
from service.answers.coverage import heard_until, silent
from service.answers.effect import study_of
from service.answers.extent import Extent, extent
from service.answers.query import LIMIT_MAX, iso, moment_at, plain
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US
from service.store.engine import Connection, reading
from service.visitors import bound_of

RowT = TypeVar("RowT")


class Answer(Protocol[RowT]):
    """One of `service.answers`, which bears the name of its collection."""

    __name__: str

    def __call__(
        self, connection: Connection, query: Query, moment: Moment, /
    ) -> Collection[RowT]: ...


@dataclass(frozen=True, slots=True)
class Silence:
    """
    The sources that are silent now, as "server / source"; until when (ISO) and for how many whole days
    ago any server was heard last, and the days for each server that ever was.
    """

    sources: tuple[str, ...]
    since: str | None
    days: int
    by_server: dict[str, int]


REST: Final[Mapping[str, str]] = MappingProxyType(
    {
        "effect_clients": "effect/clients",
        "effect_names": "effect/names",
        "effect_weeks": "effect/weeks",
        "effect_since": "effect/since",
        "latency": "reactions/latency",
        "history": "catalogue/history",
        "lint": "catalogue/lint",
        "diff": "catalogue/diff",
        "last_releases": "names",
    }
)
"""Where REST has an answer, if not under its name."""
SUMMED: Final = frozenset({"last_releases"})
"""Answers that REST does not give as such: what they were summed up from is at their address."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """
    One answer that a page rests on, and its REST address below the root: of the very same answer, or, where it
    `is_part`, of one that it was taken or summed up from.
    """

    collection: str
    address: str
    is_part: bool
    answer: Collection[Any] | PlanRead

    def as_json(self) -> dict[str, Any]:
        """The answer in the form of REST."""
        found = self.answer
        said: dict[str, Any] = found.as_json() if isinstance(found, Collection) else plain(found)
        return said


@dataclass(frozen=True)
class Reading:
    """One look at the data, for one page."""

    connection: Connection
    moment: Moment
    view: View
    extent: Extent
    asked: list[Asked] = field(default_factory=list, compare=False, repr=False)
    """Every answer so far, in order."""

    @property
    def state(self) -> State:
        """The state of the address."""
        return self.view.state

    def ask(self, answer: Answer[RowT], **more: Any) -> Collection[RowT]:
        """Put the page's question, with *more*, to one of `service.answers`."""
        name = answer.__name__
        found = answer(self.connection, self.view.query(name, **more), self.moment)
        is_part = name in SUMMED
        self.note(name, found, is_part=is_part, **more, **({"limit": LIMIT_MAX} if is_part else {}))
        return found

    def note(
        self,
        collection: str,
        found: Collection[Any] | PlanRead,
        *,
        is_part: bool = False,
        **more: Any,
    ) -> None:
        """Keep that the page rests on an answer to its question with *more*, once however often it is asked."""
        address = self.view.rest(REST.get(collection, collection), **more)
        if all(each.address != address or each.is_part != is_part for each in self.asked):
            self.asked.append(Asked(collection, address, is_part, found))

    @cached_property
    def scope(self) -> Scope:
        """What the page's question is about."""
        return scope_of(self.connection, self.view.query("callers"), self.moment, "callers")

    @property
    def seen_from_us(self) -> int:
        """From when "3 days ago" counts: the instant that was asked for, else the clock."""
        return min(self.moment.now_us, self.scope.cut.as_of_us)

    @cached_property
    def silence(self) -> Silence:
        """What is not heard now on the servers of the page."""
        last = heard_until(self.scope)
        gaps = silent(self.scope)
        latest = max(last.values(), default=None)
        days = {server: (self.seen_from_us - at) // DAY_US for server, at in last.items()}
        return Silence(
            sources=tuple(f"{gap.server} / {gap.source}" for gap in gaps),
            since=None if latest is None else iso(latest),
            days=min(days.values(), default=0),
            by_server=days,
        )

    @cached_property
    def left_out(self) -> int:
        """How many stale calls of the page's question rules leave out."""
        return left_out(self.scope)

    @property
    def _is_of_name(self) -> bool:
        """A notification is about no name: who came by a link to one is shown none, but the buckets."""
        bound = self.moment.bound
        return bound is not None and bound.name is not None

    @cached_property
    def begun(self) -> tuple[SeriesRow, ...]:
        """The buckets of the range that have begun, with the notifications in them (see `timeline`)."""
        metric = "stale_calls" if self._is_of_name else "notifications"
        sent = self.ask(answers.series, name=None, bucket=self.view.bucket, metric=metric).items
        return tuple(row for row in sent if row.start < self.moment.now_us)

    @cached_property
    def timeline(self) -> Timeline:
        """
        The buckets of the range that have begun, with the notifications of the page's server (and client) in
        them, and what happened to it.
        """
        begun = self.begun
        return Timeline(
            labels=tuple(row.label for row in begun),
            covered=tuple(row.covered for row in begun),
            bucket=self.view.bucket,
            tz=self.state.tz,
            notified=tuple(
                Mark(row.label, (f"{row.value} notification{'' if row.value == 1 else 's'} sent",))
                for row in begun
                if row.value and not self._is_of_name
            ),
            **happened.marks(begun, self.annotations),
        )

    @cached_property
    def annotations(self) -> tuple[AnnotationRow, ...]:
        """What happened in the range beside the calls, by time."""
        found: list[AnnotationRow] = []
        cursor = None
        while True:
            part = self.ask(answers.annotations, limit=LIMIT_MAX, cursor=cursor)
            found += part.items
            cursor = part.next_cursor
            if cursor is None:
                return tuple(found)


@contextmanager
def reading_of(request: Request, *, arrivals: bool = False, days: str = "90") -> Iterator[Reading]:
    """
    Open what a request asks for. A page about *arrivals* looks at days before the first event, too; *days* is the
    range where none is asked for.

    Raises:
        BadParameter: The address holds something that cannot be used.
    """
    state = read_state(request.query_params.multi_items(), days)
    app = request.app.state
    moment = replace(moment_at(app.clock(), app.settings), shared={}, bound=bound_of(request))
    with app.outages.reading.watching(), reading(app.engine) as connection:
        query = Query(server=state.server, tz=state.tz, as_of=state.as_of)
        span = extent(connection, query, moment)
        first_us = EARLIEST_US if arrivals else span.first_event
        yield Reading(connection, moment, view_of(state, moment, first_us), span)


@dataclass(frozen=True, slots=True)
class Chart:
    """
    A figure's rows and its axis, from which both the picture and its table are made. `asked` is what
    the figure asks `series` beside the page's question, `earlier` the range before, `happened` what
    is listed below it.
    """

    rows: tuple[SeriesRow, ...]
    timeline: Timeline
    by: str
    asked: dict[str, Any]
    earlier: Earlier | None = None
    happened: Axis | None = None


def calls_chart(look: Reading, by: str) -> Chart:
    """Stale calls over time by client or name, and where the page asks for it those of the weeks before."""
    return replace(
        _chart(look, by=by, top=SHOWN),
        earlier=earlier(look, look.timeline),
        happened=happened.axis(look.timeline, look.begun, look.annotations),
    )


def callers_chart(look: Reading) -> Chart:
    """Distinct callers over time."""
    return _chart(look, metric="callers")


def _chart(look: Reading, **more: Any) -> Chart:
    asked = {"bucket": look.view.bucket, **more}
    begun = set(look.timeline.labels)
    found = look.ask(answers.series, **asked)
    rows = tuple(row for row in found.items if row.label in begun)
    return Chart(rows, look.timeline, more.get("by", "none"), asked)


def effect_scope(look: Reading) -> Scope:
    """What the page's question about the effect of notifications refers to."""
    return scope_of(look.connection, look.view.query("effect"), look.moment, "effect")


def week_marks(look: Reading) -> tuple[Mark, ...]:
    """How many clients were notified for the first time, by the week from Monday (UTC)."""
    told: dict[str, int] = {}
    for unit in study_of(effect_scope(look)).units:
        if unit.notified_at is not None:
            day = unit.notified_at // DAY_US
            monday = day_text(day - (day + 3) % 7)  # day 0 was a Thursday
            told[monday] = told.get(monday, 0) + 1
    return tuple(
        Mark(week, (f"{n} client{'' if n == 1 else 's'}",)) for week, n in sorted(told.items())
    )


def effect_timeline(look: Reading, rows: Sequence[EffectWeekRow]) -> Timeline:
    """The weeks of an effect, with its gaps, first notifications and releases."""
    labels = tuple(row.week for row in rows)
    return Timeline(
        labels=labels,
        covered=tuple(row.covered == 1 for row in rows),
        bucket="week",
        tz="UTC",
        notified=tuple(mark for mark in week_marks(look) if mark.label in labels),
    )


def listing_times(look: Reading) -> tuple[list[LatencyRow], Collection[LatencyRow]]:
    """Every step of the time to listing, and the answer that begins with them."""
    first = part = look.ask(answers.latency, name=None, limit=LIMIT_MAX)
    found = list(part.items)
    while part.next_cursor is not None:
        part = look.ask(answers.latency, name=None, limit=LIMIT_MAX, cursor=part.next_cursor)
        found += part.items
    return found, first


def arrivals(look: Reading, **more: Any) -> Collection[HealthRow]:
    """The account of what arrived in the range; without a start, from the first arrival on."""
    whole = {"until": None} if look.view.since_day is None and look.state.as_of is None else {}
    return look.ask(answers.health, name=None, client=None, **whole, **more)
