"""The cells of a panel by client, Monday-week and weekday, parted at each client's notification."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.analysis.effect.panel import Counts, Flags, Instants, Panel

MONDAY = 3
"""1970-01-01 was a Thursday: day + 3 counts from a Monday."""


@dataclass(frozen=True, slots=True)
class Cells:
    """
    Calls and opportunity (C, W, 7) before and after notification; 0 in cells that are not read, which
    are gaps, the day of the notification and days outside the panel.
    """

    calls_before: Counts
    before: Counts
    calls_after: Counts
    after: Counts
    column: NDArray[np.float64]
    """(W, 7): the column of the panel, negative or too large where it has none."""
    monday: int
    """The day number of the first week's Monday."""

    @property
    def baseline(self) -> Flags:
        """(C,): whether the client called before, so that something can be expected of it."""
        called: Flags = self.calls_before.sum(axis=(1, 2)) > 0
        return called

    @property
    def with_calls(self) -> Flags:
        """(C,): whether the client has any call in the cells."""
        called: Flags = (self.calls_before + self.calls_after).sum(axis=(1, 2)) > 0
        return called


def cells(panel: Panel, days_earlier: int = 0) -> Cells:
    """
    Part the panel at notifications, or at a pretended instant so many days before each.

    What is pretended uses days before the real notification only. The day parted at is dropped: what
    was under way, and the session that may have triggered the notification, belong to neither side.
    """
    lead = (panel.first_day + MONDAY) % 7
    weeks = -(-(lead + panel.days) // 7) if panel.days else 0
    day = np.arange(panel.days)
    told = np.floor(notified(panel) - panel.first_day)[:, None]
    cut = told - days_earlier
    before, after = day < cut, day > cut
    if days_earlier:
        after &= day < told
    chance = opportunity(panel)
    calls = np.where(chance > 0, panel.calls, 0.0)

    def laid(values: Counts) -> Counts:
        grid = np.zeros((len(panel.units), weeks * 7))
        grid[:, lead : lead + panel.days] = values
        return grid.reshape(len(panel.units), weeks, 7)

    return Cells(
        calls_before=laid(calls * before),
        before=laid(chance * before),
        calls_after=laid(calls * after),
        after=laid(chance * after),
        column=np.arange(weeks * 7, dtype=np.float64).reshape(weeks, 7) - lead,
        monday=panel.first_day - lead,
    )


def notified(panel: Panel) -> Instants:
    """(C,): when each client was notified; infinite, too, where that is after the last day."""
    end = panel.first_day + panel.days
    return np.where(panel.notified < end, panel.notified, np.inf)


def opportunity(panel: Panel) -> Counts:
    """
    (C, T): what calls are held against: sessions, or one a day in calendar time; 0 in gaps.

    A day with a call and no hello goes on with a session of the day before. It had some opportunity:
    as much as the client's least active day. A client that never greets has none at all.
    """
    if panel.sessions is None:
        return panel.covered.astype(np.float64)
    sessions = np.where(panel.covered, panel.sessions, 0.0)
    least = np.where(sessions > 0, sessions, np.inf).min(axis=1, initial=np.inf)
    least[np.isinf(least)] = 0.0
    carried = panel.covered & (sessions == 0) & (panel.calls > 0)
    return np.where(carried, least[:, None], sessions)
