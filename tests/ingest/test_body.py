"""Bodies: decompressed within the limit, and taken apart into the records that they hold."""

import contextlib
import gzip
import json
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import MOST
from service.ingest.body import (
    decode_body,
    is_json_array,
    reader,
    records,
    records_of,
    stream_records,
)
from service.ingest.records import Limits, Line, Parsed
from tests.ingest.support import outcomes, recogniser, single, tally

LIMIT = 1000


@pytest.mark.parametrize("header", [None, "", "identity", "gzip", "x-gzip", "br", "GZIP"])
def test_gzip_is_known_by_its_bytes(header: str | None) -> None:
    """Senders forget the header, or keep it after a proxy has inflated the body."""
    assert decode_body(gzip.compress(b"a\nb", mtime=0), header, LIMIT) == b"a\nb"
    assert decode_body(b'{"a":1}', header, LIMIT) == b'{"a":1}'


def test_several_gzip_members_are_one_body() -> None:
    """Some shippers flush a member a batch."""
    body = gzip.compress(b"a\n", mtime=0) + gzip.compress(b"b\n", mtime=0) + b"\0\0"

    assert decode_body(body, "gzip", LIMIT) == b"a\nb\n"


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=4), st.booleans())
def test_never_more_than_the_limit_comes_out(sizes: list[int], compressed: bool) -> None:
    """At the limit it passes, one byte more is too large, however it is split into members."""
    parts = [b"x" * size for size in sizes]
    body = b"".join(gzip.compress(part, mtime=0) if compressed else part for part in parts)
    if sum(sizes) <= LIMIT:
        assert decode_body(body, "gzip" if compressed else None, LIMIT) == b"x" * sum(sizes)
    else:
        with pytest.raises(BodyTooLarge, match="1000"):
            decode_body(body, None, LIMIT)


def test_a_bomb_is_not_inflated() -> None:
    """256 MiB of nothing stop at the limit."""
    bomb = gzip.compress(bytes(256 << 20), mtime=0)
    tracemalloc.start()
    with pytest.raises(BodyTooLarge):
        decode_body(bomb, "gzip", 1 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 << 20


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (gzip.compress(b"a" * 100, mtime=0)[:-9], "gzip"),
        (gzip.compress(b"a" * 100, mtime=0)[:20], None),
        (b"\x1f\x8bgarbage that is no gzip", None),
        (zlib.compress(b"a" * 100)[:-3], "deflate"),
        (bytes(range(256)), "br"),
        (gzip.compress(b"a", mtime=0) + b"rest", None),
    ],
)
def test_what_cannot_be_decoded_says_what_can(data: bytes, header: str | None) -> None:
    """A sender is told what would succeed."""
    with pytest.raises(BodyNotDecodable, match="gzip"):
        decode_body(data, header, LIMIT)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", []),
        (b"  \r\n\0", []),
        (b'{"a":1}\n{"b":2}\n', [Line(b'{"a":1}'), Line(b'{"b":2}')]),
        (b'\xef\xbb\xbf{"a":1}', [Line(b'{"a":1}', unfinished=True)]),
        (b'[{"a":1},null,5]', [Line(b'{"a":1}'), Parsed(None), Parsed(5)]),
        (b' [\n {"a": NaN}\n]\n', [Line(b'{"a": NaN}')]),
        (b'[{"a":1},{"b":[\n]}\n,\n{}]', [Line(b'{"a":1}'), Line(b'{"b":[ ]}'), Line(b"{}")]),
        (
            b'[{"a":1},oops,{"b":},7]',
            [Line(b'{"a":1}'), Parsed("oops"), Line(b'{"b":}'), Parsed(7)],
        ),
        (
            b'{"a":1}{"b":"}{"} {"c":{}}text',
            [Line(b'{"a":1}'), Line(b'{"b":"}{"}'), Line(b'{"c":{}}'), Line(b"text")],
        ),
        (
            b'x{}{}\n{"a":1}{"b":2}\n{}x\n{}{',
            [
                Line(b"x{}{}"),
                Line(b'{"a":1}{"b":2}'),
                Line(b"{}x"),
                Line(b"{}{", unfinished=True),
            ],
        ),
        (b'{"a":"}{"}\n', [Line(b'{"a":"}{"}')]),
        (
            b'{"logs":[{"a":1},"a line",null],"n":1}',
            [Line(b'{"a":1}'), Line(b"a line"), Parsed(None)],
        ),
        (b'{\n "records": [\n{"a":1},\n{}]}\n', [Line(b'{"a":1}'), Line(b"{}")]),
        (b'{"events":[]}', []),
        (b'{"entries":[{}],"tags":["x"]}\n', [Line(b'{"entries":[{}],"tags":["x"]}')]),
        (b'{"msg":"m","logs":[{}]}\n', [Line(b'{"msg":"m","logs":[{}]}')]),
        (b'{"tools":[{}]}\n', [Line(b'{"tools":[{}]}')]),
        (b'{"logs":[{}]}\n{"logs":[{}]}\n', [Line(b'{"logs":[{}]}')] * 2),
        (b"[]", []),
        (b'{\n "a": 1\n}\n', [Line(b'{  "a": 1 }')]),
        (b'{\n "a": 1\n}\n{\n"b":2}', [Line(b'{  "a": 1 }'), Line(b'{ "b":2}')]),
        (b'{\n "a": 1\n}\n{\n', [Line(b"{"), Line(b'"a": 1'), Line(b"}"), Line(b"{")]),
        (b'[{"a":1}]\n{"b":2}\n', [Line(b'[{"a":1}]'), Line(b'{"b":2}')]),
        (b"[2026-10-05T10:15:02Z] x\n", [Line(b"[2026-10-05T10:15:02Z] x")]),
        ('[{"a":1}]'.encode("utf-16"), [Line(b'{"a":1}')]),
    ],
)
def test_the_records_of_a_body(body: bytes, expected: list[Line | Parsed]) -> None:
    """An array, one object over several lines, or lines."""
    assert single(records(body, LIMIT)) == expected


