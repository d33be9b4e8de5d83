"""The four ways of having nothing to show, each of which means something else."""

from dataclasses import dataclass
from typing import Any, Literal

from dashboards.reading import Reading
from service import answers
from service.analysis import zones
from service.answers import Collection
from service.answers.query import Query, zone_asked


@dataclass(frozen=True, slots=True)
class Empty:
    """
    Why there is nothing: `never` (no data at all), `range` (none in this range), `filtered` (nothing
    passes the filters) or `quiet` (the log was heard, and no retired name was called).
    """

    kind: Literal["never", "range", "filtered", "quiet"]
    arrived: int = 0
    """`never`: records that did arrive, none of which was recognised."""
    last_day: str | None = None
    """`range`: the local day of the last event."""
    before: bool = False
    """`range`: whether the last event lies before the range."""


def emptiness(look: Reading, shown: int, answer: Collection[Any]) -> Empty | None:
    """Say why a page shows nothing; None where it shows something (*shown* > 0)."""
    if shown:
        return None
    everything = Query(as_of=look.state.as_of, limit=1000)
    if look.extent.first_event is None and not look.state.filters:
        arrived = answers.health(look.connection, everything, look.moment).items
        return Empty("never", arrived=sum(row.received for row in arrived))
    return _out_of_range(look, answer) or Empty("filtered" if look.state.filters else "quiet")


def no_arrivals(look: Reading, shown: int) -> Empty | None:
    """Say why the account of arrivals shows nothing; None where it shows something (*shown* > 0)."""
    if shown:
        return None
    every = answers.health(look.connection, Query(limit=1000), look.moment).items
    if not every:
        return Empty("never")
    mine = [row.day for row in every if look.state.server in (None, row.server)]
    if not mine:
        return Empty("filtered")
    last, since = max(mine), look.view.since_day
    return Empty("range", last_day=last, before=since is not None and last < since.isoformat())


def _out_of_range(look: Reading, answer: Collection[Any]) -> Empty | None:
    """Whether all events lie on one side of the range."""
    first, last = look.extent.first_event, look.extent.last_event
    since, until = answer.range.since, answer.range.until
    if first is None or last is None or since is None or until is None:
        return None
    if since <= last and first < until:
        return None
    zone = zone_asked(Query(tz=look.state.tz))
    day = zones.local(last, zone).date().isoformat()
    return Empty("range", last_day=day, before=last < since)
