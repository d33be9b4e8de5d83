"""Verdicts on simulated clients whose truth is known, and by hand."""

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from service.analysis.effect import (
    Effect,
    LeftOut,
    Panel,
    by_client,
    by_name,
    effect,
    effect_of,
    event_study,
    weeks,
)
from service.analysis.effect_texts import Setting, words
from tests.analysis.effect.worlds import FIRST_DAY, even, listed_again, read


def rounded(values: tuple[float | None, ...] | None) -> list[float | None]:
    assert values is not None
    return [None if value is None else round(value, 2) for value in values]


@pytest.mark.parametrize(
    ("name", "verdict", "strength", "ratio", "interval", "naive"),
    [
        ("p1", "reduced", "robust", 0.39, [0.25, 0.59], 0.48),
        ("p2", "no detectable change", None, 1.02, [0.75, 1.39], 0.34),
        ("p3", "no detectable change", None, 1.12, [0.70, 1.80], 1.74),
        ("p4", "cannot separate from the trend", None, None, None, 0.32),
        ("p5", "reduced", "if trends were alike", 0.50, [0.31, 0.83], 0.54),
    ],
)
def test_each_world_is_told_as_an_earlier_implementation_told_it(
    name: str,
    verdict: str,
    strength: str | None,
    ratio: float | None,
    interval: list[float] | None,
    naive: float,
) -> None:
    """Where a naive before and after is wrong by a factor of two, the verdict is not."""
    found = effect(read(name))

    assert (found.verdict, found.strength) == (verdict, strength)
    assert (found.rate_ratio and round(found.rate_ratio, 2)) == ratio
    assert (found.interval and rounded(found.interval)) == interval
    assert found.naive_ratio is not None
    assert round(found.naive_ratio, 2) == naive


def test_what_the_word_rests_on_stands_beside_it() -> None:
    """19 clients called 788 times where 2,038 were expected."""
    found = effect(read("p1"))

    assert (found.clients_notified, found.clients_used, found.observed) == (19, 19, 788)
    assert found.expected is not None
    assert round(found.expected) == 2038
    assert found.avoided == pytest.approx(found.expected - 788)
    assert (found.support, found.exposure, found.left_out) == (1.0, "sessions", ())
    assert [guard.outcome for guard in found.guards[:-1]] == ["passed"] * 11


def test_beside_a_trend_of_eager_clients_the_first_world_is_reduced_and_the_fifth_is_not() -> None:
    """The second opinion: 0.16 [0.03, 0.80] of an earlier implementation, and one that holds 1."""
    first, fifth = effect(read("p1")).trend, effect(read("p5")).trend

    assert first.rate_ratio == pytest.approx(0.16, abs=0.015)
    assert first.interval is not None
    assert first.interval[0] == pytest.approx(0.03, abs=0.005)
    assert first.interval[1] == pytest.approx(0.80, abs=0.05)
    assert fifth.interval is not None
    assert fifth.interval[0] < 1 < (fifth.interval[1] or math.inf)


def test_clients_that_listed_again_fell_and_those_that_did_not_stayed() -> None:
    """The truth is 0.20 and 1.00, and each interval excludes the other's."""
    world, again = read("p5"), listed_again("p5")
    told = np.isfinite(world.notified)
    ignored = np.array([unit not in again for unit in world.units])

    refreshed, stayed = effect_of(world, sorted(map(str, again))), effect_of(world, ignored & told)

    assert (refreshed.clients_used, stayed.clients_used) == (19, 12)
    assert rounded((refreshed.rate_ratio, *(refreshed.interval or ()))) == [0.19, 0.15, 0.25]
    assert stayed.rate_ratio == pytest.approx(0.93, abs=0.02)
    assert rounded(stayed.interval) == pytest.approx([0.62, 1.40], abs=0.025)


