"""What a link shows, route by route from the application's own table: one filter, and nothing beside it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, get_args

import httpx2 as httpx
import pytest

from dashboards.figure_routes import Figure
from service.api.needs import Table
from service.sharing import Sharing
from tests.access import shared
from tests.access.conftest import LINE, House
from tests.access.shared import OTHER, OWN
from tests.access.test_door import address

SHOWN: Final = {
    "/", "/name", "/clients", "/client", "/effect", "/reactions", "/static/{path:path}",
    "/figures/{theme}/{figure}.json",
    *(f"/api/v1/{noun}" for noun in (
        "overview", "names", "compare", "callers", "stopped", "cures", "clients", "reactions",
        "reactions/latency", "effect", "effect/clients", "effect/names", "effect/weeks", "effect/since",
        "uptake", "vintage", "events", "series", "said", "coverage", "releases", "annotations",
    )),
}  # fmt: skip
"""Everything that a link to a server shows; what is not here, it does not."""
NOT_OF_A_NAME: Final = {
    "/clients", "/client", "/reactions", "/api/v1/reactions", "/api/v1/reactions/latency", "/api/v1/vintage",
}  # fmt: skip
"""What is about clients whatever they call: not shown by a link to one name."""
NOT_OF_A_CLIENT: Final = {
    "/effect",
    "/api/v1/effect",
    "/api/v1/effect/clients",
    "/api/v1/effect/names",
    "/api/v1/effect/weeks",
    "/api/v1/effect/since",
}
"""What is about all clients together: not shown by a link to one."""
BOUNDS: Final = {
    "a server": {},
    "a name": {"name": f"{OWN}-name-one"},
    "a client": {"client": f"{OWN}-client-alpha"},
    "a name and a client": {"name": f"{OWN}-name-one", "client": f"{OWN}-client-alpha"},
}
HIDDEN: Final = {
    "name": (f"{OWN}-name-two", f"{OWN}-new-two", f"{OWN}-name-told"),
    "client": (f"{OWN}-client-beta", f"{OWN}-client-gamma"),
}
"""What a link must not show of its own server, where it is bound to one name or client."""
ASKED: Final = (
    "", "format=csv", "format=json", "format=md", "by=client", "by=name", "by=version", "by=message", "days=all",
    "excluded=count", "excluded=only", "as_of=2026-11-20", "sort=-server", "limit=1", "show=all",
    "metric=notifications", "metric=callers&by=client", "kind=notification", "kind=hello", "provenance=true",
    "changed=true", "question=stopped&by=client", "by=client&methods=all", "bucket=week", "top=1&by=client",
    f"name={OWN}-name-one", f"name={OWN}-name-two", f"client={OWN}-client-alpha", f"client={OWN}-client-beta",
    "client=", "server=", "server=maps", "not_server=weather", "from_day=2026-11-01", "embed=1&theme=dark",
)  # fmt: skip
"""Questions, of which each route understands some."""
TRIED: Final = (
    "server={server}", "server=maps&server={server}", "server={server}&server=maps", "s%65rver={server}",
    "server=&server={server}", "server=maps%26server={server}", "server=maps;server={server}", "SERVER={server}",
    "server[]={server}", "server=%00{server}", "server=maps,{server}", "server=maps|{server}", "not_server=maps",
    "not_server={server}", "name={name}", "name={name}&client=", "client={client}", "client={client}&days=all",
    "client={client}&client=", "not_client={client}", "source={server}-log", "q={client}", "version=1.0-canary",
)  # fmt: skip
"""Attempts at the other server."""
BY_BOUND = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())
_PLACES = re.compile(r'"next_cursor":"[^"]*"|cursor=[^"&]*')
"""Places in a list, which hold a digest of the question."""


def link(house: House, **bound: str) -> str:
    """A new link to *maps*; its path, without the slash at the end."""
    sharing: Sharing = house.app.state.sharing
    return sharing.add("maps", **bound, actor="command").path.removesuffix("/")


def places(house: House) -> list[tuple[str, str]]:
    """Every path that can be asked, as its route is written and with values in it, each figure's too."""
    found = []
    for row in Table(house.app.routes).rows:
        if "GET" in row.methods and not row.for_senders:
            values = get_args(Figure) if "{figure}" in row.path else ("",)
            found += [(row.path, address(row.path.replace("{figure}", each))) for each in values]
    return found


