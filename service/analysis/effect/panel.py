"""
What is asked of: clients by UTC days, and when each client was first notified.

Day numbers count from 1970-01-01; a Monday-week and a weekday follow from them. A cell that was not
covered is missing: whatever stands in it is not read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Flags = NDArray[np.bool_]
Instants = NDArray[np.float64]
Unit = str | int

WITH_SESSIONS = 0.9
"""Sessions measure opportunity only where hellos stand on this share of the active client-days."""
LATE_HELLO_DAYS = 1
"""A session may have begun on the day before watching did, so the first hello may be one day late."""


@dataclass(frozen=True, slots=True)
class Notified:
    """
    The first notification to one unit. `at`: day number with fraction. `own`: it came within five
    minutes after an event of the client's own, or was triggered by its hello.
    """

    at: float
    own: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """
    The cells of one question: C units (a server's client) by T days, whole UTC days only.

    Raises:
        ValueError: Shapes disagree, a label stands twice, or a count is negative or no number.
    """

    units: tuple[Unit, ...]
    """Opaque labels, one a row."""
    first_day: int
    """The day number of column 0."""
    calls: Counts
    """(C, T): stale calls."""
    sessions: Counts | None
    """(C, T): sessions begun (hellos). None: calendar time, each covered day counts as one."""
    covered: Flags
    """(C, T): False is a gap, whose cell is missing."""
    notified: Instants
    """(C,): day number, with fraction, of the first notification; infinite where there was none."""
    own: Flags
    """(C,): that notification followed the client's own event within 5 minutes, or its hello."""

    def __post_init__(self) -> None:
        shape = self.calls.shape
        if len(shape) != 2 or shape[0] != len(self.units):
            raise ValueError(f"calls are {shape}, and there are {len(self.units)} units")
        for name, found, wanted in (
            ("sessions", shape if self.sessions is None else self.sessions.shape, shape),
            ("covered", self.covered.shape, shape),
            ("notified", self.notified.shape, shape[:1]),
            ("own", self.own.shape, shape[:1]),
        ):
            if found != wanted:
                raise ValueError(f"{name} must be {wanted}, not {found}")
        if len(set(self.units)) < len(self.units):
            raise ValueError("each unit has one row")
        for counts in (self.calls, self.sessions):
            if counts is not None and not (np.isfinite(counts) & (counts >= 0)).all():
                raise ValueError("counts are finite and not negative")
        if np.isnan(self.notified).any():
            raise ValueError("a unit that was never notified is infinite, not NaN")

    @property
    def days(self) -> int:
        """T: how many days there are."""
        return int(self.calls.shape[1])


def panel(
    frame: pd.DataFrame,
    notified: Mapping[Unit, Notified],
    *,
    units: Sequence[Unit],
    first_day: int,
    days: int,
    covered: Flags | None = None,
    hellos_since: int | None = None,
) -> Panel:
    """
    Lay out a long frame, and decide what measures opportunity.

    Args:
        frame: Columns `unit`, `day` (day number), `calls` (stale calls), `sessions` (hellos), and
            `events` (events of any kind, where known, else calls and sessions are all there were);
            one row or more a cell, in any order. Cells without a row are zero. Rows of other units
            or days are not read.
        notified: The first notification of each unit that had one, whenever it was.
        units: The labels in the order of rows.
        first_day: The day number of the first column.
        days: How many columns there are.
        covered: (T,) for all units alike or (C, T); all covered where None.
        hellos_since: The day of the first hello ever logged, where that is known beyond the frame.

    Sessions are the exposure where hellos stand on nine tenths of the covered client-days with any
    event, and logging of hellos did not begin inside the window; else it is calendar time.
    """
    shape = (len(units), days)
    place = {unit: row for row, unit in enumerate(units)}
    flags = np.broadcast_to(np.ones(shape, dtype=bool) if covered is None else covered, shape)
    rows = frame[frame["unit"].isin(place) & frame["day"].between(first_day, first_day + days - 1)]
    cell = (
        np.asarray(rows["unit"].map(place), dtype=np.int64),
        np.asarray(rows["day"], dtype=np.int64) - first_day,
    )
    calls, sessions, events = (
        _grid(rows, name, cell, shape) for name in ("calls", "sessions", "events")
    )
    active = flags & ((calls > 0) | (sessions > 0) | (events > 0))
    told = [notified.get(unit) for unit in units]
    return Panel(
        units=tuple(units),
        first_day=first_day,
        calls=calls,
        sessions=sessions if _sessions_measure(sessions, active, first_day, hellos_since) else None,
        covered=flags.copy(),
        notified=np.array([np.inf if each is None else each.at for each in told], dtype=np.float64),
        own=np.array([each is not None and each.own for each in told], dtype=bool),
    )


def _grid(
    rows: pd.DataFrame,
    name: str,
    cell: tuple[NDArray[np.int64], ...],
    shape: tuple[int, int],
) -> Counts:
    """The sums of one column by cell; zeros where the frame has no such column."""
    grid = np.zeros(shape)
    if name in rows:
        np.add.at(grid, cell, rows[name].to_numpy(dtype=np.float64))
    return grid


def _sessions_measure(
    sessions: Counts, active: Flags, first_day: int, hellos_since: int | None
) -> bool:
    """Whether sessions were logged throughout, so that a day without one had no opportunity."""
    with_hello = active & (sessions > 0)
    if not with_hello.any() or with_hello.sum() < WITH_SESSIONS * active.sum():
        return False
    first_hello = int(with_hello.any(axis=0).argmax()) + first_day
    since = first_hello if hellos_since is None else min(hellos_since, first_hello)
    return since <= int(active.any(axis=0).argmax()) + first_day + LATE_HELLO_DAYS
