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
    rows = months.rows("overview", **RANGE, sort="need", detail=True)
    plain = {(row["server"], row["name"]): row for row in months.rows("names", **RANGE)}
    with watched(chromium, months.url) as seen:
        seen.open("/")
        shown = seen.table("names")
    assert len(shown) == len(rows) == 7
    for row, cell in zip(rows, shown, strict=True):
        assert plain[row["server"], row["name"]]["stale_calls"] == row["stale_calls"]
        assert cell["Retired name"] == f"{row['name']}{row['server']}"
        verdict = cell["Has everyone stopped?"]
        assert verdict == row["verdict"]["word"] + row["verdict"]["because"]
        assert row["last_call_ever"][:16].replace("T", " ") in cell["Last call"]
        assert number(cell["Stale calls in range"]) == row["stale_calls"]
        nothing = "nothing replaces it" if row["no_replacement"] else "no replacement named"
        assert cell["Replaced by"] == (", ".join(row["replaced_by"]) or nothing)
        assert cell["Last 28 days"] == in_words(row["change"])
        for word in ("Clients", "Callers"):
            said = [window[word.lower()] for window in row["windows"]]
            assert cell[f"{word} 7 / 30 / 90 d"] == " / ".join(str(each) for each in said)
        top = row["top_client"]
        assert cell["Top client in range"].startswith(top["client"] or NOBODY)
        cure = CURES[top["cure"]["word"]]
        assert cell["Top client in range"].endswith(f"{top['stale_calls']} calls {cure}")


CURES = {
    "hard_coded": "Change what names it",
    "refresh": "Have it fetch the list again",
}


def test_counts_by_verdict_come_first_and_lead_to_their_names(
    chromium: Browser, months: Running
) -> None:
    """Each with the number of `totals`; the heading that says how names are sorted is the verdict's."""
    totals = months.get("/api/v1/overview", **RANGE, detail=True).json()["totals"]["verdict"]
    with watched(chromium, months.url) as seen:
        seen.open("/")
        shown = seen.page.locator("main > *").nth(1)
        assert shown.get_attribute("class") == "verdicts"
        said = [item.inner_text().split(maxsplit=1) for item in shown.locator("li").all()]
        assert said == [[str(number), word] for word, number in totals.items()]
        shown.get_by_text("still calling").click()
        assert seen.page.url.endswith("#still-calling")
        assert seen.page.locator("#still-calling").count() == 1
        assert (
            seen.page.locator("#names [aria-sort=ascending]")
            .inner_text()
            .startswith("Has everyone")
        )


def in_words(change: dict[str, Any]) -> str:
    """The last 28 days against those before, as the page puts it."""
    pct = "" if change["pct"] is None else f"{abs(change['pct'])} % "
    return f"{change['matched_calls']} was {change['matched_calls_before']} {pct}{change['word']}"


def test_the_first_sentence_answers_who_calls_what_and_whether_it_gets_better(
    chromium: Browser, months: Running
) -> None:
    """With the totals of `overview`, and without a click."""
    totals = months.get("/api/v1/overview", **RANGE).json()["totals"]
    week, change = totals["windows"][0], totals["change"]
    with watched(chromium, months.url) as seen:
        seen.open("/")
        lead = seen.page.locator(".lead").inner_text().replace("\xa0", " ")
        under = seen.page.locator(".lead + .quiet").inner_text()
    assert lead == (
        f"{week['names']} of {totals['names']} retired names were called in the last 7 days, by "
        f"{week['clients']} clients. {change['stale_calls']} stale calls in the last 28 days, "
        f"{abs(change['pct'])} % {change['word']} than in the 28 days before."
    )
    assert f"{change['matched_calls']} calls against {change['matched_calls_before']}" in under
    assert f"over the {change['matched_hours']} of 672 hours" in under


def test_the_small_picture_has_a_bar_for_each_day_with_calls(
    chromium: Browser, months: Running
) -> None:
    """
    As high as its share of the highest, a shade for each day that the log does not cover, and a mark for each
    with a notification.
    """
    rows = months.rows("overview", **RANGE, sort="need", detail=True)
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(months.url)
        pictures = seen.page.locator("svg.spark").all()
        for row, picture in zip(rows, pictures, strict=True):
            values = [point["value"] for point in row["spark"] if point["value"]]
            bars = picture.locator(".bar").all()
            heights = [float(bar.get_attribute("height") or 0) for bar in bars]
            assert heights == pytest.approx(
                [max(21 * value / max(values), 1.5) for value in values], abs=0.01
            )
            gaps = [point for point in row["spark"] if not point["covered"]]
            widths = [
                float(gap.get_attribute("width") or 0) for gap in picture.locator(".gap").all()
            ]
            assert sum(widths) == pytest.approx(120 * len(gaps) / len(row["spark"]), abs=0.1)
            assert gaps
            told = [point for point in row["spark"] if point["notifications"]]
            assert picture.locator(".sent").count() == len(told) > 0


