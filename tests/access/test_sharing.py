"""Links are made, listed and revoked: by the seam on both databases, by commands, REST and a form."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from service.app import create_app
from service.cli import app
from service.errors import BadParameter, NotFound
from service.settings import Settings
from service.sharing import Sharing, end_of, origins
from service.store.driver import Writer
from tests.access.conftest import LINE, Hands, House
from tests.unspoken import secrets_in


@pytest.fixture
def both(open_house: Callable[..., House]) -> House:
    """A service with a line of *maps*, on each database."""
    house = open_house()
    house.ask("POST", "/ingest?server=maps", content=LINE)
    return house


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[House]:
    """A service with a line of *maps*."""
    clock = Hands()
    url = f"sqlite:///{tmp_path / 'events.db'}"
    made = create_app(Settings(database_url=url, allowed_hosts="testserver"), clock=clock)
    with TestClient(made, follow_redirects=False) as client:
        house = House(made, client, clock)
        house.ask("POST", "/ingest?server=maps", content=LINE)
        yield house


def sharing_of(house: House) -> Sharing:
    found: Sharing = house.app.state.sharing
    return found


def test_a_link_is_known_by_its_secret_until_it_ends_or_is_revoked(both: House) -> None:
    sharing = sharing_of(both)
    made = sharing.add(
        "maps", "gone", "", expires="2h", embed=["https://wiki.example"], actor="anna"
    )
    assert re.fullmatch(r"/shared/lcs_[A-Za-z0-9_-]{43}/", made.path)
    found = sharing.find(made.secret)
    assert found == made.share
    assert found is not None
    assert found.bound.given() == {"server": "maps", "name": "gone", "client": ""}
    both.clock.pass_s(2 * 3600 - 0.001)
    assert sharing.find(made.secret) is not None
    both.clock.pass_s(0.001)
    assert sharing.find(made.secret) is None
    with pytest.raises(NotFound):
        sharing.revoke(made.share.id, actor="anna")
    other = sharing.add("maps", expires="never", actor="anna")
    both.clock.pass_s(10**9)
    assert sharing.find(other.secret) is not None
    assert sharing.revoke(other.share.id, actor="eva").revoked_by == "eva"
    assert sharing.find(other.secret) is None
    assert [each.id for each in sharing.shares()] == [made.share.id, other.share.id]


def test_another_process_ends_a_link_at_once(both: House, database_url: str) -> None:
    made = sharing_of(both).add("maps", actor="anna")
    other = Writer(database_url)
    Sharing(other).revoke(made.share.id, actor="command")
    other.close()
    assert both.client.get(made.path).status_code == 404


def test_the_audit_says_who_shared_and_revoked_what(both: House) -> None:
    made = sharing_of(both).add("maps", client="", expires="1w", actor="anna")
    sharing_of(both).revoke(made.share.id, actor="eva")
    ended, shared, *_ = both.client.get("/api/v1/audit").json()["items"]
    assert (shared["actor"], shared["action"], shared["subject"]) == ("anna", "share", "link 1")
    assert shared["detail"]["server"] == "maps"
    assert shared["detail"]["client"] == ""
    assert (ended["actor"], ended["action"]) == ("eva", "revoke share")


def test_when_a_link_was_last_used_is_known_to_the_minute(both: House) -> None:
    made = sharing_of(both).add("maps", actor="anna")
    assert sharing_of(both).shares()[0].used_us is None
    both.client.get(made.path)
    first = sharing_of(both).shares()[0].used_us
    assert first == both.clock.now_us
    both.clock.pass_s(30)
    both.client.get(made.path)
    assert sharing_of(both).shares()[0].used_us == first
    both.clock.pass_s(31)
    both.client.get(made.path)
    assert sharing_of(both).shares()[0].used_us == both.clock.now_us


@pytest.mark.parametrize("server", [None, "", "  ", "mpas", "x" * 200, "maps\0s"])
def test_a_link_to_no_server_that_is_there_is_refused(shop: House, server: str | None) -> None:
    with pytest.raises(BadParameter, match="server"):
        sharing_of(shop).add(server, actor="anna")


@pytest.mark.parametrize(("name", "client"), [("gonne", None), (None, "zedd"), ("gone", "zedd")])
def test_a_link_to_a_name_or_client_that_nobody_knows_is_refused(
    both: House, name: str | None, client: str | None
) -> None:
    """It would show nothing, and nobody would know why."""
    with pytest.raises(BadParameter, match=r"write it as the pages do"):
        sharing_of(both).add("maps", name, client, actor="anna")
    assert sharing_of(both).shares() == []


@pytest.mark.parametrize(
    "spelled", ["zed", "ZED", "Zed (via mcp-remote 0.1.29)", "zed/1.2", "the one"]
)
@pytest.mark.parametrize("is_given_a_name", [False, True])
def test_a_client_is_shared_in_any_spelling_and_by_the_name_that_it_was_given(
    shop: House, spelled: str, is_given_a_name: bool
) -> None:
    """And the links of its pages, which spell it as answers do, hold."""
    line = LINE.replace('"gone"', '"gone","client":"Zed"').replace("10:15", "11:15")
    shop.ask("POST", "/ingest?server=maps", content=line)
    if is_given_a_name:
        shop.ask("POST", "/api/v1/aliases", json={"client": "Zed", "target": "the one"})
    elif spelled == "the one":
        with pytest.raises(BadParameter):
            sharing_of(shop).add("maps", client=spelled, actor="anna")
        return
    root = sharing_of(shop).add("maps", client=spelled, actor="anna").path.removesuffix("/")
    rows = shop.client.get(f"{root}/api/v1/callers").json()["items"]
    assert [row["client"] for row in rows] == ["the one" if is_given_a_name else "Zed"]
    page = shop.client.get(f"{root}/client")
    links = set(re.findall(r'href="([^"]*/client[?][^"]*)"', page.text))
    assert links
    for each in links:
        assert shop.client.get(each.replace("&amp;", "&")).status_code == 200, each


@pytest.mark.parametrize(
    "span",
    ["0d", "-1d", "1", "d", "1y", "99999w", "1e3d", "٣d", "1d 2h", "forever", "9" * 400 + "d"],
)
def test_a_span_that_is_none_is_refused_with_what_would_do(span: str) -> None:
    with pytest.raises(BadParameter, match="12h, 30d or 8w"):
        end_of(span, 0)


@pytest.mark.parametrize(
    "origin",
    ["wiki.example", "https://", "https://*", "https://*.example", "https://wiki.example/page", "javascript:alert(1)",
     "https://wiki.example; script-src *", "https://a.example,https://b.example", "'self'", "*", "data:", "null",
     "https://wiki.example:0", "https://wiki.example:99999", "https://user@wiki.example", "https://wiki.example?x",
     "https://wiki.example\r\nX: y", "https://wiki .example", "ftp://wiki.example", "https://wikí.example",
     "https://-wiki.example", "https://wiki.example#x", "https:/wiki.example", "//wiki.example", "https://[::1"],
)  # fmt: skip
def test_what_is_no_origin_is_never_put_into_a_policy(origin: str) -> None:
    with pytest.raises(BadParameter, match=r"https://wiki\.example"):
        origins([origin])


def test_origins_are_taken_as_browsers_write_them() -> None:
    given = [
        "https://Wiki.Example/",
        "https://wiki.example",
        "http://localhost:3000",
        "http://[::1]:80",
        " ",
    ]
    assert origins(given) == ("https://wiki.example", "http://localhost:3000", "http://[::1]:80")
    with pytest.raises(BadParameter, match="at most 8"):
        origins([f"https://w{n}.example" for n in range(9)])


def test_pages_may_be_framed_by_the_origins_of_their_link_and_by_nobody_else(shop: House) -> None:
    two = sharing_of(shop).add(
        "maps", embed=["https://a.example", "http://b.example:81"], actor="anna"
    )
    none = sharing_of(shop).add("maps", actor="anna")
    policies = {
        path: shop.client.get(path).headers["content-security-policy"]
        for path in (two.path, two.path + "?embed=1", two.path + "?days=x", two.path + "told", none.path, "/",
                     "/?embed=1")
    }  # fmt: skip
    for path, policy in policies.items():
        is_named = path.startswith(two.path)
        ancestors = re.findall(r"frame-ancestors ([^;]*)", policy)
        assert ancestors == ["https://a.example http://b.example:81" if is_named else "'none'"], (
            path
        )
    assert (
        "frame-ancestors 'none'"
        in shop.client.get("/shared/lcs_x/").headers["content-security-policy"]
    )


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_an_embedded_page_has_no_bar_and_no_controls_in_its_theme(shop: House, theme: str) -> None:
    """And its links lead to pages like it."""
    path = sharing_of(shop).add("maps", actor="anna").path
    page = shop.client.get(f"{path}?embed=1&theme={theme}").text
    for part in (
        "<header",
        "<nav",
        'class="controls"',
        "<dialog",
        'method="post"',
        "This page as JSON",
    ):
        assert part not in page, part
    assert ("data-theme=" in page) is (theme != "auto")
    assert theme == "auto" or f'data-theme="{theme}"' in page
    links = [
        each
        for each in re.findall(r'href="([^"]*/(?:name|client)\?[^"]*)"', page)
        if "/api/" not in each
    ]
    assert links
    assert all("embed=1" in each for each in links)
    wrong = shop.client.get(f"{path}?embed=1&theme={theme}&days=x").text
    assert "days: must be one of" in wrong
    assert "<header" not in wrong
    plain = shop.client.get(path).text
    assert 'class="controls"' in plain
    assert "data-embedded" not in plain


def test_rest_makes_lists_and_revokes_links_for_admins_alone(shop: House) -> None:
    admin, reader = shop.token("anna", "admin"), shop.token("eva", "read")
    asked = {
        "server": "maps",
        "name": "gone",
        "expires": "12h",
        "embed": "https://a.example https://b.example",
    }
    assert shop.ask("POST", "/api/v1/shares", reader, json=asked).status_code == 403
    assert shop.ask("GET", "/api/v1/shares", reader).status_code == 403
    answer = shop.ask("POST", "/api/v1/shares", admin, json=asked)
    made = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert (made["actor"], made["name"], made["client"], made["stands"]) == (
        "anna",
        "gone",
        None,
        True,
    )
    assert made["embed"] == ["https://a.example", "https://b.example"]
    assert shop.client.get(made["path"] + "api/v1/names").status_code == 200
    [listed] = shop.ask("GET", "/api/v1/shares", admin).json()["items"]
    assert {**listed, "path": made["path"], "last_used": None} == made
    assert shop.ask("DELETE", f"/api/v1/shares/{made['id']}", reader).status_code == 403
    assert shop.ask("DELETE", f"/api/v1/shares/{made['id']}", admin).status_code == 204
    assert shop.ask("DELETE", f"/api/v1/shares/{made['id']}", admin).status_code == 404
    assert shop.client.get(made["path"] + "api/v1/names").status_code == 404


@pytest.mark.parametrize(
    ("body", "parameter"),
    [({}, "server"), ({"server": "mpas"}, "server"), ({"server": "maps", "expires": "soon"}, "expires"),
     ({"server": "maps", "embed": "wiki"}, "embed"), ({"server": "maps", "x": "y"}, "x"),
     ({"server": 1}, "server")],
)  # fmt: skip
def test_rest_says_what_was_wrong_with_a_link(
    shop: House, body: dict[str, object], parameter: str
) -> None:
    answer = shop.ask("POST", "/api/v1/shares", json=body)
    assert answer.status_code == 422
    assert answer.json()["parameter"] == parameter


def test_a_page_makes_a_link_to_its_view_and_shows_it_once(shop: House) -> None:
    """The link leads to the very view, without what it says anyway; the list of links holds no secret."""
    page = shop.client.get("/name?server=maps&name=gone&days=28&tz=Asia%2FTokyo").text
    [form] = re.findall(r'<form[^>]*action="/share-view".*?</form>', page, re.DOTALL)
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form))
    fields = {key: value.replace("&amp;", "&") for key, value in fields.items()}
    assert fields["server"] == "maps"
    assert fields["name"] == "gone"
    answer = shop.client.post(
        "/share-view", data={**fields, "expires": "1d", "embed": "https://wiki.example"}
    )
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    [address] = re.findall(r"<textarea[^>]*>([^<]*)</textarea>", answer.text)
    address = address.replace("&amp;", "&")
    assert re.fullmatch(r"http://testserver/shared/[^/]+/name\?days=28&tz=Asia%2FTokyo", address)
    shown = shop.client.get(address)
    assert shown.status_code == 200
    assert "name is <b>gone</b>" not in shown.text  # it is what the page is about
    listed = shop.client.get("/shares").text
    assert secrets_in(listed) == []
    assert "https://wiki.example" in listed
    ended = shop.client.post("/share-revoke", data={"id": "1"})
    assert (ended.status_code, ended.headers["location"]) == (303, "/shares")
    assert shop.client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("view", "below"),
    [("/told", ""), ("https://evil.example/", ""), ("//evil.example", ""), ("/\\evil", ""), ("/clients?server=maps", "clients"),
     ("/?cursor=x&client=zed", ""), ("/clients?name=gone&days=7", "clients?days=7")],
)  # fmt: skip
def test_a_link_leads_to_a_page_that_it_shows(shop: House, view: str, below: str) -> None:
    answer = shop.client.post("/share-view", data={"server": "maps", "view": view})
    [address] = re.findall(r"<textarea[^>]*>([^<]*)</textarea>", answer.text)
    assert re.fullmatch(rf"http://testserver/shared/[^/]+/{re.escape(below)}", address)
    assert shop.client.get(address).status_code == 200


def test_the_form_is_on_pages_that_a_link_shows_and_for_admins_alone(shop: House) -> None:
    admin, reader = shop.token("anna", "admin"), shop.token("eva", "read")
    for path, is_there in (("/", True), ("/clients", True), ("/clients?name=gone", False), ("/told", False),
                           ("/health", False), ("/todo", False), ("/effect?client=zed", False)):  # fmt: skip
        assert ("/share-view" in shop.ask("GET", path, admin).text) is is_there, path
        assert "/share-view" not in shop.ask("GET", path, reader).text
    assert shop.ask("POST", "/share-view", reader, data={"server": "maps"}).status_code == 403
    assert shop.ask("GET", "/shares", reader).status_code == 403
    assert "Shared links" not in shop.ask("GET", "/search.json?q=shared", reader).text
    assert "Shared links" in shop.ask("GET", "/search.json?q=shared", admin).text


def test_another_site_makes_no_link(shop: House) -> None:
    headers = {"Origin": "https://evil.example"}
    answer = shop.client.post("/share-view", data={"server": "maps"}, headers=headers)
    assert answer.status_code == 403
    assert sharing_of(shop).shares() == []


def test_commands_make_list_and_revoke_links(tmp_path: Path) -> None:
    database, log = str(tmp_path / "x.db"), tmp_path / "x.log"
    log.write_text(LINE)
    runner = CliRunner()

    def run(*words: str) -> str:
        done = runner.invoke(app, [*words, "--db", database])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("ingest", str(log), "--server", "maps")
    assert run("share", "list") == "Nothing was ever shared.\n"
    words = (
        "--server",
        "maps",
        "--name",
        "gone",
        "--expires",
        "8w",
        "--embed",
        "https://wiki.example",
    )
    path = run("share", "add", *words).strip()
    assert re.fullmatch(r"/shared/lcs_[A-Za-z0-9_-]{43}/", path)
    made = json.loads(run("share", "add", "--server", "maps", "--client", "", "--json"))
    assert (made["id"], made["client"], made["stands"]) == (2, "", True)
    listed = run("share", "list")
    assert secrets_in(listed) == []
    assert "1: server maps, name gone, made" in listed
    assert "may be framed by https://wiki.example" in listed
    assert "client not named in the log" in listed
    assert run("share", "revoke", "1") == "link 1 is revoked\n"
    rows = json.loads(run("share", "list", "--json"))
    assert [row["stands"] for row in rows] == [False, True]
    wrong = runner.invoke(app, ["share", "add", "--server", "mpas", "--db", database])
    assert isinstance(wrong.exception, BadParameter)
    assert "no such server; there is maps" in str(wrong.exception)
    gone = runner.invoke(app, ["share", "revoke", "1", "--db", database])
    assert isinstance(gone.exception, NotFound)
