"""msgpack, in the shapes that Logtail, Fluent Bit and Fluentd send."""

import gzip
import json

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies.packed import looks_packed, records
from service.ingest.records import Limits, Line, Parsed

MAX_LINE = 1_000
LIMITS = Limits(1_000_000, MAX_LINE)
AT = 1_791_195_302
EVENT_TIME = msgpack.ExtType(0, AT.to_bytes(4, "big") + (114_000_000).to_bytes(4, "big"))
EVENT_NS = 1_791_195_302_114_000_000
A, B = {"msg": "a", "n": 1}, {"msg": "b", "deep": {"x": [1, None, True]}}
ENTRIES = msgpack.packb([EVENT_TIME, A]) + msgpack.packb([AT, B])
ZIPPED = gzip.compress(msgpack.packb([EVENT_TIME, A])) + gzip.compress(msgpack.packb([AT, B]))
"""As Fluentd sends them: a member for each of its chunks."""


def read(body: bytes) -> list[tuple[object, object]]:
    """(record, time) of each record."""
    assert looks_packed(body)
    return [
        (json.loads(item.raw) if isinstance(item, Line) else item.value, item.origin.time)
        for item in records(body, LIMITS)
    ]


def pack(*values: object) -> bytes:
    return b"".join(msgpack.packb(value) for value in values)


@pytest.mark.parametrize(
    ("body", "times"),
    [
        (pack([A, B]), (None, None)),
        (pack(A, B), (None, None)),
        (pack([EVENT_TIME, A], [AT, B]), (EVENT_NS, AT)),
        (pack([[EVENT_TIME, {}], A], [[EVENT_TIME, {"m": 1}], B]), (EVENT_NS, EVENT_NS)),
        (pack([[EVENT_TIME, A], [AT + 0.5, B]]), (EVENT_NS, AT + 0.5)),
        (pack(["tag", EVENT_TIME, A], ["tag", AT, B]), (EVENT_NS, AT)),
        (pack(["tag", [[EVENT_TIME, A], [AT, B]], {"chunk": "c"}]), (EVENT_NS, AT)),
        (pack([A, B] + [A] * 30), (None,) * 32),
        (pack(["tag", pack([EVENT_TIME, A], [AT, B])]), (EVENT_NS, AT)),
        (pack(["tag", pack([[EVENT_TIME, {}], A], [AT, B]), {"size": 2}]), (EVENT_NS, AT)),
        (pack(["tag", ZIPPED, {"compressed": "gzip"}]), (EVENT_NS, AT)),
        (pack(["tag", ZIPPED], ["tag", pack([AT, A])]), (EVENT_NS, AT, AT)),
        (msgpack.packb(["tag", ENTRIES], use_bin_type=False), (EVENT_NS, AT)),
    ],
)
def test_records_and_their_times(body: bytes, times: tuple[object, ...]) -> None:
    """In every shape, and the time beside a record is its origin's."""
    found = read(body)

    assert [time for _, time in found] == list(times)
    assert [record for record, _ in found[:2]] == [A, B]