def test_an_even_world_is_what_a_hand_calculates() -> None:
    """
    6 + 4 clients, a session and two calls a day, one after: half of 6 x 13 x 2 calls. All clients are
    alike, so the interval is that of counts: t(6) = 2.4469 times sqrt(1/78.5 + 1/168).
    """
    found = effect(even(6, 4))
    half = 2.4469 * math.sqrt(1 / 78.5 + 1 / 168)

    assert found.observed == 78
    assert found.rate_ratio == pytest.approx(0.5)
    assert found.expected == pytest.approx(156)
    assert found.interval == pytest.approx(
        (78.5 / 156.5 * math.exp(-half), 78.5 / 156.5 * math.exp(half)), rel=1e-4
    )
    assert found.naive_ratio == pytest.approx((2 + 13) / 14 / 2)


def test_in_calendar_time_notifications_at_own_events_are_not_judged() -> None:
    """A client that is told when it is active looks busier after: 1.43 in place of 1 in simulation."""
    world = replace(read("p3"), sessions=None)

    found = effect(world)

    assert found.verdict == "cannot separate from the client's own activity"
    assert (found.reason, found.exposure) == ("own activity", "calendar")
    assert found.missing is not None
    assert found.missing.sessions


def test_many_calls_of_units_left_out_are_said() -> None:
    """1,000 of 3,678 calls are more than a fifth."""
    found = effect(read("p1"), [LeftOut("gateway", "a gateway", 1000)])

    assert found.left_out_share == pytest.approx(1000 / 3678)
    assert found.much_left_out
    assert not effect(read("p1")).much_left_out


def test_a_client_without_a_call_before_is_left_out_and_listed() -> None:
    """Nothing can be expected of it, whatever it did after."""
    world = read("p1")
    row = int(np.flatnonzero(np.isfinite(world.notified))[0])
    calls = world.calls.copy()
    calls[row, : int(world.notified[row]) - FIRST_DAY + 1] = 0

    found = effect(replace(world, calls=calls))

    assert found.left_out == (LeftOut(world.units[row], "no baseline", int(calls[row].sum())),)
    assert found.clients_used == 18


def test_a_client_that_never_greets_is_left_out_where_calls_are_held_against_sessions() -> None:
    """Its calls would be calls without any opportunity."""
    world = read("p1")
    assert world.sessions is not None
    sessions = world.sessions.copy()
    sessions[3] = 0

    found = effect(replace(world, sessions=sessions))

    assert found.left_out == (LeftOut(world.units[3], "no sessions", int(world.calls[3].sum())),)


def empty(clients: int, days: int, notified: float = np.inf) -> Panel:
    return Panel(
        units=tuple(range(clients)),
        first_day=FIRST_DAY,
        calls=np.zeros((clients, days)),
        sessions=np.zeros((clients, days)),
        covered=np.ones((clients, days), dtype=bool),
        notified=np.full(clients, notified),
        own=np.zeros(clients, dtype=bool),
    )


SMALL = {
    "no client": (empty(0, 0), "not enough data"),
    "clients without a day": (empty(3, 0), "not enough data"),
    "days without a client": (empty(0, 30), "not enough data"),
    "one day": (empty(5, 1, FIRST_DAY + 0.5), "not enough data"),
    "no call": (empty(5, 30, FIRST_DAY + 10.5), "not enough data"),
    "nobody notified": (even(0, 8), "not enough data"),
    "one client": (even(1, 0), "cannot separate from the trend"),
    "all at once": (even(8, 0), "cannot separate from the trend"),
    "one client to compare with": (even(8, 1), "cannot separate from the trend"),
    "two of each": (even(2, 2), "not enough data"),
    "everything a gap": (
        replace(even(6, 4), covered=np.zeros((10, 28), dtype=bool)),
        "not enough data",
    ),
    "notified before the first day": (
        replace(even(6, 4), notified=np.full(10, FIRST_DAY - 1.0)),
        "cannot separate from the trend",
    ),
    "notified after the last day": (
        replace(even(6, 4), notified=np.full(10, FIRST_DAY + 99.0)),
        "not enough data",
    ),
    "not one call after": (even(6, 4, after=0), "reduced"),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_small_world_has_an_answer_in_words(name: str) -> None:
    """Too little is an answer, and says what is missing."""
    world, verdict = SMALL[name]

    found = effect(world)

    assert found.verdict == verdict
    assert (found.reason is None) == (verdict == "reduced")
    assert (found.missing is None) == (verdict == "reduced")


def test_what_to_do_knows_who_was_told_and_who_lists() -> None:
    """What cannot be repeated is not recommended, nor to look for clients that do not list where all do."""
    found = replace(effect(SMALL["not one call after"][0]), strength="robust")
    less = replace(found, strength="if trends were alike")

    assert "These clients have been told" in words(less, Setting(all_told=True)).next
    assert "To be sure: tell half of the clients first" in words(less).next
    assert words(found, Setting(all_list=True)).next == (
        "Go on notifying. All list again; what is left are names written down: see To do."
    )
    assert "which clients do not list again" in words(found).next


@pytest.mark.parametrize("name", [*SMALL, "p1", "p3"])
def test_no_number_is_infinite_or_none_at_all(name: str) -> None:
    """What is not known is None, in every answer of the package."""
    world = SMALL[name][0] if name in SMALL else read(name)

    numbers = list(
        _numbers(
            (
                effect(world),
                by_client(world),
                by_name({"x": world}),
                weeks(world),
                event_study(world),
            )
        )
    )

    assert all(math.isfinite(number) for number in numbers)


def _numbers(value: object) -> Iterator[float]:
    if is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, float):
        yield value


