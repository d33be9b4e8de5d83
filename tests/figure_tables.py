"""Whether the table behind a figure holds the very numbers that are drawn, kind by kind."""

import html
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from tests.shown import Grid, Shown, number

Trace = dict[str, Any]
LEAST, MOST = 1 / 64, 64.0
"""A ratio beyond these is drawn there: on a scale of ratios 0 has no place, and neither has what has no bound."""


_TURN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def told(trace: Trace, word: str) -> bool:
    """Whether a trace bears that name; Plotly's is cut in the middle, escaped, and names what turns the text around."""
    head, cut, tail = html.unescape(trace["name"]).partition("…")
    plain = " ".join(_TURN.sub(lambda turn: f"⟨U+{ord(turn[0]):04X}⟩", word).split())
    head, tail = " ".join(head.split()), " ".join(tail.split())
    return plain.startswith(head) and plain.endswith(tail) if cut else plain == head


def over_time(grid: Grid, made: dict[str, Any]) -> list[str]:
    """Bars, one series a column; hatching where a bucket is a gap; a mark wherever something is said of one."""
    heads, *rows = grid
    log = max(place for place, head in enumerate(heads) if head == "Log")
    labels = [row[0] for row in rows]
    columns = [
        (heads[place], {row[0]: number(row[place]) for row in rows if row[place] != "0"})
        for place in range(1, log)
    ]
    wanted = [(word, values) for word, values in columns if values]
    bars = [t for t in made["data"] if t["type"] == "bar" and t.get("yaxis", "y") == "y"]
    wrong = []
    if len(bars) != len(wanted):
        wrong.append(f"{len(bars)} series are drawn, {len(wanted)} stand in the table")
    for bar, (word, values) in zip(bars, wanted, strict=False):
        if not told(bar, word):
            wrong.append(f"{word!r} is drawn as {bar['name']!r}")
        drawn = dict(zip(bar["x"], bar["y"], strict=True))
        if drawn != values or len(drawn) != len(bar["x"]):
            wrong.append(f"{word!r}: {sorted(drawn.items() ^ values.items())}")
    gaps = [row[0] for row in rows if row[log] == "gap"]
    if gaps != (hatched := _hatched(made, labels)):
        wrong.append(f"hatched {hatched}, gaps {gaps}")
    behind = log + 1
    if any(head == "Log then" for head in heads):
        wrong += _earlier([row[behind : behind + 2] for row in grid], labels, made)
        behind += 2
    return wrong + _lanes([row[behind:] for row in grid], labels, made)


def _earlier(grid: Grid, labels: list[str], made: dict[str, Any]) -> list[str]:
    """The range before, a line through each bucket; nothing is drawn of one that was not heard and has no calls."""
    (head, _), *rows = grid
    wanted = {
        label: number(calls)
        for label, (calls, log) in zip(labels, rows, strict=True)
        if calls != "–" and (calls != "0" or log == "covered")
    }
    lines = [trace for trace in made["data"] if trace["name"] == head[:1].lower() + head[1:]]
    drawn = {
        x: y for line in lines for x, y in zip(line["x"], line["y"], strict=True) if y is not None
    }
    return [] if drawn == wanted else [f"{head}: drawn {drawn}, table {wanted}"]


LANES = {
    "Notifications": "notified",
    "Releases": "released",
    "Catalogue": "catalogue",
    "Notes": "notes",
}


def _lanes(grid: Grid, labels: list[str], made: dict[str, Any]) -> list[str]:
    """Columns of what happened, behind the one that says what was heard, each a lane of marks."""
    heads, *rows = grid
    marks = {trace["name"]: trace["x"] for trace in made["data"] if trace.get("yaxis", "") == "y3"}
    wanted = {
        LANES[head]: [label for label, row in zip(labels, rows, strict=True) if row[place]]
        for place, head in enumerate(heads)
    }
    return [] if marks == wanted else [f"marks at {marks}, the table has {wanted}"]


def _hatched(made: dict[str, Any], labels: list[str]) -> list[str]:
    """The buckets that hatching covers: on an axis of days by its width, on one of hours by their number."""
    found = []
    for trace in made["data"]:
        if trace.get("yaxis") != "y2":
            continue
        for x, width in zip(trace["x"], trace["width"], strict=True):
            if made["layout"]["xaxis"].get("type") == "category":
                found += labels[labels.index(x) :][:width]
                continue
            end = date.fromisoformat(x) + timedelta(milliseconds=width)
            found += [each for each in labels if x <= each < end.isoformat()]
    return found


def records(grid: Grid, made: dict[str, Any]) -> list[str]:
    """Bars, one fate a column; days on which nothing arrived have no row."""
    heads, *rows = grid
    columns = {
        head: {row[0]: number(row[at]) for row in rows if row[at] != "0"}
        for at, head in enumerate(heads[2:], 2)
    }
    drawn = {bar["name"]: dict(zip(bar["x"], bar["y"], strict=True)) for bar in made["data"]}
    wanted = {head: values for head, values in columns.items() if values}
    sums = [row[0] for row in rows if number(row[1]) != sum(map(number, row[2:]))]
    wrong = [] if drawn == wanted else [f"drawn {drawn}, table {wanted}"]
    return wrong + ([f"received is not the sum on {sums}"] if sums else [])


