"""What must not matter, and what must."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.analysis.effect import Effect, Panel, effect
from tests.analysis.effect.worlds import DAYS, FIRST_DAY, cells, read

FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def panels(draw: st.DrawFn) -> Panel:
    """Twelve clients on six weeks, eight of them notified at some time."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    clients, days = 12, 42
    sessions = rng.poisson(draw(st.sampled_from([0.8, 2.0])), (clients, days)).astype(float)
    told = np.full(clients, np.inf)
    told[:8] = FIRST_DAY + rng.uniform(7, days - 7, 8)
    day = FIRST_DAY + np.arange(days)
    rate = rng.lognormal(0.7, 0.5, clients)[:, None] * np.where(day > told[:, None], 0.6, 1.0)
    return Panel(
        units=tuple(range(clients)),
        first_day=FIRST_DAY,
        calls=rng.poisson(sessions * rate).astype(float),
        sessions=sessions,
        covered=rng.random((clients, days)) > draw(st.sampled_from([0.0, 0.1])),
        notified=told,
        own=np.zeros(clients, dtype=bool),
    )


def close(found: Effect, other: Effect) -> None:
    """Equal but for rounding, and for the labels of units and their order."""
    one, two = asdict(found), asdict(other)
    for each in (one, two):
        each["left_out"] = sorted((left["why"], left["calls"]) for left in each["left_out"])
    _close(one, two)


def _close(one: Any, two: Any) -> None:
    if isinstance(one, dict):
        for key in one:
            _close(one[key], two[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            _close(a, b)
    elif isinstance(one, float):
        assert two == pytest.approx(one, rel=1e-5, abs=1e-7)
    else:
        assert one == two


@FEW
@given(world=panels(), seed=st.integers(0, 1000))
def test_names_and_order_of_clients_do_not_matter(world: Panel, seed: int) -> None:
    """The same clients under other labels, in another order."""
    order = np.random.default_rng(seed).permutation(len(world.units))
    assert world.sessions is not None

    shuffled = replace(
        world,
        units=tuple(f"client {place}" for place in order),
        calls=world.calls[order],
        sessions=world.sessions[order],
        covered=world.covered[order],
        notified=world.notified[order],
    )

    close(effect(world), effect(shuffled))


@FEW
@given(world=panels(), weeks=st.integers(-50, 50))
def test_whole_weeks_later_the_answer_is_the_same(world: Panel, weeks: int) -> None:
    """Only weekdays and distances matter."""
    later = replace(
        world, first_day=world.first_day + 7 * weeks, notified=world.notified + 7 * weeks
    )

    close(effect(world), effect(later))


@FEW
@given(world=panels())
def test_a_client_that_did_nothing_changes_nothing(world: Panel) -> None:
    """Neither a session nor a call, and never notified."""
    assert world.sessions is not None
    more = replace(
        world,
        units=(*world.units, "silent"),
        calls=np.vstack([world.calls, np.zeros(42)]),
        sessions=np.vstack([world.sessions, np.zeros(42)]),
        covered=np.vstack([world.covered, np.ones((1, 42), dtype=bool)]),
        notified=np.append(world.notified, np.inf),
        own=np.append(world.own, False),
    )

    found = replace(effect(more), uncovered=effect(world).uncovered)
    close(effect(world), found)


@FEW
@given(world=panels(), client=st.integers(0, 11), factor=st.sampled_from([0.5, 3.0, 10.0]))
def test_a_client_that_opens_more_sessions_for_the_same_calls_changes_nothing(
    world: Panel, client: int, factor: float
) -> None:
    """Each client is compared with itself."""
    assert world.sessions is not None
    sessions = world.sessions.copy()
    sessions[client] *= factor

    before, after = effect(world), effect(replace(world, sessions=sessions))

    assert before.rate_ratio is not None
    assert after.rate_ratio == pytest.approx(before.rate_ratio, rel=1e-5)
    assert after.interval == pytest.approx(before.interval, rel=1e-5)


@FEW
@given(world=panels(), seed=st.integers(0, 1000), calls=st.integers(1, 50))
def test_more_calls_after_notification_never_lower_the_ratio(
    world: Panel, seed: int, calls: int
) -> None:
    """In any cell that had a session."""
    day = FIRST_DAY + np.arange(42)
    assert world.sessions is not None
    after = (day > np.floor(world.notified)[:, None]) & (world.sessions > 0) & world.covered
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(after))
    more = world.calls.copy()
    more.ravel()[chosen] += calls

    before, found = effect(world).rate_ratio, effect(replace(world, calls=more)).rate_ratio

    assert before is not None
    assert found is not None
    assert found >= before * (1 - 1e-9)


def test_the_order_of_rows_does_not_matter() -> None:
    """A frame is a heap of rows."""
    shuffled = cells("p1").sample(frac=1, random_state=1)

    assert effect(read("p1", frame=shuffled)) == effect(read("p1"))


@pytest.mark.parametrize("name", ["p2", "p3", "p4"])
@pytest.mark.parametrize("start", [7, 21, 35, 49, 63])
@pytest.mark.parametrize("step", [1, 2])
def test_a_source_that_falls_silent_for_two_weeks_never_makes_notifications_work(
    name: str, start: int, step: int
) -> None:
    """Nothing happened in these worlds; a gap, of all clients or every other one, is not a fall."""
    world = read(name)
    covered = world.covered.copy()
    covered[::step, start : min(start + 14, DAYS)] = False
    heard = cells(name)
    rows = {unit: row for row, unit in enumerate(world.units)}
    lost = [
        not covered[rows[unit], day - FIRST_DAY]
        for unit, day in zip(heard["unit"], heard["day"], strict=True)
    ]

    found = effect(read(name, covered, heard[~np.array(lost)]))

    assert found.exposure == "sessions"
    assert found.verdict not in ("reduced", "increased")


@pytest.mark.parametrize("name", ["p1", "p5"])
@pytest.mark.parametrize("start", [14, 42, 63])
def test_a_gap_widens_or_withholds_a_reduction_and_never_strengthens_it(
    name: str, start: int
) -> None:
    """p1 stays reduced, p5 reduced or not separated; none becomes more certain in kind."""
    world = read(name)
    whole = effect(world)
    covered = world.covered.copy()
    covered[:, start : start + 14] = False

    found = effect(replace(world, covered=covered))

    assert found.verdict in (whole.verdict, "cannot separate from the trend", "not enough data")
    assert found.strength in (whole.strength, "if trends were alike", None)
