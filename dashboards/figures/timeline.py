"""
The time axis that all figures share: local buckets, hatched where the log was not heard, and above
the bars a lane with what happened to the server.

Buckets go to the browser as local text without an offset (`2026-10-05`), never as instants: Plotly
shows an aware time in UTC, which moves a bar to another day. Hours keep their offset in the text and
stand on an axis of categories, so that the hour that the clock shows twice is two bars.
"""

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.theme import COLOURS, FONT, Theme

DAY_MS = 86_400_000
_PERIODS: dict[str, int | str] = {"day": DAY_MS, "week": 7 * DAY_MS, "month": "M1"}
_WIDTHS = {"hour": 0.88, "day": 0.88 * DAY_MS, "week": 6.2 * DAY_MS, "month": 25 * DAY_MS}
"""Of bars: said, since Plotly makes a lone bar of a period a hair's breadth."""
_FEW = 6
"""Up to this height every whole number is named: Plotly would name halves."""
_DAYS_NAMED = 5
_HOURS_NAMED = 8
"""About how many hours of an axis of categories bear their text."""
LANE = 0.1
"""Share of the height that the lane takes."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened in a bucket: where, and what to say of each."""

    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Buckets of a figure: local labels, ascending, and whether each was covered."""

    labels: tuple[str, ...]
    covered: tuple[bool, ...]
    bucket: str
    tz: str
    notified: tuple[Mark, ...] = field(default=())
    released: tuple[Mark, ...] = field(default=())

    @property
    def lanes(self) -> tuple[tuple[str, str, str, tuple[Mark, ...]], ...]:
        """(word, symbol, colour, marks) of each lane that has any, the lowest first."""
        every = (
            ("notified", "triangle-down", "sent", self.notified),
            ("released", "diamond", "released", self.released),
        )
        return tuple(lane for lane in every if lane[3])


def hour_text(label: str) -> str:
    """
    An hour as people read it.

    >>> hour_text("2026-10-25T02:00:00+02:00")
    '2026-10-25 02:00 +02:00'
    """
    return f"{label[:10]} {label[11:16]} {label[19:]}"


def place(timeline: Timeline, labels: Sequence[str]) -> dict[str, object]:
    """Where traces put these buckets: plain local dates over the whole period, or categories."""
    if timeline.bucket == "hour":
        return {"x": [hour_text(label) for label in labels]}
    period = _PERIODS[timeline.bucket]
    start = "2026-01-05" if timeline.bucket == "week" else "2026-01-01"  # a Monday, a first
    return {
        "x": list(labels),
        "xperiod": period,
        "xperiod0": start,
        "xperiodalignment": "middle",
    }


def figure(timeline: Timeline, bars: Sequence[go.Bar], theme: Theme, *, unit: str) -> go.Figure:
    """
    Stack *bars* over the time axis, with gaps and lanes.

    Args:
        timeline: The buckets.
        bars: One trace a series, the lowest first.
        theme: Which colours.
        unit: Of the values, e.g. `stale calls`.
    """
    colours = COLOURS[theme]
    made = go.Figure(layout=_layout(timeline, theme, unit))
    if not all(timeline.covered):
        made.add_trace(_gaps(timeline, colours["gap"]))
    for bar in bars:
        made.add_trace(bar.update(width=_WIDTHS[timeline.bucket]))
    if _highest(bars) <= _FEW:
        made.layout.yaxis.dtick = 1
    for height, (word, symbol, colour, marks) in enumerate(timeline.lanes):
        made.add_trace(
            go.Scatter(
                **place(timeline, [mark.label for mark in marks]),
                y=[height] * len(marks),
                yaxis="y3",
                name=word,
                mode="markers",
                marker={"symbol": symbol, "size": 9, "color": colours[colour]},
                text=["<br>".join(map(plain, mark.texts)) for mark in marks],
                hovertemplate=f"%{{x}}<br>{word}: %{{text}}<extra></extra>",
            )
        )
    return made


def _highest(bars: Sequence[go.Bar]) -> int:
    """The height of the highest stack."""
    heights: dict[str, int] = {}
    for bar in bars:
        for x, y in zip(bar.x, bar.y, strict=True):
            heights[x] = heights.get(x, 0) + y
    return max(heights.values(), default=0)


def _gaps(timeline: Timeline, colour: str) -> go.Bar:
    """
    Hatched bars of full height: a gap in the log, so a low value says nothing. Neighbours are one
    bar, since each hatching costs the browser as much as a hundred plain bars.
    """
    runs = silences(timeline)
    hours = timeline.bucket == "hour"
    return go.Bar(
        x=[hour_text(labels[0]) if hours else labels[0] for labels in runs],
        y=[1] * len(runs),
        yaxis="y2",
        offset=-0.5 if hours else 0,
        width=[
            len(labels) if hours else _days(timeline.bucket, labels[0], labels[-1]) * DAY_MS
            for labels in runs
        ],
        name="gap in the log",
        text=[labels[0] if len(labels) == 1 else f"{labels[0]} to {labels[-1]}" for labels in runs],
        textposition="none",
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"width": 0},
            "pattern": {"shape": "/", "fgcolor": colour, "size": 6, "solidity": 0.35},
        },
        hovertemplate="%{text}: gap in the log, calls may be missing<extra></extra>",
    )


def silences(timeline: Timeline) -> list[tuple[str, ...]]:
    """The labels of neighbouring buckets that were not covered, run by run."""
    runs: list[tuple[str, ...]] = []
    for heard, group in groupby(
        zip(timeline.labels, timeline.covered, strict=True), key=lambda pair: pair[1]
    ):
        if not heard:
            runs.append(tuple(label for label, _ in group))
    return runs


def _days(bucket: str, first: str, last: str) -> int:
    """Local days from the start of a bucket to the end of another one."""
    return (date.fromisoformat(_end(bucket, last)) - date.fromisoformat(first)).days


def _layout(timeline: Timeline, theme: Theme, unit: str) -> go.Layout:
    colours = COLOURS[theme]
    lanes = timeline.lanes
    top = 1 - LANE * len(lanes) - (0.03 if lanes else 0)
    axis = {"gridcolor": colours["line"], "zeroline": False, "fixedrange": True}
    layout = go.Layout(
        font={"family": FONT, "color": colours["ink"], "size": 13},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        colorway=[colours["series-1"]],
        barmode="stack",
        bargap=0.12,
        hovermode="closest",
        hoverlabel={
            "bgcolor": colours["raised"],
            "bordercolor": colours["line"],
            "font": {"color": colours["ink"]},
            "align": "left",
        },
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,  # the page has its own, whose entries are links
        xaxis=_x_axis(timeline) | {"showgrid": False, "linecolor": colours["quiet"]},
        yaxis=axis
        | {
            "title": {"text": unit},
            "rangemode": "tozero",
            "domain": [0, top],
            "automargin": True,
            "tickformat": ",d",
            "minallowed": 0,
        },
        yaxis2={
            "overlaying": "y",
            "range": [0, 1],
            "visible": False,
            "fixedrange": True,
        },
    )
    if lanes:
        layout.yaxis3 = {
            "domain": [1 - LANE * len(lanes), 1],
            "range": [-0.6, len(lanes) - 0.4],
            "tickvals": list(range(len(lanes))),
            "ticktext": [lane[0] for lane in lanes],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "automargin": True,
        }
    return layout


def _end(bucket: str, label: str) -> str:
    """The local day on which a bucket is over."""
    day = date.fromisoformat(label)
    if bucket == "month":
        days = monthrange(day.year, day.month)[1]
    else:
        days = 7 if bucket == "week" else 1
    return (day + timedelta(days=days)).isoformat() if day < date.max else label


def _x_axis(timeline: Timeline) -> dict[str, object]:
    """The axis, which names its zone and spans every bucket, also those without a bar."""
    labels = timeline.labels
    axis: dict[str, object] = {
        "title": {"text": f"{timeline.bucket} ({timeline.tz})"},
        "automargin": True,
        "fixedrange": True,
        "ticks": "outside",
    }
    if timeline.bucket == "hour":
        named = labels[:: max(len(labels) // _HOURS_NAMED, 1)]
        return axis | {
            "type": "category",
            "categoryarray": [hour_text(label) for label in labels],
            "range": [-0.5, len(labels) - 0.5],
            "tickvals": [hour_text(label) for label in named],
            "ticktext": [f"{label[11:16]}<br>{label[5:10]}" for label in named],
        }
    axis |= {"type": "date", "ticklabelmode": "period"}
    if labels:
        axis["range"] = [labels[0], _end(timeline.bucket, labels[-1])]
    if timeline.bucket == "day" and 1 <= len(labels) <= _DAYS_NAMED:
        axis["dtick"] = DAY_MS  # Plotly would name hours
    return axis
