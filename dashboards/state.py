"""
What a page shows, as its address says it: every filter, range and zone is in the URL and nowhere else.

Ranges of pages are whole local days, both ends included, as people name them; REST and `answers` take
half-open ranges. `State.query` turns the one into the other, and `State.rest` gives the REST address
with the very same numbers.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from service.analysis import zones
from service.answers import Moment, Query
from service.answers.query import (
    EVERY,
    FILTERS,
    VALUES_MAX,
    Filter,
    instant_asked,
    only,
    zone_asked,
)
from service.errors import BadParameter
from service.shares import Bound

RANGES = {"7": "7 days", "28": "28 days", "90": "90 days", "all": "Everything"}
BUCKETS = ("auto", *zones.BUCKETS)
CHOICES = {
    "excluded": ("hide", "count", "only"),
    "show": ("due", "all"),
    "compare": (None, "previous"),
    "embed": ("0", "1"),
    "theme": ("auto", "light", "dark"),
    "format": ("html", "json"),
}
_DEFAULTS: Mapping[str, str | None] = {
    "days": "90",
    "tz": "UTC",
    "bucket": "auto",
    "excluded": "hide",
    "show": "due",
    "embed": "0",
    "theme": "auto",
    "format": "html",
}
_KNOW_RULES = frozenset(
    {
        *(
            "overview",
            "todo",
            "contact",
            "names",
            "compare",
            "callers",
            "cures",
            "clients",
            "uptake",
            "series",
            "listed",
            "vintage",
            "last_releases",
            "events",
        ),
        *("reactions", "latency", "reactions/latency"),
        *("effect", "effect_clients", "effect_names", "effect_weeks", "effect_since"),
        *("effect/clients", "effect/names", "effect/weeks", "effect/since", "stopped"),
    }
)
"""Collections that can count what rules leave out, or nothing else."""
_ASKED = {each.name: each.default for each in fields(Query)}
"""The members of a question that says nothing."""
_LONGEST = (("hour", 3), ("day", 130), ("week", 900))
"""Buckets, and the longest range in days that each is chosen for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """
    The state of a page. The client "" stands for the calls that name no client. `excluded` says what becomes
    of calls that rules leave out, `show` which rows there are of what is to be done, `compare` whether figures show
    the range before, too. `embed=1` shows the page without bar and controls, as another page frames it, in a
    `theme`; `format=json` is the page as data.
    """

    server: Filter = EVERY
    name: Filter = EVERY
    client: Filter = EVERY
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
    compare: str | None = None
    embed: str = "0"
    theme: str = "auto"
    format: str = "html"

    @property
    def filters(self) -> dict[str, Filter]:
        """The filters that are set."""
        every: dict[str, Filter] = {key: getattr(self, key) for key in FILTERS}
        return {key: asked for key, asked in every.items() if asked.is_set}

    @property
    def is_custom(self) -> bool:
        """Whether the range was given by its days."""
        return self.from_day is not None or self.to_day is not None

    @property
    def said(self) -> list[tuple[str, str]]:
        """What is not as it is by default, as an address says it."""
        said = address_of(self, _DEFAULTS)
        if self.from_day is not None:  # then `days` would say nothing
            said = [pair for pair in said if pair[0] != "days"]
        return said

    def search(self, *, with_days: bool = False, **changes: Any) -> str:
        """
        The query string of this state with *changes*, filters among them as `Filter`, one value or None;
        defaults are left out, and so is the place in a list and the form unless they are among the changes.
        *with_days* says the range of a page that has another one by default.
        """
        given = {key: value for key, value in changes.items() if key in FILTERS}
        filters = {k: v if isinstance(v, Filter) else only(v) for k, v in given.items()}
        state = replace(self, **{"cursor": None, "format": "html", **changes, **filters})
        said = state.said
        if with_days and not state.is_custom:
            said = [*(pair for pair in said if pair[0] != "days"), ("days", state.days)]
        return f"?{urlencode(said)}" if said else ""


