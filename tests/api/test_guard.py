"""A service without tokens answers this machine only, not the web pages that are open on it."""

from collections.abc import Iterator

import httpx2 as httpx
import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

LINE = b'{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"gone"}}'


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url)) as service:
        yield service


def is_refusal(answer: httpx.Response) -> bool:
    return (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")


def test_a_name_that_was_made_to_point_here_is_refused(service: Running) -> None:
    """DNS rebinding: the page's own name in the Host header gives it away."""
    answer = service.client.get("/api/v1/names", headers={"Host": "evil.example:8420"})

    assert is_refusal(answer)
    assert "LASTCALL_ALLOWED_HOSTS" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8420", "[::1]:8420"])
def test_every_loopback_name_is_answered(host: str, service: Running) -> None:
    """With any port, in any case."""
    assert service.client.get("/api/v1/names", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("mode", ["no-cors", "navigate"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_form_of_another_site_cannot_write(site: str, mode: str, service: Running) -> None:
    """The browser says where a request comes from; nothing is stored."""
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
    answer = service.client.post("/ingest", content=LINE, headers=headers)

    assert is_refusal(answer)
    assert service.rows("events") == []


def test_a_link_from_another_page_may_lead_here(service: Running) -> None:
    """Following a link is no request that the other page could read."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    assert service.client.get("/", headers=headers).status_code == 200


def test_further_names_can_be_allowed(database_url: str) -> None:
    """Behind a proxy the service is asked for by the proxy's name."""
    settings = Settings(database_url=database_url, allowed_hosts="calls.example, ")
    with running(settings) as service:
        answer = service.client.get("/api/v1/names", headers={"Host": "Calls.Example"})

        assert answer.status_code == 200
        for host in ("evil.example", ""):
            refused = service.client.get("/api/v1/names", headers={"Host": host})
            assert is_refusal(refused)
            assert "calls.example" not in refused.text  # strangers do not learn the name


@pytest.mark.parametrize("host", ["localhost:8420", "127.0.0.1:8420", "[::1]:8420"])
def test_shippers_on_the_same_machine_go_on_where_names_are_set(
    host: str, database_url: str
) -> None:
    """No page of others has one of these for its name."""
    with running(Settings(database_url=database_url, allowed_hosts="calls.example")) as service:
        answer = service.client.post("/ingest", content=LINE, headers={"Host": host})

        assert answer.json()["accepted"] == 1


@pytest.mark.parametrize(
    ("host", "asked"), [("192.0.2.1", "192.0.2.1:8420"), ("2001:db8::1", "[2001:DB8::1]:8420")]
)
def test_the_address_that_it_listens_on_is_allowed_by_itself(
    host: str, asked: str, database_url: str
) -> None:
    """Whoever names one address means that it is asked for."""
    with running(Settings(database_url=database_url, host=host)) as service:
        # there is no token yet, so who comes by it is let as far as the door
        found = service.client.get("/api/v1/names", headers={"Host": asked})
        other = service.client.get("/api/v1/names", headers={"Host": "192.0.2.2"})

        assert found.status_code == 401
        assert is_refusal(other)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_what_stands_for_every_address_is_no_name(host: str, database_url: str) -> None:
    with running(Settings(database_url=database_url, host=host)) as service:
        asked = f"[{host}]" if ":" in host else host
        assert is_refusal(service.client.get("/api/v1/names", headers={"Host": asked}))
