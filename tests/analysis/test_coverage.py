"""The gap rule, against a reading of it that goes hour by hour."""

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
    found: set[int] = set()
    for run in runs:
        before = [len(other) for other in ordinary if run[0] - 28 * 24 < other[-1] + 1 <= run[0]]
        usual = max(before, default=0)
        if len(run) > max(6, 2 * usual) and run[-1] + 1 >= hours[0] + 7 * 24:
            found |= set(run)
        else:
            ordinary.append(run)
    return found


@settings(max_examples=200, deadline=None)
@given(hours=HOURS, limit=st.integers(0, 1700), retired=st.booleans())
def test_gaps_are_those_of_the_rule(hours: tuple[int, ...], limit: int, retired: bool) -> None:
    """Longer than six hours and twice the usual, and not within the first week."""
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
