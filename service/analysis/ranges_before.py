"""
The range before another one, by a local clock: the one that ends where it begins, or one that lies whole weeks
before it, so that Monday stands under Monday.
"""

from datetime import UTC, datetime, time, timedelta, tzinfo

from service.analysis import zones

Span = tuple[int, int]
"""[since, until), in microseconds since 1970."""
WEEK = timedelta(weeks=1)
_FIRST = zones.local(zones.EARLIEST_US, UTC).replace(tzinfo=None)


def just_before(span: Span, zone: tzinfo) -> Span:
    """The range that ends where *span* begins, and is as long on the clock of the zone."""
    since_us = span[0]
    start, end = (zones.local(at, zone).replace(tzinfo=None) for at in span)
    if start - _FIRST < end - start:
        return zones.EARLIEST_US, since_us
    began = zones.instant((start - (end - start)).replace(tzinfo=zone))
    return min(began, since_us), since_us


def weeks_in(span: Span, zone: tzinfo) -> int:
    """
    How many weeks a range has by the clock of the zone, rounded up to whole ones; at least one.

    >>> day = 86_400_000_000
    >>> [weeks_in((0, days * day), UTC) for days in (1, 7, 8, 90)]
    [1, 1, 2, 13]
    """
    start, end = (_shown(at, zone) for at in span)
    return max(-((start - end) // WEEK), 1)


def weeks_before(span: Span, zone: tzinfo, weeks: int) -> Span:
    """
    The range *weeks* before: both of its ends show the same weekday and time on the clock of the zone. An end
    at which a day begins is moved to the beginning of another day, also where that is not at midnight.
    """
    since_us, until_us = (_moved(at, zone, weeks * WEEK) for at in span)
    return since_us, max(until_us, since_us)


def _shown(at_us: int, zone: tzinfo) -> datetime:
    """What the clock shows, and midnight where a day begins, since in some zones it begins at one o'clock."""
    shown = zones.local(at_us, zone).replace(tzinfo=None)
    begins = zones.start_of_day(shown.date(), zone) == at_us
    return datetime.combine(shown.date(), time.min) if begins else shown


def _moved(at_us: int, zone: tzinfo, back: timedelta) -> int:
    shown = _shown(at_us, zone)
    if shown - _FIRST < back:
        return zones.EARLIEST_US
    moved = shown - back
    if moved.time() == time.min:
        return zones.start_of_day(moved.date(), zone)
    return zones.instant(moved.replace(tzinfo=zone, fold=zones.local(at_us, zone).fold))
