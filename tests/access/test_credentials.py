"""Each sender shows its token in the form that it can, and is refused in the form that it understands."""

import base64
import json
from typing import Any

import pytest

from tests.access.conftest import LINE, House
from tests.captures.runs import CALLS, requests

RUNS = sorted(
    {run.partition("/")[0]: run for run in sorted(CALLS) if "ok" in run or "503" in run}.values()
)
"""One recording of each client."""


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def in_its_form(said: str, secret: str) -> str:
    """What a recorded client said, with a secret of ours in place of what it was given."""
    scheme, _, value = said.partition(" ")
    if scheme in {"Basic", "ApiKey"}:
        name = base64.b64decode(value).decode().partition(":")[0]
        return f"{scheme} {b64(f'{name}:{secret}')}"
    return f"{scheme} {secret}"


@pytest.mark.parametrize("run", RUNS)
def test_what_real_clients_sent_comes_in_with_their_own_form_of_a_token(
    house: House, run: str
) -> None:
    """And not without: with an empty form, or what they were given when they were recorded."""
    secret, admin = house.token("sender", "ingest:maps"), house.token("anna", "admin")
    for sent in requests(run):
        said = sent.headers.get("authorization")
        right = in_its_form(said, secret) if said else f"Basic {b64(f'x:{secret}')}"
        for shown, is_right in ((said, False), (right, True)):
            headers = {k: v for k, v in sent.headers.items() if k not in {"authorization", "host"}}
            headers |= {"authorization": shown} if shown else {}
            answer = house.client.request(
                sent.method, sent.target, headers=headers, content=sent.body
            )
            assert (answer.status_code in {200, 201, 204}) is is_right, (sent.target, shown)
            assert is_right or answer.status_code == 401
    stored = house.events(admin)
    assert {row["server"] for row in stored} <= {"maps"}
    assert stored or run.startswith("py-loki-logger-handler")


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer {}"},
        {"Authorization": "bearer   {}"},
        {"Authorization": "{}"},
        {"Authorization": "Splunk {}"},
        {"Authorization": "ApiKey {}"},
        {"Authorization": "Token {}"},
        {"Authorization": ("Basic", "anything:{}")},
        {"Authorization": ("Basic", "{}:")},
        {"Authorization": ("Basic", "{}")},
        {"Authorization": ("ApiKey", "id:{}")},
        {"X-Amz-Firehose-Access-Key": "{}"},
    ],
    ids=str,
)
def test_every_form_of_a_header_is_read(house: House, headers: dict[str, Any]) -> None:
    secret = house.token("sender", "ingest:maps")

    def written(form: Any, shown: str) -> str:
        if isinstance(form, tuple):
            return f"{form[0]} {b64(form[1].format(shown))}"
        return str(form.format(shown))

    for shown, status in ((secret, 200), (secret[:-1] + "x", 401), ("", 401)):
        said = {name: written(form, shown) for name, form in headers.items()}
        assert house.ask("POST", "/ingest", headers=said, content=LINE).status_code == status


@pytest.mark.parametrize(
    "said",
    ["", " ", "Bearer", "Bearer ", "Basic !!!", "Basic AAAA", "ApiKey ", "Basic Og==", "\x00", "Bearer é",
     "Negotiate abc", "Basic " + "A" * 5000, "Bearer a b c"],
)  # fmt: skip
def test_what_is_no_credential_is_refused_like_any_other(house: House, said: str) -> None:
    house.token("anna", "admin")
    plain = house.ask("POST", "/ingest")
    answer = house.ask("POST", "/ingest", headers={"Authorization": said.encode()})
    assert (answer.status_code, answer.content) == (401, plain.content)
    assert dict(answer.headers) == dict(plain.headers)


