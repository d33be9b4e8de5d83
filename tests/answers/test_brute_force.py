"""
Answers equal what pandas finds in the rows: in five zones, whole hours from UTC or not, over both days on
which clocks are changed, over ranges that begin and end at any instant.
"""

from collections.abc import Callable
from datetime import datetime

import pytest

from benchmarks import databases, reference
from service.store.engine import make_engine, reading

UNTIL_US = int(datetime.fromisoformat("2027-04-20T07:00:00+00:00").timestamp()) * 1_000_000
"""The 300 days before it hold the autumn and the spring change of every zone that has them."""


def wrong(url: str, mix: str, events: int, ranges: int) -> list[str]:
    """What differs in a new database of that mix, a sentence a question."""
    databases.make(url, mix, events, 3, UNTIL_US)
    engine = make_engine(url)
    with reading(engine) as connection:
        truth = reference.Reference(connection, UNTIL_US)
        found = [
            each
            for case in reference.cases(truth, 3, ranges)
            for each in reference.differences(connection, truth, case)
        ]
    engine.dispose()
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mix", ["A", "B"])
def test_answers_are_what_pandas_finds_in_a_few_thousand_events(
    new_database: Callable[[], str], mix: str
) -> None:
    """Names, callers, clients, servers, overview, coverage and series, filtered or not."""
    assert wrong(new_database(), mix, events=3_000, ranges=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("mix", ["A", "B"])
def test_answers_are_what_pandas_finds_in_a_million_events(
    new_database: Callable[[], str], mix: str
) -> None:
    """The same where every table is large."""
    assert wrong(new_database(), mix, events=1_000_000, ranges=2) == []


def test_the_reference_sees_a_call_that_is_missing(new_database: Callable[[], str]) -> None:
    """One stale call fewer in the truth is a difference in the answers that count it."""
    url = new_database()
    databases.make(url, "B", 2_000, 4, UNTIL_US)
    engine = make_engine(url)
    with reading(engine) as connection:
        truth = reference.Reference(connection, UNTIL_US)
        stale = truth.event["kind"] == reference.STALE
        truth.event = truth.event.drop(truth.event.index[stale][-1])
        span = (truth.first_us, UNTIL_US)
        for collection in ("names", "callers", "clients", "servers", "overview", "series"):
            case = reference.Case(collection, "UTC", *span, (("limit", 1_000),))
            assert reference.differences(connection, truth, case)
    engine.dispose()
