"""The ways of having nothing to show, each of which means something else."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

from dashboards.reading import Reading
from service import answers
from service.analysis import zones
from service.answers import Collection
from service.answers.extent import extent
from service.answers.query import EVERY, Query, only, zone_asked

Kind = Literal["never", "range", "unheard", "ruled", "filtered", "quiet"]


@dataclass(frozen=True, slots=True)
class Empty:
    """
    Why there is nothing: `never` (no data at all), `range` (no event in this range), `unheard` (none in
    this range, and the log was not heard throughout, so that this says nothing), `ruled` (rules leave
    out all that there is), `filtered` (nothing passes the filters) or `quiet` (the log was heard throughout, and no retired name was called).
    """

    kind: Kind
    arrived: int = 0
    """`never`: records that did arrive, none of which was recognised."""
    last_day: str | None = None
    """`range`: the local day of the last event; None where all events lie after the range."""


def emptiness(
    look: Reading,
    shown: int,
    answer: Collection[Any],
    about: AbstractSet[str] = frozenset(),
    left_out: int | None = None,
) -> Empty | None:
    """
    Say why a page shows nothing; None where it shows something (*shown* > 0). What the page is *about*
    is no filter of it. *left_out* is how much rules leave out, where that is not of calls.
    """
    if shown:
        return None
    bound = look.moment.bound
    everything = Query(server=EVERY if bound is None else only(bound.server))
    if extent(look.connection, everything, look.moment).first_event is None:
        return Empty("never", arrived=_arrived(look))
    known = look.extent.first_event is not None
    if known and (found := _out_of_range(look, answer)):
        return found
    if not known and (not look.state.server.is_set or bound is not None):
        return Empty("range")  # every event lies after `as_of`
    if look.left_out if left_out is None else left_out:
        return Empty("ruled")
    heard = answer.coverage
    if known and heard.covered_hours == 0:
        return Empty("unheard")
    if look.state.filters.keys() - about - _forced(look) or look.state.excluded == "only":
        return Empty("filtered")
    return Empty("quiet" if heard.covered_hours == heard.hours else "unheard")


def no_arrivals(look: Reading, shown: int) -> Empty | None:
    """Say why the account of arrivals shows nothing; None where it shows something (*shown* > 0)."""
    if shown:
        return None
    asked = Query(server=look.state.server, limit=1)
    days = answers.health(look.connection, asked, look.moment).more["days"]
    if days:
        since = look.view.since_day
        is_before = since is not None and days[-1].day < since.isoformat()
        return Empty("range", last_day=days[-1].day if is_before else None)
    return Empty("filtered" if look.state.server.is_set and _arrived(look) else "never")


def _arrived(look: Reading) -> int:
    if look.moment.bound is not None:
        return 0  # what arrived is for those who run the service
    days = answers.health(look.connection, Query(limit=1), look.moment).more["days"]
    return sum(day.received for day in days)


def _out_of_range(look: Reading, answer: Collection[Any]) -> Empty | None:
    """Whether all events lie on one side of the range."""
    first, last = look.extent.first_event, look.extent.last_event
    since, until = answer.range.since, answer.range.until
    if first is None or last is None or since is None or until is None:
        return None
    if last < since:
        zone = zone_asked(Query(tz=look.state.tz))
        return Empty("range", last_day=zones.local(last, zone).date().isoformat())
    return Empty("range") if first >= until else None


def _forced(look: Reading) -> AbstractSet[str]:
    """The filters that a link has, which nobody set and nobody can clear."""
    return set() if look.moment.bound is None else look.moment.bound.given().keys()
