"""Stale calls by the release that listed the called name last."""

from collections.abc import Iterable

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.figures.timeline import FEW
from dashboards.theme import COLOURS, FONT, TEXT_PX, Theme
from service.answers import LastReleaseRow

NOT_SAID = "not said"


def releases_figure(rows: Iterable[LastReleaseRow], theme: Theme) -> go.Figure:
    """
    A bar a release. Releases are categories: Plotly would take 1.10 for the number 1.1.
    """
    colours = COLOURS[theme]
    shown = [row for row in rows if row.stale_calls]
    words = [NOT_SAID if row.release is None else plain(row.release) for row in shown]
    axis = {"gridcolor": colours["line"], "zeroline": False, "fixedrange": True, "automargin": True}
    bar = go.Bar(
        x=words,
        y=[row.stale_calls for row in shown],
        name="stale calls",
        marker={"color": colours["series-1"]},
        hovertemplate="%{x}: %{y}<extra>stale calls</extra>",
    )
    layout = go.Layout(
        font={"family": FONT, "color": colours["ink"], "size": TEXT_PX},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        bargap=0.4,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        hoverlabel={
            "bgcolor": colours["raised"],
            "bordercolor": colours["line"],
            "font": {"color": colours["ink"]},
        },
        xaxis=axis
        | {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": words,
            "showgrid": False,
            "linecolor": colours["quiet"],
            "title": {"text": "last release that listed the name"},
        },
        yaxis=axis | {"title": {"text": "stale calls"}, "rangemode": "tozero", "tickformat": ",d"},
    )
    if max((row.stale_calls for row in shown), default=0) <= FEW:
        layout.yaxis.dtick = 1
    return go.Figure([bar] if shown else [], layout)