def test_without_one_call_after_the_ratio_is_zero_and_its_interval_begins_there() -> None:
    """Half a call is added for the logarithm only."""
    found = effect(even(6, 4, after=0))

    assert found.rate_ratio == 0
    assert found.interval is not None
    assert found.interval[0] == 0


def failing(found: Effect) -> list[str]:
    return [guard.name for guard in found.guards if guard.outcome == "failed"]


def test_guards_stand_in_their_order_and_say_what_was_found_and_needed() -> None:
    """All clients notified at once leave nobody to compare with."""
    found = effect(read("p4"))
    guards = {guard.name: guard for guard in found.guards}

    assert [guard.name for guard in found.guards] == [
        "notified clients",
        "stale calls of notified clients",
        "support",
        "clients to compare with",
        "usable notified clients",
        "calls before",
        "expected calls",
        "interval",
        "own activity",
        "placebo",
        "trend",
        "precision",
    ]
    assert failing(found)[0] == "support"
    assert (guards["support"].found, guards["support"].needed) == (0.0, 0.5)
    assert guards["placebo"].outcome == "not checked"


@pytest.mark.parametrize(
    ("world", "reason", "wanted"),
    [
        # nobody was told: about twelve, and four that are told later
        (even(0, 1), "notified clients", {"clients": 12, "others": 3}),
        # 28 calls in four weeks: two are missing, for which three days are enough
        (
            replace(even(1, 4), calls=np.ones((5, 28))),
            "stale calls of notified clients",
            {"calls": 2, "weeks": 1},
        ),
        # nobody to compare with: four, or two waves drawn by lot
        (even(8, 0), "support", {"others": 4, "randomise": True}),
        # three of about twelve
        (even(3, 4), "usable notified clients", {"clients": 9}),
    ],
)
def test_what_would_make_an_answer_is_a_number(
    world: Panel, reason: str, wanted: dict[str, object]
) -> None:
    """By the guard that failed and what simulation needed."""
    found = effect(world)

    assert found.reason == reason
    assert found.missing is not None
    assert {name: getattr(found.missing, name) for name in wanted} == wanted


def test_a_gap_is_missing_and_not_zero() -> None:
    """What stands in cells that were not covered changes nothing."""
    world = read("p1")
    covered = world.covered.copy()
    covered[:, 30:37] = False
    wild = np.where(covered, world.calls, 999.0)

    assert effect(replace(world, covered=covered)) == effect(
        replace(world, covered=covered, calls=wild)
    )
    assert effect(replace(world, covered=covered)).uncovered == pytest.approx(7 / 84)


def test_the_day_of_the_notification_belongs_to_neither_side() -> None:
    """Calls that were under way say nothing, however many there are."""
    world = read("p5")
    calls = world.calls.copy()
    for row, told in enumerate(world.notified):
        if np.isfinite(told):
            calls[row, int(told) - FIRST_DAY] += 500

    before, after = effect(world), effect(replace(world, calls=calls))

    assert (before.rate_ratio, before.interval) == (after.rate_ratio, after.interval)
    assert after.naive_ratio != before.naive_ratio
