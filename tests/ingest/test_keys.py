"""Keys: equal records meet, different ones do not, and the n-th copy in a delivery is its own."""

import json
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Event, Kind
from service.ingest.keys import (
    HASH_PREFIX,
    WINDOW,
    Delivery,
    Hasher,
    Secrets,
    identity,
    network_of,
)
from tests.ingest.support import CALL_NS, HASHER, SECRETS, case, events, only_event, outcomes
from tests.ingest.support import recogniser as read_with

RECORD: dict[str, Any] = {
    "level": "info",
    "time": "2026-10-05T10:15:02.114Z",
    "pid": 7,
    "hostname": "mcp-1",
    "data": {"tool": "tomtom-ev-routing", "client": "claude-code", "sessionId": "s1"},
    "msg": "Retired tool called",
}


def key_of(record: dict[str, Any] | bytes, server: str = "s") -> int:
    """The key of a record that is alone in its delivery."""
    raw = record if isinstance(record, bytes) else json.dumps(record).encode()
    return Delivery(HASHER).key(server, only_event(raw), 0)


def plain(kind: Kind = Kind.CALL, time_ns: int | None = CALL_NS, **fields: str) -> Event:
    """An event with these key fields."""
    return Event(kind=kind, time_ns=time_ns, profile="p", key_fields=tuple(sorted(fields.items())))


def test_the_key_is_the_hash_it_is_documented_to_be() -> None:
    """Worked out here by hand from the record, the secrets and BLAKE2b alone."""
    session = blake2b(
        b"s1", digest_size=16, key=b"the identity secret", person=b"session"
    ).hexdigest()
    frame = (
        "3:srv,1791195302114000000,1,5"
        ",client=11:claude-code,hostname=5:mcp-1,pid=1:7"
        f",session=32:{session},tool=17:tomtom-ev-routing"
    )
    secret = b"the key secret of the tests"
    first = blake2b(frame.encode(), digest_size=8, key=secret).digest()
    second = blake2b(frame.encode() + b"#1", digest_size=8, key=secret).digest()

    delivery = Delivery(HASHER)
    event = only_event(json.dumps(RECORD).encode())
    assert delivery.key("srv", event, 0) == int.from_bytes(first, "big", signed=True)
    assert delivery.key("srv", event, 1) == int.from_bytes(second, "big", signed=True)


@pytest.mark.parametrize(
    "variant",
    [
        json.dumps(RECORD, indent=1).replace("\n", " ").encode(),
        json.dumps(dict(reversed(RECORD.items()))).encode(),
        json.dumps(
            {**RECORD, "k8s": {"pod": "x"}, "level": 30, "@timestamp": "2026-10-05"}
        ).encode(),
        json.dumps({**RECORD, "pid": "7"}).encode(),
        json.dumps({**RECORD, "pid": 7.0}).encode(),
        json.dumps({**RECORD, "time": 1791195302114}).encode(),
        json.dumps({**RECORD, "time": "2026-10-05T12:15:02.114+02:00"}).encode(),
        json.dumps({**RECORD, "x": float("nan")}).encode(),
        json.dumps({**RECORD, "data": {**RECORD["data"], "lastRelease": "1.6.10"}}).encode(),
        json.dumps({**RECORD, "data": {**RECORD["data"], "client": "claude\0-code"}}).encode(),
    ],
)
def test_what_a_shipper_does_to_a_record_does_not_change_its_key(variant: bytes) -> None:
    """White space, order, further fields, numbers as text, another spelling of the time."""
    assert key_of(variant) == key_of(RECORD)


@pytest.mark.parametrize(
    "change",
    [
        {"time": "2026-10-05T10:15:02.114000001Z"},
        {"pid": 8},
        {"hostname": "mcp-2"},
        {"msg": "Tool called"},
        {"data": {**RECORD["data"], "tool": "Tomtom-ev-routing"}},
        {"data": {**RECORD["data"], "client": "claude-code "}},
        {"data": {**RECORD["data"], "clientVersion": "2"}},
        {"data": {**RECORD["data"], "sessionId": "s2"}},
        {"data": {**RECORD["data"], "requestId": "r"}},
        {"data": {**RECORD["data"], "userId": "u"}},
        {"data": {**RECORD["data"], "ip": "203.0.113.7"}},
        {"data": {**RECORD["data"], "trigger": "release"}},
        {"data": {**RECORD["data"], "count": 4}},
        {"data": {"tool": "tomtom-ev-routing", "client": "claude-code"}},
    ],
)
def test_every_field_that_tells_calls_apart_is_in_the_key(change: dict[str, Any]) -> None:
    """A nanosecond, a blank or a letter's case makes another event."""
    assert key_of({**RECORD, **change}) != key_of(RECORD)


def test_servers_do_not_share_keys() -> None:
    """The same line from two servers is two calls."""
    assert key_of(RECORD, "a") != key_of(RECORD, "b")


@given(
    st.lists(st.tuples(st.sampled_from(["tool", "client", "pid"]), st.text(max_size=5)), max_size=3)
)
def test_no_two_sets_of_fields_share_a_key(fields: list[tuple[str, str]]) -> None:
    """Text that looks like the frame around it cannot move a field's border."""
    one = dict(fields)
    joined = {"tool": ",".join(f"{name}={len(text)}:{text}" for name, text in fields)}
    keys = {
        Delivery(HASHER).key("s", plain()._replace(key_fields=tuple(sorted(found.items()))), 0)
        for found in (one, joined)
    }

    assert len(keys) == (1 if one == joined else 2)


def test_copies_in_one_delivery_are_events_and_a_second_delivery_adds_none() -> None:
    """Case 27's rule: the n-th equal record has the n-th key, each time."""
    event = plain(tool="t")
    first, second = Delivery(HASHER), Delivery(HASHER)
    keys = [first.key("s", event, position) for position in range(3)]

    assert len(set(keys)) == 3
    assert [second.key("s", event, position) for position in range(3)] == keys


