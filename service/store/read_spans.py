"""Stretches of time that hold what is looked for, so that no other has to be read."""

from collections.abc import Iterator, Sequence

import numpy as np
import sqlalchemy as sa

from service.clock import DAY_US, QUARTER_US
from service.store.read_columns import Column
from service.store.schema import event

Span = tuple[int, int]
"""Half-open, in µs."""

RANGES = 50
"""Stretches that one statement asks for."""
MANY = 1_000
"""So many stretches are read one by one; of more, those close together are read as one."""


def join(starts: Column, ends: Column, apart_us: int = 0) -> list[Span]:
    """Stretches in order, those that overlap, touch or lie at most so far apart made one."""
    if not starts.size:
        return []
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    fresh = np.flatnonzero(np.concatenate([[True], starts[1:] > ends[:-1] + apart_us]))
    lasts = np.append(fresh[1:], starts.size) - 1
    return list(zip(starts[fresh].tolist(), ends[lasts].tolist(), strict=True))


def few(starts: Column, ends: Column) -> list[Span]:
    """As `join`, and as far joined as it takes to have not too many."""
    for apart_us in (0, QUARTER_US, DAY_US):
        spans = join(starts, ends, apart_us)
        if len(spans) <= MANY:
            break
    return spans


def clip(spans: Sequence[Span], bounds: Span) -> list[Span]:
    """What of the stretches lies within the bounds."""
    low, high = bounds
    cut = ((max(start, low), min(end, high)) for start, end in spans)
    return [(start, end) for start, end in cut if start < end]


def within(spans: Sequence[Span]) -> "Iterator[sa.ColumnElement[bool]]":
    """
    Conditions on the time of an event that together hold in these stretches, one a statement.

    Of single instants there are as many in one statement as come at once.
    """
    instants = [start for start, end in spans if end == start + 1]
    if instants:
        yield event.c.time_us.in_(instants)
    longer = [span for span in spans if span[1] != span[0] + 1]
    for at in range(0, len(longer), RANGES):
        yield any_of(longer[at : at + RANGES])


def any_of(spans: Sequence[Span]) -> "sa.ColumnElement[bool]":
    """Whether an event lies in one of a few stretches."""
    return sa.or_(*map(between, spans))


def between(span: Span) -> "sa.ColumnElement[bool]":
    """Whether an event lies in a stretch."""
    return (event.c.time_us >= span[0]) & (event.c.time_us < span[1])
