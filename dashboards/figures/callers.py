"""Distinct callers over time."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboards.figures.timeline import Timeline, figure, place
from dashboards.theme import COLOURS, Theme
from service.answers import SeriesRow


def callers_figure(rows: Sequence[SeriesRow], timeline: Timeline, theme: Theme) -> go.Figure:
    """Bars of distinct callers of each bucket; they do not add up, who calls twice is one caller."""
    said = [row for row in rows if row.value]
    bar = go.Bar(
        **place(timeline, [row.label for row in said]),
        y=[row.value for row in said],
        name="callers",
        marker={"color": COLOURS[theme]["series-1"]},
        hovertemplate="%{x}: %{y}<extra>callers</extra>",
    )
    return figure(timeline, [bar] if said else [], theme, unit="callers")
