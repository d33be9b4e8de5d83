"""One label an episode, stale calls in flight, and times to listing: tables worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from service.analysis.labels import (
    LABELS,
    Known,
    Listed,
    durations,
    in_flight,
    labels,
    listed_after,
    measured,
)
from service.analysis.reactions import Episodes, Rows, episodes, grouped
from service.analysis.windows import NEVER

SECOND, DAY = 1_000_000, 86_400_000_000
REFRESH, START, END = 60 * SECOND, 1_000 * SECOND, 30 * DAY
ADA, BOB = 0, 1
Line = tuple[int, int, int]
"""Session (0 for none), client, time."""


def rows(lines: Sequence[Line]) -> Rows:
    table = np.array(lines, dtype=np.int64).reshape(-1, 3)
    session, client, time = (table[:, place].copy() for place in range(3))
    return Rows(np.ones_like(time), session, client, time)


def look(
    sent: list[Line],
    lists: Sequence[Line] = (),
    active: int = 0,
    end: int = END,
    **known: bool,
) -> tuple[Episodes, Listed, list[str]]:
    """The episodes, their listings and labels; all have the same activity."""
    found = episodes(rows(sent), REFRESH)
    listed = listed_after(found, rows(lists), REFRESH, end)
    size = found.first_us.size
    state = Known(
        np.full(size, active),
        np.full(size, known.get("followed", True)),
        np.full(size, known.get("closed", False)),
    )
    said = labels(found, listed, state, refresh_us=REFRESH, end_us=end)
    return found, listed, [LABELS[place] for place in said.tolist()]


def label(*args: object, **known: object) -> str:
    """The label of the one episode."""
    (word,) = look(*args, **known)[2]  # type: ignore[arg-type]
    return word


def test_a_listing_of_the_session_within_the_window_is_a_refresh() -> None:
    """From the first notification, equal time counts, to 60 s after the last; then it came back later."""
    sent = [(7, ADA, START), (7, ADA, START + 50 * SECOND)]
    assert label(sent, [(7, ADA, START)]) == "refreshed"
    assert label(sent, [(7, ADA, START + 110 * SECOND)]) == "refreshed"
    assert label(sent, [(7, ADA, START + 110 * SECOND + 1)]) == "came_back"


def test_a_listing_before_the_first_notification_is_none() -> None:
    """As at connect: the client is then judged by what it does."""
    assert label([(7, ADA, START)], [(7, ADA, START - 1)], active=3) == "ignored"


def test_a_listing_of_another_session_is_no_reaction() -> None:
    """It makes a label of its own only where the client was hardly active."""
    lists = [(8, ADA, START + SECOND)]
    assert label([(7, ADA, START)], lists, active=2) == "later_connect"
    assert label([(7, ADA, START)], lists, active=3) == "ignored"
    assert label([(7, ADA, START)], [(8, BOB, START + SECOND)], active=2) == "too_few"


def test_without_a_session_any_listing_of_the_client_counts_under_a_name_of_its_own() -> None:
    """Which session it was is not known, and so not said."""
    assert label([(0, ADA, START)], [(8, ADA, START + SECOND)]) == "listed_within"
    assert label([(0, ADA, START)], [(8, ADA, START + DAY)]) == "listed_later"


@pytest.mark.parametrize(("active", "days", "word"), [
    (0, 6.9, "too_early"),
    (0, 7, "silent"),
    (1, 1, "too_few"),
    (2, 29, "too_few"),
    (3, 1, "ignored"),
])  # fmt: skip
def test_without_a_listing_what_the_client_did_decides(active: int, days: float, word: str) -> None:
    """Three sessions or calls: ignored; nothing for seven days: silent."""
    end = START + int(days * DAY)
    assert label([(7, ADA, START)], active=active, end=end) == word


def test_while_the_window_is_open_nothing_is_told() -> None:
    """A listing may still come, whatever the client did; and no share is of it."""
    sent, end = [(7, ADA, START)], START + REFRESH
    assert label(sent, active=9, end=end) == "too_early"
    assert label(sent, active=9, end=end + 1) == "ignored"
    found, _, _ = look(sent)
    state = Known(np.array([9]), np.array([True]), np.array([False]))
    assert not measured(found, state, REFRESH, end).any()
    assert measured(found, state, REFRESH, end + 1).all()


def test_without_a_channel_nothing_can_be_ignored() -> None:
    """Whatever it did, and no share is of it."""
    sent = [(7, ADA, START)]
    assert label(sent, [(7, ADA, START)], active=9, closed=True) == "no_channel"
    found, _, _ = look(sent)
    state = Known(np.array([9]), np.array([True]), np.array([True]))
    assert not measured(found, state, REFRESH, END).any()


def test_what_names_no_client_cannot_be_followed() -> None:
    """Others' activity is not its own: there is too little to tell by."""
    assert label([(7, ADA, START)], active=9, followed=False) == "too_few"
    assert label([(7, ADA, START)], active=0, followed=False) == "too_few"
    assert label([(7, ADA, START)], [(7, ADA, START)], followed=False) == "refreshed"


def test_an_episode_ends_where_the_next_of_its_channel_begins() -> None:
    """The listing after the second notification answers the second only."""
    sent = [(7, ADA, START), (7, ADA, START + DAY)]
    _, listed, words = look(sent, [(7, ADA, START + DAY)], active=2)
    assert words == ["too_few", "refreshed"]
    assert listed.at_us.tolist() == [NEVER, START + DAY]
    assert listed.next_us.tolist() == [START + DAY, END]


def test_two_sessions_told_at_once_do_not_end_each_other() -> None:
    """A client's next episode is one that begins when the window of this one is over."""
    sent = [(7, ADA, START), (8, ADA, START + 1), (9, ADA, START + DAY)]
    _, listed, _ = look(sent)
    assert listed.next_us.tolist() == [START + DAY, START + DAY, END]


def test_a_session_is_watched_to_its_last_line_and_through_the_window() -> None:
    """A listing ends it, the next episode and the end of the log cut it."""
    sent = [(7, ADA, START), (8, ADA, START), (9, ADA, START), (9, ADA, START + DAY)]
    found, listed, _ = look(sent, [(7, ADA, START + 5)])
    ends = np.array([START + 9, START, START + 2 * DAY, START + 2 * DAY])
    times, happened = durations(found, listed, ends, REFRESH)
    assert times.tolist() == [5, REFRESH, DAY, DAY]
    assert happened.tolist() == [True, False, False, False]


def test_a_stale_call_in_flight_counts_once_for_the_latest_notification() -> None:
    """Later than it, by 120 s at most; of its client and not of another."""
    sent = rows([(7, ADA, START), (8, ADA, START + 100 * SECOND)])
    calls = rows([
        *((0, ADA, START + at * SECOND) for at in (0, 1, 100, 101, 220, 221)),
        (0, BOB, START + SECOND),
    ])  # fmt: skip
    groups = grouped(episodes(sent, REFRESH), np.array([1, 0]))
    assert groups.split.tolist() == [0, 1]
    counts = in_flight(sent, np.array([1, 0]), calls, groups)
    assert counts.tolist() == [2, 2]  # 101 and 220; 1 and 100
