"""Figures as data: what the browser is handed."""

from datetime import date, timedelta
from typing import Any

import pytest

from dashboards.figures.calls import calls_figure
from dashboards.figures.safe import plain
from dashboards.figures.timeline import Mark, Timeline
from service.answers import SeriesRow
from service.answers.query import Instant


def row(label: str, value: int, client: str | None, **more: Any) -> SeriesRow:
    """One bucket of one client."""
    return SeriesRow(
        start=Instant(0), label=label, value=value, covered=True, client=client, **more
    )


DAYS = tuple(date(2026, 10, day).isoformat() for day in range(1, 6))
TIMELINE = Timeline(DAYS, (True, True, False, False, True), "day", "Europe/Berlin")
ROWS = [
    row(DAYS[0], 1, "few"),
    row(DAYS[0], 5, None),
    row(DAYS[1], 4, "many"),
    row(DAYS[1], 0, "few"),
    row(DAYS[4], 9, "other", members=3),
]


def traces(
    timeline: Timeline = TIMELINE, rows: list[SeriesRow] = ROWS
) -> dict[str, dict[str, object]]:
    """The traces of a figure, by name."""
    made = calls_figure(rows, timeline, "light", by="client").to_plotly_json()
    return {trace["name"]: trace for trace in made["data"]}


def test_series_stand_by_size_then_what_names_no_client_then_all_others() -> None:
    """A client that is really called `other` would be a series of its own."""
    assert list(traces()) == ["gap in the log", "many", "few", "not named in the log", "3 others"]


def test_zeros_are_not_drawn_and_silence_is_hatched() -> None:
    """A day that was not heard is no zero."""
    made = traces()
    assert made["few"]["x"] == [DAYS[0]]
    assert made["gap in the log"]["x"] == [DAYS[2]]
    assert made["gap in the log"]["width"] == [2 * 86_400_000]
    assert made["gap in the log"]["marker"]["pattern"]["shape"] == "/"  # type: ignore[index]


@pytest.mark.parametrize(
    ("bucket", "labels", "covered", "runs"),
    [
        ("day", DAYS, (False, True, False, False, True), [(DAYS[0], 1), (DAYS[2], 2)]),
        ("month", ("2028-01-01", "2028-02-01"), (False, False), [("2028-01-01", 31 + 29)]),
        ("week", ("2026-09-28", "2026-10-05"), (True, False), [("2026-10-05", 7)]),
    ],
)
def test_neighbouring_silences_are_one_hatched_bar(
    bucket: str, labels: tuple[str, ...], covered: tuple[bool, ...], runs: list[tuple[str, int]]
) -> None:
    """From the start of the first to the end of the last, in milliseconds of whole local days."""
    timeline = Timeline(labels, covered, bucket, "UTC")
    gaps = traces(timeline, [row(labels[0], 1, "c")])["gap in the log"]
    assert list(zip(gaps["x"], gaps["width"], strict=True)) == [  # type: ignore[call-overload]
        (start, days * 86_400_000) for start, days in runs
    ]


def test_days_are_local_dates_and_the_axis_says_the_zone() -> None:
    """No instant goes to the browser: it would be shown in UTC."""
    made = calls_figure(ROWS, TIMELINE, "dark", by="client").to_plotly_json()
    assert made["layout"]["xaxis"]["title"]["text"] == "day (Europe/Berlin)"
    assert made["layout"]["xaxis"]["range"] == ["2026-10-01", "2026-10-06"]
    places = {x for trace in made["data"] for x in trace["x"]}
    assert places <= set(DAYS)


@pytest.mark.parametrize(
    ("bucket", "label", "end"),
    [
        ("week", "2026-10-05", "2026-10-12"),
        ("month", "2028-02-01", "2028-03-01"),
        ("day", "2026-12-31", "2027-01-01"),
    ],
)
def test_the_axis_ends_with_its_last_bucket(bucket: str, label: str, end: str) -> None:
    """Whole weeks and months."""
    timeline = Timeline((label,), (True,), bucket, "UTC")
    made = calls_figure([row(label, 1, "c")], timeline, "light", by="client")
    assert made.to_plotly_json()["layout"]["xaxis"]["range"] == [label, end]


@pytest.mark.parametrize(
    ("bucket", "days", "step"), [("week", 7, 7), ("week", 84, 14), ("day", 90, 14), ("day", 28, 7)]
)
def test_the_axis_names_mondays(bucket: str, days: int, step: int) -> None:
    """Plotly by itself would name Sundays, on which no week of the tables begins."""
    first = date(2026, 7, 6)  # a Monday
    every = range(0, days, 7 if bucket == "week" else 1)
    labels = tuple((first + timedelta(days=each)).isoformat() for each in every)
    timeline = Timeline(labels, (True,) * len(labels), bucket, "UTC")
    axis = calls_figure([], timeline, "light", by="client").to_plotly_json()["layout"]["xaxis"]
    assert date.fromisoformat(axis["tick0"]).isoweekday() == 1
    assert axis["dtick"] == step * 86_400_000


def test_the_hour_that_the_clock_shows_twice_is_two_bars() -> None:
    """Berlin set its clocks back on 25 October 2026 at three."""
    hours = ("2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00")
    timeline = Timeline(hours, (True, True), "hour", "Europe/Berlin")
    made = traces(timeline, [row(hours[0], 1, "c"), row(hours[1], 2, "c")])
    assert made["c"]["x"] == ["2026-10-25 02:00 +02:00", "2026-10-25 02:00 +01:00"]
    assert made["c"]["y"] == [1, 2]


def test_what_happened_to_the_server_stands_in_a_lane_above() -> None:
    """Notifications below releases; where there is neither, there is no lane."""
    told = Timeline(
        DAYS,
        (True,) * 5,
        "day",
        "UTC",
        notified=(Mark(DAYS[1], ("2 notifications sent",)),),
        released=(Mark(DAYS[3], ("s 1.10", "<b> 2")),),
    )
    made = traces(told)
    assert (made["notified"]["x"], made["notified"]["y"]) == ([DAYS[1]], [0])
    assert (made["released"]["x"], made["released"]["y"]) == ([DAYS[3]], [1])
    assert made["released"]["text"] == ["s 1.10<br>&lt;b&gt; 2"]
    assert "notified" not in traces()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a &lt; b", "a &amp;lt; b"),
        ("line\nbreak", "line break"),
        ("x" * 50, "x" * 20 + "…" + "x" * 19),
    ],
)
def test_a_strangers_name_is_no_markup_and_not_too_long(text: str, shown: str) -> None:
    """Plotly takes tags and entities in a text for markup."""
    assert plain(text) == shown
