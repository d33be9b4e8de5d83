"""
What a page shows, as its address says it: every filter, range and zone is in the URL and nowhere else.

Ranges of pages are whole local days, both ends included, as people name them; REST and `answers` take
half-open ranges. `State.query` turns the one into the other, and `State.rest` gives the REST address
with the very same numbers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from service.analysis import zones
from service.answers import Moment, Query
from service.answers.query import instant_asked, zone_asked
from service.errors import BadParameter

RANGES = {"7": "7 days", "28": "28 days", "90": "90 days", "all": "Everything"}
BUCKETS = ("auto", *zones.BUCKETS)
CHOICES = {"excluded": ("hide", "count", "only"), "show": ("due", "all")}
_DEFAULTS: Mapping[str, str | None] = {
    "days": "90",
    "tz": "UTC",
    "bucket": "auto",
    "excluded": "hide",
    "show": "due",
}
_KNOW_RULES = frozenset(
    {"overview", "todo", "contact", "names", "callers", "cures", "clients", "uptake", "series"}
)
"""Collections that can count what rules leave out, or nothing else."""
_LONGEST = (("hour", 3), ("day", 130), ("week", 900))
"""Buckets, and the longest range in days that each is chosen for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    The state of a page. `client=""` stands for the calls that name no client. `excluded` says what becomes
    of calls that rules leave out, `show` which rows there are of what is to be done.
    """

    server: str | None = None
    name: str | None = None
    client: str | None = None
    days: str = "90"
    from_day: str | None = None
    to_day: str | None = None
    tz: str = "UTC"
    bucket: str = "auto"
    as_of: str | None = None
    sort: str | None = None
    cursor: str | None = None
    excluded: str = "hide"
    show: str = "due"
    FILTERS: ClassVar[tuple[str, ...]] = ("server", "name", "client")

    @property
    def filters(self) -> dict[str, str]:
        """The filters that are set."""
        every = {key: getattr(self, key) for key in self.FILTERS}
        return {key: value for key, value in every.items() if value is not None}

    @property
    def is_custom(self) -> bool:
        """Whether the range was given by its days."""
        return self.from_day is not None or self.to_day is not None

    @property
    def said(self) -> dict[str, str]:
        """What is not as it is by default."""
        said = {
            key: value
            for key, value in asdict(self).items()
            if value is not None and value != _DEFAULTS.get(key)
        }
        if "from_day" in said:
            said.pop("days", None)  # it would say nothing
        return said

    def search(self, **changes: Any) -> str:
        """
        The query string of this state with *changes*; defaults are left out, and so is the place in a
        list unless it is among the changes.
        """
        said = replace(self, **{"cursor": None, **changes}).said
        return f"?{urlencode(said)}" if said else ""


def read_state(params: Iterable[tuple[str, str]]) -> State:
    """
    Read the query string of a page. An empty value is none, as forms send it, but for `client`.

    Raises:
        BadParameter: A parameter is unknown, or its value cannot be used.
    """
    given: dict[str, str] = {}
    known = tuple(field.name for field in fields(State))
    for key, value in params:
        if key not in known:
            raise BadParameter(key, f"unknown parameter; use {', '.join(known)}")
        if value or key == "client":
            given[key] = value
    state = State(**given)
    if state.days not in RANGES:
        raise BadParameter("days", f"must be one of {', '.join(RANGES)}")
    if state.bucket not in BUCKETS:
        raise BadParameter("bucket", f"must be one of {', '.join(BUCKETS)}")
    for key, words in CHOICES.items():
        if getattr(state, key) not in words:
            raise BadParameter(key, f"must be one of {', '.join(words)}")
    zone_asked(Query(tz=state.tz))
    for key in ("from_day", "to_day"):
        _day(key, getattr(state, key))
    return state


@dataclass(frozen=True, slots=True)
class View:
    """A state at a moment: its range as local days, and its questions."""

    state: State
    since_day: date | None
    """None: from the first event on."""
    last_day: date
    bucket: str

    def query(self, collection: str, **more: Any) -> Query:
        """The question of this page to a collection; *more* are further members, or replace some."""
        state = self.state
        asked: dict[str, Any] = {
            **state.filters,
            "since": self.since_day.isoformat() if self.since_day else None,
            "until": _after(self.last_day),
            "tz": state.tz,
            "as_of": state.as_of,
            "excluded": state.excluded if collection in _KNOW_RULES else "hide",
        }
        return Query(**{**asked, **more})

    def rest(self, collection: str, form: str | None = None, **more: Any) -> str:
        """The address, below the root, of the REST collection with the same numbers, in a form."""
        asked = asdict(self.query(collection, **more))
        said = {
            key: value
            for key, value in asked.items()
            if value is not None and value != getattr(Query(), key)
        }
        said |= {"format": form} if form else {}
        return f"/api/v1/{collection}" + (f"?{urlencode(said)}" if said else "")


def view_of(state: State, moment: Moment, first_us: int | None) -> View:
    """
    The range that a state stands for at a moment, *first_us* being the first event there is: a range
    of the last days does not begin before it.

    Raises:
        BadParameter: The range would be empty, or `as_of` is no time.
    """
    zone = zone_asked(Query(tz=state.tz))
    now_us = moment.now_us
    if state.as_of is not None:
        now_us = min(now_us, instant_asked("as_of", state.as_of, zone) - 1)
    today = zones.local(zones.hold(now_us), zone).date()
    first = today if first_us is None else zones.local(first_us, zone).date()
    last = _day("to_day", state.to_day) or today
    since: date | None
    if state.from_day is not None:
        since = _day("from_day", state.from_day)
    elif state.days == "all":
        since = None
    else:
        since = date.fromordinal(max(last.toordinal() - int(state.days) + 1, 1))
        since = max(since, min(first, last))
    if since is not None and since > last:
        raise BadParameter(
            "from_day", f"{since} is after the last day {last}; the range would be empty"
        )
    bucket = state.bucket
    if bucket == "auto":
        span = (last - (since or min(first, last))).days + 1
        bucket = next((name for name, longest in _LONGEST if span <= longest), "month")
    return View(state, since, last, bucket)


def _after(day: date) -> str:
    return (day + timedelta(days=1)).isoformat() if day < date.max else day.isoformat()


def _day(parameter: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadParameter(parameter, "write a date such as 2026-10-05") from None
