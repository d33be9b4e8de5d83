"""The same numbers by statsmodels and scipy, which share no line with ours."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from service.analysis.effect import Panel, by_client, by_name, effect
from service.analysis.effect.cells import opportunity
from service.analysis.effect.clients import exact, p_value
from service.analysis.effect.discoveries import kept
from tests.analysis.effect.worlds import FIRST_DAY, even, listed_again, read


def table(world: Panel) -> pd.DataFrame:
    """One row a cell with opportunity, but for days of notification; `after` it or not."""
    day = np.broadcast_to(np.arange(world.days), world.calls.shape)
    told = np.broadcast_to(np.floor(world.notified - FIRST_DAY)[:, None], world.calls.shape)
    client = np.broadcast_to(np.arange(len(world.units))[:, None], world.calls.shape)
    frame = pd.DataFrame(
        {
            "client": client.ravel(),
            "week": (day // 7).ravel(),
            "weekday": (day % 7).ravel(),
            "calls": world.calls.ravel(),
            "chance": opportunity(world).ravel(),
            "after": (day > told).ravel(),
        }
    )
    kept: pd.DataFrame = frame[(frame["chance"] > 0) & (day != told).ravel()]
    return kept


def terms(frame: pd.DataFrame) -> pd.DataFrame:
    """Client, week and weekday as dummies, each but the first."""
    bins = frame[["client", "week", "weekday"]].astype("category")
    dummies: pd.DataFrame = sm.add_constant(pd.get_dummies(bins, drop_first=True, dtype=float))
    return dummies


def poisson(frame: pd.DataFrame, design: pd.DataFrame) -> Any:
    """The fit of a Poisson regression per opportunity."""
    family = sm.families.Poisson()
    return sm.GLM(frame["calls"], design, family=family, offset=np.log(frame["chance"])).fit(
        tol=1e-12, maxiter=200
    )


@pytest.mark.parametrize("name", ["p1", "p2", "p5"])
def test_what_is_expected_is_what_a_poisson_regression_of_days_before_predicts(name: str) -> None:
    """Client, week and weekday, fitted to cells not notified yet and read in the others."""
    cells = table(read(name))
    # a client without a call before has no level; no file has a week that is not supported
    cells = cells[cells["client"].isin(cells["client"][~cells["after"] & (cells["calls"] > 0)])]
    design = terms(cells)
    fit = poisson(cells[~cells["after"]], design[~cells["after"]])

    predicted = fit.predict(design, offset=np.log(cells["chance"]))[cells["after"]].sum()

    assert effect(read(name)).expected == pytest.approx(predicted, rel=1e-6)


@pytest.mark.parametrize("name", ["p1", "p2", "p5"])
def test_the_effect_of_a_poisson_regression_lies_inside_the_interval(name: str) -> None:
    """The common way: all cells, with a term for those after notification."""
    cells = table(read(name))
    cells = cells[cells["client"].isin(cells["client"][cells["calls"] > 0])]
    design = terms(cells).assign(after=cells["after"].astype(float))

    ratio = math.exp(poisson(cells, design).params["after"])

    low, high = effect(read(name)).interval or (0.0, None)
    assert high is not None
    assert low < ratio < high


COUNTS = st.integers(0, 60)
EXPOSURES = st.floats(0.05, 20)


@settings(max_examples=60, deadline=None)
@given(after=COUNTS, before=COUNTS, exposure=EXPOSURES)
def test_a_clients_interval_is_clopper_and_pearsons(
    after: int, before: int, exposure: float
) -> None:
    """Of the share of calls that came after, turned into a ratio of rates."""
    if after + before == 0:
        return
    share = stats.binomtest(after, after + before).proportion_ci(method="exact")
    low, high = exact(after, before, exposure)

    assert low == pytest.approx(share.low / (1 - share.low) / exposure)
    if before == 0:
        assert high is None
    else:
        assert high == pytest.approx(share.high / (1 - share.high) / exposure)


@settings(max_examples=60, deadline=None)
@given(after=COUNTS, before=COUNTS, exposure=EXPOSURES)
def test_a_clients_p_value_is_twice_the_smaller_binomial_tail(
    after: int, before: int, exposure: float
) -> None:
    """Of as many calls after, where each came after with the chance that exposure gives."""
    binomial = stats.binom(after + before, exposure / (1 + exposure))

    expected = min(1.0, 2 * min(binomial.cdf(after), binomial.sf(after - 1)))

    assert p_value(after, before, exposure) == pytest.approx(expected, abs=1e-12)


def test_no_call_after_eight_before_has_the_exact_bound() -> None:
    """0 against 8 in equal time: at most 0.586 of the rate, 1/(0.025^(-1/8) - 1)^-1 by hand."""
    q = 1 - 0.025 ** (1 / 8)

    low, high = exact(0, 8, 1.0)

    assert low == 0
    assert high == pytest.approx(q / (1 - q))
    assert q / (1 - q) == pytest.approx(0.586, abs=5e-4)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_what_is_kept_is_what_benjamini_and_hochberg_keep(values: list[float]) -> None:
    """One false discovery in ten."""
    wanted: NDArray[np.bool_] = multipletests(values, alpha=0.1, method="fdr_bh")[0]

    assert kept(np.array(values)).tolist() == wanted.tolist()


def test_the_p_value_is_where_the_interval_would_just_touch_one() -> None:
    """An interval of that level, by scipy's quantile of t, ends at 1."""
    found = effect(read("p5"))
    assert found.interval is not None
    assert found.interval[1] is not None
    assert found.p_value is not None
    assert found.observed is not None
    assert found.expected is not None
    low, high = (math.log(end) for end in found.interval if end)
    error = (high - low) / 2 / stats.t.ppf(0.975, 31)

    reach = stats.t.ppf(1 - found.p_value / 2, 31) * error

    assert math.log((found.observed + 0.5) / (found.expected + 0.5)) + reach == pytest.approx(0)