def is_shown(path: str, bound: dict[str, str]) -> bool:
    hidden = (NOT_OF_A_NAME if "name" in bound else set()) | (
        NOT_OF_A_CLIENT if "client" in bound else set()
    )
    return path in SHOWN - hidden


def ask(house: House, root: str, path: str, query: str) -> httpx.Response:
    """A page about one thing is asked about ours."""
    if path in {"/name", "/client"} and f"{path[1:]}=" not in query:
        query = f"{path[1:]}={OWN}-{'name-one' if path == '/name' else 'client-alpha'}&{query}"
    return house.client.get(f"{root}{path}?{query}")


def hidden_in(bound: dict[str, str]) -> tuple[str, ...]:
    told = (f"{OWN}-note", "anna")  # what people wrote, and who
    return (OTHER, *told, *(word for key in bound for word in HIDDEN[key]))


@BY_BOUND
def test_a_link_shows_what_is_listed_here_and_nothing_else(
    world: House, bound: dict[str, str]
) -> None:
    """By any method: what is sent is refused everywhere, and so is what nobody declared."""
    root = link(world, **bound)
    for row in Table(world.app.routes).rows:
        path = address(row.path.replace("{figure}", "releases"))
        for method in row.methods:
            if row.for_senders and row.path == "/":
                continue  # who sends is asked below; for all others this is a page
            answer = world.client.request(method, root + path)
            wanted = 200 if method in {"GET", "HEAD"} and is_shown(row.path, bound) else 403
            if wanted == 200 and row.path in {"/name", "/client"} and row.path[1:] not in bound:
                wanted = 422  # it is about one of them, and nobody named it
            assert answer.status_code == wanted, (method, row.path)
    sender = world.client.get(f"{root}/", headers={"User-Agent": "Filebeat/8.11.0"})
    assert sender.status_code == 403


@BY_BOUND
def test_what_a_link_shows_is_really_there(world: House, bound: dict[str, str]) -> None:
    """Each route answers with something of the server: an empty answer would hide anything."""
    root = link(world, **bound)
    silent = {
        "/static/{path:path}",
        "/figures/{theme}/{figure}.json",
        "/api/v1/said",  # no Monday was asked
        "/api/v1/effect/names",  # of one name there is too little
    }
    for path, at in places(world):
        if is_shown(path, bound) and path not in silent:
            found = ask(world, root, at, "")
            assert found.status_code == 200, (path, found.text)
            told = (OWN, "maps", '"items":[{')
            assert any(each in found.text for each in told), path


@pytest.mark.sampled(11)
@BY_BOUND
@pytest.mark.parametrize("query", ASKED)
def test_no_answer_holds_a_name_that_is_not_of_the_link(
    world: House, bound: dict[str, str], query: str
) -> None:
    root, hidden = link(world, **bound), hidden_in(bound)
    for path, at in places(world):
        answer = ask(world, root, at, query)
        for word in hidden:
            assert word not in answer.text or word in query, (path, word)
        if not is_shown(path, bound):
            assert answer.status_code == 403, path


@pytest.mark.sampled(15)
@BY_BOUND
@pytest.mark.parametrize("query", TRIED)
def test_whether_something_else_is_there_cannot_be_found_out(
    world: House, bound: dict[str, str], query: str
) -> None:
    """What is there and what never was are answered alike, whatever is put into the query."""
    root = link(world, **bound)
    there = {"server": "weather", "name": f"{OTHER}-name-one", "client": f"{OTHER}-client-beta"}
    never = {"server": "wxxxxxr", "name": "nxxxxx-name-xxx", "client": "nxxxxx-client-xxxx"}
    for path, at in places(world):
        if not is_shown(path, bound):
            continue
        one, other = (ask(world, root, at, query.format(**each)) for each in (there, never))
        text = one.text
        for key, word in there.items():
            text = text.replace(word, never[key])
        assert _PLACES.sub("", text) == _PLACES.sub("", other.text), path
        assert one.status_code == other.status_code, path
        assert OTHER not in text.replace("1.0-canary", ""), path


