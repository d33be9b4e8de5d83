"""
The one place that asks what time it is; everything else is handed the answer. Lengths of time are in
microseconds (`…_US`).
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
QUARTER_US = HOUR_US // 4
"""A quarter of an hour, the step of the activity roll-up."""
DAY_US = 24 * HOUR_US

Clock = Callable[[], int]
"""Returns the current instant in microseconds since 1970-01-01T00:00:00Z."""


def system_clock() -> int:
    """Return the current instant in microseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns() // 1_000


def utc_text(instant_us: int, spec: str = "seconds") -> str:
    """
    Write an instant for people, cut to *spec* (`seconds` or `hours`).

    >>> utc_text(1_791_201_600_123_456)
    '2026-10-05T12:00:00Z'
    """
    instant = datetime.fromtimestamp(instant_us / 1e6, UTC).replace(tzinfo=None)
    return instant.isoformat(timespec=spec) + "Z"
