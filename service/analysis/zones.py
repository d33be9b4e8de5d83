"""
Local days, weeks, months and hours as instants: exact in every IANA zone, on every day.

Instants are microseconds since 1970-01-01T00:00:00Z. A local day begins at the first instant that
bears its date, so where midnight does not exist it begins when the clock has jumped over it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from service.clock import HOUR_US

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST_US = (datetime(1, 1, 3, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
LATEST_US = (datetime(9999, 11, 30, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
"""Instants are held between these two, so that every calendar step from one can be written."""

BUCKETS = ("hour", "day", "week", "month")
_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "Universal"})


@dataclass(frozen=True, slots=True)
class Bucket:
    """A stretch of local time, half-open. `label` is the local date, or for hours the local time."""

    start_us: int
    end_us: int
    label: str


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones()) - {"localtime", "Factory"}


@cache
def zone_names() -> tuple[str, ...]:
    """Every IANA zone that can be asked for, by name, without the old names that hold no region."""
    return tuple(sorted(name for name in _known_zones() if "/" in name or name == "UTC"))


def zone_of(name: str) -> ZoneInfo | None:
    """The zone of that IANA name, None where there is none. A name never becomes a file path."""
    return ZoneInfo(name) if name in _known_zones() else None


def is_utc(name: str) -> bool:
    """Whether local days of that zone are UTC days."""
    return name in _UTC_NAMES


def day_text(day: int) -> str:
    """
    The date of a UTC day by its number since 1970-01-01.

    >>> day_text(20640)
    '2026-07-06'
    """
    return (EPOCH + timedelta(days=day)).date().isoformat()


def local(instant_us: int, zone: tzinfo) -> datetime:
    """The local time at an instant."""
    return (EPOCH + timedelta(microseconds=instant_us)).astimezone(zone)


def instant(moment: datetime) -> int:
    """The instant of an aware time, held between `EARLIEST_US` and `LATEST_US`."""
    offset = moment.utcoffset() or timedelta()
    since_epoch = moment.replace(tzinfo=None) - EPOCH.replace(tzinfo=None) - offset
    return hold(since_epoch // timedelta(microseconds=1))


def hold(instant_us: int) -> int:
    """Hold an instant between `EARLIEST_US` and `LATEST_US`."""
    return min(max(instant_us, EARLIEST_US), LATEST_US)


def start_of_day(day: date, zone: tzinfo) -> int:
    """The first instant of a local day; of a day that a zone skipped, that of the next one."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    late = instant(midnight)
    if not EARLIEST_US < late < LATEST_US or local(late, zone).replace(tzinfo=None) == (
        midnight.replace(tzinfo=None)
    ):
        return late
    early = instant(midnight.replace(fold=1))
    while late - early > 1:  # midnight was jumped over: find the jump
        middle = (early + late) // 2
        if local(middle, zone).date() >= day:
            late = middle
        else:
            early = middle
    return late


def count_at_least(since_us: int, until_us: int, zone: tzinfo, bucket: str) -> int:
    """A lower bound for the number of buckets that meet [since, until), without making any."""
    if bucket == "hour":
        return (until_us - since_us) // HOUR_US
    first, last = local(since_us, zone).date(), local(max(since_us, until_us - 1), zone).date()
    if bucket == "month":
        return (last.year - first.year) * 12 + last.month - first.month + 1
    return (last - first).days // (7 if bucket == "week" else 1)


def buckets(since_us: int, until_us: int, zone: tzinfo, bucket: str) -> Iterator[Bucket]:
    """
    The buckets that meet [since, until), oldest first and without holes.

    `bucket` is `hour`, `day`, `week` (from Monday) or `month`. An hour is a stretch in which the local clock shows the same hour without being changed: a day
    that is set back by one hour has 25 of them, one that is set back by half an hour too.
    """
    if since_us >= until_us:
        return
    if bucket == "hour":
        yield from _hours(since_us, until_us, zone)
        return
    day = _first_day(local(since_us, zone).date(), bucket)
    start = start_of_day(day, zone)
    while start < until_us:
        following = _next_day(day, bucket)
        end = start_of_day(following, zone)
        if end > start and end > since_us:
            yield Bucket(start, end, day.isoformat())
        day, start = following, end


def _first_day(day: date, bucket: str) -> date:
    if bucket == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if bucket == "month" else day


def _next_day(day: date, bucket: str) -> date:
    if bucket == "month":
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return day + timedelta(days=7 if bucket == "week" else 1)


def _hours(since_us: int, until_us: int, zone: tzinfo) -> Iterator[Bucket]:
    start = start_of_day(local(since_us, zone).date(), zone)
    while start < until_us:
        end = _end_of_hour(start, zone)
        if end > since_us:
            yield Bucket(start, end, local(start, zone).isoformat(timespec="seconds"))
        start = end


def _end_of_hour(start_us: int, zone: tzinfo) -> int:
    offset = _offset(start_us, zone)
    end = start_us + HOUR_US - (start_us + offset) % HOUR_US
    if _offset(end - 1, zone) == offset:
        return end
    early, late = start_us, end - 1  # the clock is changed within the hour
    while late - early > 1:
        middle = (early + late) // 2
        if _offset(middle, zone) == offset:
            early = middle
        else:
            late = middle
    return late


def _offset(instant_us: int, zone: tzinfo) -> int:
    return (local(instant_us, zone).utcoffset() or timedelta()) // timedelta(microseconds=1)
