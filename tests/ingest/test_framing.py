"""Lines that come in parts, messages that are counted, and journals are records like any other."""

import json
import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ingest import octets
from service.ingest.framing import framed
from service.ingest.lines import split_blocks
from service.ingest.records import Line
from service.ingest.stream import Stream
from tests.ingest.support import CALL_NS, case, events, outcomes, recogniser, single, tally

READER = recogniser()
LIMIT = 1 << 20
RECORD = b'{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"t"}}'
OTHER = RECORD.replace(b'"t"', b'"u"')


def raws(data: bytes, limit: int = LIMIT, size: int = 1 << 20) -> list[bytes]:
    return [line.raw for line in lines(data, limit, size)]


def lines(data: bytes, limit: int = LIMIT, size: int = 1 << 20) -> list[Line]:
    found = single(framed((data[at : at + size] for at in range(0, len(data), size)), limit))
    assert all(isinstance(line, Line) for line in found)
    return [line for line in found if isinstance(line, Line)]


def cri(stream: str, tag: str, text: bytes) -> bytes:
    return b"2026-10-05T10:15:02.2Z %b %b %b\n" % (stream.encode(), tag.encode(), text)


def docker(text: str, stream: str = "stdout") -> bytes:
    record = {"log": text, "stream": stream, "time": "2026-10-05T10:15:03Z"}
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "expected", "times"),
    [
        ("10", {"event": 3}, [CALL_NS, CALL_NS + 57_887 * 10**6, CALL_NS + 148_386 * 10**6]),
        ("11", {"event": 2}, [CALL_NS, CALL_NS + 2_886 * 10**6]),
        ("12", {"event": 2}, [CALL_NS, CALL_NS + 1_886 * 10**6]),
        ("13", {"event": 2, "ignored": 3}, [CALL_NS, CALL_NS + 886 * 10**6]),
        ("14", {"event": 3}, [CALL_NS, CALL_NS + 886 * 10**6, CALL_NS + 1_886 * 10**6]),
    ],
)
def test_the_wrapped_cases_come_out_right(
    name: str, expected: dict[str, int], times: list[int]
) -> None:
    """Docker, its parts, Kubernetes' parts, compose, syslog; each at the record's own time."""
    found = outcomes(case(name), READER)

    assert tally(found) == expected
    assert [event.time_ns for event in events(found)] == times


def test_parts_are_joined_within_their_stream() -> None:
    """Byte for byte, in the place of the last one, with the time of the first."""
    text = b"".join(
        [
            cri("stdout", "P", RECORD[:30] + b" "),
            cri("stderr", "P", OTHER[:50]),
            b'{"msg":"between"}\n',
            cri("stdout", "P:x", b""),
            cri("stderr", "F", OTHER[50:]),
            cri("stderr", "F", b"alone"),
            cri("stdout", "F", RECORD[30:]),
        ]
    )

    assert raws(text) == [
        b'{"msg":"between"}',
        cri("stderr", "F", OTHER)[:-1],
        cri("stderr", "F", b"alone")[:-1],
        cri("stdout", "F", RECORD[:30] + b" " + RECORD[30:])[:-1],
    ]


def test_dockers_parts_are_of_16_kib_and_no_others() -> None:
    """A line without newline that somebody else wrote in Docker's keys is whole."""
    long = "x" * 16_384
    assert raws(docker(long) + docker("y", "stderr") + docker("z\n")) == [
        docker("y", "stderr")[:-1],
        docker(long + "z\n")[:-1],
    ]
    for whole in ("a", "x" * 16_383, "x" * 16_384 + "\n", "x" * 20_000, '"\\n' * 9_000):
        assert len(raws(docker(whole) + docker("z\n"))) == 2
    assert len(raws(docker('"' * 16_384) + docker('"\\n\n'))) == 1


@pytest.mark.parametrize("size", [1, 7, 300, 1 << 20])
def test_how_a_stream_is_cut_into_chunks_makes_no_difference(size: int) -> None:
    """Parts may lie in different blocks."""
    filler = b'{"msg":"of no interest"}\n' * 30_000
    text = cri("stdout", "P", RECORD[:40]) + filler[: 900 * size] + cri("stdout", "F", RECORD[40:])

    assert raws(text, size=size)[-1] == cri("stdout", "F", RECORD)[:-1]


