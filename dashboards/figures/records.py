"""Records that arrived on each day, by what became of them."""

from collections.abc import Sequence
from datetime import date, timedelta

import plotly.graph_objects as go

from dashboards.figures.timeline import Timeline, figure, place
from dashboards.theme import COLOURS, Theme
from service.answers import ArrivalDay

FATES = {
    "accepted": "series-1",
    "duplicates": "series-3",
    "ignored": "other",
    "rejected": "called",
}
"""Each fate with its colour, the lowest of the stack first."""


def records_figure(days: Sequence[ArrivalDay], theme: Theme) -> go.Figure:
    """
    Bars of records, a colour for each fate, from the first day of arrival to the last. Days are UTC
    days of arrival, not of the lines' time.
    """
    labels = _every_day(days)
    timeline = Timeline(labels, (True,) * len(labels), "day", "UTC")
    bars = []
    for fate, colour in FATES.items():
        said = {day.day: getattr(day, fate) for day in days if getattr(day, fate)}
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
    return figure(timeline, bars, theme, unit="records")


def _every_day(days: Sequence[ArrivalDay]) -> tuple[str, ...]:
    if not days:
        return ()
    first, last = (date.fromisoformat(day.day) for day in (days[0], days[-1]))
    return tuple(str(first + timedelta(days=n)) for n in range((last - first).days + 1))
