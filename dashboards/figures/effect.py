"""Whether notifications helped, drawn: by week, by weeks since notification, and client by client."""

from collections.abc import Sequence
from math import log10
from typing import Any

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.figures.timeline import FEW, Timeline, figure, place
from dashboards.theme import COLOURS, FONT, TEXT_PX, Theme
from service.analysis.effect_texts import between, change
from service.answers import EffectClientRow, EffectRow, EffectSinceRow, EffectWeekRow

LABEL = 22
"""Characters of a client's name beside its line: of longer ones nothing is left of the figure on a phone."""
CLIENTS = 40
"""Clients that the forest shows, those with the most expected calls first."""
_LOW, _HIGH = 1 / 64, 64.0
"""Ratios beyond these are drawn there: on a scale of ratios 0 has no place."""
_WIDE = 1.2
"""Powers of ten, from which on half, as many and twice do not stand side by side."""
_TICKS = {
    0.02: "÷ 50",
    0.1: "÷ 10",
    0.25: "÷ 4",
    0.5: "half",
    1.0: "as many",
    2.0: "twice",
    4.0: "× 4",
    10.0: "× 10",
    50.0: "× 50",
}


def weeks_figure(rows: Sequence[EffectWeekRow], timeline: Timeline, theme: Theme) -> go.Figure:
    """
    Bars of what notified clients called, points with their 95 % band of what was expected of them, and a
    line for those not yet notified. *timeline* has the weeks of *rows*. The axis ends at twice the largest
    point at most; a band that goes on beyond it ends in an arrow.
    """
    colours = COLOURS[theme]
    top = _top(rows)
    told = [row for row in rows if row.notified is not None and row.expected is not None]
    bars = [
        go.Bar(
            **place(timeline, [row.week for row in told]),
            y=[row.notified for row in told],
            name="notified clients called",
            marker={"color": colours["series-1"]},
            hovertemplate="week of %{x}: %{y}<extra>notified clients called</extra>",
        )
    ]
    made = figure(timeline, bars if told else [], theme, unit="stale calls")
    made.add_trace(
        go.Scatter(
            **place(timeline, [row.week for row in told]),
            y=[row.expected for row in told],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [
                    min(row.high or row.expected or 0, top) - (row.expected or 0) for row in told
                ],
                "arrayminus": [(row.expected or 0) - (row.low or 0) for row in told],
                "color": colours["quiet"],
                "thickness": 1.5,
                "width": 4,
            },
            mode="markers",
            marker={
                "color": colours["ink"],
                "size": 9,
                "symbol": "line-ew-open",
                "line": {"width": 3},
            },
            name="expected without the notification",
            hovertemplate="week of %{x}: %{y:.0f}<extra>expected without the notification</extra>",
        )
    )
    others = [row for row in rows if row.others is not None]
    made.add_trace(
        go.Scatter(
            **place(timeline, [row.week for row in others]),
            y=[row.others for row in others],
            mode="lines+markers",
            line={"color": colours["series-2"], "width": 1.5, "dash": "dot"},
            marker={"size": 5, "color": colours["series-2"]},
            name="clients not yet notified called",
            hovertemplate="week of %{x}: %{y}<extra>clients not yet notified called</extra>",
        )
    )
    if beyond := [row for row in told if (row.high or 0) > top]:
        made.add_trace(
            go.Scatter(
                **place(timeline, [row.week for row in beyond]),
                y=[top] * len(beyond),
                mode="markers",
                marker={"symbol": "triangle-up", "size": 9, "color": colours["quiet"]},
                customdata=[[row.high] for row in beyond],
                name="the band goes on",
                hovertemplate="week of %{x}: up to %{customdata[0]:.0f}<extra>the band goes on</extra>",
            )
        )
    made.layout.yaxis.range = [0, 1.06 * top]
    made.layout.yaxis.dtick = 1 if top <= FEW else None
    return made


def _top(rows: Sequence[EffectWeekRow]) -> float:
    """Where the axis of weeks ends: where all bands do, at twice the largest point at most."""
    points = [value for row in rows for value in (row.notified, row.expected, row.others)]
    largest = max((value for value in points if value is not None), default=0)
    ends = [row.high or 0 for row in rows if row.notified is not None]
    return max(1.0, largest, min(2.0 * largest, max(ends, default=0)))


def since_figure(rows: Sequence[EffectSinceRow], theme: Theme) -> go.Figure:
    """The ratio by weeks since notification, with its 95 % intervals; 1 is no change. A point without one is hollow."""
    colours = COLOURS[theme]
    points = go.Scatter(
        x=[row.week for row in rows],
        y=[_held(row.rate_ratio) for row in rows],
        error_y=_reach(rows, colours["series-1"]),
        mode="markers",
        marker={
            "size": 9,
            "color": [colours["series-1"] if row.week >= 0 else colours["quiet"] for row in rows],
            "symbol": ["circle-open" if row.low is None else "circle" for row in rows],
        },
        customdata=[[_said(row), row.observed, round(row.expected), row.clients] for row in rows],
        hovertemplate=(
            "week %{x}: %{customdata[0]}<br>%{customdata[1]} calls, %{customdata[2]} expected, "
            "%{customdata[3]} clients<extra></extra>"
        ),
        name="observed over expected",
    )
    layout = _layout(theme)
    layout.xaxis = _axis(theme) | {
        "title": {"text": "weeks since notification"},
        "dtick": 1 if len(rows) <= 26 else 4,
        "range": [rows[0].week - 0.7, rows[-1].week + 0.7] if rows else [-0.5, 0.5],
        "showgrid": False,
    }
    layout.yaxis = _axis(theme) | _ratios(
        [
            _held(v)
            for row in rows
            for v in ((row.rate_ratio,) if row.low is None else (row.low, row.high, row.rate_ratio))
        ]
    )
    layout.shapes = [_line(theme, y=1.0), _line(theme, x=-0.5)]
    return go.Figure([points] if rows else [], layout)


