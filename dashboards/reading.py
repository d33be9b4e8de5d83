"""What a page asks: a snapshot of the database, the state of its address, and questions in its range."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request

from dashboards.figures.calls import SHOWN
from dashboards.figures.safe import plain
from dashboards.figures.timeline import Mark, Timeline
from dashboards.state import State, View, read_state, view_of
from service import answers
from service.answers import Collection, Moment, Query, ReleaseRow, SeriesRow
from service.answers.extent import Extent, extent
from service.answers.query import moment_at
from service.store.engine import Connection, reading

RowT = TypeVar("RowT")
Answer = Callable[[Connection, Query, Moment], Collection[RowT]]

RELEASES_DRAWN = 1_000


@dataclass(frozen=True, slots=True)
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
        return answer(self.connection, self.view.query(**more), self.moment)


@contextmanager
def reading_of(request: Request) -> Iterator[Reading]:
    """
    Open what a request asks for.

    Raises:
        BadParameter: The address holds something that cannot be used.
    """
    state = read_state(request.query_params.multi_items())
    app = request.app.state
    moment = moment_at(app.clock(), app.settings)
    with reading(app.engine) as connection:
        query = Query(server=state.server, tz=state.tz, as_of=state.as_of)
        span = extent(connection, query, moment)
        yield Reading(connection, moment, view_of(state, moment, span.first_event), span)


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure's rows and its axis, from which both the picture and its table are made."""

    rows: tuple[SeriesRow, ...]
    timeline: Timeline
    by: str
    answer: Collection[SeriesRow]


def calls_chart(look: Reading, by: str) -> Chart:
    """Stale calls over time by client or name."""
    found = look.ask(answers.series, bucket=look.view.bucket, by=by, top=SHOWN)
    return Chart(found.items, _timeline(look, found), by, found)


def callers_chart(look: Reading) -> Chart:
    """Distinct callers over time."""
    found = look.ask(answers.series, bucket=look.view.bucket, metric="callers")
    return Chart(found.items, _timeline(look, found), "none", found)


def _timeline(look: Reading, found: Collection[SeriesRow]) -> Timeline:
    """The buckets of an answer, with the notifications and releases of the same server and range."""
    heard: dict[str, bool] = {}
    starts: list[int] = []
    for row in found.items:
        if row.label not in heard:
            heard[row.label] = row.covered
            starts.append(row.start)
    labels = tuple(heard)
    sent = look.ask(
        answers.series, name=None, bucket=look.view.bucket, metric="notifications", by="none"
    )
    released = look.ask(answers.releases, name=None, client=None, limit=RELEASES_DRAWN)
    return Timeline(
        labels=labels,
        covered=tuple(heard.values()),
        bucket=look.view.bucket,
        tz=look.state.tz,
        notified=tuple(
            Mark(row.label, f"{row.value} notification{'' if row.value == 1 else 's'} sent")
            for row in sent.items
            if row.value
        ),
        released=_releases(starts, labels, released.items),
    )


def _releases(
    starts: Sequence[int], labels: Sequence[str], released: Sequence[ReleaseRow]
) -> tuple[Mark, ...]:
    """One mark a bucket in which anything was released."""
    said: dict[str, list[str]] = {}
    for row in released:
        at = bisect_right(starts, row.at) - 1
        if at >= 0:
            said.setdefault(labels[at], []).append(f"{plain(row.server)} {plain(row.version)}")
    return tuple(Mark(label, "released: " + "<br>".join(each)) for label, each in said.items())
