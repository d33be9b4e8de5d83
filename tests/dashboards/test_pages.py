"""Pages of small logs, as the server writes them."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

NOW = "2026-10-06T12:30:00Z"
END = datetime(2026, 10, 6, 12, 30, tzinfo=UTC)


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a service that holds these lines."""
    with ExitStack() as started:

        def start(*lines: str) -> Running:
            settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
            service = started.enter_context(running(settings, now=NOW))
            body = "\n".join(lines).encode()
            assert service.client.post("/ingest?server=s", content=body).status_code == 200
            return service

        yield start


def stale(days_ago: float, name: str = "old", client: str | None = "c") -> str:
    """A stale call so many days before the clock."""
    at = (END - timedelta(days=days_ago)).isoformat().replace("+00:00", "Z")
    data = {"tool": name} if client is None else {"tool": name, "client": client}
    return json.dumps({"time": at, "data": data, "msg": "Retired tool called"})


def heartbeat(first: float, last: float) -> list[str]:
    """A line of another kind every six hours, from so many days ago to so many."""
    hours = range(int(last * 24), int(first * 24) + 1, 6)
    return [
        json.dumps(
            {"time": f"{(END - timedelta(hours=h)).isoformat()}", "msg": "Health check"}
        ).replace("+00:00", "Z")
        for h in hours
    ]


def sentence(page: str) -> str:
    """The first sentence, without its markup."""
    found = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    assert found is not None
    return " ".join(unescape(re.sub(r"<[^>]+>", "", found[1])).split())


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (3, 2, "2 stale calls in the last 28 days, fewer than in the 28 days before."),
        (2, 3, "3 stale calls in the last 28 days, more than in the 28 days before."),
        (2, 2, "2 stale calls in the last 28 days, as many as in the 28 days before."),
        (40, 30, "30 stale calls in the last 28 days, 25.0 % fewer than in the 28 days before."),
        (40, 29, "29 stale calls in the last 28 days, fewer than in the 28 days before."),
        (0, 0, "0 stale calls in the last 28 days and in the 28 days before."),
    ],
)
def test_the_sentence_compares_four_weeks_with_the_four_before(
    fed: Callable[..., Running], before: int, after: int, said: str
) -> None:
    """In words alone where either has fewer than thirty calls."""
    lines = [*heartbeat(80, 0), stale(70)]
    lines += [stale(30 + i / 100) for i in range(before)]
    lines += [stale(10 + i / 100) for i in range(after)]
    assert sentence(fed(*lines).get("/").text).endswith(said)


def test_a_short_history_is_not_compared(fed: Callable[..., Running]) -> None:
    """A young installation cannot know whether it gets better."""
    page = fed(*heartbeat(40, 0), stale(35), stale(1)).get("/").text
    assert sentence(page).endswith(
        "1 stale call in the last 28 days; with the 28 days before that cannot be compared."
    )
    assert "The history is too short to compare." in page


def test_too_little_covered_is_not_compared(fed: Callable[..., Running]) -> None:
    """A shipper that was broken for half of the time."""
    page = fed(*heartbeat(90, 50), *heartbeat(10, 0), stale(80), stale(1)).get("/").text
    assert "cannot be compared" in sentence(page)
    assert re.search(r"The log covers only \d+ of 672 hours in both", page)


def test_calls_that_name_no_client_are_said_to(fed: Callable[..., Running]) -> None:
    """Nobody is not a client."""
    page = fed(*heartbeat(80, 0), stale(1, client=None)).get("/").text
    assert (
        "1 of 1 retired name was called in the last 7 days, by no client that says its name."
        in (sentence(page))
    )


@pytest.mark.parametrize("tz", ["UTC", "Asia/Kathmandu"])
def test_hours_that_have_not_come_are_not_accused(fed: Callable[..., Running], tz: str) -> None:
    """The figure of today ends with the hour that has begun; no gap is drawn in the future."""
    service = fed(*heartbeat(80, 0), stale(0.1))
    search = f"from_day=2026-10-06&tz={tz}"
    made = service.client.get(f"/figures/light/calls-by-client.json?{search}").json()
    hours = made["layout"]["xaxis"]["categoryarray"]
    begun = END.astimezone(UTC) + (timedelta(hours=5.75) if tz != "UTC" else timedelta())
    assert len(hours) == begun.hour + 1
    assert [trace["name"] for trace in made["data"]] == ["c"]
    assert 'class="unheard"' not in service.client.get(f"/?{search}").text


def test_the_figure_has_the_buckets_of_its_table(fed: Callable[..., Running]) -> None:
    """Also where a range of days ends on a day that was chosen, and where there are filters."""
    service = fed(*heartbeat(80, 0), stale(80), stale(40), stale(41, client="d"))
    page = service.client.get("/?days=28&to_day=2026-09-01&client=c").text
    (search,) = re.findall(r'data-figure="/figures/calls-by-client.json(\?[^"]*)"', page)
    made = service.client.get(f"/figures/dark/calls-by-client.json{search.replace('&amp;', '&')}")
    table = page.split('id="table-calls-by-client"')[1].split("</table>")[0]
    days = re.findall(r'<th scope="row">([^<]*)</th>', table)
    assert (days[0], days[-1], len(days)) == ("2026-08-05", "2026-09-01", 28)
    assert made.json()["layout"]["xaxis"]["range"] == ["2026-08-05", "2026-09-02"]
    assert [trace["name"] for trace in made.json()["data"] if trace.get("yaxis") != "y2"] == ["c"]


