"""What the pages have to show about a story: the rows that REST has to answer, as text in tables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.acceptance.service import Running
from tests.chain.checks import (
    CLIENTS,
    SERVER,
    expected_account,
    expected_events,
    expected_rows,
    heard,
    same,
)
from tests.chain.deliver import A_DAY
from tests.chain.stories import Story
from tests.chain.tables import tables

Row = dict[str, Any]
Tables = dict[str, list[dict[str, str]]]

NONE = "–"
LAST_WEEK = "{0} / {0} / {0}"
"""A column of 7, 30 and 90 days, of which the last week holds everything."""

# What stands under which heading. Whoever moves a column on a page changes it here.
CALLS = {"stale_calls": "Stale calls", "callers": "Callers"}
NAME = {
    "name": "Retired name",
    "stale_calls": "Stale calls in range",
    "clients": "Clients",
    "callers": "Callers",
    "replaced_by": "Replaced by",
}
CLIENT = {"client": "Client", "names": "Retired names", "sessions": "Sessions", "via": "Through"}
REACTION = {
    "client": "Client",
    "notifications": "Notifications",
    "episodes": "Times told",
    "answered": "Listed again",
    "ignored": "Did not",
    "stale_before": "Stale calls before",
    "stale_after": "Stale calls after",
    "outcome": "In a word",
}
STALE = {"stale_calls": "Stale calls"}
ENTRY = {"name": "Retired name", "clients": "Clients", "replaced_by": "Replaced by", **STALE}
TODO = {"client": "Client", "name": "Retired name", "stale_calls": "Calls"}
EVENT = {"kind": "Kind", "name": "Name as logged", "client": "Client", "outcome": "Outcome"}
ACCOUNT = {
    "day": "Day (UTC)",
    "received": "Received",
    "accepted": "Accepted",
    "duplicates": "Duplicates",
    "ignored": "Ignored",
    "rejected": "Rejected",
}


@dataclass(frozen=True)
class Shown:
    """
    A table of a page, by its id: the `rows` of a collection, of which each of `columns` stands under a
    heading, in the form of `forms`.
    """

    path: str
    asked: Mapping[str, str]
    table: str
    rows: list[Row]
    columns: Mapping[str, str]
    forms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """The table behind a figure, by its id: what each of its columns of numbers adds up to."""

    path: str
    asked: Mapping[str, str]
    table: str
    totals: Mapping[str, int]


def shown(service: Running, story: Story) -> Iterator[Shown]:
    """Every table of rows that is looked at."""
    rows = expected_rows(story)
    callers = rows["callers"]
    clients = [{**row, "via": row["via"] or NONE} for row in rows["clients"]]
    did = {0: "did not list again", 1: "listed again"}
    told = [{**row, "outcome": did[row["answered"]]} for row in rows["reactions"]]
    windows = {"clients": LAST_WEEK, "callers": LAST_WEEK}
    yield Shown("/", {}, "names", rows["names"], NAME, windows)
    yield Shown("/todo", {}, "todo", callers, TODO)
    yield Shown("/catalogue", {}, "entries", rows["names"], ENTRY)
    yield Shown("/clients", {}, "clients", clients, {**CLIENT, **CALLS})
    yield Shown("/clients", {}, "reactions", told, REACTION)
    for row in callers:
        asked = {"server": SERVER, "name": row["name"]}
        yield Shown("/name", asked, "callers", [row], {"client": "Client", **CALLS})
        yield Shown("/name", asked, "uptake", [row], {"client": "Client", **STALE})
        yield Shown("/name", asked, "events", events(story, name=row["name"]), EVENT)
    for row in clients:
        asked = {"client": row["client"]}
        mine = having(callers, **asked)
        yield Shown("/client", asked, "callers", mine, {"name": "Retired name", **CALLS})
        yield Shown("/client", asked, "cures", mine, {"name": TODO["name"], "stale_calls": "Calls"})
        yield Shown("/client", asked, "uptake", mine, {"name": "Retired name", **STALE})
        yield Shown("/client", asked, "reactions", having(told, **asked), REACTION)
        yield Shown("/client", asked, "events", events(story, **asked), EVENT)
    # Arrivals go by the clock of the service, which stands a day after the story.
    day = (story.ended + A_DAY).date().isoformat()
    account: list[Row] = [{"day": day, "server": SERVER, **expected_account(service, story)}]
    yield Shown("/health", {}, "accounts", account, {"server": "Server", **ACCOUNT})


def events(story: Story, **which: str) -> list[Row]:
    """The events of a name or a client. No story has more than the 20 of which a page shows the last."""
    found: list[Row] = [
        {"kind": kind.replace("_", " "), "name": name, "client": client, "outcome": outcome}
        for (client, _), did in expected_events(story).items()
        for kind, name, outcome in did.elements()
    ]
    return [{key: value or NONE for key, value in row.items()} for row in having(found, **which)]


def having(rows: list[Row], **which: str) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in which.items())]


def drawn(story: Story) -> Iterator[Drawn]:
    """The table of every figure of stale calls, with the notifications beside them."""
    callers = expected_rows(story)["callers"]
    sent = Counter(
        {CLIENTS[who].name: did.get("notification", 0) for who, did in story.did.items()}
    )
    every = {row["client"]: row["stale_calls"] for row in callers}
    everybody = {"Notifications": sent.total()} if sent.total() else {}
    yield Drawn("/", {}, "table-calls-by-client", every | everybody)
    yield Drawn("/clients", {}, "table-calls-by-client", every | everybody)
    for row in callers:
        asked = {"server": SERVER, "name": row["name"]}
        calls = {row["client"]: row["stale_calls"]}
        yield Drawn("/name", asked, "table-calls-by-client", calls | everybody)
        own = {"Notifications": sent[row["client"]]} if sent[row["client"]] else {}
        calls = {row["name"]: row["stale_calls"]}
        yield Drawn("/client", {"client": row["client"]}, "table-calls-by-name", calls | own)


def check_pages(service: Running, story: Story) -> None:
    """
    Hold the tables of the pages against what the clients know of a story, in any order of rows.

    Raises:
        AssertionError: A page shows other rows; the text begins with its path.
    """
    pages: dict[str, Tables] = {}

    def table(of: Shown | Drawn) -> list[dict[str, str]]:
        address = f"{of.path}?{urlencode(of.asked)}"
        if address not in pages:
            page = service.get(of.path, **of.asked)
            same(of.path, page.status_code, 200)
            pages[address] = tables(page.text)
        return pages[address].get(of.table, [])

    for one in shown(service, story):
        found = [
            {column: row[heading] for column, heading in one.columns.items()} for row in table(one)
        ]
        if one.table == "events":
            found = [row for row in found if heard(story, {row["kind"]: 1})]
        expected = [
            {column: text(row[column], one.forms.get(column, "{0}")) for column in one.columns}
            for row in one.rows
        ]
        same(f"{one.path} #{one.table}", in_order(found), in_order(expected))
    for figure in drawn(story):
        same(f"{figure.path} #{figure.table}", totals(table(figure)), figure.totals)


def text(value: Any, form: str) -> str:
    """A value as a table shows it."""
    return form.format(", ".join(value) if isinstance(value, list) else value)


def in_order(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(rows, key=lambda row: list(row.values()))


def totals(rows: list[dict[str, str]]) -> dict[str, int]:
    """What the columns of numbers of a figure's table add up to, by heading."""
    found: Counter[str] = Counter()
    for row in rows:
        for heading, cell in row.items():
            if number := re.fullmatch(r"(\d+)(?: notifications? sent)?", cell):
                found[heading] += int(number[1])
    return dict(found)
