"""The range before, put below the buckets of a figure: Monday below Monday, by the clock of the zone."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from dashboards.figures.timeline import Earlier, Timeline
from service import answers
from service.answers import Instant
from service.clock import DAY_US

if TYPE_CHECKING:
    from dashboards.reading import Reading

LONGEST_US = 9_000 * DAY_US
"""Of the range before no more is drawn: `series` has at most 10,000 days."""


def earlier(look: "Reading", timeline: Timeline) -> Earlier | None:
    """The range before, where the page asks for it and there is any event."""
    if look.state.compare is None:
        return None
    found = look.ask(answers.compare, shift="weeks", limit=1)
    before, weeks = found.more["before"], found.more["weeks"]
    if before.since is None:
        return None
    since = Instant(max(before.since, before.until - LONGEST_US))
    asked: dict[str, Any] = {
        "bucket": "hour" if timeline.bucket == "hour" else "day",
        "since": str(since),
        "until": str(before.until),
    }
    rows = look.ask(answers.series, **asked).items if since < before.until else ()
    values, covered = below(timeline.labels, rows, weeks)
    return Earlier(
        weeks=weeks,
        values=values,
        covered=covered,
        totals=found.as_json()["totals"],
        since=str(before.since),
        until=str(before.until),
        asked=asked,
    )


def below(
    labels: Sequence[str], rows: Sequence[answers.SeriesRow], weeks: int
) -> tuple[tuple[int | None, ...], tuple[bool, ...]]:
    """
    The calls of *rows*, local days or hours, below the buckets in which they lie that many *weeks* later, and
    whether all of these were covered. None is below a bucket that had none then, such as an hour that the clock
    showed once; what would lie in one that there is not now is below the one before it, so that none is lost.
    """
    places = list(_places(labels, 0))
    values: list[int | None] = [None] * len(labels)
    covered = [True] * len(labels)
    for row, place in zip(rows, _places([row.label for row in rows], weeks), strict=True):
        at = max(bisect_right(places, place) - 1, 0)
        values[at] = (values[at] or 0) + row.value
        covered[at] = covered[at] and row.covered
    heard = (all_of and value is not None for all_of, value in zip(covered, values, strict=True))
    return tuple(values), tuple(heard)


def _places(labels: Iterable[str], weeks: int) -> Iterable[tuple[datetime, int]]:
    """What the clock shows that many weeks later, and how many times it has shown it before."""
    shown: Counter[datetime] = Counter()
    for label in labels:
        at = datetime.fromisoformat(label).replace(tzinfo=None) + timedelta(weeks=weeks)
        yield at, shown[at]
        shown[at] += 1
