"""How fast each token may deliver. Kept in memory: a service that starts anew owes nobody anything."""

import math
from threading import Lock
from typing import Final

from service.clock import Clock
from service.errors import TooFast
from service.tokens import Token

BURST_S: Final = 10
"""So many seconds' worth may come at once, where nothing else is said."""


class Rates:
    """
    A bucket of records for each token that has a rate. A delivery is let in as long as something is left, and
    may take more than that: so a large one is never refused for good, and the next waits until the debt is paid.

    Safe to share between threads.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._buckets: dict[int, tuple[float, int]] = {}
        """By the token's number: what is left, and when that was."""

    def refusal(self, token: Token | None) -> TooFast | None:
        """Why a delivery of that token must wait; None where it need not."""
        rate = token.limits.records_per_s if token else None
        if token is None or rate is None:
            return None
        with self._lock:
            left = self._left(token, rate)
        if left > 0:
            return None
        wait_s = max(1, math.ceil((1 - left) / rate))
        return TooFast(
            f"more than {rate:,} records a second; nothing was stored, send it again in {wait_s} s",
            wait_s,
        )

    def charge(self, token: Token | None, records: int) -> None:
        """Take the records of a delivery that was stored off what is left."""
        rate = token.limits.records_per_s if token else None
        if token is None or rate is None:
            return
        with self._lock:
            self._buckets[token.id] = (self._left(token, rate) - records, self._clock())

    def _left(self, token: Token, rate: int) -> float:
        burst = token.limits.burst or rate * BURST_S
        now_us = self._clock()
        left, then_us = self._buckets.get(token.id, (float(burst), now_us))
        return min(burst, left + rate * max(0, now_us - then_us) / 1e6)
