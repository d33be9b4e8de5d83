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
from math import ceil
from typing import Any

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.theme import COLOURS, FONT, TEXT_PX, Theme

DAY_MS = 86_400_000
_PERIODS: dict[str, int | str] = {"day": DAY_MS, "week": 7 * DAY_MS, "month": "M1"}
_WIDTHS = {"hour": 0.88, "day": 0.88 * DAY_MS, "week": 6.2 * DAY_MS, "month": 25 * DAY_MS}
"""Of bars: said, since Plotly makes a lone bar of a period a hair's breadth."""
FEW = 6
"""Up to this height every whole number is named: Plotly would name halves."""
_DAYS_NAMED = 5
MONDAY = "2026-01-05"
"""Any one, from which weeks count."""
_LEAST_WEEKS, _MOST_WEEKS = 3, 30
"""An axis of days longer than the one names weeks; one longer than the other, months."""
_WEEKS_NAMED = 8
_HOURS_NAMED = 8
"""About how many hours of an axis of categories bear their text."""
LANE, MANY_LANES = 0.1, 0.27
"""Share of the height that a lane takes, and that all of them take at most."""
TEXTS_SHOWN = 5
"""Of a mark, where the pointer is over it; the table has all."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened in a bucket: where, and what to say of each."""

    label: str
    texts: tuple[str, ...]

    @property
    def words(self) -> str:
        """The first of the texts as Plotly shows them, a line each, and how many more there are."""
        more = len(self.texts) - TEXTS_SHOWN
        lines = [
            *map(plain, self.texts[:TEXTS_SHOWN]),
            *([f"and {more:,} more"] if more > 0 else []),
        ]
        return "<br>".join(lines)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Buckets of a figure: local labels, ascending, and whether each was covered."""

    labels: tuple[str, ...]
    covered: tuple[bool, ...]
    bucket: str
    tz: str
    notified: tuple[Mark, ...] = field(default=())
    released: tuple[Mark, ...] = field(default=())
    catalogued: tuple[Mark, ...] = field(default=())
    noted: tuple[Mark, ...] = field(default=())

    @property
    def lanes(self) -> tuple[tuple[str, str, str, tuple[Mark, ...]], ...]:
        """(word, symbol, colour, marks) of each lane that has any, the lowest first."""
        every = (
            ("notified", "triangle-down", "sent", self.notified),
            ("released", "diamond", "released", self.released),
            ("catalogue", "square", "quiet", self.catalogued),
            ("notes", "circle", "accent", self.noted),
        )
        return tuple(lane for lane in every if lane[3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """
    The range that lies whole `weeks` before, bucket by bucket below those of a `Timeline`: calls, None where that
    range has nothing to stand there, and whether all of it was covered. `totals` are those of `compare`, `asked` is
    what is asked of `series` for it; instants are ISO 8601.
    """

    weeks: int
    values: tuple[int | None, ...]
    covered: tuple[bool, ...]
    totals: dict[str, Any]
    since: str
    until: str
    asked: dict[str, Any]

    @property
    def word(self) -> str:
        """What it is called."""
        return f"{self.weeks} week{'' if self.weeks == 1 else 's'} before"

    def drawn(self, place: int) -> int | None:
        """What is drawn below a bucket: nothing where nothing was heard, for no data is no zero."""
        value = self.values[place]
        return value if value or self.covered[place] else None


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
    start = MONDAY if timeline.bucket == "week" else "2026-01-01"
    return {
        "x": list(labels),
        "xperiod": period,
        "xperiod0": start,
        "xperiodalignment": "middle",
    }


def figure(
    timeline: Timeline,
    bars: Sequence[go.Bar],
    theme: Theme,
    *,
    unit: str,
    earlier: Earlier | None = None,
) -> go.Figure:
    """
    Stack *bars* over the time axis, with gaps and lanes.

    Args:
        timeline: The buckets.
        bars: One trace a series, the lowest first.
        theme: Which colours.
        unit: Of the values, e.g. `stale calls`.
        earlier: The range before, which becomes a line.
    """
    colours = COLOURS[theme]
    made = go.Figure(layout=_layout(timeline, theme, unit))
    if not all(timeline.covered):
        made.add_trace(_gaps(timeline, colours["gap"]))
    for bar in bars:
        made.add_trace(bar.update(width=_WIDTHS[timeline.bucket]))
    line = None if earlier is None else _line(timeline, earlier, colours["quiet"])
    if line is not None:
        made.add_trace(line)
    if max(_highest(bars), *((y or 0) for y in (line.y if line else (0,)))) <= FEW:
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
                text=[mark.words for mark in marks],
                hovertemplate=f"%{{x}}<br>{word}: %{{text}}<extra></extra>",
            )
        )
    return made


def _line(timeline: Timeline, earlier: Earlier, colour: str) -> go.Scatter:
    """The range before: steps, which break off where it was not heard."""
    return go.Scatter(
        **place(timeline, timeline.labels),
        y=[earlier.drawn(at) for at in range(len(timeline.labels))],
        name=earlier.word,
        mode="lines+markers",
        line={"color": colour, "width": 1.5, "shape": "hvh", "dash": "dot"},
        marker={"color": colour, "size": 3},
        connectgaps=False,
        text=["" if heard else ", in part a gap in the log" for heard in earlier.covered],
        hovertemplate="%{y} %{fullData.name} %{x}%{text}<extra></extra>",
    )


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


def span_of(timeline: Timeline, label: str) -> tuple[str | float, str | float]:
    """Where a bucket begins and ends on the axis, as Plotly places shapes: dates, or numbers of categories."""
    if timeline.bucket == "hour":
        at = timeline.labels.index(label)
        return at - 0.5, at + 0.5
    return label, _end(timeline.bucket, label)


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
    above = min(LANE * len(lanes), MANY_LANES)
    top = 1 - above - (0.03 if lanes else 0)
    axis = {"gridcolor": colours["line"], "zeroline": False, "fixedrange": True}
    layout = go.Layout(
        font={"family": FONT, "color": colours["ink"], "size": TEXT_PX},
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
            "domain": [1 - above, 1],
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
    elif timeline.bucket in ("day", "week") and labels:
        # Plotly's own weeks begin on Sundays; those of the buckets, and of analysis, on Mondays
        weeks = _days(timeline.bucket, labels[0], labels[-1]) / 7
        if weeks <= _MOST_WEEKS and (timeline.bucket == "week" or weeks > _LEAST_WEEKS):
            axis |= {"tick0": MONDAY, "dtick": ceil(weeks / _WEEKS_NAMED) * 7 * DAY_MS}
    return axis