def test_one_bad_element_is_one_rejected_record() -> None:
    """Its neighbours are records all the same."""
    large = {"a": "x" * MAX_LINE}
    body = pack([A, None, 5, "text", large, {"list": [0] * 20_000}, B])
    found = list(records(body, LIMITS))

    assert [isinstance(item, Line) for item in found] == [
        True,
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert [item.too_long for item in found if isinstance(item, Line)] == [False, True, True, False]


def test_bytes_and_foreign_types_become_text_or_nothing() -> None:
    """What JSON cannot say costs nothing but itself."""
    body = pack({b"\xff": 1}) + pack([{"a": b"\xff", "b": msgpack.ExtType(7, b"x"), 5: 1}])

    assert [record for record, _ in read(body)][1:] == [{"a": "\ufffd", "b": None, "5": 1}]


@pytest.mark.parametrize(
    "body", [pack([A, B])[:-1], b"\xdd\xff\xff\xff\xff", b"\x91\xc1", b"\x91" * 5_000]
)
def test_what_is_broken_is_refused(body: bytes) -> None:
    """Cut, or claiming more than there is."""
    with pytest.raises(BodyNotDecodable):
        list(records(body, LIMITS))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (pack([A, B])[:-1], "value at byte 0 (0x92) does not end; the body is cut"),
        (pack(A) + b"\x91\xc1", f"value at byte {len(pack(A))} (0x91) holds 0xc1"),
        (b"\x91" * 5_000, "value at byte 0 (0x91) is nested too deep"),
        (pack(["tag", gzip.compress(pack([AT, A])[:-1])]), "value at byte 0 (0x92) does not end"),
        (pack(["tag", gzip.compress(ENTRIES)[:-9]]), "the gzip stream ends too early"),
    ],
)
def test_a_refusal_says_what_is_wrong(body: bytes, why: str) -> None:
    """And where."""
    with pytest.raises(BodyNotDecodable) as caught:
        list(records(body, LIMITS))
    assert why in caught.value.detail


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"\x81\x91\x01\x01", "a record with a list or a map as a key"),
        (b"\x81\xa1a\xd7\xff" + b"\xff" * 8, "a record that cannot be read: nanoseconds must be"),
        (pack({"a": [0] * 20_000}), "a record with a list of more than 10000"),
        (pack({"a": [[]] * 60_000}), "a record with more than 50000 lists and maps"),
        (b"\x81\xa1a" * 400 + b"\x01", "a record that is nested too deep"),
    ],
)
def test_a_record_that_cannot_be_read_says_why(record: bytes, why: str) -> None:
    """It is rejected alone, and what is kept of it is the reason."""
    [first, bad, last] = records(pack(A) + record + pack(B), Limits(1_000_000, 100_000))

    assert isinstance(first, Line)
    assert isinstance(last, Line)
    assert not first.too_long | last.too_long
    said = bad.value if isinstance(bad, Parsed) else bad.raw.decode()
    assert isinstance(bad, Parsed) or bad.too_long
    assert str(said).startswith(why)


def test_a_record_is_as_long_as_it_came() -> None:
    """Not as its JSON, in which what is escaped takes six bytes for one."""
    fits = {"msg": "\1" * (MAX_LINE - 10)}
    [line] = records(pack([fits]), LIMITS)

    assert isinstance(line, Line)
    assert not line.too_long
    assert json.loads(line.raw) == fits


def test_each_record_of_a_message_has_the_limit_of_a_line() -> None:
    """However long the message is."""
    entries = [[AT, {"n": n, "msg": "é" * 200}] for n in range(20)] + [[AT, {"a": "x" * MAX_LINE}]]
    for body in (pack(["tag", entries]), pack(["tag", pack(*entries)])):
        found = list(records(body, LIMITS))

        assert [item.too_long for item in found if isinstance(item, Line)] == [False] * 20 + [True]


def test_entries_inflate_to_a_body_at_most() -> None:
    """All of the messages of a body together."""
    message = pack(["tag", gzip.compress(pack([AT, {"a": "x" * 600_000}]))])

    with pytest.raises(BodyTooLarge):
        list(records(message * 2, LIMITS))


def test_keys_that_are_bytes_and_large_times_are_written() -> None:
    """JSON has neither."""
    large = msgpack.Timestamp(2**40, 5)

    assert [r for r, _ in read(pack({b"msg": "a", "t": large}))] == [
        {"msg": "a", "t": 2.0**40 * 1e9}
    ]


@given(st.text(min_size=1).map(str.encode))
def test_no_text_looks_packed(text: bytes) -> None:
    """Whatever its first character is."""
    assert not looks_packed(text)


@given(st.binary(min_size=1, max_size=60))
def test_any_bytes_are_records_or_refused(body: bytes) -> None:
    """No other error."""
    try:
        found = list(records(body, LIMITS))
    except BodyNotDecodable:
        return
    assert all(item.origin.wrappers == ("msgpack",) for item in found)


def test_a_time_as_a_key_that_64_bits_do_not_hold_is_a_key() -> None:
    """A 96-bit timestamp of the year 146 billion; the record is stored or ignored as any other is."""
    far = b"\xc7\x0c\xff" + bytes(4) + (2**62).to_bytes(8, "big")
    ((record, _),) = read(b"\x82" + far + b"\x01" + msgpack.packb("msg") + msgpack.packb("a"))

    assert record == {"4.611686018427388e+27": 1, "msg": "a"}
