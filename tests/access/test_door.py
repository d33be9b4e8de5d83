"""Who may come in, route by route, from the application's own table of routes."""

import re
from collections.abc import Callable
from typing import Any

import httpx2 as httpx
import pytest

from service.access import Access
from service.api.needs import Need, Table, needed
from service.settings import Settings
from service.store.driver import Writer
from tests.access.conftest import LINE, House

STRANGERS_MAY = {
    "GET /ready",
    "GET /services/collector/health",
    "GET /services/collector/health/1.0",
    "OPTIONS /services/collector",
    "OPTIONS /services/collector/event",
    "OPTIONS /services/collector/event/1.0",
    "OPTIONS /services/collector/raw",
    "GET /static/{path:path}",
    "GET /login",
    "HEAD /login",
    "POST /login",
    "POST /logout",
}
"""Everything that may be had without a token; what is not here, may not."""
ADMINS_ONLY = {
    "GET /api/v1/rejects",
    "GET /api/v1/audit",
    "GET /api/v1/shares",
    "GET /shares",
    "HEAD /shares",
    "GET /undo/{batch}",
    "HEAD /undo/{batch}",
}
"""What is only asked, and is for admins all the same: lines of strangers, who did what, what is shared, the last
step before something goes."""
READERS_MAY = {"POST /explain"}
"""What is sent and tells nothing: a line that is explained and not kept."""
VALUES = {
    "{id}": "1", "{batch}": "1", "{source}": "edge", "{dataset}": "logs", "{index}": "mcp", "{id_}": "1",
    "{kind}": "events", "{name}": "mcp", "{more}": "policy", "{theme}": "light", "{figure}": "callers",
    "{path:path}": "site.css",
}  # fmt: skip
SENDER = {"User-Agent": "Filebeat/8.11.0"}


def routes(app: Any) -> list[tuple[str, str]]:
    """Method and path of every route, those that stand under `/to/{server}` too."""
    rows = Table(app.routes).rows
    found = {(method, row.path) for row in rows for method in row.methods}
    assert len(found) > 200, "the table is seen whole"
    return sorted(found)


def address(path: str) -> str:
    """A path with values in it."""
    path = re.sub(r"\{[a-z_:]+\}", lambda found: VALUES[found[0]], path)
    return path.replace("/to/", "/to/maps/", 1) if path.startswith("/to/") else path


def is_for_strangers(method: str, path: str) -> bool:
    return f"{method} {path.removeprefix('/to')}" in STRANGERS_MAY


def takes_lines(path: str) -> bool:
    """Whether a path is of a protocol by which lines come: all that is not REST, a page or of the manual."""
    ours = ("/api/v1/", "/figures/", "/tell-", "/undo/", "/static/")
    pages = {
        "/", "/name", "/todo", "/clients", "/client", "/effect", "/reactions", "/catalogue", "/health",
        "/told", "/filter", "/shares", "/share-view", "/share-revoke", "/docs", "/openapi.json", "/setup", "/setup-token", "/explain", "/search", "/search.json",
    }  # fmt: skip
    if path.removeprefix("/api/v1").startswith("/ingest"):
        return True
    return not path.startswith(ours) and path not in pages


