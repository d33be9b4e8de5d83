"""What follows a stale call, in minutes that were judged by hand."""

import numpy as np
import pytest

from service.analysis.uptake import Fate, Made, fates

MINUTE = 60_000_000
ROUTE, MAP = 0, 1
Call = tuple[int, int, int, float]
"""The name's number, session, caller, and minute."""


def made(calls: list[Call]) -> Made:
    columns = np.array([(n, s, c, round(m * MINUTE)) for n, s, c, m in calls] or np.empty((0, 4)))
    return Made(*(column.astype(np.int64) for column in columns.T))


def judged(stale: list[Call], replacements: list[Call], end: float = 1_000) -> list[str]:
    every = made(stale)
    found = fates(every, every, made(replacements), end_us=round(end * MINUTE))
    return [Fate(code).name.lower() for code in found.tolist()]


@pytest.mark.parametrize(("stale", "replacements", "expected"), [
    # minute 0 and a replacement in minute 3
    ([(ROUTE, 1, 0, 0)], [(ROUTE, 1, 0, 3)], ["replaced"]),
    ([(ROUTE, 1, 0, 0)], [(ROUTE, 1, 0, 10)], ["replaced"]),
    ([(ROUTE, 1, 0, 0)], [(ROUTE, 1, 0, 10.01)], ["left"]),
    ([(ROUTE, 1, 0, 0)], [(ROUTE, 1, 0, 0)], ["left"]),  # at the same instant: not after it
    ([(ROUTE, 1, 0, 5)], [(ROUTE, 1, 0, 3)], ["left"]),  # it came before
    ([(ROUTE, 1, 0, 0)], [(ROUTE, 2, 0, 3)], ["left"]),  # of another session
    ([(ROUTE, 1, 0, 0)], [(MAP, 1, 0, 3)], ["left"]),  # it replaces another name
    # once more, then the replacement: the first was retried, the second replaced
    ([(ROUTE, 1, 0, 0), (ROUTE, 1, 0, 1)], [(ROUTE, 1, 0, 3)], ["retried", "replaced"]),
    ([(ROUTE, 1, 0, 0), (ROUTE, 1, 0, 5)], [(ROUTE, 1, 0, 3)], ["replaced", "left"]),
    ([(ROUTE, 1, 0, 0), (ROUTE, 1, 0, 3)], [(ROUTE, 1, 0, 3)], ["replaced", "left"]),  # at once
    ([(ROUTE, 1, 0, 0), (ROUTE, 1, 0, 11)], [], ["left", "left"]),
    ([(ROUTE, 1, 0, 0), (ROUTE, 1, 0, 0)], [], ["left", "left"]),  # two at once: no retry
    ([(ROUTE, 1, 0, 0), (MAP, 1, 0, 1)], [], ["left", "left"]),  # another dead name
    # without a session, by caller, in whatever session the other call was
    ([(ROUTE, 0, 7, 0)], [(ROUTE, 0, 7, 3)], ["replaced"]),
    ([(ROUTE, 0, 7, 0)], [(ROUTE, 4, 7, 3)], ["replaced"]),
    ([(ROUTE, 1, 7, 0)], [(ROUTE, 2, 7, 3)], ["left"]),  # a session goes before the caller
    ([(ROUTE, 0, 7, 0), (ROUTE, 0, 8, 1)], [(ROUTE, 0, 9, 2)], ["left", "left"]),
    # without either
    ([(ROUTE, 0, 0, 0)], [(ROUTE, 0, 0, 1)], ["cannot_tell"]),
    ([], [], []),
])  # fmt: skip
def test_the_first_call_within_ten_minutes_decides(
    stale: list[Call], replacements: list[Call], expected: list[str]
) -> None:
    assert judged(stale, replacements) == expected


@pytest.mark.parametrize(("end", "expected"), [
    (10, ["too_early", "replaced", "retried", "left"]),
    (10.01, ["left", "replaced", "retried", "left"]),
])  # fmt: skip
def test_a_window_that_is_not_over_is_too_early_only_where_nothing_came(
    end: float, expected: list[str]
) -> None:
    """Minute 10 belongs to the window of minute 0, and is known once the end is after it."""
    stale = [(ROUTE, 1, 0, 0.0), (ROUTE, 2, 0, 5.0), (ROUTE, 3, 0, 5.0), (ROUTE, 3, 0, -5.0)]
    again = [*stale, (ROUTE, 3, 0, 9.0)]
    found = fates(
        made(stale), made(again), made([(ROUTE, 2, 0, 6)]), end_us=round(end * MINUTE)
    ).tolist()
    words = [Fate(code).name.lower() for code in found]
    # the last: its retry came in minute 5, ten minutes later to the instant
    assert words == [*expected[:3], "retried"]
