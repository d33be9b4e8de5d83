"""The table behind a figure: the same rows, a column a series."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dashboards.figures.calls import colour_name, group_of, groups, members, word
from dashboards.figures.timeline import Mark, hour_text
from dashboards.reading import Chart


@dataclass(frozen=True, slots=True)
class PivotRow:
    """One bucket: a value for each column, whether it was heard throughout, and what happened."""

    label: str
    values: tuple[int, ...]
    covered: bool
    notified: str
    released: str


@dataclass(frozen=True, slots=True)
class Column:
    """One series: what it is called, what it is about (None: nobody, or all others), its colour."""

    word: str
    by: str
    kind: str
    key: str | None
    colour: str


@dataclass(frozen=True, slots=True)
class Pivot:
    """A figure as a table. `columns` are the series; there is none where nothing was counted."""

    bucket: str
    tz: str
    columns: tuple[Column, ...]
    rows: tuple[PivotRow, ...]
    total: int
    notified: bool
    released: bool
    asked: dict[str, Any]
    """What the figure asks `series` beside the page's question."""


def pivot(chart: Chart) -> Pivot:
    """Turn the rows of a figure into a table, in the order of the figure."""
    by, line = chart.by, chart.timeline
    columns: list[tuple[str, str | None]]
    columns = [("named", "callers")] if by == "none" else groups(chart.rows, by)
    values: dict[str, dict[tuple[str, str | None], int]] = {}
    for row in chart.rows:
        group = columns[0] if by == "none" else group_of(row, by)
        values.setdefault(row.label, {})[group] = row.value
    notified, released = _by_label(line.notified), _by_label(line.released)
    rows = tuple(
        PivotRow(
            label=hour_text(label) if line.bucket == "hour" else label,
            values=tuple(values[label].get(column, 0) for column in columns),
            covered=covered,
            notified=notified.get(label, ""),
            released=released.get(label, ""),
        )
        for label, covered in zip(line.labels, line.covered, strict=True)
    )
    many = members(chart.rows)
    return Pivot(
        bucket=line.bucket,
        tz=line.tz,
        columns=tuple(
            Column(word(group, many), by, *group, colour_name(group, number))
            for number, group in enumerate(columns)
        ),
        rows=rows,
        total=sum(sum(row.values) for row in rows),
        notified=bool(notified),
        released=bool(released),
        asked=chart.asked,
    )


def _by_label(marks: Iterable[Mark]) -> dict[str, str]:
    return {mark.label: ", ".join(mark.texts) for mark in marks}
