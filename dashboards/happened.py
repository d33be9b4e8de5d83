"""What happened beside the calls, put on the axis of a figure: its marks, and the list below it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.figures.safe import cut
from dashboards.figures.timeline import Mark, Timeline, span_of
from service.answers import AnnotationRow, SeriesRow
from service.answers.query import plain

LISTED = 40
"""Things of a list, the last ones; all of them are behind the address below it."""
SHORT = 90
"""Characters of a thing in the list; the whole text is on demand."""
_LANES = {"release": "released", "catalogue": "catalogued", "tools": "catalogued", "note": "noted"}


@dataclass(frozen=True, slots=True)
class Thing:
    """
    One thing of the list: the row of REST, its `short` text, and where on the axis its bucket begins and ends (x
    as Plotly has it).
    """

    row: dict[str, Any]
    short: str
    lane: str
    span: tuple[str | float, str | float]


@dataclass(frozen=True, slots=True)
class Axis:
    """The list: its last things, the newest first, and how many there are before them."""

    things: tuple[Thing, ...]
    more: int


def marks(begun: Sequence[SeriesRow], rows: Sequence[AnnotationRow]) -> dict[str, tuple[Mark, ...]]:
    """Marks by their lane in a `Timeline`: one a bucket and lane, in which anything happened."""
    starts = [row.start for row in begun]
    said: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        at = bisect_right(starts, row.at) - 1
        if at >= 0:
            lane = said.setdefault(_LANES[row.kind], {})
            lane.setdefault(begun[at].label, []).append(_text(row))
    return {
        lane: tuple(Mark(label, tuple(each)) for label, each in found.items())
        for lane, found in said.items()
    }


def axis(timeline: Timeline, begun: Sequence[SeriesRow], rows: Sequence[AnnotationRow]) -> Axis:
    """The list of what happened."""
    starts = [row.start for row in begun]
    shown = [row for row in rows if starts and row.at >= starts[0]]
    things = []
    for row in reversed(shown[-LISTED:]):
        label = begun[bisect_right(starts, row.at) - 1].label
        things.append(
            Thing(plain(row), cut(_text(row), SHORT), _LANES[row.kind], span_of(timeline, label))
        )
    return Axis(tuple(things), len(shown) - len(things))


def _text(row: AnnotationRow) -> str:
    """What a mark says: of which server, and what."""
    between = " " if row.kind == "release" else ": "
    return row.text if row.server is None else f"{row.server}{between}{row.text}"
