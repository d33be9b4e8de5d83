"""What a page says is what REST says."""

from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running
from tests.browser.watch import Watched, watched

RANGE = {"since": "2026-07-09", "until": "2026-10-07"}
NOBODY = "not named in the log"


def number(text: str) -> int:
    """The first number of a cell."""
    return int(text.split()[0].replace(",", ""))


def cells(page: Watched, table: str, columns: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a table, with the column names of REST."""
    return [{word: row[heading] for heading, word in columns.items()} for row in page.table(table)]


def test_the_names_page_shows_the_numbers_of_rest(chromium: Browser, months: Running) -> None:
    """Row by row, with the windows and the change of `overview`, whose first fields are `names`."""
    rows = months.rows("overview", **RANGE, sort="-stale_calls")
    plain = {(row["server"], row["name"]): row for row in months.rows("names", **RANGE)}
    with watched(chromium, months.url) as seen:
        seen.open("/")
        shown = seen.table("names")
    assert len(shown) == len(rows) == 7
    words = {"called": "still called", "quiet": "quiet", "not_heard": "cannot tell"}
    for row, cell in zip(rows, shown, strict=True):
        assert plain[row["server"], row["name"]]["stale_calls"] == row["stale_calls"]
        assert cell["Retired name"] == f"{row['name']}{row['server']}"
        assert cell["State, last call"].startswith(words[row["state"]])
        assert row["last_call_ever"][:16].replace("T", " ") in cell["State, last call"]
        assert number(cell["Stale calls"]) == row["stale_calls"]
        for word in ("Clients", "Callers"):
            said = [window[word.lower()] for window in row["windows"]]
            assert cell[f"{word} 7 / 30 / 90 d"] == " / ".join(str(each) for each in said)
        top = row["top_client"]
        assert cell["Top client"].startswith(top["client"] or NOBODY)
        assert cell["Top client"].endswith(f"{top['stale_calls']} calls")


CALLERS = {
    "Retired name": "name",
    "Server": "server",
    "Client": "client",
    "Stale calls": "stale_calls",
    "Callers": "callers",
    "Active days": "active_days",
}


@pytest.mark.parametrize(
    ("path", "asked", "left_out"),
    [
        ("/", {}, ()),
        ("/name", {"server": "maps", "name": "tomtom-ev-routing"}, ("Retired name", "Server")),
        ("/client", {"client": "windsurf"}, ("Client",)),
        ("/client", {"client": ""}, ("Client",)),
    ],
)
def test_callers_are_those_of_rest(
    chromium: Browser, months: Running, path: str, asked: dict[str, str], left_out: tuple[str, ...]
) -> None:
    """On every page that shows them."""
    columns = {word: column for word, column in CALLERS.items() if word not in left_out}
    wanted = [
        {
            column: str(row[column] if row[column] is not None else NOBODY)
            for column in columns.values()
        }
        for row in months.rows("callers", **RANGE, **asked, sort="-stale_calls")
    ]
    with watched(chromium, months.url) as seen:
        seen.open(f"{path}?{urlencode(asked)}")
        shown = cells(seen, "callers", columns)
    assert shown == wanted[:50] if path == "/" else shown == wanted


def test_clients_and_reactions_are_those_of_rest(chromium: Browser, months: Running) -> None:
    """Also for what names no client."""
    columns = {
        "Client": "client",
        "Stale calls": "stale_calls",
        "Retired names": "names",
        "Callers": "callers",
        "Sessions": "sessions",
    }
    told = {
        "Client": "client",
        "Server": "server",
        "Notifications": "notifications",
        "Episodes": "episodes",
        "Listed again": "answered",
        "Did not": "ignored",
        "Stale calls before": "stale_before",
        "Stale calls after": "stale_after",
    }
    with watched(chromium, months.url) as seen:
        seen.open("/clients")
        clients, reactions = cells(seen, "clients", columns), cells(seen, "reactions", told)

    def texts(rows: list[dict[str, Any]], words: dict[str, str]) -> list[dict[str, str]]:
        return [
            {
                w: NOBODY
                if row[w] is None
                else f"{row[w]:,}"
                if isinstance(row[w], int)
                else row[w]
                for w in words.values()
            }
            for row in rows
        ]

    assert clients == texts(months.rows("clients", **RANGE, sort="-stale_calls"), columns)
    assert reactions == texts(months.rows("reactions", **RANGE, sort="-episodes"), told)
    assert {row["client"] for row in clients} >= {NOBODY, "claude-code"}


@pytest.mark.parametrize("tz", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_the_table_of_a_figure_is_the_series_of_rest(
    chromium: Browser, months: Running, tz: str
) -> None:
    """Every bucket and client, in the zone that was chosen, with what was heard."""
    asked = {"since": "2026-09-01", "until": "2026-09-21", "tz": tz}
    rows = months.rows("series", **asked, by="client", top=6)
    with watched(chromium, months.url) as seen:
        seen.open(f"/?from_day=2026-09-01&to_day=2026-09-20&tz={tz}")
        seen.page.click("summary >> nth=0")
        shown = seen.table("table-calls-by-client")
    assert [row[f"Day ({tz})"] for row in shown] == [f"2026-09-{day:02}" for day in range(1, 21)]
    by_day = {row[f"Day ({tz})"]: row for row in shown}
    for row in rows:
        word = row["client"] or NOBODY
        word = f"{row['members']} others" if "members" in row else word
        assert number(by_day[row["label"]][word]) == row["value"]
        assert (by_day[row["label"]]["Log heard"] == "throughout") == row["covered"]
    assert {row["covered"] for row in rows} == {True, False}
