"""
What is asked and what is answered, in the words of REST. All frozen.

A query is text as a person or a URL gives it; `Moment` is the clock's word, handed in.
"""

import json
import re
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from service.analysis import zones
from service.analysis.known import Clients, load_clients
from service.clock import DAY_US
from service.errors import BadParameter
from service.settings import Settings

RowT = TypeVar("RowT")

LIMIT = 100
LIMIT_MAX = 1_000
BUCKETS_MAX = 10_000

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?"
)
_BAD_INSTANT = "write an instant such as 2026-10-05T10:15:02Z, or a local date such as 2026-10-05"


class Instant(int):
    """Microseconds since 1970-01-01T00:00:00Z, written as ISO-8601 with Z."""

    def __str__(self) -> str:
        return iso(self)


def iso(instant_us: int) -> str:
    """
    Write an instant: milliseconds, and microseconds only where there are any.

    >>> iso(1_791_195_302_114_000)
    '2026-10-05T10:15:02.114Z'
    """
    moment = zones.EPOCH + timedelta(microseconds=instant_us)
    text = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{text.removesuffix('000')}Z"


@dataclass(frozen=True, slots=True)
class Moment:
    """
    When a question is asked, and what the settings say to every question: how far ahead of the clock
    a line's time may be, the two windows of `reactions`, and the user's own file of known clients.
    """

    now_us: int
    future_skew_us: int = DAY_US
    refresh_window_us: int = 60_000_000
    compare_window_us: int = 3_600_000_000
    clients_file: Path | None = None

    @property
    def known(self) -> Clients:
        """The known clients. Raises BadClients."""
        return load_clients(self.clients_file)

    def rules(self) -> list[object]:
        """Whatever but the clock and the data decides answers, as JSON can hold it."""
        windows = [self.future_skew_us, self.refresh_window_us, self.compare_window_us]
        return [*windows, self.known.digest]


def moment_at(now_us: int, settings: Settings) -> Moment:
    """The moment of a question by the clock and the settings."""
    return Moment(
        now_us,
        settings.future_skew_s * 1_000_000,
        settings.refresh_window_s * 1_000_000,
        settings.compare_window_s * 1_000_000,
        settings.clients_file,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    Filters and form of one question. None means not given.

    `client=""` asks for the calls that name no client; any spelling of a client asks for the client.
    `name` is a retired name, not a spelling. `since`, `until` and `as_of` are instants, or local
    dates in `tz`; half-open. `excluded` says what becomes of calls that somebody said not to count:
    `hide`, `count` or nothing but these, `only`. `show` chooses the rows of `todo`.
    """

    server: str | None = None
    name: str | None = None
    client: str | None = None
    source: str | None = None
    kind: str | None = None
    since: str | None = None
    until: str | None = None
    tz: str = "UTC"
    as_of: str | None = None
    sort: str | None = None
    cursor: str | None = None
    limit: int | None = None
    provenance: bool = False
    metric: str = "stale_calls"
    bucket: str = "day"
    by: str = "none"
    top: int | None = None
    excluded: str = "hide"
    show: str = "due"
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """The range that was answered, half-open. Both are None where no event has ever arrived."""

    since: Instant | None
    until: Instant | None
    tz: str


@dataclass(frozen=True, slots=True)
class GapRow:
    """A silence of a source that is too long to be chance."""

    server: str
    source: str
    since: Instant
    until: Instant


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """How much of the range was watched; `hours` leaves out what has not come yet."""

    covered_hours: int
    hours: int
    gaps: tuple[GapRow, ...]
    """The last 20 of them, oldest first."""
    gap_count: int


@dataclass(frozen=True, slots=True)
class Collection(Generic[RowT]):
    """An answer: rows and what they rest on."""

    items: tuple[RowT, ...]
    next_cursor: str | None
    range: Range
    as_of: Instant
    coverage: CoverageSummary
    generated_at: Instant
    more: dict[str, Any] = field(default_factory=dict)
    """Further members of the answer, beside the six that every collection has."""

    def as_json(self) -> dict[str, Any]:
        """The answer in the form of REST."""
        answer = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name != "more"}
        answer.update(plain(self.more))
        return answer


def plain(value: Any) -> Any:
    """Turn results into dicts, lists and scalars; instants become text, absent members go."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Instant:
        return iso(value)
    if is_dataclass(kind):
        found = {name: getattr(value, name) for name in _members(kind)}
        found |= found.pop("more", {})
        return {name: plain(member) for name, member in found.items() if member is not ABSENT}
    if isinstance(value, dict):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value


_SCALARS = frozenset({str, int, float, bool, type(None)})


@cache
def _members(kind: type) -> tuple[str, ...]:
    """The names of a result's members."""
    return tuple(member.name for member in fields(kind))


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
"""Stands in a row for a member that this row does not have."""


def dumps(value: Any) -> bytes:
    """Strict JSON: neither NaN nor Infinity."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def zone_asked(query: Query) -> ZoneInfo:
    """The zone that was asked for."""
    zone = zones.zone_of(query.tz)
    if zone is None:
        raise BadParameter(
            "tz", "unknown time zone; use an IANA name such as UTC, Europe/Berlin or Asia/Kolkata"
        )
    return zone


def instant_asked(parameter: str, text: str, zone: ZoneInfo) -> int:
    """Read an instant, or the start of a local date in *zone*."""
    text = re.sub(r" (\d{2}:?\d{2})$", r"+\1", text.strip()) if "T" in text else text.strip()
    try:
        if _DATE.fullmatch(text):
            return zones.start_of_day(date.fromisoformat(text), zone)
        if _TIME.fullmatch(text):
            moment = datetime.fromisoformat(text.upper().replace(",", "."))
            return zones.instant(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        pass
    raise BadParameter(parameter, f"not a time; {_BAD_INSTANT}")


def limit_asked(query: Query, default: int = LIMIT) -> int:
    """How many rows a page may have."""
    if query.limit is None:
        return default
    if not 1 <= query.limit <= LIMIT_MAX:
        raise BadParameter("limit", f"must be a whole number from 1 to {LIMIT_MAX}")
    return query.limit


def choice_asked(parameter: str, value: str, known: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in known:
        raise BadParameter(parameter, f"unknown; use one of {', '.join(known)}")
    return value
