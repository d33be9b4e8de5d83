"""Stale calls over time, stacked by client or by name."""

from collections.abc import Iterable, Sequence

import plotly.graph_objects as go

from dashboards.figures.safe import plain
from dashboards.figures.timeline import Earlier, Timeline, figure, place
from dashboards.theme import COLOURS, SERIES, Theme
from service.answers import SeriesRow
from service.answers.query import ABSENT

NOBODY = "not named in the log"
SHOWN = len(SERIES)
"""So many series have a colour of their own; all further ones are one."""


def group_of(row: SeriesRow, by: str) -> tuple[str, str | None]:
    """(kind, key) of the series that a row belongs to; kind is `named`, `nobody` or `other`."""
    key = getattr(row, by)
    if row.members is not ABSENT:
        return "other", None
    return ("nobody", None) if key is None else ("named", key)


def groups(rows: Iterable[SeriesRow], by: str) -> list[tuple[str, str | None]]:
    """The series of an answer: named ones the greatest first, then nobody's, then all others."""
    total: dict[tuple[str, str | None], int] = {}
    for row in rows:
        group = group_of(row, by)
        total[group] = total.get(group, 0) + row.value
    rank = ("named", "nobody", "other")
    return sorted(total, key=lambda g: (rank.index(g[0]), -total[g], g[1] or ""))


def word(group: tuple[str, str | None], members: int) -> str:
    """What a series is called."""
    kind, key = group
    if kind == "other":
        return f"{members} other{'' if members == 1 else 's'}"
    return NOBODY if key is None else key


def members(rows: Iterable[SeriesRow]) -> int:
    """How many series the row `other` holds."""
    return max((row.members for row in rows if isinstance(row.members, int)), default=0)


def colour_name(group: tuple[str, str | None], number: int) -> str:
    """The name, in the theme, of the colour of the *number*th series."""
    return SERIES[number % SHOWN] if group[0] == "named" else group[0]


def calls_figure(
    rows: Sequence[SeriesRow],
    timeline: Timeline,
    theme: Theme,
    *,
    by: str,
    earlier: Earlier | None = None,
) -> go.Figure:
    """
    Bars of stale calls, one colour a series, bucket by bucket; zeros are left out of the traces.

    *rows* are those of `series` by *by* with `top`, in the buckets of *timeline*; *earlier* is the range before.
    """
    values: dict[tuple[str, str | None], dict[str, int]] = {}
    for row in rows:
        values.setdefault(group_of(row, by), {})[row.label] = row.value
    many = members(rows)
    bars = []
    for number, group in enumerate(groups(rows, by)):
        said = {label: value for label, value in values[group].items() if value}
        if not said:
            continue
        bars.append(
            go.Bar(
                **place(timeline, list(said)),
                y=list(said.values()),
                name=plain(word(group, many)),
                marker={
                    "color": COLOURS[theme][colour_name(group, number)],
                    "line": {"width": 0.5, "color": COLOURS[theme]["raised"]},
                },
                hovertemplate="%{x}: %{y}<extra>%{fullData.name}</extra>",
            )
        )
    return figure(timeline, bars, theme, unit="stale calls", earlier=earlier)