@pytest.mark.parametrize(("between", "counts_on"), [(WINDOW - 1, True), (WINDOW, False)])
def test_equal_records_count_on_within_the_window(between: int, counts_on: bool) -> None:
    """The window is the last 10,000 recognised records of the kind; another kind takes no room."""
    delivery = Delivery(HASHER)
    first = delivery.key("s", plain(tool="t"), 0)
    for number in range(between):
        delivery.key("s", plain(tool=str(number)), 1 + number)
        delivery.key("s", plain(Kind.LISTING), 1 + number)

    assert (delivery.key("s", plain(tool="t"), 1 + between) != first) is counts_on


def test_a_run_of_equal_records_longer_than_the_window_counts_on() -> None:
    """Each lies right behind the last, however many there are."""
    delivery = Delivery(HASHER)
    event = plain(tool="t")

    assert len({delivery.key("s", event, position) for position in range(25_000)}) == 25_000


def test_a_record_without_time_is_told_apart_by_its_place() -> None:
    """A resent body gives the same keys, another body others, another place others."""
    event = plain(time_ns=None, tool="t")
    keys = [Delivery(HASHER, body=b"x").key("s", event, place) for place in (0, 0, 1)]

    assert keys[0] == keys[1] != keys[2]
    assert Delivery(HASHER, body=b"y").key("s", event, 0) != keys[0]
    assert Delivery(HASHER, body=b"x").key("other", event, 0) != keys[0]


def test_a_file_read_again_and_longer_gives_its_old_lines_their_old_keys() -> None:
    """Records without a time chain: what follows does not change what came before."""
    lines = [plain(time_ns=None, tool=name) for name in ("a", "b", "a", "c")]
    short, long, other = Delivery(HASHER), Delivery(HASHER), Delivery(HASHER)
    before = [short.key("s", event, place) for place, event in enumerate(lines[:3])]
    after = [long.key("s", event, place) for place, event in enumerate(lines)]
    changed = [other.key("s", event, place) for place, event in enumerate([lines[1], *lines[1:]])]

    assert after[:3] == before
    assert len(set(after)) == 4
    assert not set(changed) & set(after)


def test_a_key_fits_a_signed_64_bit_column() -> None:
    """Half of them are negative, none is out of range."""
    keys = [Delivery(HASHER).key("s", plain(tool=str(n)), 0) for n in range(200)]

    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert min(keys) < 0 < max(keys)


def test_equal_text_of_two_kinds_has_two_hashes() -> None:
    """A session is not an address that happens to be spelled like it."""
    assert identity(SECRETS, "session", "x") != identity(SECRETS, "address", "x")
    assert identity(SECRETS, "session", "x") != identity(
        replace(SECRETS, identity=b"other"), "session", "x"
    )
    assert len(identity(SECRETS, "network", "x" * 1000)) == 32


def test_a_quarantined_record_replays_to_its_key() -> None:
    """The hash stands for the identity when we replay, and for nothing when a stranger sends it."""
    hashed = HASH_PREFIX + identity(SECRETS, "session", "s1")
    event = only_event(
        json.dumps({**RECORD, "data": {**RECORD["data"], "sessionId": hashed}}).encode()
    )

    assert Delivery(Hasher(SECRETS, replay=True)).key("s", event, 0) == key_of(RECORD)
    assert Delivery(HASHER).key("s", event, 0) != key_of(RECORD)


def test_a_record_rejected_for_its_time_keeps_what_its_key_needs() -> None:
    """From the excerpt, read when the clock allows it, comes the key of the line itself."""
    raw = json.dumps(RECORD).encode()
    rejected = read_with("2026-10-01T00:00:00Z").line(raw)
    replayed = only_event(rejected.excerpt.encode())  # type: ignore[union-attr]

    assert Delivery(Hasher(SECRETS, replay=True)).key("s", replayed, 0) == key_of(raw)


def test_other_secrets_give_other_keys() -> None:
    """Keys tell nothing about another database's."""
    event = plain(tool="t")
    other = Hasher(Secrets(key=b"other", identity=SECRETS.identity))

    assert Delivery(other).key("s", event, 0) != Delivery(HASHER).key("s", event, 0)


def test_the_cases_have_as_many_keys_as_events() -> None:
    """All of one delivery's events are stored."""
    for number in ("04", "15", "16", "20", "35", "38"):
        found = events(outcomes(case(number), read_with()))
        delivery = Delivery(HASHER)
        assert len({delivery.key("s", event, n) for n, event in enumerate(found)}) == len(found)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        (" 203.0.113.77 ", "203.0.113.0/24"),
        ("203.0.113.77:51234", "203.0.113.0/24"),
        ("::ffff:203.0.113.77", "203.0.113.0/24"),
        ("[::ffff:203.0.113.77]:443", "203.0.113.0/24"),
        ("2001:db8:1:2:3::7", "2001:db8:1::/48"),
        ("[2001:db8:1:2::7]", "2001:db8:1::/48"),
        ("[2001:db8:1:2::7]:443", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("::1", "::/48"),
        ("", None),
        ("localhost", None),
        ("160.79.106.x", None),
        ("203.0.113.77, 10.0.0.1", None),
        ("999.1.1.1", None),
        ("[", None),
    ],
)
def test_the_network_of_an_address(address: str, network: str | None) -> None:
    """/24 or /48, through ports, brackets, zones and mapped addresses."""
    assert network_of(address) == network


@given(st.text())
def test_no_text_breaks_the_network(text: str) -> None:
    """Addresses come from strangers."""
    assert network_of(text) is None or "/" in str(network_of(text))