def test_a_line_whose_end_never_comes_is_unfinished() -> None:
    """What there is of it is one record at the end."""
    for text in (cri("stdout", "P", RECORD[:-5]), docker(RECORD[:-5].decode() + " " * 16_306)):
        assert tally(outcomes(text + b"none\n", READER)) == {"incomplete_line": 1, "ignored": 1}
        assert [line.unfinished for line in lines(text)] == [True]


def test_the_last_part_may_lack_its_newline() -> None:
    """A file that is read while it is written."""
    text = cri("stdout", "P", RECORD[:40]) + cri("stdout", "F", RECORD[40:])

    assert lines(text[:-1]) == [Line(cri("stdout", "F", RECORD)[:-1], unfinished=True)]
    assert tally(outcomes(text[:-1], READER)) == {"event": 1}


def test_a_line_that_is_too_long_together_is_so() -> None:
    """It is marked, and its head says that it is JSON within its wrapper."""
    parts = [cri("stdout", "P", b"x" * 400) for _ in range(5)]
    text = cri("stdout", "P", b"{") + b"".join(parts) + cri("stdout", "F", b"}") + RECORD + b"\n"

    assert tally(outcomes(text, READER, 1_000)) == {"line_too_long": 1, "event": 1}
    assert tally(outcomes(text.replace(b"P {", b"P -"), READER, 1_000)) == {
        "ignored": 1,
        "event": 1,
    }
    text = docker("x" * 16_384) * 3 + docker("{" + "x" * 16_383, "stderr") * 3
    assert tally(outcomes(text, READER, 20_000)) == {"ignored": 1, "line_too_long": 1}
    one = cri("stdout", "F", b"{" + b"x" * 2_000 + b"}")
    assert tally(outcomes(one, READER, 1_000)) == {"line_too_long": 1}


def test_parts_without_end_are_not_held() -> None:
    """Memory stays flat however many come."""

    def endless() -> Iterator[bytes]:
        for _ in range(2_000):
            yield cri("stdout", "P", b"x" * 60_000) + cri("stderr", "P", b"y" * 60_000)

    tracemalloc.start()
    found = list(framed(endless(), LIMIT))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [line.too_long for line in found if isinstance(line, Line)] == [True, True]
    assert peak < 16 * LIMIT


@given(
    st.lists(
        st.sampled_from(
            [
                b"stdout",
                b"stderr",
                b" P ",
                b" F ",
                b"\n",
                b'{"log":"',
                b'","stream":"std',
                b"out",
                b'"}',
                b"2026-10-05T10:15:02Z ",
            ]
        )
    )
)
def test_lines_that_are_no_parts_stay_as_they_are(pieces: list[bytes]) -> None:
    """Whatever they are made of: none is lost, and none is made up."""
    text = b"".join(pieces)
    found = b"".join(raws(text))

    if b" P" not in text:
        plain = b"".join(
            line.raw for line in single(split_blocks([text], LIMIT)) if isinstance(line, Line)
        )
        assert found == plain


# ------------------------------------------------------------------- octet counts


def counted(message: bytes) -> bytes:
    return b"%d %b" % (len(message), message)


def test_counted_messages_may_hold_newlines() -> None:
    """In JSON they are white space; messages may be ended by one, too, or by NUL."""
    pretty = RECORD.replace(b",", b",\n ")
    text = (
        counted(b"<14>1 - a b - - - " + pretty)
        + counted(b"<14>1 - a b - - - trace\n  at x\n")
        + counted(b"<14>1 - a b - - - " + OTHER + b"\n")
        + b"\n"
        + counted(b"<14>" + OTHER + b"\0")
    )

    found = outcomes(text, READER)

    assert tally(found) == {"event": 3, "ignored": 1}
    assert [event.tool for event in events(found)] == ["t", "u", "u"]
    assert raws(text, size=3) == raws(text)


