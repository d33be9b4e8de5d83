"""Records that arrived on each day, by what became of them."""

from collections.abc import Iterable
from datetime import date, timedelta

import plotly.graph_objects as go

from dashboards.figures.timeline import Timeline, figure, place
from dashboards.theme import COLOURS, Theme
from service.answers import HealthRow

FATES = {
    "accepted": "series-1",
    "duplicates": "series-3",
    "ignored": "other",
    "rejected": "called",
}
"""Each fate with its colour, the lowest of the stack first."""


def records_by_day(rows: Iterable[HealthRow]) -> dict[str, dict[str, int]]:
    """UTC day of arrival → fate → records, over all sources: every day from the first to the last."""
    rows = list(rows)
    arrivals = [date.fromisoformat(row.day) for row in rows]
    span = (max(arrivals) - min(arrivals)).days + 1 if arrivals else 0
    days = {
        (min(arrivals) + timedelta(days=number)).isoformat(): dict.fromkeys(FATES, 0)
        for number in range(span)
    }
    for row in rows:
        for fate in FATES:
            days[row.day][fate] += getattr(row, fate)
    return days


def records_figure(rows: Iterable[HealthRow], theme: Theme, *, title: str) -> go.Figure:
    """Bars of records, a colour for each fate. Days are UTC days of arrival, not of the lines' time."""
    days = records_by_day(rows)
    timeline = Timeline(tuple(days), (True,) * len(days), "day", "UTC")
    bars = []
    for fate, colour in FATES.items():
        said = {day: mine[fate] for day, mine in days.items() if mine[fate]}
        if said:
            bars.append(
                go.Bar(
                    **place(timeline, list(said)),
                    y=list(said.values()),
                    name=fate,
                    marker={"color": COLOURS[theme][colour]},
                    hovertemplate="%{x}: %{y}<extra>%{fullData.name}</extra>",
                )
            )
    return figure(timeline, bars, theme, title=title, unit="records")
