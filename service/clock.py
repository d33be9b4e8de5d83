"""The one place that asks what time it is; everything else is handed the answer."""

import time
from collections.abc import Callable

Clock = Callable[[], int]
"""Returns the current instant in microseconds since 1970-01-01T00:00:00Z."""


def system_clock() -> int:
    """Return the current instant in microseconds since 1970-01-01T00:00:00Z."""
    return time.time_ns() // 1_000