def test_the_next_rows_follow_and_begin_again_when_the_data_has_changed(
    fed: Callable[..., Running],
) -> None:
    """A page sorted by what changes cannot go on then; it does not fail either."""
    service = fed(*heartbeat(80, 0), *(stale(1, f"name-{i:03}") for i in range(61)))
    first = service.client.get("/").text
    (following,) = re.findall(r'href="(/\?cursor=[^"]*)"', first)
    second = service.client.get(following)
    names = second.text.split('id="names"')[1].split("</table>")[0]
    assert re.findall(r'<th scope="row".*?<bdi>(.*?)</bdi>', names) == ["name-060"]
    service.client.post("/ingest?server=s", content=stale(0.5, "another").encode())
    again = service.client.get(following)
    assert (again.status_code, again.headers["location"]) == (303, "/?")
    assert service.client.get("/?").status_code == 200


def test_a_page_with_a_filter_is_about_what_it_lets_through(fed: Callable[..., Running]) -> None:
    """Its tiles too, not its table alone."""
    service = fed(*heartbeat(80, 0), stale(1), stale(2), stale(3, client="d"), stale(4, "new"))
    name = service.get("/name", server="s", name="old", client="d").text
    client = service.get("/client", client="c", name="old").text
    assert "<dt>Stale calls in range</dt><dd>1</dd>" in name
    assert "<dt>Stale calls in range</dt><dd>2</dd>" in client
    assert "<dt>Retired names</dt><dd>1</dd>" in client


def test_a_parameter_that_cannot_be_used_can_be_left_out(fed: Callable[..., Running]) -> None:
    """The refusal is a page, says why, and leads on."""
    service = fed(stale(1))
    refused = service.get("/clients", from_day="yesterday", tz="Asia/Tokyo")
    assert refused.status_code == 422
    assert refused.headers["content-type"].startswith("text/html")
    assert "write a date such as 2026-10-05" in refused.text
    assert 'href="?tz=Asia%2FTokyo"' in refused.text


@pytest.mark.parametrize(
    "path", ["/", "/name?server=s&name=old", "/clients", "/client?client=c", "/todo", "/catalogue"]
)
@pytest.mark.parametrize(
    ("as_of", "days"), [("2026-09-30T12:30:00Z", {2, 3, 4, 5}), ("2026-12-24", {8, 9, 10, 11})]
)
def test_how_long_ago_counts_from_the_instant_that_is_asked_for(
    fed: Callable[..., Running], path: str, as_of: str, days: set[int]
) -> None:
    """From the clock only where that instant has not come yet."""
    service = fed(*heartbeat(80, 0), *(stale(days) for days in (11, 10, 9, 8)))
    page = service.client.get(f"{path}{'&' if '?' in path else '?'}as_of={as_of}").text
    found = {int(number) for number in re.findall(r"(\d+) days? ago", page)}
    assert min(found) == min(days)
    assert found <= days


def words(page: str) -> str:
    """All that a page says, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", page).split())


def test_a_log_that_is_silent_is_no_zero(fed: Callable[..., Running]) -> None:
    """Nobody is said not to call where nobody listened."""
    service = fed(*heartbeat(60, 20), stale(21), stale(40, name="older"))
    page = service.get("/").text
    assert sentence(page).startswith(
        "Nothing has been heard since 2026-09-16 (19 days): who calls now is not known. "
        "Look at the shipper of s / http: Health."
    )
    assert "0 of 2" not in sentence(page)
    assert words(page).count("not heard for 19 days") == 2
    about = {"server": "s", "name": "old"}
    assert "not heard for 19 days" in sentence(service.get("/name", **about).text)


@pytest.mark.parametrize("path", ["/", "/name?server=s&name=old", "/client?client=c", "/todo"])
def test_who_reads_of_calls_is_told_which_source_is_silent(
    fed: Callable[..., Running], path: str
) -> None:
    """Beside a link to where more is said of it; not where the log is heard."""
    silent = fed(*heartbeat(60, 3), stale(4)).client.get(path).text
    assert "Silent now, so that calls may be missing: s / http. Health says" in words(silent)
    assert 'href="/health"' in silent.split('id="silent"')[1].split("</p>")[0]


def test_of_days_that_were_heard_in_part_a_zero_says_so(fed: Callable[..., Running]) -> None:
    """Two of the seven days were not heard."""
    page = fed(*heartbeat(60, 3), stale(20)).get("/").text
    assert re.search(r"0 of 1 .* as far as it was heard: \d+ of 169 hours\.", sentence(page))


def test_no_source_was_heard_until_later_than_now(fed: Callable[..., Running]) -> None:
    """Hours are heard as wholes, and this one is not over."""
    page = fed(*heartbeat(10, 0), stale(0.001)).get("/health").text
    table = page.split('id="sources"')[1].split("</table>")[0]
    assert "2026-10-06 12:30 UTC" in table
    assert "13:00" not in table
