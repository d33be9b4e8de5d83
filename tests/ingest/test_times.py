"""Times: every spelling of one instant is that instant, and nonsense is told from the impossible."""

import contextlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Reason
from service.ingest.times import BadTime, check_time, parse_time
from tests.ingest.support import CALL_NS, case

DAY_US = 86_400 * 1_000_000


@pytest.mark.parametrize(
    "spelling",
    [
        "2026-10-05T10:15:02.114Z",
        "2026-10-05t10:15:02.114z",
        "2026-10-05 10:15:02.114",
        "2026-10-05 10:15:02,114",
        "2026-10-05_10:15:02.114",
        "2026-10-05T10:15:02.114",
        "2026-10-05T10:15:02.114000000Z",
        "2026-10-05T10:15:02.1140000009999Z",
        "2026-10-05T12:15:02.114+02:00",
        "2026-10-05T12:15:02.114+0200",
        "2026-10-05T05:15:02.114-05",
        "2026-10-05 10:15:02.114 +0000",
        "2026-10-05 10:15:02.114000+00:00",
        "2026-10-05 10:15:02.114 UTC",
        "2026-10-05T15:45:02.114+05:30",
        "05/Oct/2026:10:15:02.114 +0000",
        "05/Oct/2026:05:15:02.114 -0500",
        "20261005T101502.114Z",
        "20261005T101502,114",
        " 2026-10-05T10:15:02.114Z ",
        1791195302114,
        1791195302.114,
        1791195302114.0,
        1791195302114000,
        1791195302114000000,
        "1791195302.114",
        "1791195302114",
        "1.791195302114e9",
    ],
)
def test_one_instant_in_many_spellings(spelling: object) -> None:
    """2026-10-05T10:15:02.114Z is 1,791,195,302.114 s after the epoch."""
    assert parse_time(spelling) == CALL_NS


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("2026-10-05T10:15:02Z", 1_791_195_302_000_000_000),
        ("2026-10-05T10:15Z", 1_791_195_300_000_000_000),
        ("2026-10-05", 1_791_158_400_000_000_000),
        ("2026-10-05T10:15:02.114123456Z", 1_791_195_302_114_123_456),
        ("2026-10-05T10:15:02.1Z", 1_791_195_302_100_000_000),
        ("1970-01-01T00:00:00.000Z", 0),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199_999_000_000),
        ("2016-12-31T23:59:60.500Z", 1_483_228_799_999_000_000),
        ("2017-01-01T01:59:60+02:00", 1_483_228_799_999_000_000),
        (1_791_195_302_114_123_456, 1_791_195_302_114_123_456),
        (1791195302.1139998, 1_791_195_302_114_000_000),
        (99_999_999_999, 99_999_999_999 * 10**9),
        (100_000_000_000, 100_000_000_000 * 10**6),
        (100_000_000_000_000, 100_000_000_000_000 * 10**3),
        (100_000_000_000_000_000, 100_000_000_000_000_000),
    ],
)
def test_parts_that_are_missing_are_zero_and_none_is_lost(text: object, ns: int) -> None:
    """Nanoseconds of text and whole numbers survive; a float is rounded to the microsecond."""
    assert parse_time(text) == ns


@pytest.mark.parametrize(
    "nonsense",
    [
        True, False, None, [], {}, float("nan"), float("inf"), float("-inf"), "", "  ", "yesterday",
        "2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00Z", "2026-10-05T24:00:00.000Z",
        "2026-10-05T10:60:00.000Z", "2026-10-05T10:15:61.000Z", "2026-10-05T10:15:02.114+25:00",
        "2026-10-05T10:15:02.114Q", "NaN", "Infinity", "10:15:02", "٢٠٢٦-10-05T10:15:02.114Z",
        "1" * 5000, "2026-10-05T10:15:02.114Z trailing", "2026-10-05T10:15:02.+04Z",
        "2026-10-05T10:15:02.11ZZ", "05/Okt/2026:10:15:02 +0000",
        "31/Feb/2026:10:15:02 +0000", "05/Oct/2026:10:15:02", "5/Oct/2026:10:15:02 +0000",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(nonsense: object) -> None:
    """A wrong time is bad; it never becomes some other instant."""
    with pytest.raises(BadTime) as refused:
        parse_time(nonsense)

    assert refused.value.reason is Reason.BAD_TIMESTAMP


@pytest.mark.parametrize(
    "value",
    ["0001-01-01T00:00:00.000Z", "1601-01-01T00:00:00.000Z", "3118-01-01T00:00:00.000Z", 0, 7,
     -1791195302, "2000-12-31T23:59:59.999Z", "2262-01-01T00:00:00.000Z", 10**40, 1e300, "0000-01-01T00:00:00Z"],
)  # fmt: skip
def test_an_impossible_year_is_implausible_not_bad(value: object) -> None:
    """It is a time, and cannot be that of a line."""
    try:
        reason = check_time(parse_time(value), 1_791_244_800_000_000, 86_400)
    except BadTime as refused:
        reason = refused.reason

    assert reason is Reason.IMPLAUSIBLE_TIMESTAMP


def test_the_first_and_last_plausible_instants() -> None:
    """From 2001-01-01 on, and before 2262-01-01."""
    far = 2**62
    assert check_time(parse_time("2001-01-01T00:00:00.000Z"), far, 0) is None
    assert check_time(parse_time("2261-12-31T23:59:59.999Z"), far, 0) is None


def test_a_clock_may_be_ahead_by_the_skew_and_no_more() -> None:
    """At the limit it counts, a nanosecond beyond it does not."""
    now_us = CALL_NS // 1000

    assert check_time(CALL_NS + 86_400 * 10**9, now_us, 86_400) is None
    assert check_time(CALL_NS + 86_400 * 10**9 + 1, now_us, 86_400) is Reason.FUTURE_TIMESTAMP


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("15", [CALL_NS] * 6 + [1_791_195_302_000_000_000]),
        ("16", [CALL_NS, CALL_NS, CALL_NS, CALL_NS + 123_456, CALL_NS, CALL_NS]),
        ("17", [1_483_228_799_999_000_000, 1_483_228_800_000_000_000]),
    ],
)
def test_every_line_of_the_time_cases(number: str, expected: list[int]) -> None:
    """Units and spellings that real loggers were reported with."""
    times = [json.loads(line)["time"] for line in case(number).splitlines()]

    assert [parse_time(time) for time in times] == expected


@given(
    us=st.integers(0, 9_214_646_399_999_999),
    offset=st.integers(-14 * 60, 14 * 60),
    separator=st.sampled_from("T "),
    point=st.sampled_from(".,"),
)
def test_text_agrees_with_the_standard_library(
    us: int, offset: int, separator: str, point: str
) -> None:
    """Any instant, any offset: the same as counting from the epoch with datetime."""
    local = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us, minutes=offset)
    sign = "-" if offset < 0 else "+"
    zone = f"{sign}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
    text = f"{local:%Y-%m-%d}{separator}{local:%H:%M:%S}{point}{local.microsecond:06d}{zone}"

    assert parse_time(text) == us * 1000


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.integers())))
def test_nothing_but_a_time_or_a_refusal_comes_back(value: object) -> None:
    """No other exception, whatever stands where a time should."""
    with contextlib.suppress(BadTime):
        assert isinstance(parse_time(value), int)
