"""The gap rule, against a reading of it that goes hour by hour."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis.coverage import Source, cover, gaps

HOURS = st.lists(st.integers(0, 1500), min_size=1, max_size=40, unique=True).map(
    lambda hours: tuple(sorted(hours))
)


def slow_gaps(hours: tuple[int, ...], limit: int, retired: bool = False) -> set[int]:
    """The hours in a gap: each silent run judged by looking at every run before it."""
    heard = set(hours)
    runs: list[list[int]] = []
    run: list[int] = []
    end = limit if not retired and limit > hours[-1] else hours[-1]
    for hour in range(hours[0], end):
        if hour in heard:
            runs.append(run) if run else None
            run = []
        else:
            run.append(hour)
    if run:
        runs.append(run)
    ordinary: list[list[int]] = []
    first_week: list[list[int]] = []
    found: set[int] = set()
    for run in runs:
        proven, once = (
            2 * max((len(o) for o in those if run[0] - 28 * 24 < o[-1] + 1 <= run[0]), default=0)
            for those in (ordinary, first_week)
        )
        is_open = run[-1] > hours[-1]
        if len(run) <= max(6, proven) or (not is_open and len(run) <= once):
            ordinary.append(run)
        elif run[-1] + 1 < hours[0] + 7 * 24:
            first_week.append(run)
        else:
            found |= set(run)
    return found


@settings(max_examples=200, deadline=None)
@given(hours=HOURS, limit=st.integers(0, 1700), retired=st.booleans())
def test_gaps_are_those_of_the_rule(hours: tuple[int, ...], limit: int, retired: bool) -> None:
    """Longer than six hours and twice the usual, and not within the first week, which proves little."""
    found = {
        hour for start, end in gaps(hours, limit, retired=retired) for hour in range(start, end)
    }

    assert found == slow_gaps(hours, limit, retired)


@settings(max_examples=100, deadline=None)
@given(
    feeds=st.lists(st.tuples(st.sampled_from("ab"), HOURS, st.booleans()), min_size=1, max_size=4),
    limit=st.integers(0, 1700),
)
def test_an_hour_is_covered_when_every_server_that_asks_is_watched(
    feeds: list[tuple[str, tuple[int, ...], bool]], limit: int
) -> None:
    """Hour by hour: a source that spoke within 28 days and is in a gap uncovers its server."""
    sources = [
        Source(server, f"f{i}", hours, retired) for i, (server, hours, retired) in enumerate(feeds)
    ]
    coverage = cover(sources, limit, limit)
    silent = {s.name: slow_gaps(tuple(s.hours), limit, s.retired) for s in sources}

    for hour in range(-2, limit + 2):
        verdicts = []
        for server in {s.server for s in sources}:
            mine = [s for s in sources if s.server == server]
            over = all(s.retired for s in mine) and hour > max(s.hours[-1] for s in mine)
            if hour < min(s.hours[0] for s in mine) or over:
                continue
            spoke = [s for s in mine if any(hour - 672 < h <= hour for h in s.hours)]
            verdicts.append(bool(spoke) and all(hour not in silent[s.name] for s in spoke))
        expected = hour < limit and bool(verdicts) and all(verdicts)
        assert coverage.is_covered(hour, hour + 1) is expected, hour


def test_a_night_is_no_gap_and_a_weekend_is_one() -> None:
    """Working hours for three weeks, ten silent hours a night; then three days of nothing."""
    days = [day * 24 + hour for day in range(21) for hour in range(8, 22)]
    back = tuple(days) + tuple(hour + 24 * 24 for hour in range(8, 22))

    assert gaps(back, back[-1] + 1) == [(20 * 24 + 22, 24 * 24 + 8)]


def test_a_silent_first_week_does_not_make_a_shipper_that_broke_look_quiet() -> None:
    """Tried out on the first day, in use from the sixth on, broken ten days later: open for five days."""
    hours = [0, 1, *range(6 * 24, 16 * 24)]
    assert gaps(hours, 21 * 24) == [(16 * 24, 21 * 24)]


def test_what_was_silent_in_the_first_week_may_be_so_again() -> None:
    """Heard every three days: each silence ended, and shows that the one before was usual."""
    hours = range(0, 40 * 24, 72)
    assert gaps(hours, hours[-1] + 72) == []


@pytest.mark.parametrize(
    ("first_day", "weekends", "open_now"),
    [
        ("Monday", [0, 1, 2, 3], True),  # the first one ends when the first week is over
        ("Tuesday", [], False),
        ("Wednesday", [], False),
        ("Friday", [], False),
    ],
)
def test_weekends_are_usual_where_the_first_week_has_a_whole_one(
    first_day: str, weekends: list[int], open_now: bool
) -> None:
    """Heard from nine to six, Monday to Friday, looked at on the fifth Sunday at noon."""
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    days = [week * 7 + day for week in range(5) for day in range(5)]
    hours = [day * 24 + hour for day in days[names.index(first_day) :] for hour in range(9, 18)]
    ends = [(week * 168 + 4 * 24 + 18, (week + 1) * 168 + 9) for week in range(4)]
    sunday = 4 * 168 + 6 * 24 + 12
    found = [ends[week] for week in weekends]
    assert gaps(hours, sunday) == [*found, *([(ends[3][0] + 168, sunday)] if open_now else [])]
