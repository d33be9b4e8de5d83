"""Stale calls by the release that listed the called name last."""

from collections.abc import Iterable
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.theme import COLOURS, FONT, Theme
from service.analysis.vintage import order
from service.answers import NameRow

NOT_SAID = "not said"


@dataclass(frozen=True, slots=True)
class ReleaseCalls:
    """Names that a release listed last (None: no line and no entry says), and the calls to them."""

    release: str | None
    names: int
    stale_calls: int


def by_release(rows: Iterable[NameRow]) -> tuple[ReleaseCalls, ...]:
    """Names added up by their last release, in the order of versions; what is not said comes last."""
    found: dict[str | None, list[int]] = {}
    for row in rows:
        found.setdefault(row.last_release, []).append(row.stale_calls)
    said: list[str | None] = [*order(found)]
    return tuple(
        ReleaseCalls(release, len(found[release]), sum(found[release]))
        for release in ([*said, None] if None in found else said)
    )


def releases_figure(rows: Iterable[ReleaseCalls], theme: Theme) -> go.Figure:
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
        font={"family": FONT, "color": colours["ink"], "size": 13},
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
    return go.Figure([bar] if shown else [], layout)
