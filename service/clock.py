"""
The one place that asks what time it is; everything else is handed the answer. Lengths of time are in
microseconds (`…_US`).
"""

import time
from collections.abc import Callable

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