@pytest.mark.parametrize(
    "body", [b'[{"a":1},', b'[{"a":1}\n,{"b":', b"[[", b"[null, {", b'["a", 5']
)
def test_a_broken_array_is_refused_whole(body: bytes) -> None:
    """Its pieces are no lines; the sender must know."""
    with pytest.raises(BodyNotDecodable):
        records(body, LIMIT)


def test_one_element_that_is_too_deep_does_not_cost_its_neighbours() -> None:
    """Neither parser follows it; the others are records all the same."""
    good = '{"msg":"Retired tool called","tool":"a,b]"}'
    deep = '{"msg":"Retired tool called","x":' + "[" * 5000 + "]" * 5000 + "}"
    body = f"[{good}, {deep} ,5,{good}]".encode()

    assert tally(outcomes(body, recogniser())) == {"event": 2, "too_deep": 1, "not_an_object": 1}


def test_an_object_too_deep_over_several_lines_is_one_record() -> None:
    """It is rejected once, not once a line."""
    body = b'{"msg":"Retired tool called",\n"x":' + b"[" * 5000 + b"\n" + b"]" * 5000 + b"}"

    assert tally(outcomes(body, recogniser())) == {"too_deep": 1}


@pytest.mark.parametrize(
    ("head", "array"),
    [(b"[{", True), (b" \n[ {", True), (b"[]", True), (b"[\n", True), (b"\xef\xbb\xbf[{", True),
     (b"[2026-10-05", False), (b"{", False), (b"", False), (b"[INFO]", False)],
)  # fmt: skip
def test_a_file_that_is_an_array_is_told_from_a_text_log(head: bytes, array: bool) -> None:
    """Many text logs begin with a time in brackets."""
    assert is_json_array(head) is array


def test_a_file_that_is_an_array_gives_its_elements() -> None:
    """Written over many lines, cut into chunks anywhere."""
    data = json.dumps([{"a": 1}, {"b": 2}]).replace(",", "\n,\n").encode()
    chunks = [b" \n", *(data[at : at + 5] for at in range(0, len(data), 5))]

    assert single(stream_records(chunks, LIMIT, LIMIT)) == [Line(b'{"a": 1}'), Line(b'{"b": 2}')]


def test_a_file_that_is_too_large_an_array_says_what_to_do() -> None:
    """An array has to be held whole, so it has a limit; lines have none."""
    with pytest.raises(BodyTooLarge, match="one record a line"):
        single(stream_records([b'[{"a":1},'] * 1000, LIMIT, LIMIT))


