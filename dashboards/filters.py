"""Filters as links: what one click adds, turns or takes away."""

from collections.abc import Callable
from dataclasses import dataclass

from dashboards.state import State
from service.answers.query import Filter

Keep = Callable[..., str]
"""The address of this page with changes of its state."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a chip, and the address without it."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Chip:
    """One side of a filter: `key` is any of the values, or (`is_not`) none of them; `turned` is the other way."""

    key: str
    is_not: bool
    values: tuple[Value, ...]
    turned: str


def with_value(asked: Filter, value: str) -> Filter:
    """The filter that also passes a value: "is" one more."""
    rest = tuple(each for each in asked.none_of if each != value)
    return Filter((*asked.any_of, value), rest)


def without_value(asked: Filter, value: str) -> Filter:
    """The filter that no longer passes a value: one "is" less, else "is not" one more."""
    rest = tuple(each for each in asked.any_of if each != value)
    if rest and rest != asked.any_of:
        return Filter(rest, asked.none_of)
    return Filter(rest, (*asked.none_of, value))


def chips_of(state: State, keep: Keep) -> list[Chip]:
    """What the filters of a page say."""
    found = []
    for key, asked in state.filters.items():
        every = (*asked.any_of, *asked.none_of)
        for values, is_not, turned in (
            (asked.any_of, False, Filter(none_of=every)),
            (asked.none_of, True, Filter(any_of=every)),
        ):
            each = tuple(
                Value(value, keep(**{key: _less(asked, value, is_not=is_not)})) for value in values
            )
            if each:
                found.append(Chip(key, is_not, each, keep(**{key: turned})))
    return found


def _less(asked: Filter, value: str, *, is_not: bool) -> Filter:
    """A filter without a value of one of its sides."""
    some, others = (
        tuple(each for each in side if each != value or is_not is not of_not)
        for side, of_not in ((asked.any_of, False), (asked.none_of, True))
    )
    return Filter(some, others)
