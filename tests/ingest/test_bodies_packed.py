"""msgpack, in the shapes that Logtail, Fluent Bit and Fluentd send."""

import json

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BodyNotDecodable
from service.ingest.bodies.packed import looks_packed, records
from service.ingest.records import Line

MAX_LINE = 1_000
AT = 1_791_195_302
EVENT_TIME = msgpack.ExtType(0, AT.to_bytes(4, "big") + (114_000_000).to_bytes(4, "big"))
EVENT_NS = 1_791_195_302_114_000_000
A, B = {"msg": "a", "n": 1}, {"msg": "b", "deep": {"x": [1, None, True]}}


def read(body: bytes) -> list[tuple[object, object]]:
    """(record, time) of each record."""
    assert looks_packed(body)
    return [
        (json.loads(item.raw) if isinstance(item, Line) else item.value, item.origin.time)
        for item in records(body, MAX_LINE)
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
    found = list(records(body, MAX_LINE))

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
        list(records(body, MAX_LINE))


@given(st.text(min_size=1).map(str.encode))
def test_no_text_looks_packed(text: bytes) -> None:
    """Whatever its first character is."""
    assert not looks_packed(text)


@given(st.binary(min_size=1, max_size=60))
def test_any_bytes_are_records_or_refused(body: bytes) -> None:
    """No other error."""
    try:
        found = list(records(body, MAX_LINE))
    except BodyNotDecodable:
        return
    assert all(item.origin.wrappers == ("msgpack",) for item in found)