def test_a_file_of_lines_is_never_held_whole() -> None:
    """Lines come while the file is still being read."""
    source = iter([b"a\n"] * 100_000)

    assert next(iter(stream_records(source, LIMIT, LIMIT))) == b"a\n" * (LIMIT // 2)
    assert next(source) == b"a\n"


@given(st.binary(max_size=60) | st.text('[]{}",: \n1a', max_size=30).map(str.encode))
def test_any_body_is_records_or_refused(body: bytes) -> None:
    """No other error than the one that the sender is shown."""
    with contextlib.suppress(BodyNotDecodable):
        assert all(isinstance(item, bytes | Line | Parsed) for item in records(body, LIMIT))


def test_an_array_behind_a_mark_or_in_utf16_is_an_array() -> None:
    """The mark may come in a chunk of its own."""
    marked = [b"\xef\xbb\xbf", b'[{"a":1}]']

    assert single(stream_records(marked, LIMIT, LIMIT)) == [Line(b'{"a":1}')]
    assert single(stream_records(['[{"a":1}]'.encode("utf-16")], LIMIT, LIMIT)) == [
        Line(b'{"a":1}')
    ]


def test_an_unclosed_text_in_a_deep_array_costs_no_time() -> None:
    """Each of its escaped quotes could be taken for a beginning; half a megabyte would take hours."""
    body = b"[" * 5000 + b'"' + b'\\"' * 250_000

    with pytest.raises(BodyNotDecodable):
        records(body, LIMIT)


@pytest.mark.parametrize("first", [b"[]", b'[{"a":1}] boot', b"[{}] [worker 1] ready"])
def test_a_log_whose_first_line_looks_like_an_array_is_read_line_by_line(first: bytes) -> None:
    """However long it is: only what is one array as a whole is held as a whole."""
    line = b'{"msg":"Retired tool called","tool":"t"}\n'
    chunks = [first + b"\n", *[line * 100] * 20]

    found = single(stream_records(chunks, 1 << 20, 1_000))

    assert len(found) == 2_001


# ----------------------------------------------------------------------------- cutting

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a"\\\\[]{},:\n é'),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(st.lists(json_values, max_size=6), st.sampled_from([None, 1]), st.integers(0, 40))
def test_an_array_is_cut_into_its_elements(
    elements: list[object], indent: int | None, deeper: int
) -> None:
    """However they are written, and deeper than the patterns follow."""
    for _ in range(deeper):
        elements = [{"a": elements}]
    text = json.dumps(elements, indent=indent).encode()

    assert jsoncut.end_of(text, 0) == len(text)
    assert [json.loads(text[a:b]) for a, b in jsoncut.elements(text, 1)] == elements
    if jsoncut.end_of_objects(text, 0) is not None:
        assert jsoncut.end_of_objects(text, 0) == len(text)
        assert all(isinstance(each, dict) for each in elements)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=6))
def test_an_object_is_cut_into_its_members(members: dict[str, object]) -> None:
    """Keys with quotes in them too."""
    text = json.dumps(members).encode()

    assert {key: json.loads(text[a:b]) for key, a, b in jsoncut.members(text, 1)} == members


@given(
    st.lists(st.dictionaries(st.text(max_size=3), json_values, min_size=1, max_size=2), max_size=5)
)
def test_objects_are_cut_apart_whatever_stands_between_them(found: list[dict[str, object]]) -> None:
    """Nothing, spaces or line breaks: the records are the same."""
    written = [json.dumps(each).encode() for each in found]
    for between in (b"", b" ", b"\n", b"\r\n"):
        lines = single(records(between.join(written), 1 << 20))
        assert [json.loads(line.raw) for line in lines if isinstance(line, Line)] == found


@given(st.text('[]{}",:\\\\ a1', max_size=40).map(str.encode))
def test_any_text_is_cut_or_refused(text: bytes) -> None:
    """Spans lie in the text, in order, and nothing runs for ever."""
    with contextlib.suppress(jsoncut.Cut):
        spans = list(jsoncut.elements(text, 0))
        assert all(0 <= a < b <= len(text) for a, b in spans)
        assert spans == sorted(spans)


# ----------------------------------------------------------------------------- forms and limits

LIMITS = Limits(10_000, LIMIT)


def form(*parts: bytes) -> bytes:
    head = b'Content-Disposition: form-data; name="file"; filename="a.log"\r\n\r\n'
    return b"".join(b"--b7\r\n" + head + part + b"\r\n" for part in parts) + b"--b7--\r\n"


def test_each_part_of_a_form_is_a_body_of_its_own() -> None:
    """Lines, an array, and a compressed file."""
    body = form(b'{"a":1}\nx\n', b'[{"b":2}]', gzip.compress(b'{"c":3}\n'))

    found = single(records_of(body, LIMITS))

    assert [item.raw for item in found if isinstance(item, Line)] == [
        b'{"a":1}', b"x", b'{"b":2}', b'{"c":3}',
    ]  # fmt: skip


@pytest.mark.parametrize("body", [form(b"x")[:-8], form(b"x")[:40]])
def test_a_form_that_is_cut_is_refused(body: bytes) -> None:
    """Its sender must know."""
    if b"isposition: form" in body:
        with pytest.raises(BodyNotDecodable, match="form"):
            single(records_of(body, LIMITS))


def test_the_parts_of_a_form_share_the_limit() -> None:
    """Many small bombs are one large one."""
    with pytest.raises(BodyTooLarge):
        single(records_of(form(*[gzip.compress(bytes(6_000))] * 2), LIMITS))


def test_more_single_records_than_fit_are_refused() -> None:
    """Each of them takes hundreds of bytes, whatever it takes in the body."""
    body = b"\x81\xa1a\x01" * (MOST + 1)

    with pytest.raises(BodyTooLarge, match=str(MOST)):
        single(reader(None)(body, Limits(len(body), LIMIT)).records)
