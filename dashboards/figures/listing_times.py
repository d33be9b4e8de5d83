"""How long clients take to list the tools again: a curve in steps, with its band."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboards.theme import COLOURS, FONT, TEXT_PX, Theme
from service.answers import LatencyRow

STEPS_SHOWN = 400
"""Steps that are drawn; of more, so many are chosen evenly. The table behind a figure has those of REST."""
TICKS = {
    "1 ms": 0.001,
    "10 ms": 0.01,
    "0.1 s": 0.1,
    "1 s": 1,
    "10 s": 10,
    "1 min": 60,
    "10 min": 600,
    "1 h": 3_600,
    "10 h": 36_000,
    "1 d": 86_400,
    "10 d": 864_000,
}
"""Times that people know, in seconds."""
LEAST_S = 0.001
"""On an axis of powers there is no zero: what took no time stands at a millisecond."""


def drawn(rows: Sequence[LatencyRow]) -> Sequence[LatencyRow]:
    """The steps that are drawn, the first and the last among them."""
    if len(rows) <= STEPS_SHOWN:
        return rows
    last = len(rows) - 1
    return [rows[round(n * last / (STEPS_SHOWN - 1))] for n in range(STEPS_SHOWN)]


def listing_times_figure(rows: Sequence[LatencyRow], theme: Theme) -> go.Figure:
    """The share that has listed over the seconds since the notification, from `latency`, all its steps."""
    steps, colours = drawn(rows), COLOURS[theme]
    axis = {"gridcolor": colours["line"], "zeroline": False, "fixedrange": True, "automargin": True}
    layout = go.Layout(
        font={"family": FONT, "color": colours["ink"], "size": TEXT_PX},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hovermode="closest",
        hoverlabel={
            "bgcolor": colours["raised"],
            "bordercolor": colours["line"],
            "font": {"color": colours["ink"]},
        },
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        xaxis=axis
        | {
            "type": "log",
            "title": {"text": "since the notification"},
            "tickvals": list(TICKS.values()),
            "ticktext": list(TICKS),
            "linecolor": colours["quiet"],
        },
        yaxis=axis | {"title": {"text": "have listed"}, "range": [0, 1.02], "tickformat": ".0%"},
    )
    return go.Figure(_traces(steps, colours) if steps else [], layout)


def _traces(steps: Sequence[LatencyRow], colours: dict[str, str]) -> list[go.Scatter]:
    first = min(max(steps[0].after_s, LEAST_S) / 10, 0.1)
    x = [first, *(max(row.after_s, LEAST_S) for row in steps)]
    # a curve of one step has to be seen, too
    x.append(x[-1] * 10)
    banded = [row for row in steps if row.listed_low is not None and row.listed_high is not None]
    edge = {"mode": "lines", "line": {"width": 0, "shape": "hv"}, "hoverinfo": "skip"}
    band_x = [first, *(max(row.after_s, LEAST_S) for row in banded)]
    band_x.append(x[-1] if len(banded) == len(steps) else band_x[-1])
    lows = [0.0, *(row.listed_low or 0.0 for row in banded)]
    highs = [0.0, *(row.listed_high or 0.0 for row in banded)]
    listed = [0.0, *(row.listed for row in steps)]
    return [
        go.Scatter(x=band_x, y=[*lows, lows[-1]], name="lower end", **edge),
        go.Scatter(
            x=band_x,
            y=[*highs, highs[-1]],
            name="95 % band",
            fill="tonexty",
            fillcolor=_faint(colours["series-1"]),
            **edge,
        ),
        go.Scatter(
            x=x,
            y=[*listed, listed[-1]],
            name="have listed",
            mode="lines",
            line={"color": colours["series-1"], "width": 2.5, "shape": "hv"},
            hovertemplate="after %{x:.3~g} s: %{y:.1%}<extra>have listed</extra>",
        ),
    ]


def _faint(colour: str) -> str:
    """A colour of the theme, `#rrggbb`, that lets the grid be seen through it."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"
