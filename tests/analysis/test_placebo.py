"""How often a client lists anyway: instants at which nobody had told it, worked out by hand."""

from collections.abc import Sequence

import numpy as np

from service.analysis.counts import Column
from service.analysis.placebo import WEEK_US, Connects, background
from service.analysis.reactions import Rows, episodes, grouped

SECOND = 1_000_000
REFRESH, NOW = 60 * SECOND, 10 * WEEK_US
ADA, BOB = 0, 1
Line = tuple[int, int, int]
"""Session, client, time."""


def rows(lines: Sequence[Line]) -> Rows:
    table = np.array(lines, dtype=np.int64).reshape(-1, 3)
    return Rows(np.ones(len(lines), dtype=np.int64), *(table[:, n].copy() for n in range(3)))


def ask(
    sent: Sequence[Line],
    *,
    by_hello: bool,
    connects: Sequence[tuple[int, int]] = (),
    lists: Sequence[Line] = (),
    seen: int = 0,
    deaf: tuple[int, int] = (0, 0),
) -> list[tuple[int, int]]:
    """(hits, instants) of each client; nothing was heard in `deaf`."""
    found = episodes(rows(sent), REFRESH)
    groups = grouped(found)
    table = np.array(connects, dtype=np.int64).reshape(-1, 2)

    def covered(_server: int, at_us: Column) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return ~((at_us >= deaf[0]) & (at_us < deaf[1]))

    hits, number = background(
        found,
        groups,
        np.full(found.first_us.size, by_hello),
        Connects(np.ones(len(table), dtype=np.int64), table[:, 0].copy(), table[:, 1].copy()),
        np.full(groups.size, seen),
        rows(lists),
        covered,
        REFRESH,
    )
    return list(zip(hits.tolist(), number.tolist(), strict=True))


def test_a_scheduled_notification_is_set_against_the_same_hour_of_the_weeks_before() -> None:
    """Ten weeks back to the start; one listing within the window of an instant, two beside it."""
    lists = [
        (5, ADA, NOW - WEEK_US + REFRESH),  # the last instant of a window
        (5, ADA, NOW - 2 * WEEK_US - 1),
        (5, BOB, NOW - 3 * WEEK_US),
    ]
    assert ask([(7, ADA, NOW)], by_hello=False, lists=lists) == [(1, 10)]


def test_weeks_before_a_client_was_seen_and_weeks_not_heard_do_not_count() -> None:
    """Seen for three weeks and a bit, the second of which was not heard."""
    seen = NOW - 3 * WEEK_US - 1
    deaf = (NOW - 2 * WEEK_US, NOW - 2 * WEEK_US + 1)
    assert ask([(7, ADA, NOW)], by_hello=False, seen=seen) == [(0, 3)]
    assert ask([(7, ADA, NOW)], by_hello=False, seen=seen, deaf=deaf) == [(0, 2)]


def test_a_week_in_which_the_client_was_told_is_no_placebo() -> None:
    """Weekly notifications: of the eleven instants, those before the first are left, each once."""
    sent = [(7, ADA, NOW), (7, ADA, NOW - WEEK_US)]
    assert ask(sent, by_hello=False) == [(0, 9)]


def test_one_that_its_hello_triggered_is_set_against_its_earlier_connects() -> None:
    """Any session's listing counts; a connect whose window meets the notification does not."""
    connects = [
        (ADA, NOW - 500 * SECOND),
        (ADA, NOW - 60 * SECOND),
        (ADA, NOW - 59 * SECOND),
        (ADA, NOW),
        (ADA, NOW + 500 * SECOND),
        (BOB, NOW - 400 * SECOND),
    ]
    lists = [(5, ADA, NOW - 440 * SECOND)]
    assert ask([(7, ADA, NOW)], by_hello=True, connects=connects, lists=lists) == [(1, 2)]


def test_connects_before_several_notifications_count_once() -> None:
    """Two episodes of one client do not double what is known of it."""
    sent = [(7, ADA, NOW), (8, ADA, NOW + WEEK_US)]
    connects = [(ADA, NOW - 500 * SECOND), (ADA, NOW + 500 * SECOND)]
    assert ask(sent, by_hello=True, connects=connects) == [(0, 2)]


def test_without_an_earlier_instant_there_is_no_background() -> None:
    """None of none, and not zero."""
    assert ask([(7, ADA, NOW)], by_hello=True) == [(0, 0)]
    assert ask([(7, ADA, NOW), (8, BOB, NOW)], by_hello=False, seen=NOW) == [(0, 0), (0, 0)]