@pytest.mark.parametrize(
    "path",
    ["/ingest", "/to/maps/ingest", "/to/maps/logplex", "/pubsub", "/services/collector/raw",
     "/v1/logs", "/loki/api/v1/push", "/_bulk"],
)  # fmt: skip
def test_who_can_set_no_header_writes_the_token_into_the_address(house: House, path: str) -> None:
    secret = house.token("drain", "ingest:maps")
    for query, known in ((f"token={secret}", True), ("token=lct_x", False), ("tok%65n=x", False)):
        answer = house.client.post(f"{path}?{query}", content=b"")
        assert (answer.status_code != 401) is known, answer.text
    more = house.client.post(f"/ingest?server=maps&token={secret}&source=mine", content=LINE)
    assert more.json()["accepted"] == 1


def test_a_token_in_an_address_opens_no_page_and_no_answer(house: House) -> None:
    """Addresses of pages are kept, shown and passed on."""
    secret = house.token("anna", "admin")
    assert house.ask("GET", f"/api/v1/names?token={secret}").status_code == 401
    page = house.ask("GET", f"/clients?token={secret}&days=7")
    assert (page.status_code, page.headers["location"]) == (
        303,
        "/login?next=%2Fclients%3Fdays%3D7",
    )


def test_a_header_goes_before_the_address(house: House) -> None:
    right, other = house.token("a", "ingest:maps"), house.token("b", "ingest:weather")
    answer = house.ask("POST", f"/ingest?server=maps&token={other}", right, content=LINE)
    assert answer.json()["accepted"] == 1


def test_refusals_have_the_form_of_each_protocol(house: House) -> None:
    """401 without a token, 403 with one that may not; see what each protocol's senders understand."""
    reader = house.token("eva", "read")

    def both(path: str, **headers: str) -> tuple[Any, Any]:
        missing = house.ask("POST", path, headers=headers, content=b"{}")
        wrong = house.ask("POST", path, reader, headers=headers, content=b"{}")
        assert (missing.status_code, wrong.status_code) == (401, 403)
        return missing, wrong

    for answer in both("/ingest"):
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == answer.status_code
    for answer, code in zip(both("/services/collector"), (3, 4), strict=True):
        assert answer.json()["code"] == code
    for answer, code in zip(
        both("/v1/logs", **{"content-type": "application/json"}), (16, 7), strict=True
    ):
        assert answer.json()["code"] == code
    for answer, code in zip(
        both("/v1/logs", **{"content-type": "application/x-protobuf"}), (16, 7), strict=True
    ):
        assert answer.content.startswith(bytes([8, code, 18]))
    for path in ("/_bulk", "/es/mcp/_bulk", "/to/maps/_bulk"):
        for answer in both(path):
            assert answer.headers["x-elastic-product"] == "Elasticsearch"
            assert answer.json()["error"]["type"] == "security_exception"
    for answer in both("/firehose", **{"x-amz-firehose-request-id": "r-1"}):
        assert answer.json()["requestId"] == "r-1"
        assert answer.json()["errorMessage"]
    for path in ("/loki/api/v1/push", "/upload", "/logplex", "/pubsub"):
        for answer in both(path):
            assert answer.headers["content-type"].startswith("text/plain")


def test_elasticsearch_s_first_question_is_refused_in_its_form(house: House) -> None:
    secret = house.token("filebeat", "ingest:maps")
    headers = {"User-Agent": "Elastic-filebeat/8.11.0"}
    for path in ("/", "/es", "/to/maps/", "/_license", "/_nothing/here/at/all"):
        answer = house.ask("GET", path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["x-elastic-product"] == "Elasticsearch", path
    assert house.ask("GET", "/", secret, headers=headers).json()["tagline"]


def test_a_bulk_request_of_another_server_is_refused_whole(house: House) -> None:
    secret = house.token("filebeat", "ingest:maps")
    body = '{"create":{}}\n' + json.dumps({"message": LINE}) + "\n"
    assert house.ask("POST", "/_bulk?server=weather", secret, content=body).status_code == 403
    assert house.ask("POST", "/_bulk", secret, content=body).json()["errors"] is False
