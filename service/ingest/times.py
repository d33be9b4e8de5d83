"""
Times as loggers write them: epoch numbers in any unit, ISO 8601 in every usual spelling, and that of access logs.

>>> parse_time("2026-10-05T10:15:02.114Z")
1791195302114000000
>>> parse_time("2026-10-05 12:15:02,114+02") == parse_time(1791195302114) == _
True
>>> parse_time("05/Oct/2026:12:15:02 +0200")
1791195302000000000
>>> parse_time("2016-12-31T23:59:60.500Z") == parse_time("2016-12-31T23:59:59.999Z")
True
"""

import math
import re
from datetime import date, datetime
from typing import Final

from service.events import Reason

SECOND_NS: Final = 1_000_000_000
EARLIEST_NS: Final = 978_307_200 * SECOND_NS
"""2001-01-01T00:00:00Z: an earlier time is a clock that was never set, or the wrong unit."""
LATEST_NS: Final = 9_214_646_400 * SECOND_NS
"""2262-01-01T00:00:00Z: shortly after it, 64-bit nanoseconds end."""

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - compared with naive times that are UTC
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_NUMBER: Final = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_ISO: Final = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)"
    r"(?:(?:[Tt_]|\s+)(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?"
    r"\s*([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_ACCESS: Final = re.compile(
    r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d(?:\.\d{1,9})? [+-]\d{4})", re.ASCII
)
_MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
_LAST_OF_MINUTE: Final = 59_999_000_000


class BadTime(ValueError):
    """A time that cannot be used; `reason` says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def parse_time(value: object) -> int:
    """
    Read a time into nanoseconds since 1970-01-01T00:00:00Z.

    A number, or text that is one, is an epoch time whose unit follows from its magnitude: below
    1e11 seconds, 1e14 milliseconds, 1e17 microseconds, else nanoseconds; a fraction is rounded to
    the microsecond. Text without a zone is UTC. Second 60 is the last millisecond of its minute.

    Raises:
        BadTime: Not a time (`bad_timestamp`), or a year 0 (`implausible_timestamp`). Any other
            year is returned: `check_time` judges it.
    """
    if type(value) is str:
        if len(value) == 24 and value[10] == "T" and value[19] == "." and value[23] == "Z":
            try:
                since = datetime.fromisoformat(value[:23]) - _EPOCH
            except (ValueError, TypeError):  # not so written after all, perhaps with an offset
                return _parse_text(value)
            seconds = since.days * 86_400 + since.seconds
            return seconds * SECOND_NS + since.microseconds * 1_000
        return _parse_text(value)
    if type(value) is int and 10**11 <= value < 10**14:  # milliseconds, as most loggers write them
        return value * 1_000_000
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadTime(Reason.BAD_TIMESTAMP)
    return _parse_number(value)


def check_time(ns: int, now_us: int, skew_s: int) -> Reason | None:
    """Say why an instant cannot be that of a line read at *now_us*, or None where it can."""
    if not EARLIEST_NS <= ns < LATEST_NS:
        return Reason.IMPLAUSIBLE_TIMESTAMP
    if ns > (now_us + skew_s * 1_000_000) * 1_000:
        return Reason.FUTURE_TIMESTAMP
    return None


def _parse_number(value: float) -> int:
    """Epoch time in the unit that its magnitude suggests."""
    size = abs(value)
    if size == math.inf or math.isnan(size):
        raise BadTime(Reason.BAD_TIMESTAMP)
    if size < 1e11:
        per_us, ns = 1e6, SECOND_NS
    elif size < 1e14:
        per_us, ns = 1e3, 1_000_000
    elif size < 1e17:
        per_us, ns = 1.0, 1_000
    else:
        per_us, ns = 1e-3, 1
    return value * ns if isinstance(value, int) else round(value * per_us) * 1_000


def _parse_text(text: str) -> int:
    text = text.strip()
    if _NUMBER.fullmatch(text):
        try:
            return _parse_number(int(text))
        except ValueError:
            return _parse_number(float(text))
    found = _ISO.fullmatch(text) or _ISO.fullmatch(_iso_of_access(text))
    if found is None:
        raise BadTime(Reason.BAD_TIMESTAMP)
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if year == 0:
        raise BadTime(Reason.IMPLAUSIBLE_TIMESTAMP)
    if hour > 23 or minute > 59 or second > 60:
        raise BadTime(Reason.BAD_TIMESTAMP)
    try:
        days = date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        raise BadTime(Reason.BAD_TIMESTAMP) from None
    fraction = int((found[7] or "")[:9].ljust(9, "0"))
    within = _LAST_OF_MINUTE if second == 60 else second * SECOND_NS + fraction
    minutes = (days * 24 + hour) * 60 + minute - _offset_minutes(found[8])
    return minutes * 60 * SECOND_NS + within


def _iso_of_access(text: str) -> str:
    """Write a time of an access log, such as `05/Oct/2026:10:15:02 +0000`, in ISO 8601; else nothing."""
    found = _ACCESS.fullmatch(text)
    if found is None or found[2] not in _MONTHS:
        return ""
    return f"{found[3]}-{_MONTHS.index(found[2]) + 1:02}-{found[1]} {found[4]}"


def _offset_minutes(zone: str | None) -> int:
    """Minutes that a zone such as `+02:00`, `-0530` or `Z` is ahead of UTC."""
    if zone is None or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise BadTime(Reason.BAD_TIMESTAMP)
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)
