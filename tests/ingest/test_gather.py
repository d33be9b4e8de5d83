"""What is gathered of a delivery: whose it is, and in which hours it was heard."""

import json
from typing import Any

import pytest

from service.events import BatchName, Portion
from service.ingest import body, keys
from service.ingest.gather import Feed, Gathering, Watcher
from service.ingest.memory import Memory
from tests.ingest.support import HASHER, recogniser

NOW_US = 1_791_331_200_000_000
"""2026-10-07T00:00:00Z."""
TEN = 497_554
"""2026-10-05T10:00:00Z in hours since 1970: 20,731 days and 10 hours."""


def line(hour: int, *, message: str = "Retired tool called", **data: Any) -> dict[str, Any]:
    """A record of the half of an hour of 2026-10-05."""
    time = f"2026-10-05T{hour:02d}:30:00Z"
    return {"time": time, "msg": message, "data": {"tool": "gone", **data}}


def gathering(server: str | None = None, watch: Watcher | None = None) -> Gathering:
    feed = Feed(server=server, source="files", batch=BatchName(kind="ingest", label="run"))
    return Gathering(Memory(recogniser()), keys.Delivery(HASHER), feed, NOW_US, watch=watch)


def as_block(records: list[dict[str, Any]]) -> list[Portion]:
    found = gathering()
    found.take([b"".join(json.dumps(record).encode() + b"\n" for record in records)])
    return found.portions()


def as_watched_lines(records: list[dict[str, Any]]) -> list[Portion]:
    seen: list[object] = []
    found = gathering(watch=lambda record, _outcome: seen.append(record))
    found.take([b"".join(json.dumps(record).encode() + b"\n" for record in records)])
    assert len(seen) == len(records)
    return found.portions()


def as_lines(records: list[dict[str, Any]]) -> list[Portion]:
    found = gathering()
    text = b"\n".join(json.dumps(record).encode() for record in records)
    found.take(body.records(text + b"\n\n", 1 << 20))
    return found.portions()


def as_array(records: list[dict[str, Any]]) -> list[Portion]:
    found = gathering()
    found.take(body.records(json.dumps(records).encode(), 1 << 20))
    return found.portions()


ways = pytest.mark.parametrize("take", [as_block, as_watched_lines, as_lines, as_array])


@ways
def test_every_way_hears_the_same_hours(take: Any) -> None:
    """Events and ignored records alike, in blocks of lines, single lines and arrays."""
    (portion,) = take([line(10), line(13, message="Server started"), line(15)])

    assert portion.hours == {TEN: 1, TEN + 3: 1, TEN + 5: 1}
    assert (len(portion.rows), portion.ignored) == (2, 1)


@ways
def test_an_event_far_from_its_neighbours_is_heard_in_its_hour(take: Any) -> None:
    """Between two ignored records of one hour stands a late event: its own hour counts."""
    idle = line(10, message="Server started")
    (portion,) = take([idle, line(2), idle])

    assert portion.hours == {TEN: 2, TEN - 8: 1}


@ways
def test_a_rejected_record_is_heard_in_the_hour_that_is_seen_in_it(take: Any) -> None:
    """A call that names no tool and has no usable time tells that its log was heard all the same."""
    broken = {"time": "2026-10-05T12:30:00Z", "logged_at": True, "audit_id": "a", "component": "c",
              "target": {"method": "tools/list"}}  # fmt: skip
    (portion,) = take([line(10), broken, line(14, message="Something else")])

    assert (len(portion.rejected), portion.ignored) == (1, 1)
    assert portion.hours == {TEN: 1, TEN + 2: 1, TEN + 4: 1}


def test_blank_lines_are_heard_in_no_hour() -> None:
    """Only records count: two ignored lines with three blank ones between them are two."""
    found = gathering()
    idle = json.dumps(line(10, message="Server started")).encode()
    found.take([idle + b"\n\n \n\r\n" + idle + b"\n"])
    (portion,) = found.portions()

    assert portion.hours == {TEN: 2}
    assert portion.received == 2


@ways
def test_records_that_name_their_server_are_booked_with_it(take: Any) -> None:
    """What is ignored names none that was understood, and stays with the default."""
    records = [line(10, mcpServer="b"), line(10, mcpServer="a"), line(10, mcpServer="a")]
    portions = take([*records, line(10, message="Server started")])

    assert [(p.server, len(p.rows), p.ignored) for p in portions] == [
        ("a", 2, 0),
        ("b", 1, 0),
        ("default", 0, 1),
    ]


def test_the_delivery_s_server_goes_before_the_line_s() -> None:
    """A shipper's setting is not overruled by what a line says."""
    found = gathering(server="mine")
    found.take([json.dumps(line(10, mcpServer="other")).encode() + b"\n"])

    assert [
        (p.server, [subject.server for _, _, subject, *_ in p.rows]) for p in found.portions()
    ] == [("mine", ["mine"])]


def test_nothing_at_all_is_one_empty_portion() -> None:
    """An empty delivery has a source and a batch all the same."""
    (portion,) = gathering().portions()

    assert (portion.server, portion.received) == ("default", 0)


def test_a_record_without_a_time_is_heard_when_it_arrives() -> None:
    """Its event takes the time of arrival, and so does its hour."""
    found = gathering()
    found.take([b'{"msg":"Retired tool called","data":{"tool":"gone"}}\n'])
    (portion,) = found.portions()

    assert portion.hours == {NOW_US // 3_600_000_000: 1}


def test_places_count_in_the_order_of_the_body() -> None:
    """A line that is too long comes by itself, and counts where it stands."""
    long = b'{"msg":"Tools listed","pad":"%b"}\n' % (b"x" * 2_000)
    good = json.dumps(line(10)).encode() + b"\n"
    found = gathering()
    found.take(body.records(good + long + good + b'{"cut"\n' + good, 1_000))
    (portion,) = found.portions()

    assert [each.position for each in portion.rejected] == [1, 3]
    assert len(portion.rows) == 3


def test_rejected_records_beyond_those_kept_are_counted() -> None:
    """A body of nothing but broken lines is accounted for to the last one, in bounded memory."""
    found = gathering()
    found.take(body.records(b"{\n" * 60_000, 1_000))
    (portion,) = found.portions()

    assert found.size == 0
    assert len(portion.rejected) == 50_000
    assert portion.received == 60_000
    assert dict(portion.reasons) == {"invalid_json": 60_000}


@pytest.mark.parametrize("share", [1, 2, 7, 40])
def test_the_place_of_a_rejected_line_is_its_number(share: int) -> None:
    """Counted over blocks, blank lines left out, whether few lines of a block are broken or all."""
    broken, other, blank = b"{\n", b'{"level":"info"}\n', b" \n"
    lines, expected, number = [], [], 0
    for each in range(2_000):
        lines.append(broken if each % share == 0 else other)
        expected += [number] if each % share == 0 else []
        number += 1
        if each % 5 == 3:
            lines.append(blank)
    found = gathering()
    found.take([b"".join(lines[:1_500]), b"".join(lines[1_500:])])
    [portion] = found.portions()

    assert [item.position for item in portion.rejected] == expected
    assert portion.received == number


@pytest.mark.parametrize("filler", [b"x", b"12345", b"{}"])
def test_one_time_among_many_short_lines_is_heard(filler: bytes) -> None:
    """Lines that are too short for a time are not asked for one, the others are."""
    lines = [filler] * 3_000
    lines[1_700] = b'{"time":1791195302114}'
    found = gathering()
    found.take([b"\n".join([*lines, b""])])
    [portion] = found.portions()

    assert list(portion.hours) == [TEN]