def same(answer: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    """What a stranger sees of an answer; how a page is asked for is not part of it."""
    return answer.status_code, answer.content, dict(answer.headers)


def test_without_any_token_the_service_is_open(house: House) -> None:
    assert house.ask("POST", "/ingest?server=maps", content=LINE).json()["accepted"] == 1
    assert house.ask("GET", "/").status_code == 200
    assert house.ask("GET", "/api/v1/audit").status_code == 200


def test_every_route_that_a_token_opens_is_closed_to_strangers(house: House) -> None:
    """No token, a wrong one, one that was revoked: the answers are the same to the last byte."""
    house.token("anna", "admin")
    revoked = house.token("gone", "admin")
    house.access.revoke("gone", actor="command")
    house.client.follow_redirects = False
    for method, path in routes(house.app):
        at = address(path)
        answers = [
            house.ask(method, at, secret, headers=SENDER if path == "/" and secret else {})
            for secret in (None, "lct_" + "A" * 43, revoked, "no secret at all")
        ]
        answers[0] = house.ask(method, at, headers=SENDER if path == "/" else {})
        if is_for_strangers(method, path):
            continue
        for answer in answers:
            assert same(answer) == same(answers[0]), (method, path)
        first = answers[0]
        if first.status_code == 303:
            assert not takes_lines(path), path
            assert first.headers["location"].startswith("/login"), (method, path)
        else:
            assert first.status_code == 401, (method, path, first.status_code)
            assert first.headers["www-authenticate"].startswith("Bearer")


def test_nothing_else_is_open_to_strangers(house: House) -> None:
    """What may be had without a token is listed here, and no answer of it is a refusal for want of one."""
    house.token("anna", "admin")
    open_routes = {
        f"{method} {row.path.removeprefix('/to')}"
        for row in Table(house.app.routes).rows
        for method in row.methods
        if needed(row.endpoint, method) is Need.NOTHING
    }
    assert open_routes == STRANGERS_MAY
    for route in sorted(STRANGERS_MAY - {"POST /login"}):
        method, _, path = route.partition(" ")
        assert house.ask(method, address(path)).status_code in {200, 303}, route


def test_a_reader_may_ask_and_neither_tell_nor_deliver(house: House) -> None:
    secret = house.token("eva", "read")
    for method, path in routes(house.app):
        if is_for_strangers(method, path) or path == "/":
            continue
        answer = house.ask(method, address(path), secret)
        asks = method in {"GET", "HEAD"} and f"{method} {path}" not in ADMINS_ONLY
        asks = asks or f"{method} {path}" in READERS_MAY
        if asks and not takes_lines(path) and not path.startswith("/to/"):
            assert answer.status_code not in {401, 403}, (method, path, answer.text)
        else:
            assert answer.status_code == 403, (method, path, answer.status_code)


def test_who_delivers_may_neither_ask_nor_tell(house: House) -> None:
    secret = house.token("vector", "ingest:maps")
    for method, path in routes(house.app):
        if is_for_strangers(method, path) or path == "/":
            continue
        answer = house.ask(method, address(path), secret)
        if takes_lines(path):
            assert answer.status_code not in {401, 403}, (method, path, answer.text)
        else:
            assert answer.status_code == 403, (method, path, answer.status_code)


def test_an_admin_may_do_everything(house: House) -> None:
    secret = house.token("anna", "admin")
    for method, path in routes(house.app):
        if path == "/login":
            continue
        answer = house.ask(method, address(path), secret)
        assert answer.status_code not in {401, 403}, (method, path, answer.text)


def test_a_route_that_declares_nothing_is_for_admins(house: House) -> None:
    """Also one that nobody thought of; and a path where nothing is says so to no stranger."""

    @house.app.get("/forgotten")
    def forgotten() -> str:
        return "secret"

    admin, reader = house.token("anna", "admin"), house.token("eva", "read")
    assert house.ask("GET", "/forgotten").status_code == 401
    assert house.ask("GET", "/forgotten", reader).status_code == 403
    assert house.ask("GET", "/forgotten", admin).text == '"secret"'
    assert house.ask("GET", "/nothing-here").status_code == 401
    assert house.ask("GET", "/nothing-here", reader).status_code == 404
    assert house.ask("PATCH", "/ingest").status_code == 401
    assert house.ask("GET", "/names/", None).status_code == 401


@pytest.mark.parametrize(
    "path",
    ["//api/v1/names", "/api/v1/names/", "/api/v1/%6eames", "/API/v1/names", "/api//v1/names", "/to/",
     "/to//ingest", "/to/a/../api/v1/names", "/to/maps/api/v1/names", "/static/../api/v1/names",
     "/static/%2e%2e/api/v1/audit", "/api/v1/names;x", "/api/v1/names%00", "/login/../api/v1/names"],
)  # fmt: skip
def test_no_spelling_of_a_path_slips_through(house: House, path: str) -> None:
    """Whatever a path looks like: nobody without a token is told anything of the data."""
    house.ask("POST", "/ingest?server=maps", content=LINE)
    house.token("anna", "admin")
    answer = house.client.get(path)
    assert answer.status_code in {401, 303, 404, 422}
    assert "gone" not in answer.text


def test_a_token_made_by_another_process_closes_the_door(house: House, database_url: str) -> None:
    assert house.ask("GET", "/api/v1/names").status_code == 200
    other = Writer(database_url)
    theirs = Access(other, settings=Settings(database_url=database_url))
    secret = theirs.add("eva", "read", actor="command").secret
    assert house.ask("GET", "/api/v1/names").status_code == 401
    assert house.ask("GET", "/api/v1/names", secret).status_code == 200
    theirs.revoke("eva", actor="command")
    assert house.ask("GET", "/api/v1/names", secret).status_code == 401
    assert house.ask("GET", "/api/v1/names").status_code == 401, "the last one opens nothing"
    other.close()


def test_a_service_that_others_can_reach_is_never_open(open_house: Callable[..., House]) -> None:
    house = open_house(host="0.0.0.0")
    assert house.ask("GET", "/api/v1/names").status_code == 401
    assert house.ask("POST", "/ingest", content=LINE).status_code == 401


def test_a_token_says_whose_lines_they_are_and_who_sends_them(house: House) -> None:
    vector, admin = house.token("vector-1", "ingest:maps"), house.token("anna", "admin")
    for path in ("/ingest", "/to/maps/ingest", "/ingest?server=maps", "/ingest/mine"):
        line = LINE.replace("10:15", f"10:{len(path):02}")
        assert house.ask("POST", path, vector, content=line).json()["accepted"] == 1
    assert {row["server"] for row in house.events(admin)} == {"maps"}
    sources = house.ask("GET", "/api/v1/coverage", admin).json()["sources"]
    assert sorted(row["source"] for row in sources) == ["mine", "vector-1"]


@pytest.mark.parametrize(
    "path",
    ["/ingest?server=weather", "/to/weather/ingest", "/to/weather/v1/logs", "/to/weather/_bulk",
     "/ingest?server=maps&server=weather", "/ingest/mine?server=weather", "/ingest?s%65rver=weather"],
)  # fmt: skip
def test_a_token_of_one_server_delivers_for_no_other(house: House, path: str) -> None:
    vector, admin = house.token("vector", "ingest:maps"), house.token("anna", "admin")
    answer = house.ask("POST", path, vector, content=LINE)
    assert answer.status_code == 403
    assert "maps" not in answer.text
    assert house.events(admin) == []


def test_a_line_cannot_name_another_server_than_its_token(house: House) -> None:
    """A field names the server only where the token is for any."""
    one, any_, admin = (
        house.token("one", "ingest:maps"),
        house.token("all", "ingest:*"),
        house.token("anna", "admin"),
    )
    house.ask("POST", "/ingest", one, content=LINE)
    house.ask("POST", "/ingest?server=weather", any_, content=LINE)
    assert sorted(row["server"] for row in house.events(admin)) == ["maps", "weather"]


def test_a_stranger_s_body_is_not_read(house: House) -> None:
    """The refusal is there before the sender has said a word of it."""
    house.token("anna", "admin")
    taken = 0

    def body() -> Any:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b"x" * 65536

    assert house.ask("POST", "/ingest", content=body()).status_code == 401


def test_who_told_something_is_named_by_the_token(house: House) -> None:
    admin = house.token("anna", "admin")
    told = {"client": "windsurf-client", "target": "Windsurf"}
    assert house.ask("POST", "/api/v1/aliases", admin, json=told).status_code == 200
    [alias] = house.ask("GET", "/api/v1/aliases", admin).json()["items"]
    assert alias["actor"] == "anna"
    newest = house.ask("GET", "/api/v1/audit", admin).json()["items"][0]
    assert (newest["actor"], newest["action"]) == ("anna", "alias")


def test_a_reader_sees_no_audit_on_pages_either(house: House) -> None:
    admin, reader = house.token("anna", "admin"), house.token("eva", "read")
    assert 'id="audit"' in house.ask("GET", "/told", admin).text
    assert "Who did what" not in house.ask("GET", "/told", reader).text


def test_when_a_token_was_last_used_is_known(house: House) -> None:
    secret = house.token("eva", "read")
    assert house.access.tokens()[0].used_us is None
    house.ask("GET", "/api/v1/names", secret)
    assert house.access.tokens()[0].used_us == house.clock.now_us


def test_no_secret_is_in_logs_errors_or_pages(
    house: House, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Wherever it was shown: right or wrong, in a header, a query or a path."""
    caplog.set_level(0)
    right, wrong = house.token("anna", "admin"), "lct_" + "B" * 43
    said = []
    for secret in (right, wrong):
        basic = httpx.BasicAuth("x", secret)
        for path in ("/ingest", "/", "/told", "/health", "/api/v1/audit", "/api/v1/nothing", "/nothing",
                     "/_bulk", "/v1/logs", "/services/collector", "/firehose", "/login"):  # fmt: skip
            said.append(house.ask("GET", path, secret))
            said.append(house.ask("POST", path, secret, content=b"{"))
            said.append(house.ask("POST", f"{path}?token={secret}", content=b"{"))
            said.append(house.ask("GET", f"{path}?token={secret}"))
            said.append(house.client.get(path, auth=basic))
    out, err = capfd.readouterr()
    logged = [record.getMessage() for record in caplog.records if record.name != "httpx2"]
    for text in [*(str(each.headers) + each.text for each in said), *logged, out, err]:
        assert right not in text
        assert wrong not in text


def test_no_shared_cache_keeps_what_is_for_whoever_asked(house: House) -> None:
    """Every answer says so, refusals and what is not there, too; the static files alone are for all."""
    admin = house.token("eva", "admin")
    for method, path in [*routes(house.app), ("GET", "/nowhere")]:
        if path.startswith(("/static", "/to/")) or method != "GET":
            continue
        for secret in (admin, None):
            answer = house.ask(method, address(path), secret)
            said = set(answer.headers["Cache-Control"].split(", "))
            assert said & {"private", "no-store"}, (path, answer.status_code)
