"""What the pages have to show about a story: the rows that REST has to answer, as text in tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.acceptance.service import Running
from tests.chain.checks import SERVER, expected_rows, same
from tests.chain.stories import Story
from tests.chain.tables import tables

CALLS = {"stale_calls": "Stale calls", "callers": "Callers"}
LAST_WEEK = "{0} / {0} / {0}"
"""A column of 7, 30 and 90 days, of which the last week holds everything."""


@dataclass(frozen=True)
class Shown:
    """
    A table of a page, by its id: the `rows` of a collection, of which each of `columns` stands under a
    heading, in the form of `forms`.
    """

    path: str
    asked: Mapping[str, str]
    table: str
    rows: list[dict[str, Any]]
    columns: Mapping[str, str]
    forms: Mapping[str, str] = field(default_factory=dict)


def shown(story: Story) -> Iterator[Shown]:
    """Every table that is looked at. Whoever moves a column on a page changes it here."""
    rows = expected_rows(story)
    callers = rows["callers"]
    yield Shown(
        "/",
        {},
        "names",
        rows["names"],
        {"name": "Retired name", "clients": "Clients", "replaced_by": "Replaced by", **CALLS},
        {"clients": LAST_WEEK, "callers": LAST_WEEK},
    )
    yield Shown("/", {}, "callers", callers, {"name": "Retired name", "client": "Client", **CALLS})
    yield Shown(
        "/clients",
        {},
        "clients",
        [{**row, "via": row["via"] or "–"} for row in rows["clients"]],
        {
            "client": "Client",
            "names": "Retired names",
            "sessions": "Sessions",
            "via": "Through",
            **CALLS,
        },
    )
    yield Shown(
        "/clients",
        {},
        "reactions",
        [{**row, "outcome": row["outcome"].replace("_", " ")} for row in rows["reactions"]],
        {
            "client": "Client",
            "notifications": "Notifications",
            "episodes": "Episodes",
            "answered": "Listed again",
            "ignored": "Did not",
            "stale_before": "Stale calls before",
            "stale_after": "Stale calls after",
            "outcome": "In a word",
        },
    )
    for row in callers:
        name, client = row["name"], row["client"]
        of_name = {"server": SERVER, "name": name}
        yield Shown("/name", of_name, "callers", [row], {"client": "Client", **CALLS})
        yield Shown(
            "/client", {"client": client}, "callers", [row], {"name": "Retired name", **CALLS}
        )


def check_pages(service: Running, story: Story) -> None:
    """
    Hold the tables of the pages against what the clients know of a story, in any order of rows.

    Raises:
        AssertionError: A page shows other rows; the text begins with its path.
    """
    pages: dict[str, dict[str, list[dict[str, str]]]] = {}
    for one in shown(story):
        address = f"{one.path}?{urlencode(one.asked)}"
        if address not in pages:
            page = service.get(one.path, **one.asked)
            same(one.path, page.status_code, 200)
            pages[address] = tables(page.text)
        found = [
            {column: row[heading] for column, heading in one.columns.items()}
            for row in pages[address].get(one.table, [])
        ]
        expected = [
            {column: text(row[column], one.forms.get(column, "{0}")) for column in one.columns}
            for row in one.rows
        ]
        same(f"{one.path} #{one.table}", in_order(found), in_order(expected))


def text(value: Any, form: str) -> str:
    """A value as a table shows it."""
    return form.format(", ".join(value) if isinstance(value, list) else value)


def in_order(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(rows, key=lambda row: list(row.values()))
