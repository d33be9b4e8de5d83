"""What about the logs themselves should make a reader careful."""

from collections.abc import Mapping

RECENT_DAYS = 7
BEFORE_DAYS = 28
LEAST_CALLS = 20
JUMP = 0.2
"""How much the unattributed share of the last seven days may exceed that of the 28 before."""


def share(days: Mapping[int, tuple[int, int]], first: int, last: int) -> tuple[float | None, int]:
    """
    The unattributed share of the days [first, last), and the calls it rests on.

    `days` maps a UTC day to (unattributed calls, all calls).
    """
    inside = [counts for day, counts in days.items() if first <= day < last]
    calls = sum(total for _, total in inside)
    return (sum(nobody for nobody, _ in inside) / calls if calls else None), calls


def has_jumped(days: Mapping[int, tuple[int, int]], today: int) -> bool:
    """
    Whether the unattributed share of the last seven UTC days, today among them, is much greater than
    that of the 28 days before them. With fewer than 20 calls in either, it cannot be told: no.

    >>> has_jumped({100: (0, 30), 130: (15, 30)}, today=130)
    True
    """
    start = today + 1 - RECENT_DAYS
    recent, recent_calls = share(days, start, today + 1)
    before, before_calls = share(days, start - BEFORE_DAYS, start)
    if recent is None or before is None or min(recent_calls, before_calls) < LEAST_CALLS:
        return False
    return recent - before > JUMP