def address_of(asked: "State | Query", defaults: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a question or a state says beside these defaults, each value of a filter as a pair of its own."""
    said: list[tuple[str, str]] = []
    for each in fields(asked):
        value = getattr(asked, each.name)
        if isinstance(value, Filter):
            said += [(each.name, text) for text in value.any_of]
            said += [(f"not_{each.name}", text) for text in value.none_of]
        elif value is not None and value != defaults.get(each.name):
            said.append((each.name, str(value)))
    return said


PARAMETERS = (
    *(key for name in FILTERS for key in (name, f"not_{name}")),
    *(each.name for each in fields(State) if each.name not in FILTERS),
)
"""What an address can hold."""


def read_state(params: Iterable[tuple[str, str]], days: str = "90") -> State:
    """
    Read the query string of a page. An empty value is none, as forms send it, but for clients. *days* is the
    range of a page whose address asks for none.

    Raises:
        BadParameter: A parameter is unknown, or its value cannot be used.
    """
    given: dict[str, Any] = {}
    sides: dict[str, list[str]] = {key: [] for name in FILTERS for key in (name, f"not_{name}")}
    for key, value in params:
        if key not in PARAMETERS:
            raise BadParameter(key, f"unknown parameter; use {', '.join(PARAMETERS)}")
        if key in sides:
            sides[key] += [value] if value or key.endswith("client") else []
        elif value:
            given[key] = value
    state = replace(State(**given), **_filters(sides))
    if not state.is_custom and "days" not in given:
        state = replace(state, days=days)
    if state.days not in RANGES:
        raise BadParameter("days", f"must be one of {', '.join(RANGES)}")
    if state.bucket not in BUCKETS:
        raise BadParameter("bucket", f"must be one of {', '.join(BUCKETS)}")
    for key, words in CHOICES.items():
        if getattr(state, key) not in words:
            raise BadParameter(key, f"must be one of {', '.join(filter(None, words))}")
    zone_asked(Query(tz=state.tz))
    for key in ("from_day", "to_day"):
        _day(key, getattr(state, key))
    return state


def _filters(sides: Mapping[str, list[str]]) -> dict[str, Any]:
    """The filters whose sides an address gives, each in as many parameters as it has values."""
    for key, values in sides.items():
        if len(values) > VALUES_MAX:
            raise BadParameter(key, f"{len(values)} values; at most {VALUES_MAX} can be asked for")
    return {key: Filter(tuple(sides[key]), tuple(sides[f"not_{key}"])) for key in FILTERS}


@dataclass(frozen=True, slots=True)
class View:
    """A state at a moment: its range as local days, and its questions."""

    state: State
    since_day: date | None
    """None: from the first event on."""
    last_day: date
    bucket: str
    first_day: date
    """The day of the first event there is."""
    today: date
    bound: Bound | None = None
    """What a link shows to whoever looks: every question is bound to it."""

    def moved(self, steps: int) -> dict[str, str] | None:
        """
        What changes in the state for the range as long as this one that lies so many lengths later (earlier
        below 0), none of it after today; None where it would be empty, or all lies in it already.
        """
        if self.since_day is None:
            return None
        days = (self.last_day - self.since_day).days + 1
        last = min(self.last_day.toordinal() + steps * days, self.today.toordinal())
        is_beyond = self.since_day <= self.first_day if steps < 0 else self.last_day >= self.today
        if is_beyond or last < days:
            return None
        first = date.fromordinal(last - days + 1)
        return {"from_day": first.isoformat(), "to_day": date.fromordinal(last).isoformat()}

    @property
    def fixed(self) -> dict[str, str]:
        """What changes in the state for the very days of this range, on whichever day it is looked at."""
        first = self.since_day or self.first_day
        return {"from_day": first.isoformat(), "to_day": self.last_day.isoformat()}

    @property
    def range_words(self) -> str:
        """The range and its zone, for people."""
        return f"{self.since_day or self.first_day} to {self.last_day} ({self.state.tz})"

    def file_name(self, path: str, kind: str) -> str:
        """A name for the file of a figure: page, figure, range and zone; it has no word of a stranger."""
        zone = self.state.tz.replace("/", "-")
        page = path.strip("/") or "names"
        return (
            f"lastcall-{page}-{kind}-{self.since_day or self.first_day}-to-{self.last_day}-{zone}"
        )

    def query(self, collection: str, **more: Any) -> Query:
        """
        The question of this page to a collection; *more* are further members, or replace some: a filter with
        both of its sides.
        """
        bound = self.bound.given() if self.bound else {}
        return Query.of(**{**self._asked(collection, more), **bound})

    def _asked(self, collection: str, more: Mapping[str, Any]) -> dict[str, Any]:
        state = self.state
        asked: dict[str, Any] = {
            **state.filters,
            "since": self.since_day.isoformat() if self.since_day else None,
            "until": _after(self.last_day),
            "tz": state.tz,
            "as_of": state.as_of,
            "excluded": state.excluded if collection in _KNOW_RULES else "hide",
        }
        return {**asked, **more}

    def rest(self, collection: str, form: str | None = None, **more: Any) -> str:
        """
        The address, below the root, of the REST collection with the same numbers, in a form. Below a link that is
        bound to a filter the door binds it.
        """
        said = address_of(Query.of(**self._asked(collection, more)), _ASKED)
        said += [("format", form)] if form else []
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
    return View(state, since, last, bucket, first, today, moment.bound)


def _after(day: date) -> str:
    return (day + timedelta(days=1)).isoformat() if day < date.max else day.isoformat()


def _day(parameter: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadParameter(parameter, "write a date such as 2026-10-05") from None
