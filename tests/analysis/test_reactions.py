"""Episodes, answers and stale calls around them: tables worked out by hand, and loops over all rows."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.reactions import OUTCOMES, Reaction, Rows, change_pct, outcome, reactions

SERVER, ADA, BOB = 1, 0, 1
REFRESH, COMPARE, END = 60, 3_600, 100_000
Line = tuple[int, int, int, int]
"""Server, session (0 for none), client, time."""


def rows(lines: Sequence[Line]) -> Rows:
    table = np.array(lines, dtype=np.int64).reshape(-1, 4)
    return Rows(*(table[:, i].copy() for i in range(4)))


def react(
    sent: list[Line],
    lists: Sequence[Line] = (),
    calls: Sequence[Line] = (),
    end: int = END,
) -> list[Reaction]:
    return list(
        reactions(
            rows(sent), rows(lists), rows(calls), refresh_us=REFRESH, compare_us=COMPARE, end_us=end
        )
    )


def times(*at: int, session: int = 7, client: int = ADA) -> list[Line]:
    return [(SERVER, session, client, time) for time in at]


def test_no_notification_is_no_reaction() -> None:
    """Listings and calls alone make no row."""
    assert react([], times(5), times(5)) == []


def test_a_gap_of_the_window_joins_and_a_longer_one_parts() -> None:
    """1000, 1060 and 1121: the second gap is 61 s, so there are two episodes of three notifications."""
    (found,) = react(times(1121, 1000, 1060))
    assert (found.notifications, found.episodes) == (3, 2)


@pytest.mark.parametrize(("listed", "answered"), [
    (999, 0),  # at connect
    (1000, 1),  # equal time
    (1040, 1),  # between the notifications
    (1110, 1),  # 60 s after the last
    (1111, 0),
])  # fmt: skip
def test_a_listing_from_the_first_notification_to_the_window_after_the_last_is_an_answer(
    listed: int, answered: int
) -> None:
    """Notifications at 1000 and 1050, a window of 60: 1000 to 1110, both counted."""
    (found,) = react(times(1000, 1050), times(listed))
    assert (found.answered, found.ignored) == (answered, 1 - answered)


def test_another_session_does_not_answer_for_this_one() -> None:
    """Session 7 is notified; session 8 of the same client, and a listing without a session, list."""
    (found,) = react(times(1000), [*times(1001, session=8), *times(1001, session=0)])
    assert found.answered == 0


def test_each_session_has_episodes_of_its_own() -> None:
    """Two sessions notified at once are two episodes; the one that lists has answered."""
    sent = [*times(1000, session=7), *times(1000, session=8)]
    (found,) = react(sent, times(1000, session=8))
    assert (found.notifications, found.episodes, found.answered) == (2, 2, 1)


def test_without_a_session_the_client_is_one_channel() -> None:
    """Any listing of the client answers then, one of another client does not."""
    assert react(times(1000, session=0), times(1001, session=9))[0].answered == 1
    assert react(times(1000, session=0), times(1001, session=9, client=BOB))[0].answered == 0


@pytest.mark.parametrize(("called", "before", "after"), [
    (1000 - 3601, 0, 0),
    (1000 - 3600, 1, 0),
    (1000, 1, 0),
    (1001, 0, 0),  # within the episode
    (1050, 0, 0),
    (1051, 0, 1),
    (1050 + 3600, 0, 1),
    (1050 + 3601, 0, 0),
])  # fmt: skip
def test_stale_calls_count_before_the_first_and_after_the_last_notification(
    called: int, before: int, after: int
) -> None:
    """Up to and including 1000, and after 1050, an hour each way; in any session of the client."""
    (found,) = react(times(1000, 1050), calls=times(called, session=3))
    assert (found.stale_before, found.stale_after) == (before, after)


def test_stale_calls_are_summed_over_episodes() -> None:
    """One call between two episodes comes after the first and before the second."""
    (found,) = react(times(1000, 2000), calls=times(1500))
    assert (found.episodes, found.stale_before, found.stale_after) == (2, 1, 1)


def test_servers_and_clients_are_apart() -> None:
    """By server, then client; calls and listings of others count for nobody else."""
    sent = [(2, 5, ADA, 1000), (1, 6, BOB, 1000), (1, 4, ADA, 1000)]
    found = react(sent, [(1, 6, BOB, 1000)], [(2, 5, ADA, 900), (1, 1, 5, 900)])
    assert [(r.server, r.client, r.answered, r.stale_before) for r in found] == [
        (1, ADA, 0, 0),
        (1, BOB, 1, 0),
        (2, ADA, 0, 1),
    ]


def test_a_change_is_a_percentage_of_what_came_before() -> None:
    """From 0 there is none; equal is 0, and what rounds to nothing has no sign."""
    wanted = {(0, 3): None, (0, 0): None, (4, 0): -100.0, (2, 2): 0.0, (2, 3): 50.0, (3, 2): -33.3}
    assert {pair: change_pct(*pair) for pair in wanted} == wanted
    assert str(change_pct(10_000, 9_999)) == "0.0"


@pytest.mark.parametrize(("answered", "before", "after", "word"), [
    (2, 2, 1, "answered_reduced"),
    (2, 2, 2, "answered_no_effect"),
    (2, 0, 1, "answered_increased"),
    (0, 2, 0, "ignored_reduced"),
    (0, 2, 2, "ignored_no_effect"),
    (0, 2, 3, "ignored_increased"),
    (1, 2, 1, "mixed_reduced"),
    (1, 2, 2, "mixed_no_effect"),
    (1, 2, 3, "mixed_increased"),
    (2, 0, 0, "no_stale_calls"),
    (0, 0, 0, "no_stale_calls"),
])  # fmt: skip
def test_the_word_says_who_listened_and_how_many_calls_followed(
    answered: int, before: int, after: int, word: str
) -> None:
    """Of two episodes."""
    assert outcome(2, answered, before, after, settled=True) == word
    assert word in OUTCOMES


def test_it_is_too_early_until_the_windows_are_over() -> None:
    """An hour after the last notification, that instant included; one open episode is enough."""
    sent, calls = times(1000, 9000), times(900)
    assert react(sent, calls=calls, end=9000 + 3600)[0].outcome == "too_early"
    assert react(sent, calls=calls, end=9000 + 3601)[0].outcome == "ignored_reduced"


LINES = st.lists(
    st.tuples(st.integers(1, 2), st.integers(0, 2), st.integers(0, 2), st.integers(0, 200)),
    max_size=25,
)


def literally(
    sent: list[Line], lists: list[Line], calls: list[Line], refresh: int, compare: int
) -> list[tuple[int, ...]]:
    """The definition, read out: a loop over everything for each thing."""
    found = []
    for server, client in sorted({(line[0], line[2]) for line in sent}):
        total = [0, 0, 0, 0, 0]
        for session in range(3):
            mine = sorted(t for s, i, c, t in sent if (s, i, c) == (server, session, client))
            episodes: list[list[int]] = []
            for time in mine:
                if episodes and time - episodes[-1][-1] <= refresh:
                    episodes[-1].append(time)
                else:
                    episodes.append([time])
            for episode in episodes:
                first, last = episode[0], episode[-1]
                total[0] += len(episode)
                total[1] += 1
                total[2] += any(
                    s == server
                    and (i == session if session else c == client)
                    and first <= t <= last + refresh
                    for s, i, c, t in lists
                )
                whose = [t for s, _, c, t in calls if (s, c) == (server, client)]
                total[3] += sum(0 <= first - t <= compare for t in whose)
                total[4] += sum(0 < t - last <= compare for t in whose)
        found.append((server, client, *total))
    return found


@given(LINES, LINES, LINES, st.integers(0, 20), st.integers(1, 60), st.randoms())
def test_reactions_are_what_the_definition_says(
    sent: list[Line],
    lists: list[Line],
    calls: list[Line],
    refresh: int,
    compare: int,
    rng: random.Random,
) -> None:
    """Random channels, ties and windows, in any order of rows."""
    expected = literally(sent, lists, calls, refresh, compare)
    for part in (sent, lists, calls):
        rng.shuffle(part)

    found = reactions(
        rows(sent), rows(lists), rows(calls), refresh_us=refresh, compare_us=compare, end_us=10**6
    )

    assert [
        (r.server, r.client, r.notifications, r.episodes, r.answered, r.stale_before, r.stale_after)
        for r in found
    ] == expected
    for r in found:
        assert r.ignored == r.episodes - r.answered
        word = outcome(r.episodes, r.answered, r.stale_before, r.stale_after, settled=True)
        assert r.outcome == word