def seen(house: House, root: str, bound: dict[str, str]) -> dict[str, str]:
    """Every body that a link shows, without the places in lists; and its tag, which would tell of changes."""
    found = {}
    for path, at in places(house):
        for query in ("", "by=client", "days=all&format=json"):
            if is_shown(path, bound):
                answer = ask(house, root, at, query)
                tag = answer.headers.get("ETag", "")
                found[f"{at}?{query}"] = tag + _PLACES.sub("", answer.text)
    return found


def test_whatever_comes_of_another_server_changes_no_answer(tmp_path: Path) -> None:
    """No number either: what a link shows is the same, to the last byte, as before the other server's lines."""
    with shared.built(tmp_path) as house:
        admin = house.token("eva", "admin")
        looked = ("a server", "a name and a client")
        links = {name: link(house, **BOUNDS[name]) for name in looked}
        before = {name: seen(house, links[name], BOUNDS[name]) for name in looked}
        shared.deliver(house, admin, "weather", "\n".join(shared.lines("canary2")))
        shared.deliver(house, admin, "third", "\n".join(shared.lines("canary3")))
        shared.tell(house, admin, "third", "canary3")
        shared.deliver(
            house,
            admin,
            "weather",
            "\n".join(shared.lines("canary4", shared.NAMES, ("own-client-alpha",))),
        )
        long_ago = [re.sub("20[0-9]{2}-", "2019-", line) for line in shared.lines("canary5")]
        shared.deliver(house, admin, "fourth", "\n".join(long_ago))
        for name in looked:
            after = seen(house, links[name], BOUNDS[name])
            for asked, text in before[name].items():
                assert after[asked] == text, (name, asked)


def test_calls_to_another_name_change_no_answer_about_one(tmp_path: Path) -> None:
    """In hours that were heard, by a client that was there: nothing but the other name has more calls."""
    with shared.built(tmp_path) as house:
        admin, bound = house.token("eva", "admin"), BOUNDS["a name"]
        root = link(house, **bound)
        before = seen(house, root, bound)
        lines = [line for line in shared.lines(OWN) if f'"tool": "{OWN}-name-two"' in line]
        again = [re.sub(r"[.](\d)(\d\d)Z", r".9\2Z", line) for line in lines]
        shared.deliver(house, admin, "maps", "\n".join(again))
        after = seen(house, root, bound)
        assert {asked for asked in before if before[asked] != after[asked]} == set()


def test_calls_of_another_client_change_no_answer_about_one(tmp_path: Path) -> None:
    with shared.built(tmp_path) as house:
        admin, bound = house.token("eva", "admin"), BOUNDS["a client"]
        root = link(house, **bound)
        before = seen(house, root, bound)
        lines = [
            line for line in shared.lines(OWN) if "-client-beta" in line and "Retired tool" in line
        ]
        again = [re.sub(r"[.](\d)(\d\d)Z", r".9\2Z", line) for line in lines]
        shared.deliver(house, admin, "maps", "\n".join(again))
        after = seen(house, root, bound)
        assert {asked for asked in before if before[asked] != after[asked]} == set()


@BY_BOUND
def test_every_link_of_a_page_stays_below_it_and_leads_somewhere(
    world: House, bound: dict[str, str]
) -> None:
    """From the names on, as far as links go: none is dead, none leads out, no form sends anything."""
    root = link(world, **bound)
    waiting, met = [f"{root}/"], set[str]()
    while waiting:
        at = waiting.pop()
        answer = world.client.get(at)
        assert answer.status_code == 200, (at, answer.text[:300])
        assert 'method="post"' not in answer.text, at
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        for attribute, found in re.findall(
            r'(href|src|action|data-figure|data-search)="([^"]*)"', answer.text
        ):
            to = found.replace("&amp;", "&").replace("/figures/", "/figures/light/")
            to = to if to.startswith("/") else f"{at.partition('?')[0]}{to}"
            if "#" in to:
                continue
            assert to.startswith(f"{root}/"), (at, to)
            if attribute == "action":
                continue  # its fields say what it is about
            # one range, order and zone of each page is enough
            key = re.sub(r"(days|from_day|to_day|sort|since|until|limit|cursor)=[^&]*", "", to)
            if key not in met and len(met) < 60:
                met.add(key)
                waiting.append(to)
    assert len(met) > 20


