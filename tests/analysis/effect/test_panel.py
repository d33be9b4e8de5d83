"""From a long frame to cells, and what measures opportunity."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from service.analysis.effect import Notified, panel
from service.analysis.effect.cells import cells, opportunity
from tests.analysis.effect.worlds import FIRST_DAY, even


def frame(rows: list[tuple[str, int, int, int, int]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["unit", "day", "calls", "sessions", "events"])


def test_rows_of_a_cell_are_added_and_missing_ones_are_zero() -> None:
    """Rows of others and of other days are not read."""
    rows = [
        ("b", 10, 2, 1, 3),
        ("b", 10, 1, 0, 1),
        ("a", 12, 0, 1, 1),
        ("z", 10, 9, 9, 9),
        ("a", 13, 9, 9, 9),
    ]
    found = panel(
        frame(rows), {"b": Notified(11.5, own=True)}, units=["a", "b"], first_day=10, days=3
    )

    assert found.calls.tolist() == [[0, 0, 0], [3, 0, 0]]
    assert found.sessions is not None
    assert found.sessions.tolist() == [[0, 0, 1], [1, 0, 0]]
    assert found.notified.tolist() == [np.inf, 11.5]
    assert found.own.tolist() == [False, True]
    assert found.covered.all()


def test_an_empty_frame_is_a_panel_without_calls() -> None:
    """Whoever was asked about stands in it."""
    found = panel(frame([]), {}, units=["a"], first_day=10, days=2)

    assert found.calls.tolist() == [[0, 0]]
    assert found.sessions is None


def active(hellos: list[int], first_day: int = 10) -> pd.DataFrame:
    """One client that is active every day, and greets on the days told."""
    return frame([("a", first_day + day, 1, int(day in hellos), 2) for day in range(20)])


@pytest.mark.parametrize(
    ("hellos", "measured"),
    [
        (list(range(20)), True),
        # 18 of 20 days are nine tenths, 17 are not
        (list(range(1, 19)), True),
        (list(range(1, 18)), False),
        ([], False),
        # logging of hellos began inside the window, on the third day
        (list(range(2, 20)), False),
    ],
)
def test_sessions_measure_where_nine_of_ten_active_days_have_a_hello(
    hellos: list[int], measured: bool
) -> None:
    """And where hellos were logged from the beginning."""
    found = panel(active(hellos), {}, units=["a"], first_day=10, days=20)

    assert (found.sessions is not None) == measured


def test_hellos_known_from_before_the_window_began_before_it() -> None:
    """Two days without one are chance then."""
    rows = active(list(range(2, 20)))

    found = panel(rows, {}, units=["a"], first_day=10, days=20, hellos_since=3)

    assert found.sessions is not None


def test_days_of_a_gap_do_not_decide_the_exposure() -> None:
    """Six days without hello, all in a gap."""
    covered = np.ones(20, dtype=bool)
    covered[14:] = False

    found = panel(active(list(range(14))), {}, units=["a"], first_day=10, days=20, covered=covered)

    assert found.sessions is not None
    assert found.covered.tolist() == [covered.tolist()]


def test_a_session_that_goes_on_after_midnight_is_some_opportunity() -> None:
    """As much as on the client's least active day; without any hello there is none."""
    world = replace(
        even(1, 1, weeks=1),
        calls=np.array([[1.0, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0]]),
        sessions=np.array([[4.0, 0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]]),
    )

    assert opportunity(world).tolist() == [[4, 2, 2, 0, 0, 0, 0], [0] * 7]


def test_weeks_begin_on_monday_whatever_the_first_day() -> None:
    """From a Wednesday on, Monday and Tuesday of the first week are no cells."""
    world = replace(even(1, 1, weeks=1), first_day=FIRST_DAY + 2)
    found = cells(world)

    assert found.monday == FIRST_DAY
    assert found.before.shape == (2, 2, 7)
    assert found.before[1].tolist() == [[0, 0, 1, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0, 0]]


def test_what_is_pretended_uses_days_before_the_real_notification_only() -> None:
    """Day 14 is the notification's; two weeks back it is day 0, and days 1 to 13 are after."""
    found = cells(even(1, 1), days_earlier=14)

    assert found.before[0].sum() == 0
    assert found.after[0].ravel().tolist() == [0] + [1] * 13 + [0] * 14


@pytest.mark.parametrize(
    "change",
    [
        {"units": (1,)},
        {"units": (1, 1)},
        {"sessions": np.zeros((2, 3))},
        {"covered": np.ones((2, 27), dtype=bool)},
        {"notified": np.array([np.nan, 1.0])},
        {"own": np.zeros(1, dtype=bool)},
        {"calls": np.full((2, 28), -1.0)},
        {"calls": np.full((2, 28), np.inf)},
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    """Shapes, labels and counts."""
    with pytest.raises(ValueError, match=r"."):
        replace(even(1, 1), **change)
