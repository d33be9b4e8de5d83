"""
What is asked and what is answered, in the words of REST. All frozen.

A query is text as a person or a URL gives it; `Moment` is the clock's word, handed in.
"""

import json
import re
from collections.abc import Callable, Hashable
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
from service.shares import Bound

RowT = TypeVar("RowT")
T = TypeVar("T")

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

    `bound` is what a link shows to whoever asks: a question that goes beyond it is refused. None: all may be asked.

    `shared` holds what several questions to one snapshot of the database have in common, so that it is
    looked up once; None where each question looks for itself.
    """

    now_us: int
    future_skew_us: int = DAY_US
    refresh_window_us: int = 60_000_000
    compare_window_us: int = 3_600_000_000
    clients_file: Path | None = None
    bound: Bound | None = None
    shared: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def known(self) -> Clients:
        """The known clients. Raises BadClients."""
        return load_clients(self.clients_file)

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """What *find* finds; looked up once where questions share it. *key* tells all that it depends on."""
        if self.shared is None:
            return find()
        if key not in self.shared:
            self.shared[key] = find()
        found: T = self.shared[key]
        return found

    def rules(self) -> list[object]:
        """Whatever but the clock and the data decides answers, as JSON can hold it."""
        windows = [self.future_skew_us, self.refresh_window_us, self.compare_window_us]
        bound = [] if self.bound is None else sorted(self.bound.given().items())
        return [*windows, self.known.digest, *bound]


def moment_at(now_us: int, settings: Settings) -> Moment:
    """The moment of a question by the clock and the settings."""
    return Moment(
        now_us,
        settings.future_skew_s * 1_000_000,
        settings.refresh_window_s * 1_000_000,
        settings.compare_window_s * 1_000_000,
        settings.clients_file,
    )


@dataclass(frozen=True, slots=True)
class Filter:
    """
    Which values of one thing a question is about: any of some, and none of others; without either, every one.
    The order and repetition of values say nothing, so that equal filters are equal.
    """

    any_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for side in ("any_of", "none_of"):
            object.__setattr__(self, side, tuple(sorted(set(getattr(self, side)))))

    @property
    def is_set(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.any_of or self.none_of)

    @property
    def one(self) -> str | None:
        """The one value that is asked for; None where there are several, a negation, or none."""
        return self.any_of[0] if len(self.any_of) == 1 and not self.none_of else None

    def takes(self, value: str) -> bool:
        """Whether a value passes."""
        return value not in self.none_of and (not self.any_of or value in self.any_of)


EVERY = Filter()
"""The filter that everything passes."""
FILTERS = ("server", "name", "client")
"""The members of a query that are filters; `not_` before one is its negation in REST and in addresses."""
VALUES_MAX = 100
"""Values of one side of a filter."""


def only(value: str | None) -> Filter:
    """The filter that one value passes; every one where it is None."""
    return EVERY if value is None else Filter((value,))


def one_asked(parameter: str, asked: Filter) -> str | None:
    """
    The value of a filter in a question about one thing; None where none is given.

    Raises:
        BadParameter: There are several values, or a negation.
    """
    if asked.is_set and asked.one is None:
        raise BadParameter(
            parameter,
            f"name one {parameter}: this is about one of them, not several or all but some",
        )
    return asked.one


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """
    Filters and form of one question. None means not given.

    The value "" of `client` stands for the calls that name no client; any spelling of a client asks for the
    client. `name` is a retired name, not a spelling. `since`, `until` and `as_of` are instants, or local
    dates in `tz`; half-open. `excluded` says what becomes of calls that somebody said not to count:
    `hide`, `count` or nothing but these, `only`. `show` chooses the rows of `todo`, `methods` the second
    opinions of `stopped`, `question` and `changed` the rows of `said`, `shift` the range before of `compare`, `detail`
    what rows of `overview` say.
    """

    server: Filter = EVERY
    name: Filter = EVERY
    client: Filter = EVERY
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
    methods: str = "rule"
    before: str | None = None
    after: str | None = None
    question: str | None = None
    changed: bool = False
    shift: str = "length"
    detail: bool = False

    @classmethod
    def of(cls, **asked: Any) -> "Query":
        """A question whose filters may be given as the one value that is asked for, or as None."""
        given = {
            key: asked[key] for key in FILTERS if not isinstance(asked.get(key, EVERY), Filter)
        }
        return cls(**{**asked, **{key: only(value) for key, value in given.items()}})


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
class Watched:
    """How many hours of the range one server was watched; `heard_since` is None where it never was."""

    server: str
    covered_hours: int
    heard_since: Instant | None


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """
    How much of the range was watched; `hours` leaves out what has not come yet. It is of the servers that the
    answer is about: those asked for, and of them those that have the name and know the client that is asked
    for, where any does. An hour is among `covered_hours` where each of them was watched that had been heard by
    then. `servers` are those that were not watched in all hours, the least watched first, at most 20 of
    `server_count`: silence of one that was never heard proves nothing.
    """

    covered_hours: int
    hours: int
    gaps: tuple[GapRow, ...]
    """The last 20 of them, oldest first."""
    gap_count: int
    servers: tuple[Watched, ...]
    server_count: int


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


@dataclass(frozen=True, slots=True)
class Single(Collection[RowT]):
    """An answer that is one thing: its members stand beside those of the answer, in place of items."""

    @classmethod
    def of(cls, found: Collection[RowT]) -> "Single[RowT]":
        """An answer with one item, as one thing."""
        return cls(**{f.name: getattr(found, f.name) for f in fields(found)})

    def as_json(self) -> dict[str, Any]:
        """The answer in the form of REST."""
        answer = {f.name: plain(getattr(self, f.name)) for f in fields(self)}
        (item,), more, _ = answer.pop("items"), answer.pop("more"), answer.pop("next_cursor")
        return {**item, **answer, **more}


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
