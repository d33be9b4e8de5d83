"""Figures of an effect as data: what would mislead or be cut is not drawn so."""

from typing import Any

from dashboards.figures.effect import forest_figure, since_figure, weeks_figure
from dashboards.figures.timeline import Timeline
from service.answers import EffectClientRow, EffectSinceRow, EffectWeekRow
from service.answers.query import Instant

MONDAYS = ("2026-09-07", "2026-09-14", "2026-09-21")
TIMELINE = Timeline(MONDAYS, (True,) * 3, "week", "UTC")


def week(label: str, notified: int, expected: float, high: float) -> EffectWeekRow:
    """A week in which one client had been notified."""
    return EffectWeekRow(
        week=label,
        notified=notified,
        expected=expected,
        low=0.0,
        high=high,
        notified_clients=1,
        others=3,
        fitted=3,
        other_clients=2,
        covered=1,
    )


def since(number: int, low: float | None, high: float | None) -> EffectSinceRow:
    return EffectSinceRow(
        week=number, clients=1, observed=2, expected=4, rate_ratio=0.5, low=low, high=high
    )


def drawn(rows: list[EffectWeekRow]) -> tuple[dict[str, Any], dict[str, Any]]:
    made = weeks_figure(rows, TIMELINE, "light").to_plotly_json()
    return {trace["name"]: trace for trace in made["data"]}, made["layout"]["yaxis"]


def test_one_wide_band_does_not_flatten_all_weeks() -> None:
    """The axis ends at twice the largest point, and an arrow says that the band goes on."""
    traces, axis = drawn([week(MONDAYS[0], 5, 40, 60), week(MONDAYS[1], 4, 30, 500)])
    assert axis["range"][1] < 90
    assert traces["the band goes on"]["y"] == [80]
    assert traces["expected without the notification"]["error_y"]["array"] == [20, 50]


def test_few_calls_beside_a_high_band_do_not_name_every_number() -> None:
    """What is named fits the axis, not the bars alone; a low axis names whole numbers."""
    assert drawn([week(MONDAYS[0], 5, 40, 60)])[1].get("dtick") is None
    assert drawn([week(MONDAYS[0], 2, 3, 4)])[1]["dtick"] == 1


def test_bands_that_fit_have_no_arrow() -> None:
    """Nothing is cut there."""
    assert "the band goes on" not in drawn([week(MONDAYS[0], 5, 40, 60)])[0]


def test_a_point_without_an_interval_is_hollow_and_has_no_bar() -> None:
    """It is not drawn as one that reaches everywhere, and leaves the axis as it is."""
    made = since_figure([since(-1, None, None), since(0, 0.4, 0.8)], "light").to_plotly_json()
    (points,) = made["data"]
    assert list(points["marker"]["symbol"]) == ["circle-open", "circle"]
    assert points["error_y"]["array"][0] is None
    assert points["error_y"]["arrayminus"][0] is None
    assert made["layout"]["yaxis"]["range"][1] < 1


def test_words_on_a_long_axis_have_room() -> None:
    """Of a client whose interval reaches far, half and twice are not named beside "as many"."""
    row = EffectClientRow(
        server="s",
        client="a-client-with-a-name-of-forty-characters",
        basis="others",
        notified_at=Instant(0),
        before=30,
        observed=1,
        expected=20,
        rate_ratio=0.05,
        low=0.02,
        high=4.0,
        p_value=None,
        significant=None,
        verdict=None,
        dispersion=1.0,
    )
    made = forest_figure([row], None, "light").to_plotly_json()
    assert made["layout"]["xaxis"]["ticktext"] == ["÷ 50", "÷ 10", "as many", "× 10", "× 50"]
    assert len(made["data"][0]["y"][0]) <= 22