def test_clients_that_ignored_it_are_not_among_those_that_fell() -> None:
    """Of 31 clients 12 ignored the notification; ten others fell by more than chance."""
    world, again = read("p5"), listed_again("p5")
    found = by_client(world)

    reduced = {each.unit for each in found if each.verdict == "reduced"}

    assert len(found) == 31
    assert len(reduced) == 10
    assert reduced <= again
    assert all(each.verdict is None for each in found if each.before + each.observed < 20)


@pytest.mark.parametrize("name", ["p1", "p3", "p5"])
def test_every_client_of_the_table_is_a_question(name: str) -> None:
    """Benjamini and Hochberg over all of them, those that cannot be judged as if they had said nothing."""
    found = by_client(read(name))
    asked = [1.0 if each.verdict is None else each.p_value for each in found]
    wanted = multipletests(asked, alpha=0.1, method="fdr_bh")[0]
    assert [bool(each.significant) for each in found] == wanted.tolist()


def test_a_name_among_several_keeps_its_claim_only_when_chance_would_not_make_it() -> None:
    """One of thirty names says reduced: kept by itself, and not among thirty that say nothing."""
    claim = read("p5")
    alone = by_name({"a": claim})
    among = by_name({"a": claim, **{f"b{n}": even(6, 4, after=2) for n in range(29)}})

    assert (alone[0].verdict, alone[0].significant) == ("reduced", True)
    assert among[0].effect.verdict == "reduced"
    p_values = [each.effect.p_value for each in among]
    wanted = multipletests(p_values, alpha=0.1, method="fdr_bh")[0]
    assert [each.significant for each in among] == wanted.tolist()
    assert (among[0].verdict, among[0].significant) == ("not enough data", False)


def test_without_others_a_client_is_described_and_not_judged() -> None:
    """One client: 40 calls in ten days before, 10 in ten days after; the C-test of 10 and 40, by two."""
    calls = np.ones((1, 21))
    calls[0, :10] = 4
    world = Panel(
        units=("one",),
        first_day=FIRST_DAY,
        calls=calls,
        sessions=None,
        covered=np.ones((1, 21), dtype=bool),
        notified=np.array([FIRST_DAY + 10.5]),
        own=np.zeros(1, dtype=bool),
    )
    share = stats.beta.ppf([0.025, 0.975], [5, 6], [21, 20])

    (found,) = by_client(world)

    assert (found.basis, found.verdict, found.significant) == ("before", None, None)
    assert (found.before, found.observed, found.rate_ratio) == (40, 10, 0.25)
    # too few weeks say how uneven calls are, so that counts are halved
    assert found.dispersion == 2.0
    assert found.interval == pytest.approx(tuple(share / (1 - share)))
