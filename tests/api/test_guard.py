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
    settings = Settings(database_url=database_url, allowed_hosts="calls.example, localhost")
    with running(settings) as service:
        answer = service.client.get("/api/v1/names", headers={"Host": "Calls.Example"})

        assert answer.status_code == 200
        assert is_refusal(service.client.get("/api/v1/names"))
