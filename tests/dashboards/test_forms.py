"""What people tell on pages, sent as a browser sends a form."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

NOW = "2026-10-06T12:30:00Z"
ODD = ("gateway (via inner) (via outer)", "tool/1.0/2.0", "B" * 300, "<b>&\"'", "plain")
"""Names that are shown otherwise than they were sent, or that a form has to escape."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    """Two calls to `route` of each odd client, on two days, and one of nobody."""
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    lines = [
        {"time": f"2026-10-0{day}T10:00:0{at}Z", "data": {"tool": "route", "client": name}}
        for day in (3, 4)
        for at, name in enumerate((*ODD, None))
    ]
    body = "\n".join(json.dumps({**line, "msg": "Retired tool called"}) for line in lines)
    with running(settings, now=NOW) as running_service:
        running_service.client.post("/ingest?server=maps", content=body.encode())
        yield running_service


def send(service: Running, path: str, **fields: Any) -> httpx.Response:
    return service.client.post(f"/tell-{path}", data={"back": "/todo", **fields})


def clients(service: Running) -> dict[str | None, int]:
    return {row["client"]: row["stale_calls"] for row in service.rows("callers")}


def test_a_mark_is_told_listed_and_taken_back(service: Running) -> None:
    """It ends in the page that it came from, and the things to do are one less meanwhile."""
    back = "/client?client=plain"
    about = {"kind": "known", "client": "plain", "server": "maps", "note": "a demo", "back": back}
    answer = send(service, "mark", **about)
    assert (answer.status_code, answer.headers["location"]) == (303, back)
    (row,) = service.rows("marks")
    assert (row["client"], row["name"], row["note"], row["actor"]) == (
        "plain",
        None,
        "a demo",
        "page",
    )
    assert "plain" not in [one["client"] for one in service.rows("todo")]
    page = service.client.get(back).text
    assert "a demo" in page
    assert f'<input type="hidden" name="id" value="{row["id"]}">' in page
    send(service, "unmark", id=row["id"])
    assert service.rows("marks") == []
    assert "plain" in [one["client"] for one in service.rows("todo")]


def test_a_mark_can_be_of_one_name_since_a_day(service: Running) -> None:
    """The page's options say which, and a day is one of the page's zone."""
    page = service.get("/client", client="plain").text
    (about,) = re.findall(r'<option value="(server=[^"]*)"', page)
    told = {"kind": "resolved", "client": "plain", "about": unescape(about)}
    send(service, "mark", **told, at="2026-10-04", tz="Asia/Tokyo")
    (row,) = service.rows("marks")
    assert (row["name"], row["at"], row["status"]) == (
        "route",
        "2026-10-03T15:00:00.000Z",
        "reopened",
    )


@pytest.mark.parametrize("sent", ODD)
def test_what_is_told_of_a_client_is_of_the_one_that_is_shown(service: Running, sent: str) -> None:
    """Not of one whose name it looks like."""
    shown = next(name for name in clients(service) if name and name[:8] == sent[:8])
    send(service, "mark", kind="known", client=shown, server="maps")
    assert [row["client"] for row in service.rows("callers") if row["status"] == "known"] == [shown]
    send(service, "exclude", client=shown)
    assert shown not in clients(service)
    assert len(clients(service)) == len(ODD)
    (rule,) = service.rows("exclusions")
    assert rule["stale_calls"] == 2
    send(service, "include", id=rule["id"])
    send(service, "alias", client=shown, target="Somebody")
    assert clients(service)["Somebody"] == 2
    (alias,) = service.rows("aliases")
    send(service, "unalias", client=alias["client"])
    assert clients(service)[shown] == 2


def test_every_page_says_how_much_rules_leave_out(service: Running) -> None:
    """And leads to it."""
    assert "are left out by rules" not in service.get("/").text
    send(service, "exclude", client="plain", note="mine")
    for path in ("/", "/name?server=maps&name=route", "/clients", "/health"):
        page = service.client.get(path).text
        assert "2 calls are left out by rules" in page
        (link,) = re.findall(r'<a href="([^"]*excluded=only[^"]*)">show them', page)
        assert service.client.get(unescape(link)).status_code == 200
    only = service.client.get("/name?server=maps&name=route&excluded=only").text
    named = re.findall(
        r'<th scope="row"[^>]*><span[^>]*><a class="long"[^>]*><bdi>([^<]*)</bdi></a>', only
    )
    assert set(named) == {"plain"}


def test_calls_that_rules_leave_out_are_no_good_zero(service: Running) -> None:
    """A page whose every call is left out says so, and so does one where no rule leaves anything out."""
    assert 'data-empty="filtered"' in service.get("/todo", excluded="only").text
    send(service, "exclude", client="p*n")
    for path in ("/client?client=plain", "/todo?client=plain", "/?client=plain"):
        assert 'data-empty="ruled"' in service.client.get(path).text


def test_an_entry_is_edited_hidden_and_shown_again(service: Running) -> None:
    """An empty field takes back what was said; nothing can be said to replace a name."""
    named = {"server": "maps", "name": "route"}
    send(
        service, "entry", **named, last_release="1.6", replaced_by="a\r\nb", retired_at="2026-10-01"
    )
    (row,) = service.rows("catalogue")
    assert (row["last_release"], row["replaced_by"], row["retired_at"], row["actor"]) == (
        "1.6",
        ["a", "b"],
        "2026-10-01T00:00:00.000Z",
        "page",
    )
    page = service.get("/name", **named).text
    assert re.search(r'name="last_release"[^>]*value="1.6"', page)
    send(service, "entry", **named, nothing_replaces="yes")
    (row,) = service.rows("catalogue")
    assert (row["last_release"], row["replaced_by"], row["versions"]) == (None, [], 2)
    both = send(service, "entry", **named, nothing_replaces="yes", replaced_by="a")
    assert both.status_code == 422
    send(service, "hide", **named)
    assert service.rows("names") == []
    send(service, "unhide", **named)
    assert [name["name"] for name in service.rows("names")] == ["route"]


def test_what_cannot_be_kept_is_refused_by_a_page_that_leads_back(service: Running) -> None:
    """Nothing is changed then."""
    answer = send(service, "alias", client="plain", target="plain", back="/client?client=plain")
    assert answer.status_code == 422
    assert "is the same client already" in answer.text
    assert '<a href="/client?client=plain">Go back</a>' in answer.text
    assert send(service, "unmark", id="7").status_code == 404
    assert send(service, "unmark", id="x").status_code == 422
    assert send(service, "mark", kind="known", client="plain").status_code == 422
    assert send(service, "alias", client="x" * 70_000, target="y").status_code == 413
    assert service.rows("audit") == []


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://elsewhere.example"},
        {"origin": "null"},
        *(
            {"origin": odd}
            for odd in ("", "http://", "http://[::1", "http://[", "://", "http://a]b")
        ),
    ],
)
def test_no_other_site_can_send_a_form(service: Running, headers: dict[str, str]) -> None:
    """Whichever of the two a browser says."""
    told = {"kind": "known", "client": "plain", "server": "maps"}
    answer = service.client.post("/tell-mark", data=told, headers=headers)
    assert answer.status_code in {403, 422}
    assert service.rows("marks") == []


@pytest.mark.parametrize(
    "back",
    ["//elsewhere.example", "http://elsewhere.example", "/\\elsewhere", "/x\r\nSet-Cookie: a=b"],
)
def test_a_form_never_leads_to_another_site(service: Running, back: str) -> None:
    """Whatever it says of where it came from."""
    told = {"kind": "known", "client": "plain", "server": "maps"}
    answer = send(service, "mark", **told, back=back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/todo")
