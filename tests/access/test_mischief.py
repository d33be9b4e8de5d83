"""What somebody with patience tries: links, slow bodies, headers of others, files left readable."""

import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.shippers import filled
from service.api.admission import Admission
from service.errors import BadParameter, Unauthenticated
from service.log import Outages
from service.settings import Settings
from service.store.address import SqliteFile
from service.tokens import Limits, Scope, Token
from service.visitors import STRANGER_BYTES, Visitor
from tests.access.conftest import LINE, House
from tests.access.served import served


@pytest.mark.parametrize("address", [
    "http://h/x\ntouch\tme", "http://h/\rx", "http://h/x\ty", "\x01http://h", " http://h", "http://h\n:8420",
    "http://h:\n8420", "http://h/caf\u00e9",
])  # fmt: skip
def test_an_address_holds_nothing_that_those_who_copy_it_cannot_see(address: str) -> None:
    """What takes an address apart drops tabs and line ends; a shell that is shown the rest runs them."""
    with pytest.raises(BadParameter):
        filled("curl LASTCALL_ADDRESS", address=address, server="maps")


def test_a_page_that_a_link_leads_to_warns_of_an_address_that_is_not_its_own(house: House) -> None:
    own = house.client.get("/setup?shipper=curl&server=maps&seen=0,0,0,0").text
    other = house.client.get(
        "/setup?shipper=curl&server=maps&seen=0,0,0,0&address=http://testserver:9"
    ).text
    assert "not the address by which you opened this page" in other
    assert "not the address by which you opened this page" not in own


def test_the_page_takes_no_server_for_granted_whose_name_no_configuration_can_hold(
    house: House,
) -> None:
    house.client.post("/ingest?server=my%20maps", content=LINE)
    assert house.client.get("/setup").status_code == 200


def test_who_was_revoked_while_the_form_came_makes_no_token(house: House) -> None:
    """The door looks before the form is read; the token is made after it."""
    admin = house.access.add("anna", "admin", actor="command").token
    house.access.revoke("anna", actor="command")
    with pytest.raises(Unauthenticated):
        house.access.add("more", "admin", actor="anna", by=admin)
    assert [each.name for each in house.access.tokens()] == ["anna"]


def test_who_came_while_it_was_open_makes_no_token_once_it_is_closed(house: House) -> None:
    house.token("anna", "admin")
    with pytest.raises(Unauthenticated):
        house.access.add("admin", "admin", actor="page", first=True)
    assert [each.name for each in house.access.tokens()] == ["anna"]


def room_of(visitor: Visitor) -> tuple[object, int]:
    async def nothing(*_: object) -> None: ...

    admission = Admission(nothing, Settings(database_url="x.db"), Outages().taking)
    room, most = admission._room(visitor)
    return (room is admission._kept), most


def token(scope: Scope, **limits: int) -> Token:
    return Token(
        id=1, name="t", scope=scope, server=None, limits=Limits(**limits), created_us=0, actor="x"
    )


def test_nobody_takes_more_room_of_those_who_deliver_than_he_may_fill() -> None:
    """A body that does not say its size is set aside as much as its sender may send, and no more."""
    default = Settings(database_url="x.db").max_body_bytes
    assert room_of(Visitor(token(Scope.INGEST))) == (True, default)
    assert room_of(Visitor(token(Scope.INGEST, sent_bytes=2_000, body_bytes=1_000))) == (
        True,
        1_000,
    )
    assert room_of(Visitor(token(Scope.READ)))[0] is False
    assert room_of(Visitor(is_stranger=True)) == (False, STRANGER_BYTES)


def test_a_form_of_a_stranger_is_no_longer_than_a_login(house: House) -> None:
    house.token("anna", "admin")
    said = house.client.post("/login", data={"token": "x" * STRANGER_BYTES})
    assert said.status_code == 413


@pytest.mark.parametrize("header", ["Basic dTpw", "Bearer eyJhbGciOi.x.y", "Negotiate abc"])
def test_a_credential_for_somebody_else_hides_none_of_ours(house: House, header: str) -> None:
    """A proxy asks for a password of its own, a cloud signs what it pushes."""
    secret = house.token("anna", "admin")
    browser = house.browser()
    browser.post("/login", data={"token": secret}, headers={"Origin": "http://testserver"})
    assert browser.get("/", headers={"Authorization": header}).status_code == 200
    sent = house.client.post(
        f"/ingest?server=maps&token={secret}", content=LINE, headers={"Authorization": header}
    )
    assert sent.status_code == 200


@pytest.mark.parametrize("path", ["/ingest?server=maps", "/api/v1/aliases"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_pages_of_other_sites_write_nothing_where_the_browser_is_old(
    house: House, path: str, origin: str
) -> None:
    """It says no `Sec-Fetch-Site`, and where the page comes from."""
    said = house.client.post(path, content=LINE, headers={"Origin": origin})
    assert said.status_code == 403
    own = house.client.post(
        "/ingest?server=maps", content=LINE, headers={"Origin": "http://testserver"}
    )
    assert own.status_code == 200


@pytest.mark.parametrize("limit", ["records_per_s", "burst", "sent_bytes", "body_bytes"])
def test_a_limit_beyond_all_numbers_is_refused_with_what_would_do(house: House, limit: str) -> None:
    limits = {"records_per_s": 1, limit: 2**63}
    with pytest.raises(BadParameter, match="at most"):
        house.token("t", "ingest:maps", **limits)


@pytest.mark.parametrize(("name", "scope"), [
    ("t", "ingest:ma\x1b[31mps"), ("t", "ingest:ma\u202eps"), ("Command", "read"), ("REST", "read"),
])  # fmt: skip
def test_names_that_cannot_be_seen_or_say_something_else_are_refused(
    house: House, name: str, scope: str
) -> None:
    with pytest.raises(BadParameter):
        house.token(name, scope)


def test_a_new_database_is_its_owners_alone(tmp_path: Path) -> None:
    """It holds what logins are signed with; what SQLite puts beside it takes its mode."""
    before = os.umask(0o022)
    try:
        connection = SqliteFile(tmp_path / "x.db").connect()
        connection.execute("CREATE TABLE t (x)")
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
        connection.close()
    finally:
        os.umask(before)
    assert modes
    assert set(modes.values()) == {0o600}


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    sqlite3.connect(path).close()
    path.touch()
    path.chmod(0o640)
    SqliteFile(path).connect().close()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with served(tmp_path / "x.db") as (port, _):
        yield port


@pytest.mark.slow
def test_a_head_that_is_never_whole_is_not_waited_for(port: int) -> None:
    """On a new connection, and on one that was answered before."""
    for first in (b"", b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
            if first:
                sock.sendall(first)
                sock.recv(65536)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: loc")
            answered = b"".join(iter(lambda: sock.recv(65536), b""))
            assert b"200 OK" not in answered