def releases(grid: Grid, made: dict[str, Any]) -> list[str]:
    """A bar a release that was called, in the order of the table."""
    wanted = [(row[0], number(row[2])) for row in grid[1:] if row[2] != "0"]
    (bar,) = made["data"]
    drawn = list(zip(bar["x"], bar["y"], strict=True))
    if [y for _, y in drawn] != [y for _, y in wanted]:
        return [f"drawn {drawn}, table {wanted}"]
    pairs = zip(drawn, wanted, strict=True)
    return [f"{w!r} as {x!r}" for (x, _), (w, _) in pairs if not told({"name": x}, w)]


def listing_times(grid: Grid, made: dict[str, Any]) -> list[str]:
    """Each step of the curve; before the first it is 0, and after the last it stays."""
    curve = next(trace for trace in made["data"] if trace["name"] == "have listed")
    drawn = [
        (f"{max(x, 0.001):g}", f"{round(100 * y)} %")
        for x, y in zip(curve["x"][1:-1], curve["y"][1:-1], strict=True)
    ]
    wanted = [(f"{max(float(row[0].replace(',', '')), 0.001):g}", row[3]) for row in grid[1:]]
    return [] if drawn == wanted else [f"steps {drawn} are drawn, {wanted} stand in the table"]


def effect_weeks(grid: Grid, made: dict[str, Any]) -> list[str]:
    """Bars, points and a line, each a column; where the band ends is in its own column."""
    traces = {trace["name"]: trace for trace in made["data"]}
    heads, *rows = grid
    wrong = []
    for name, head in (
        ("notified clients called", "Notified clients called"),
        ("expected without the notification", "Expected"),
        ("clients not yet notified called", "Others called"),
    ):
        at = heads.index(head)
        trace = traces.get(name, {"x": [], "y": []})
        drawn = {x: f"{round(y):,}" for x, y in zip(trace["x"], trace["y"], strict=True)}
        wanted = {row[0]: row[at] for row in rows if row[at] != "none"}
        if name.startswith(("notified", "expected")):  # of no notified client nothing is expected
            wanted = {x: y for x, y in wanted.items() if x in drawn or y not in {"0", "–"}}
        if drawn != wanted:
            wrong.append(f"{name}: drawn {drawn}, table {wanted}")
    return wrong


def effect_since(grid: Grid, made: dict[str, Any]) -> list[str]:
    """A point a week with a ratio, and its interval where it has one."""
    (points,) = made["data"]
    rows = grid[1:]
    if [str(x) for x in points["x"]] != [row[0] for row in rows]:
        return [f"weeks {points['x']}, table {[row[0] for row in rows]}"]
    reach = points["error_y"]
    wrong = []
    for y, up, down, row in zip(
        points["y"], reach["array"], reach["arrayminus"], rows, strict=True
    ):
        wrong += _ratio(row[4], y) + _interval(row[5], y, up, down)
    return wrong


def effect_clients(grid: Grid, made: dict[str, Any]) -> list[str]:
    """A line a client that has something to be compared with, and one of all clients together."""
    (marks,) = made["data"]
    reach = marks["error_x"]
    rows = [row for row in grid[1:] if row[7] != "none" and row[8] != "before and after only"]
    if len(rows) != len(marks["y"]):
        return [f"{len(marks['y'])} lines are drawn, {len(rows)} rows have an interval"]
    wrong = []
    drawn = zip(marks["y"], marks["x"], reach["array"], reach["arrayminus"], rows, strict=True)
    for label, x, up, down, row in drawn:
        if not (told({"name": label}, row[0]) or told({"name": label}, f"{row[0]} ({row[1]})")):
            wrong.append(f"{row[0]!r} is drawn as {label!r}")
        wrong += _ratio(row[6], x) + _interval(row[7], x, up, down)
    return wrong


def _ratio(text: str, drawn: float) -> list[str]:
    wanted = MOST if text == "none" else min(max(float(text), LEAST), MOST)
    return [] if abs(wanted - drawn) < 0.02 else [f"{text} is drawn at {drawn}"]


def _interval(text: str, at: float, up: float | None, down: float | None) -> list[str]:
    if text == "none":
        return [] if up is None and down is None else [f"{at} has no interval, and one is drawn"]
    if up is None or down is None:
        return [f"{text} is not drawn at {at}"]
    low, high = text.split("–")
    return _ratio(low, at - down) + _ratio("none" if high == "no bound" else high, at + up)


CHECKS: dict[str, Callable[[Grid, dict[str, Any]], list[str]]] = {
    "calls-by-client": over_time,
    "calls-by-name": over_time,
    "callers": over_time,
    "records": records,
    "releases": releases,
    "listing-times": listing_times,
    "effect-weeks": effect_weeks,
    "effect-since": effect_since,
    "effect-clients": effect_clients,
}
"""What holds of each figure and its table."""


def differences(figure: Shown, made: dict[str, Any]) -> list[str]:
    """What is drawn and does not stand in the table, or the other way round, a sentence each."""
    return CHECKS[figure.kind](figure.grid, made)
