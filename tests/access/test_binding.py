"""Where the service may listen, and what it says of who may come in."""

import re
from pathlib import Path

import httpx2 as httpx
import pytest

from service.errors import LastCallError
from service.settings import Settings, settings_from_environment
from tests.access.served import run, secret_of, served


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "calls.example"])
def test_it_listens_to_others_only_once_there_is_a_token(host: str, tmp_path: Path) -> None:
    done = run(tmp_path / "calls.db", "serve", "--host", host, "--port", "0")
    assert done.returncode == 2
    assert "there is no token yet" in done.stderr
    assert "lastcall tokens add NAME --scope admin" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_a_token_it_listens_anywhere_and_asks_everybody(tmp_path: Path) -> None:
    database = tmp_path / "calls.db"
    secret = secret_of(database, "anna", "admin")
    with served(database, "--host", "0.0.0.0") as (port, said):
        assert any("closed: it asks everybody for a token" in line for line in said)
        assert any("until LASTCALL_ALLOWED_HOSTS names" in line for line in said)
        url = f"http://127.0.0.1:{port}/api/v1/names"
        assert httpx.get(url).status_code == 401
        assert httpx.get(url, headers={"Authorization": f"Bearer {secret}"}).status_code == 200


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("0.0.0.0", ""), ("::", ""), ("127.0.0.2", ""), ("0.0.0.0", "calls.example"), ("::", "a.example")],
)  # fmt: skip
def test_every_address_that_it_prints_answers(host: str, allowed: str, tmp_path: Path) -> None:
    """And where names are set, nothing is said of setting them."""
    database = tmp_path / "calls.db"
    secret_of(database, "anna", "admin")
    with served(database, "--host", host, allowed_hosts=allowed) as (_, said):
        printed = set(re.findall(r"http://[^\s;,]+", "\n".join(said)))
        assert printed
        for url in printed:
            assert httpx.get(url, follow_redirects=False).status_code in {303, 200, 401, 405}, url
        must_be_set = host in {"0.0.0.0", "::"} and not allowed
        assert ("LASTCALL_ALLOWED_HOSTS" in "\n".join(said)) is must_be_set


def test_an_open_service_says_so_and_is_closed_by_a_command_while_it_runs(tmp_path: Path) -> None:
    database = tmp_path / "calls.db"
    with served(database) as (port, said):
        assert any("open: there are no tokens yet" in line for line in said)
        url = f"http://127.0.0.1:{port}/api/v1/names"
        assert httpx.get(url).status_code == 200
        secret = secret_of(database, "anna", "read")
        assert httpx.get(url).status_code == 401
        known = {"Authorization": f"Bearer {secret}"}
        assert httpx.get(url, headers=known).status_code == 200
        assert run(database, "tokens", "revoke", "anna").returncode == 0
        assert httpx.get(url, headers=known).status_code == 401
        assert httpx.get(url).status_code == 401


@pytest.mark.parametrize(
    ("given", "kept"), [("", ""), ("/", ""), ("lastcall", "/lastcall"), ("/a/b/", "/a/b")]
)
def test_a_root_path_is_kept_in_one_form(given: str, kept: str) -> None:
    assert Settings(database_url="x.db", root_path=given).root_path == kept


@pytest.mark.parametrize(
    "wrong",
    [
        {"root_path": "https://calls.example/"},
        {"root_path": "/a b"},
        {"root_path": "//evil.example"},
        {"root_path": "/a//b"},
        {"root_path": '/"><script>'},
        {"forwarded_allow_ips": "*"},
        {"forwarded_allow_ips": "proxy.example"},
        {"forwarded_allow_ips": "10.0.0.1/8"},
    ],
    ids=str,
)
def test_what_is_no_path_and_no_address_is_said(wrong: dict[str, str]) -> None:
    """To believe everybody's headers is to believe nobody's: there is no word for all."""
    with pytest.raises(LastCallError, match=r"LASTCALL_(ROOT_PATH|FORWARDED_ALLOW_IPS): write"):
        settings_from_environment(database_url="x.db", **wrong)
