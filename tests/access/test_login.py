"""People log in with a token; what their browser keeps ends with it, and is no use to other sites."""

import re
from collections.abc import Callable

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from dashboards.templating import address
from tests.access.conftest import LINE, House

OWN = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}


def log_in(
    house: House, secret: str, *, to: str = "/", **headers: str
) -> tuple[TestClient, httpx.Response]:
    """A browser that has sent the form."""
    browser = house.browser()
    answer = browser.post("/login", data={"token": secret, "next": to}, headers=OWN | headers)
    return browser, answer


def test_pages_ask_to_log_in_and_come_back(house: House) -> None:
    secret = house.token("eva", "read")
    browser = house.browser()
    sent = browser.get("/clients?days=7")
    assert (sent.status_code, sent.headers["location"]) == (
        303,
        "/login?next=%2Fclients%3Fdays%3D7",
    )
    form = browser.get(sent.headers["location"])
    assert 'value="/clients?days=7"' in form.text
    assert re.findall(r"<script[^>]*>", form.text) == [f'<script src="{address("kept.js")}">'], (
        "no other"
    )
    browser, answer = log_in(house, secret, to="/clients?days=7")
    assert (answer.status_code, answer.headers["location"]) == (303, "/clients?days=7")
    assert browser.get("/clients?days=7").status_code == 200
    assert browser.get("/api/v1/names").status_code == 200, "figures and downloads too"
    assert 'action="/logout"' in browser.get("/").text


def test_rest_and_figures_say_401_and_redirect_nobody(house: House) -> None:
    house.token("eva", "read")
    for path in ("/api/v1/names", "/figures/light/callers.json", "/openapi.json"):
        answer = house.browser().get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (
            401,
            "application/problem+json",
        )


def test_the_cookie_is_for_this_site_and_no_script(house: House) -> None:
    secret = house.token("eva", "read")
    _, answer = log_in(house, secret)
    cookie = answer.headers["set-cookie"]
    assert secret not in cookie
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Max-Age=1209600" in cookie
    assert "Secure" not in cookie
    secure = TestClient(house.app, base_url="https://testserver", follow_redirects=False)
    answer = secure.post("/login", data={"token": secret}, headers={"Origin": "https://testserver"})
    assert "Secure" in answer.headers["set-cookie"]


def test_a_stolen_cookie_dies_with_its_token(house: House) -> None:
    secret = house.token("eva", "read")
    browser, _ = log_in(house, secret)
    assert browser.get("/").status_code == 200
    house.access.revoke("eva", actor="command")
    assert browser.get("/").headers["location"].startswith("/login")
    assert browser.get("/api/v1/names").status_code == 401


def test_a_login_ends_after_14_days(house: House) -> None:
    browser, _ = log_in(house, house.token("eva", "read"))
    house.clock.pass_s(14 * 86_400 - 1)
    assert browser.get("/").status_code == 200
    house.clock.pass_s(1)
    assert browser.get("/").status_code == 303