def forest_figure(
    rows: Sequence[EffectClientRow], whole: EffectRow | None, theme: Theme
) -> go.Figure:
    """
    One line a client: its ratio and 95 % interval, all clients together at the bottom. Clients with nothing to
    compare with are not drawn: before and after alone is no answer.
    """
    colours = COLOURS[theme]
    known = [row for row in rows if row.basis == "others" and row.low is not None]
    shown = [row for row in known if row.rate_ratio is not None][:CLIENTS]
    labels = [_label(row, shown) for row in shown]
    lines: list[Any] = [*shown]
    if whole is not None and whole.rate_ratio is not None and whole.interval is not None:
        labels.append("all clients together")
        lines.append(whole)
    spans = [(row.rate_ratio, *_ends(row)) for row in lines]
    marks = go.Scatter(
        x=[_held(ratio) for ratio, _, _ in spans],
        y=labels,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [_held(high) - _held(ratio) for ratio, _, high in spans],
            "arrayminus": [_held(ratio) - _held(low, 0.0) for ratio, low, _ in spans],
            "color": colours["quiet"],
            "thickness": 1.5,
            "width": 4,
        },
        mode="markers",
        marker={
            "size": [13 if row is whole else 9 for row in lines],
            "symbol": ["diamond" if row is whole else "circle" for row in lines],
            "color": [colours["ink"] if row is whole else colours["series-1"] for row in lines],
        },
        customdata=[[change(ratio), between((low, high))] for ratio, low, high in spans],
        hovertemplate="%{y}: %{customdata[0]}<br>95 %: %{customdata[1]}<extra></extra>",
        name="observed over expected",
    )
    layout = _layout(theme)
    layout.xaxis = _axis(theme) | _sideways([_held(v) for span in spans for v in span])
    layout.yaxis = _axis(theme) | {
        "autorange": "reversed",
        "type": "category",
        "showgrid": False,
        "dtick": 1,
        "ticklabelstandoff": 6,
        "title": {"text": ""},
    }
    layout.shapes = [_line(theme, x=1.0)]
    return go.Figure([marks] if lines else [], layout)


def _label(row: EffectClientRow, rows: Sequence[EffectClientRow]) -> str:
    """A client, with its server where there are several."""
    several = len({each.server for each in rows}) > 1
    return plain(f"{row.client} ({row.server})" if several else row.client, LABEL)


def _ends(row: EffectClientRow | EffectRow) -> tuple[float, float | None]:
    if isinstance(row, EffectRow):
        return row.interval or (0.0, None)
    return row.low or 0.0, row.high


def _said(row: EffectSinceRow) -> str:
    return (
        change(row.rate_ratio)
        if row.low is None
        else f"{change(row.rate_ratio)}, 95 % {between((row.low, row.high))}"
    )


def _held(ratio: float | None, otherwise: float = _HIGH) -> float:
    """A ratio where it can be drawn; *otherwise* where it has no bound."""
    return min(max(otherwise if ratio is None else ratio, _LOW), _HIGH)


def _reach(rows: Sequence[EffectSinceRow], colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [
            None if row.low is None else _held(row.high) - _held(row.rate_ratio) for row in rows
        ],
        "arrayminus": [
            None if row.low is None else _held(row.rate_ratio) - _held(row.low) for row in rows
        ],
        "color": colour,
        "thickness": 2,
        "width": 0,  # a point without an interval would bear the caps of one
    }


def _ratios(values: Sequence[float]) -> dict[str, Any]:
    """An axis on which half and twice lie equally far from as many."""
    low, high = min([*values, 0.4]), max([*values, 2.5])
    return {
        "type": "log",
        "range": [log10(low) - 0.05, log10(high) + 0.05],
        "tickvals": list(_TICKS),
        "ticktext": list(_TICKS.values()),
        "title": {"text": "observed ÷ expected"},
    }


def _sideways(values: Sequence[float]) -> dict[str, Any]:
    """The same axis lying, on which words side by side need room: of a long one fewer are named."""
    axis = _ratios(values)
    low, high = axis["range"]
    if high - low > _WIDE:
        near = (0.25, 0.5, 2.0, 4.0)
        axis["tickvals"] = [value for value in _TICKS if value not in near]
        axis["ticktext"] = [text for value, text in _TICKS.items() if value not in near]
    return axis | {"tickangle": 0}


def _axis(theme: Theme) -> dict[str, Any]:
    return {
        "gridcolor": COLOURS[theme]["line"],
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
    }


def _line(theme: Theme, x: float | None = None, y: float | None = None) -> dict[str, Any]:
    """A dashed line over the whole figure at one value."""
    ends = (
        {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
        if x is not None
        else {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
    )
    return {
        "type": "line",
        "line": {"color": COLOURS[theme]["quiet"], "dash": "dash", "width": 1},
    } | ends


def _layout(theme: Theme) -> go.Layout:
    colours = COLOURS[theme]
    return go.Layout(
        font={"family": FONT, "color": colours["ink"], "size": TEXT_PX},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        hovermode="closest",
        hoverlabel={
            "bgcolor": colours["raised"],
            "bordercolor": colours["line"],
            "font": {"color": colours["ink"]},
            "align": "left",
        },
    )