def test_a_link_shows_what_happened_without_who_told_it_and_offers_no_note(world: House) -> None:
    page = world.client.get(f"{link(world)}/").text
    assert "On this axis" in page
    assert "told by" not in page
    assert "Write a note" not in page


PATHS = (
    "",
    "/",
    "/name?name=x",
    "/api/v1/names",
    "/api/v1/audit",
    "/static/site.css",
    "/login",
    "/nothing",
    "/_bulk",
)


def test_links_that_never_were_that_ended_and_that_were_revoked_are_answered_alike(
    world: House,
) -> None:
    """To the last byte, on any path and by any method; none says that it once led somewhere."""
    sharing = world.app.state.sharing
    ended = sharing.add("maps", expires="1h", actor="command").path.removesuffix("/")
    made = sharing.add("maps", actor="command")
    sharing.revoke(made.share.id, actor="command")
    assert world.client.get(ended + "/").status_code == 200
    world.clock.pass_s(3600)
    never = f"/shared/lcs_{'A' * 43}"
    for path in PATHS:
        for method in ("GET", "POST", "DELETE"):
            answers = [
                world.client.request(method, root + path)
                for root in (
                    never,
                    ended,
                    made.path.removesuffix("/"),
                    "/shared/x",
                    "/shared/" + "y" * 4000,
                )
            ]
            first = answers[0]
            assert first.status_code == 404, (method, path)
            for answer in answers:
                assert (answer.content, dict(answer.headers)) == (
                    first.content,
                    dict(first.headers),
                )
    assert "ended, was revoked" in world.client.get(never + "/").text


@pytest.mark.parametrize("path", ["/shared", "/shared/", "/shared//", "/shared//api/v1/names"])
def test_no_secret_at_all_is_a_wrong_one(world: House, path: str) -> None:
    assert world.client.get(path).status_code == 404


def test_an_open_service_is_not_open_to_whoever_comes_by_a_link(
    open_house: Callable[..., House],
) -> None:
    """That nobody is asked for a token elsewhere counts for nothing below a link."""
    house = open_house()
    house.ask("POST", "/ingest?server=maps", content=LINE)
    root = link(house)
    assert house.ask("GET", "/api/v1/audit").status_code == 200
    assert house.ask("GET", "/api/v1/names").status_code == 200
    assert house.client.get(f"{root}/api/v1/names").json()["items"][0]["name"] == "gone"
    assert house.client.get(f"{root}/api/v1/audit").status_code == 403
    assert house.client.get("/shared/lcs_x/api/v1/names").status_code == 404
    assert (
        house.client.post(f"{root}/api/v1/aliases", json={"client": "a", "target": "b"}).status_code
        == 403
    )
    assert house.client.post(f"{root}/ingest?server=maps", content=LINE).status_code == 403
    assert "share-view" not in house.client.get(f"{root}/").text


def test_tokens_and_logins_count_for_nothing_below_a_link(world: House) -> None:
    """Whoever is an admin sees there what everybody does: they can look at what they gave away."""
    root, admin = link(world), world.token("boss", "admin")
    browser = world.browser()
    browser.post("/login", data={"token": admin}, headers={"Origin": "http://testserver"})
    assert browser.get("/told").status_code == 200
    plainly = world.client.get(f"{root}/").content
    assert browser.get(f"{root}/").content == plainly
    assert world.ask("GET", f"{root}/", admin).content == plainly
    for path in ("/told", "/api/v1/audit", "/api/v1/names?server=weather"):
        assert browser.get(root + path).status_code == 403
        assert world.ask("GET", root + path, admin).status_code == 403
    assert browser.post(f"{root}/tell-unalias", data={"client": "x"}).status_code == 403


