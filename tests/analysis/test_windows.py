"""Instants of groups, looked up by windows; and distinct rows: held against loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.counts import distinct
from service.analysis.windows import NEVER, Instants

NEAR = st.integers(0, 30)
FAR = st.sampled_from([-(2**55), -1, 0, 1, 2**53, 2**60])
"""Instants so far apart that a group and a time do not fit into one whole number."""
GROUP = st.sampled_from([0, 1, 2, 2**40, 2**62])
ROWS = st.one_of(
    *(
        st.tuples(
            st.lists(st.tuples(GROUP, time), max_size=12),
            st.lists(st.tuples(GROUP, time, time), min_size=1, max_size=12),
        )
        for time in (NEAR, FAR)
    )
)


def column(values: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(values, dtype=np.int64)


@given(ROWS)
def test_windows_hold_what_loops_find(
    rows: tuple[list[tuple[int, int]], list[tuple[int, int, int]]],
) -> None:
    """How many, which is first, and which is last; both ends count, whatever groups nobody asked for."""
    given_, asked = rows
    wanted = column([group for group, _, _ in asked])
    low = column([min(a, b) for _, a, b in asked])
    high = column([max(a, b) for _, a, b in asked])
    instants = Instants(column([g for g, _ in given_]), column([t for _, t in given_]), wanted)

    for place, (count, first, last) in enumerate(
        zip(
            instants.count(low, high).tolist(),
            instants.first(low).tolist(),
            instants.last_place(high).tolist(),
            strict=True,
        )
    ):
        mine = [(t, at) for at, (g, t) in enumerate(given_) if g == asked[place][0]]
        assert count == sum(low[place] <= t <= high[place] for t, _ in mine)
        assert first == min((t for t, _ in mine if t >= low[place]), default=NEVER)
        assert last == max((each for each in mine if each[0] <= high[place]), default=(0, -1))[1]


@given(st.lists(st.tuples(GROUP | NEAR, FAR | NEAR, NEAR), max_size=20))
def test_distinct_rows_are_those_of_a_set_in_order(rows: list[tuple[int, int, int]]) -> None:
    """However far apart their numbers lie."""
    columns = [column([row[place] for row in rows]) for place in range(3)]
    found = list(zip(*(each.tolist() for each in distinct(columns)), strict=True))
    assert found == sorted(set(rows))