def test_no_cookie_can_be_made_or_changed(house: House) -> None:
    """Neither that of another token, nor one that lasts longer, nor anything else."""
    house.token("anna", "admin")
    _, answer = log_in(house, house.token("eva", "read"))
    found = re.match(r"lastcall_login=((\d+)\.(\d+)\.([0-9a-f]+));", answer.headers["set-cookie"])
    assert found is not None
    whole, number, issued, signed = found.groups()
    forged = [
        f"1.{issued}.{signed}", f"{number}.{int(issued) + 1}.{signed}", f"{number}.{issued}.{'0' * 64}",
        f"{number}.{issued}.", f"{number}.{issued}", "", "..", f"{number}.{'9' * 30}.{signed}", signed,
        f"99.{issued}.{signed}", f"{number}.-1.{signed}", "x" * 10_000, whole.upper(),
    ]  # fmt: skip
    for text in forged:
        answer = house.browser().get("/api/v1/names", headers={"Cookie": f"lastcall_login={text}"})
        assert answer.status_code == 401, text
    answer = house.browser().get(
        "/api/v1/names", headers={"Cookie": f"a=b; lastcall_login={whole}"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("secret", "status"),
    [("", 401), ("lct_" + "A" * 43, 401), ("\udcff", 401), ("x" * 3_000, 401)],
)
def test_a_wrong_token_logs_nobody_in(house: House, secret: str, status: int) -> None:
    house.token("anna", "admin")
    body = b"token=" + secret.encode("utf-8", "replace")
    answer = house.browser().post(
        "/login", content=body, headers=OWN | {"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert answer.status_code == status
    assert "set-cookie" not in answer.headers
    assert 'role="alert"' in answer.text


def test_a_token_that_delivers_lines_logs_nobody_in(house: House) -> None:
    _, answer = log_in(house, house.token("vector", "ingest:*"))
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_logging_out_takes_the_cookie_back(house: House) -> None:
    browser, _ = log_in(house, house.token("eva", "read"))
    answer = browser.post("/logout", headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert browser.get("/").status_code == 303


@pytest.mark.parametrize(
    "to",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "/\t/evil.example", "\\\\evil.example",
     "javascript:alert(1)", "evil.example", "/\n/evil.example", "", " //evil.example"],
)  # fmt: skip
def test_a_login_leads_to_no_other_site(house: House, to: str) -> None:
    secret = house.token("eva", "read")
    _, answer = log_in(house, secret, to=to)
    assert answer.headers["location"] == "/"
    page = house.browser().get("/login", params={"next": to})
    assert 'name="next" value="/"' in page.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_another_site_logs_nobody_in_or_out_and_tells_nothing(
    house: House, headers: dict[str, str]
) -> None:
    """Nor by a form that a browser sends along with the cookie."""
    secret = house.token("anna", "admin")
    browser, _ = log_in(house, secret)
    stranger = house.browser().post("/login", data={"token": secret}, headers=headers)
    assert stranger.status_code in {403, 422}
    assert "set-cookie" not in stranger.headers
    assert "set-cookie" not in browser.post("/logout", headers=headers).headers
    told = {"client": "a", "target": "b", "back": "/told"}
    assert browser.post("/tell-alias", data=told, headers=headers).status_code in {403, 422}
    rest = browser.post("/api/v1/aliases", json={"client": "a", "target": "b"}, headers=headers)
    assert rest.status_code == 403
    assert browser.post("/ingest", content=LINE, headers=headers).status_code == 403
    assert browser.get("/api/v1/aliases").json()["items"] == []
    assert browser.get("/api/v1/events").json()["items"] == []


def test_a_cookie_writes_only_where_the_browser_says_that_the_page_is_ours(house: House) -> None:
    """An old browser that says nothing of where a request comes from only looks."""
    browser, _ = log_in(house, house.token("anna", "admin"))
    told = {"client": "a", "target": "b"}
    assert browser.post("/api/v1/aliases", json=told).status_code == 403
    assert browser.post("/api/v1/aliases", json=told, headers=OWN).status_code == 200
    answer = browser.post("/tell-unalias", data={"client": "a", "back": "/told"}, headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/told")
    newest = browser.get("/api/v1/audit").json()["items"][0]
    assert newest["actor"] == "anna"


def test_who_may_only_read_is_told_so_on_a_page(house: House) -> None:
    browser, _ = log_in(house, house.token("eva", "read"))
    answer = browser.post("/tell-alias", data={"client": "a", "target": "b"}, headers=OWN)
    assert answer.status_code == 403
    assert "scope admin" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_all_of_it_works_below_a_path(open_house: Callable[..., House]) -> None:
    """Whether the proxy in front takes the path off or leaves it on."""
    house = open_house(root_path="/lastcall")
    secret, sender = house.token("eva", "read"), house.token("vector", "ingest:maps")
    for before in ("", "/lastcall"):
        browser = house.browser()
        sent = browser.get(f"{before}/clients?days=7")
        assert sent.headers["location"] == "/lastcall/login?next=%2Flastcall%2Fclients%3Fdays%3D7"
        answer = browser.post(
            f"{before}/login", data={"token": secret, "next": "/lastcall/clients"}, headers=OWN
        )
        assert answer.headers["location"] == "/lastcall/clients"
        assert "Path=/lastcall" in answer.headers["set-cookie"]
        cookie = {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
        page = house.browser().get(f"{before}/clients", headers=cookie)
        assert page.status_code == 200
        assert f'href="/lastcall{address("site.css")}"' in page.text
        assert "//clients" not in page.text
        for path in ("/to/maps/ingest", "/to/maps/ingest/mine", "/ingest"):
            taken = house.ask("POST", f"{before}{path}", sender, content=LINE)
            assert taken.status_code == 200, path
        assert house.ask("POST", f"{before}/to/weather/ingest", sender).status_code == 403
        missing = house.ask("GET", f"{before}/api/v1/nams", secret)
        assert "did you mean /api/v1/names" in missing.json()["detail"]


def test_an_open_service_says_that_no_token_is_needed(house: House) -> None:
    """And no longer once there is one."""
    assert "No token is needed" in house.browser().get("/login").text
    house.token("anna", "admin")
    assert "No token is needed" not in house.browser().get("/login").text


def test_an_open_service_that_others_reach_says_no_such_thing(
    open_house: Callable[..., House],
) -> None:
    house = open_house(host="192.0.2.1")
    assert "No token is needed" not in house.browser().get("/login").text


def test_who_is_logged_in_already_is_told_so(house: House) -> None:
    """Until the token ends; a pass that was made up says nothing."""
    browser, _ = log_in(house, house.token("eva", "read"))
    assert "logged in already" in browser.get("/login?next=/clients").text
    house.access.revoke("eva", actor="command")
    assert "logged in already" not in browser.get("/login").text
    forged = {"Cookie": "lastcall_login=1.2.3"}
    assert "logged in already" not in house.browser().get("/login", headers=forged).text


def test_a_refusal_looks_like_one(house: House) -> None:
    house.token("anna", "admin")
    _, answer = log_in(house, "lct_wrong")
    assert '<p class="mistake" role="alert"' in answer.text