def test_a_count_that_is_wrong_is_not_believed() -> None:
    """The message then ends with its line, and so does one that is not counted."""
    message = b"<14>1 - a b - - - " + RECORD
    text = b"".join(
        [
            counted(message),
            b"17 %b\n" % message,
            b"99999 %b\n" % message,
            b"%b\n" % message,
            counted(message),
            b"999999999 %b" % message,
        ]
    )

    assert tally(outcomes(text, READER)) == {"event": 6}


def test_a_counted_message_that_is_cut_is_unfinished() -> None:
    """At the end of a stream."""
    text = counted(b"<14>1 - a b - - - " + RECORD)

    assert tally(outcomes(text + text[:-3], READER)) == {"event": 1, "incomplete_line": 1}


# ------------------------------------------------------------------------ journal


def entry(cursor: str, message: bytes, *, binary: bool = False) -> bytes:
    said = b"MESSAGE=%b\n" % message
    if binary:
        said = b"MESSAGE\n%b%b\n" % (len(message).to_bytes(8, "little"), message)
    head = f"__CURSOR={cursor}\n__REALTIME_TIMESTAMP=1791195302114000\n_PID=7\n".encode()
    return head + said + b"_COMM\n\x03\0\0\0\0\0\0\0a\n\n\n" + b"PRIORITY=6\n\n"


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_a_journal_is_read_entry_by_entry(size: int) -> None:
    """Values with newlines, blank lines and bytes of any kind among them; each has its own id."""
    timeless = b'{"msg":"Retired tool called",\n\n"tool":"t"}'
    text = (
        entry("a", RECORD)
        + entry("b", RECORD, binary=True)
        + entry("c", timeless, binary=True)
        + entry("d", b"\xff\xfe", binary=True)
        + b"__CURSOR=e\n\n"
    )
    chunks = (text[at : at + size] for at in range(0, len(text), size))

    found = [READER.read(line) for line in single(framed(chunks, LIMIT)) if isinstance(line, Line)]
    known = events([item for item in found if item is not None])

    assert len(found) == 5
    assert [(event.native_id, event.time_ns) for event in known] == [
        (f"journald:{cursor}", CALL_NS) for cursor in "abc"
    ]


def test_a_message_of_a_journal_may_be_too_long() -> None:
    """Only its head is held, and its neighbours are read."""
    for binary in (False, True):
        text = entry("a", b"{" + b"x" * 5_000, binary=binary) + entry("b", RECORD)
        assert tally(outcomes(text, READER, 1_000)) == {"line_too_long": 1, "event": 1}


def test_a_journal_that_is_cut_ends_in_an_unfinished_entry() -> None:
    """Within the value of its message."""
    text = entry("a", RECORD)
    cut = text.index(b'"tool"')

    assert tally(outcomes(text + text[:cut], READER)) == {"event": 1, "incomplete_line": 1}
    assert tally(outcomes(text + text[:20], READER)) == {"event": 1, "ignored": 1}


@given(st.binary(max_size=80), st.sampled_from([b"__CURSOR=", b"__CURSOR=a\nMESSAGE\n", b"3 <1>"]))
def test_any_bytes_may_follow_the_beginning_of_a_stream(rest: bytes, begins: bytes) -> None:
    """Nothing raises, and reading ends."""
    assert all(isinstance(part, bytes | Line) for part in framed([begins + rest], 1_000))


def test_counted_messages_do_not_depend_on_how_they_arrive() -> None:
    """In one piece, where most are read at once, or byte by byte, broken ones among them."""
    rng = random.Random(6587)
    for _ in range(300):
        parts = [rng.choice(COUNTED_PARTS) for _ in range(rng.randrange(1, 60))]
        text = counted(b"<14>1 - a b - - - x") + b"".join(parts)
        size = rng.choice([1, 7, 64])
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        whole = list(octets.messages(Stream([text]), 40))
        assert whole == list(octets.messages(Stream(pieces), 40)), text


COUNTED_PARTS = [
    counted(b"<14>1 - a b"), counted(b"<1>\n"), counted(b"<14>a\nb\0\n"), b"3 <1>", b"\n", b"\0 \r\n",
    b" " * 20, b"99 <1>x", b"7 <14>", b"text\n", b"<14>1 plain\n", b"12", b"x" * 50, b"123456789 <1>\n",
]  # fmt: skip
