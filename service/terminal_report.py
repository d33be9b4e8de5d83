"""
Who still calls what, as tables on a terminal.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from click import echo
from rich import box
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table

from service.events import Receipt
from service.terminal import minute, safe

_PIPE_WIDTH = 200
"""Columns of a table that no terminal bounds: wide enough that names stay whole."""
_WIDE = 120
"""Columns from which on all of a table is shown."""


def _table(
    title: str, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[object]]
) -> None:
    """Print a table; columns are (name, whether it holds numbers)."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, number in columns:
        justify: JustifyMethod = "right" if number else "left"
        table.add_column(name, justify=justify, no_wrap=number, overflow="fold")
    for row in rows:
        table.add_row(*(escape(safe(value)) for value in row))
    _console().print(table)


def _console() -> Console:
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(highlight=False, emoji=False, width=width)


def _narrow() -> bool:
    """Whether there is room for the most important columns only."""
    return _console().width < _WIDE


def _at(instant: str | None, zone: ZoneInfo) -> str:
    """An instant to the minute, or to the day where there is little room."""
    return minute(instant, zone)[: 10 if _narrow() else None]


def report(answer: Mapping[str, Any], done: Receipt) -> None:
    """Print who still calls what."""
    names, callers = answer["names"]["items"], answer["callers"]["items"]
    echo(
        f"{done.received} records received: {done.accepted} accepted, {done.duplicates} duplicates, "
        f"{done.ignored} ignored, {done.rejected} rejected"
    )
    for reason, number in sorted(done.reasons.items()):
        echo(f"  rejected as {reason}: {number}")
    if not names:
        echo(_nothing(done))
        return
    zone = ZoneInfo(answer["names"]["range"]["tz"])
    echo(_span(answer["names"], zone))
    several = len({row["server"] for row in names}) > 1
    _names_table(names, zone, several=several)
    _callers_table(callers, zone, several=several)


def _nothing(done: Receipt) -> str:
    """What a report without a name rests on."""
    if unknown := done.events.get("unknown_call"):
        calls = "1 call" if unknown == 1 else f"{unknown} calls"
        return (
            f"{calls} to names that the server did not know, but no line says of a name that it is "
            "retired (`Retired tool called`), so none is counted: a typo looks the same."
        )
    if done.accepted:
        return "No retired name was called in what was read."
    if done.received:
        return (
            "No line was recognised, so nothing can be said about retired names. "
            "`lastcall ingest --dry-run` looks for lines that come near, "
            "`lastcall explain LINE` shows what is made of one."
        )
    return "Nothing was read."


def _span(names: Mapping[str, Any], zone: ZoneInfo) -> str:
    span, coverage = names["range"], names["coverage"]
    gaps = coverage["gap_count"]
    return (
        f"{minute(span['since'], zone)} to {minute(span['until'], zone)} ({span['tz']}), heard in "
        f"{coverage['covered_hours']} of {coverage['hours']} hours, "
        f"{gaps} {'gap' if gaps == 1 else 'gaps'}"
    )


def _names_table(rows: Sequence[Mapping[str, Any]], zone: ZoneInfo, *, several: bool) -> None:
    numbers = {"Calls": "stale_calls", "Clients": "clients", "Callers": "callers"}
    numbers |= {"Days": "active_days"}
    texts: dict[str, Callable[[Mapping[str, Any]], object]] = {
        "First call": lambda row: _at(row["first_call"], zone),
        "Last call": lambda row: _at(row["last_call"], zone),
        "Replaced by": lambda row: ", ".join(row["replaced_by"]) or "–",
    }
    if _narrow():
        del numbers["Callers"], texts["First call"]
    columns = [("Name", False), *((n, True) for n in numbers), *((n, False) for n in texts)]
    cells = [
        [
            *([row["server"]] if several else []),
            row["name"],
            *(row[word] for word in numbers.values()),
            *(text(row) for text in texts.values()),
        ]
        for row in rows
    ]
    _table("Retired names that are still called", _columns(columns, several=several), cells)


def _callers_table(rows: Sequence[Mapping[str, Any]], zone: ZoneInfo, *, several: bool) -> None:
    numbers = {"Calls": "stale_calls", "Callers": "callers", "Days": "active_days"}
    if _narrow():
        del numbers["Callers"]
    columns = [("Name", False), ("Client", False), ("Versions", False)]
    columns += [*((name, True) for name in numbers), ("Last call", False)]
    cells = [
        [
            *([row["server"]] if several else []),
            row["name"],
            "(not named)" if row["client"] is None else row["client"],
            ", ".join(row["versions"]),
            *(row[word] for word in numbers.values()),
            _at(row["last_call"], zone),
        ]
        for row in rows
    ]
    _table("Who calls them", _columns(columns, several=several), cells)


def _columns(columns: list[tuple[str, bool]], *, several: bool) -> list[tuple[str, bool]]:
    return [("Server", False), *columns] if several else columns