def test_the_things_to_do_are_those_of_rest(chromium: Browser, months: Running) -> None:
    """In their order, page by page."""
    wanted = [
        (row["client"] or NOBODY, row["name"], row["open_calls"], row["active_days"])
        for row in months.rows("todo", **RANGE)
    ]
    found: list[tuple[str, str, int, int]] = []
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(f"{months.url}/todo")
        while True:
            for cells in seen.page.locator("#todo tbody tr").all():
                client = cells.locator("th a").first.inner_text()
                name = cells.locator("td a.long").inner_text()
                calls, days = (int(text) for text in cells.locator("td.number").all_inner_texts())
                found.append((client, name, calls, days))
            onward = seen.page.get_by_role("link", name="next rows")
            if not onward.count():
                break
            with seen.page.expect_navigation():
                onward.click()
    assert found == wanted


def test_health_shows_the_account_of_rest(chromium: Browser, months: Running) -> None:
    """Row by row; the table of its figure adds the sources up."""
    columns = {
        "Day (UTC)": "day",
        "Server": "server",
        "Received": "received",
        "Accepted": "accepted",
        "Duplicates": "duplicates",
        "Ignored": "ignored",
    }
    rows = months.rows("health")
    with watched(chromium, months.url) as seen:
        seen.open("/health")
        seen.open_tables()
        shown, days = cells(seen, "accounts", columns), seen.table("table-records")
        lead = seen.page.locator(".lead").inner_text()
    assert [{**row, "Received": 0} for row in shown] == [
        {
            **{c: f"{row[c]:,}" if isinstance(row[c], int) else row[c] for c in columns.values()},
            "Received": 0,
        }
        for row in rows
    ]
    assert [number(day["received"]) for day in days] == [sum(row["received"] for row in rows)]
    assert sum(row["rejected"] for row in rows) == 2
    assert "2 records that could not be used" in lead


def test_events_are_those_of_rest(chromium: Browser, months: Running) -> None:
    """The last twenty, with kind, outcome and who made them."""
    asked = {"client": "openai-mcp", **RANGE}
    rows = months.get("/api/v1/events", **asked, limit=20).json()["items"]
    columns = {
        "Time": "time",
        "Kind": "kind",
        "Name as logged": "name",
        "Client": "client",
        "Outcome": "outcome",
        "Caller told by": "caller",
    }
    with watched(chromium, months.url) as seen:
        seen.open("/client?client=openai-mcp")
        shown = cells(seen, "events", columns)
    wanted = [{c: row[c] or "–" for c in columns.values()} for row in rows]
    for row in wanted:
        row["time"] = f"{row['time'][:16].replace('T', ' ')} UTC"
        row["kind"] = row["kind"].replace("_", " ")
    assert shown == wanted


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
    assert shown == wanted


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
        "Times told": "episodes",
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


def test_reactions_by_version_are_those_of_rest(chromium: Browser, months: Running) -> None:
    """Row by row, with what became of the episodes; a client's name leads to its own curve."""
    columns = {
        "Client": "client",
        "Version": "version",
        "Server": "server",
        "Notifications": "notifications",
        "Times told": "episodes",
        "Refreshed at once": "refreshed",
        "Already on their way": "in_flight",
    }
    asked = {**RANGE, "sort": "-episodes", "by": "version"}
    wanted = months.rows("reactions", **asked)
    with watched(chromium, months.url) as seen:
        seen.open("/reactions")
        shown = cells(seen, "reactions-by-version", columns)
        who = next(row["client"] for row in wanted if row["client"])
        with seen.leaving():
            seen.page.click(f"#reactions-by-version >> text={who} >> nth=0")
        heading = seen.page.locator("#figure-listing-times").inner_text()
    assert [
        (row["client"], row["version"], row["episodes"], row["in_flight"]) for row in shown
    ] == [
        (
            row["client"] or NOBODY,
            row["version"] or "not said",
            f"{row['episodes']:,}",
            f"{row['in_flight']:,}",
        )
        for row in wanted
    ]
    for mine, row in zip(shown, wanted, strict=True):
        shares = row["shares"]
        assert mine["refreshed"].startswith(f"{shares['refreshed']:,} of {shares['measured']:,}")
    assert heading == f"Time to listing of {who}"


def test_verdicts_are_of_the_clients_that_a_page_is_filtered_by(
    chromium: Browser, months: Running
) -> None:
    """On Names, and at the head of the page of one name, as REST has them; its last call is theirs, too."""
    client = months.rows("stopped", by="client", sort="-silent_days", client="cursor-vscode")[0]
    asked = {"server": client["server"], "name": client["name"], "client": "cursor-vscode"}
    (row,) = months.rows("stopped", **asked)
    (everyone,) = months.rows("stopped", server=asked["server"], name=asked["name"])
    assert row["verdict"] != everyone["verdict"]
    query = urlencode({**asked, "days": "all"})
    with watched(chromium, months.url) as seen:
        seen.open(f"/?{query}")
        (shown,) = seen.table("names")
        assert shown["Has everyone stopped?"].startswith(row["verdict"])
        seen.open(f"/name?{query}")
        said = seen.page.locator("#stopped-heading + p").inner_text()
        assert said.startswith(row["verdict"])
        last = seen.page.locator(".lead time").first.get_attribute("datetime")
        assert last == row["last_call"]
        assert last != everyone["last_call"]