def test_a_link_is_no_token_and_a_token_is_no_link(world: House) -> None:
    secret = link(world).removeprefix("/shared/")
    assert world.ask("GET", "/api/v1/names", secret).status_code == 401
    assert world.client.get(f"/api/v1/names?token={secret}").status_code == 401
    admin = world.token("chief", "admin")
    assert world.client.get(f"/shared/{admin}/api/v1/names").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/../api/v1/audit", "/%2e%2e/api/v1/audit", "//api/v1/audit", "/shared/x/api/v1/audit",
     "/API/v1/names", "/api/v1/names/", "/to/maps/api/v1/names", "/static/../api/v1/audit", "/api/v1/names%00",
     "/static/..%2f..%2fapi/v1/audit", "/to/maps/ingest", "/api/v1/audit;x", "/api/v1/%61udit"],
)  # fmt: skip
def test_no_spelling_of_a_path_leads_out_of_a_link(world: House, path: str) -> None:
    answer = world.client.get(link(world) + path)
    assert answer.status_code in {403, 404, 422}
    assert OTHER not in answer.text


def test_a_link_leaves_no_trace_where_it_leads_and_sets_no_cookie(world: House) -> None:
    """Neither pages that are led to nor search engines nor caches of others are told where it is."""
    root = link(world)
    for path in ("/", "/api/v1/names", "/api/v1/names?format=csv", "/static/site.css", "/told", "/?days=x",
                 "/figures/light/callers.json"):  # fmt: skip
        answer = world.client.get(root + path)
        assert answer.headers["referrer-policy"] == "no-referrer", path
        assert answer.headers["x-robots-tag"] == "noindex, nofollow"
        assert answer.headers["cache-control"].startswith("private") or answer.status_code >= 400
        assert "set-cookie" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_the_secret_of_a_link_is_in_no_data_log_or_database(
    world: House, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Addresses in data begin below the link; what a page prints says what it shows, and not where."""
    caplog.set_level(0)
    root = link(world)
    secret = root.removeprefix("/shared/")
    for path, at in places(world):
        for query in ("", "format=json", "cursor=x"):
            answer = ask(world, root, at, query)
            if not answer.headers.get("content-type", "").startswith("text/html"):
                assert secret not in answer.text, (path, query)
    printed = re.search(r'<p class="printed">(.*?)</p>', world.client.get(f"{root}/").text)
    assert printed is not None
    assert secret not in printed[1]
    out, err = capfd.readouterr()
    logged = [record.getMessage() for record in caplog.records if record.name != "httpx2"]
    assert secret not in "".join([*logged, out, err])
    url = str(world.app.state.settings.database_url)
    assert secret[4:].encode() not in b"".join(
        each.read_bytes() for each in Path(url.removeprefix("sqlite:///")).parent.iterdir()
    )


def test_a_link_below_a_root_path_stays_below_both(open_house: Callable[..., House]) -> None:
    house = open_house(root_path="/intern")
    house.ask("POST", "/ingest?server=maps", content=LINE)
    root = link(house)
    for asked in (f"/intern{root}/", f"{root}/"):
        page = house.client.get(asked)
        assert page.status_code == 200
        links = re.findall(r'(?:href|src)="(/[^"]*)"', page.text)
        assert links
        assert all(each.startswith(f"/intern{root}/") for each in links)


def test_a_link_shows_the_calls_that_name_no_client(world: House) -> None:
    root = link(world, client="")
    rows = world.client.get(f"{root}/api/v1/callers").json()["items"]
    assert [row["client"] for row in rows] == [None]
    assert world.client.get(f"{root}/api/v1/callers?client={OWN}-client-alpha").status_code == 403
    assert world.client.get(f"{root}/client").status_code == 200


@pytest.mark.parametrize(
    "spelled", [f"{OWN}-client-alpha", f"{OWN}-CLIENT-Alpha", f"%20{OWN}-client-alpha"]
)
def test_a_client_may_be_asked_for_in_any_spelling(world: House, spelled: str) -> None:
    root = link(world, client=f"{OWN}-client-alpha")
    assert world.client.get(f"{root}/api/v1/callers?client={spelled}").status_code == 200


def test_what_is_asked_for_beside_the_bound_narrows(world: House) -> None:
    """The numbers of a narrowed link are those that an admin gets for both filters together."""
    admin, root = world.token("reader", "read"), link(world, client=f"{OWN}-client-alpha")
    by_link = world.client.get(f"{root}/api/v1/callers?name={OWN}-name-two").json()
    both = f"server=maps&client={OWN}-client-alpha&name={OWN}-name-two"
    by_token = world.ask("GET", f"/api/v1/callers?{both}", admin).json()
    assert by_link == by_token
    assert len(by_link["items"]) == 1
