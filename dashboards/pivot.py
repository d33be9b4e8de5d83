"""The table behind a figure: the same rows, a column a series."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dashboards.figures.calls import colour_name, group_of, groups, members, word
from dashboards.figures.timeline import Earlier, Mark, hour_text
from dashboards.happened import Axis
from dashboards.reading import Chart


@dataclass(frozen=True, slots=True)
class PivotRow:
    """One bucket: a value for each column, whether it was heard throughout, and what happened."""

    label: str
    values: tuple[int, ...]
    covered: bool
    notified: str
    released: str
    catalogued: str
    noted: str
    before: int | None
    """The value of the range before, and whether it was heard throughout; None where there is nothing below."""
    before_covered: bool


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
    catalogued: bool
    noted: bool
    asked: dict[str, Any]
    """What the figure asks `series` beside the page's question."""
    earlier: Earlier | None
    happened: Axis | None
    """What is listed below the figure."""


def pivot(chart: Chart) -> Pivot:
    """Turn the rows of a figure into a table, in the order of the figure."""
    by, line, before = chart.by, chart.timeline, chart.earlier
    columns: list[tuple[str, str | None]]
    columns = [("named", "callers")] if by == "none" else groups(chart.rows, by)
    values: dict[str, dict[tuple[str, str | None], int]] = {}
    for row in chart.rows:
        group = columns[0] if by == "none" else group_of(row, by)
        values.setdefault(row.label, {})[group] = row.value
    notified, released = _by_label(line.notified), _by_label(line.released)
    catalogued, noted = _by_label(line.catalogued), _by_label(line.noted)
    rows = tuple(
        PivotRow(
            label=hour_text(label) if line.bucket == "hour" else label,
            values=tuple(values[label].get(column, 0) for column in columns),
            covered=covered,
            notified=notified.get(label, ""),
            released=released.get(label, ""),
            catalogued=catalogued.get(label, ""),
            noted=noted.get(label, ""),
            before=None if before is None else before.values[at],
            before_covered=before is not None and before.covered[at],
        )
        for at, (label, covered) in enumerate(zip(line.labels, line.covered, strict=True))
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
        catalogued=bool(catalogued),
        noted=bool(noted),
        asked=chart.asked,
        earlier=before,
        happened=chart.happened,
    )


def _by_label(marks: Iterable[Mark]) -> dict[str, str]:
    return {mark.label: ", ".join(mark.texts) for mark in marks}
