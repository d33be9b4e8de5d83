"""Lines come out the same however the stream is cut, and a huge one costs no memory."""

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ingest.lines import BLANK, split_lines
from service.ingest.records import Line

LIMIT = 10


def slow(data: bytes, limit: int) -> list[Line]:
    """What split_lines is to give, worked out on the whole text at once; of a line that is too
    long only that."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    parts = data.split(b"\n")
    found = []
    for number, part in enumerate(parts):
        raw = part.lstrip(BLANK + b"\0").removesuffix(b"\r")
        if not raw.strip(BLANK + b"\0"):
            continue
        unfinished = number == len(parts) - 1
        if len(raw) > limit:
            found.append(Line(b"", unfinished, True, raw.startswith(b"{")))
        else:
            found.append(Line(raw, unfinished))
    return found


PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"\r", b"\0", b" ", b"{", b"}", b"abc", b"0123456789", b"\xef\xbb\xbf", b"\t"]
)


@given(st.lists(PIECES, max_size=30).map(b"".join), st.lists(st.integers(1, 7), max_size=60))
def test_any_cutting_gives_the_lines_of_the_whole(data: bytes, sizes: list[int]) -> None:
    """Chunks end anywhere: inside a mark, between CR and LF, in a long line."""
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    chunks.append(data[at:])

    found = [
        line._replace(raw=b"") if line.too_long else line for line in split_lines(chunks, LIMIT)
    ]
    assert found == slow(data, LIMIT)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_utf16_with_a_mark_is_read(codec: str, size: int) -> None:
    """Windows redirects write it; a surrogate pair may lie across two chunks."""
    text = '\ufeff{"a":"é😀"}\r\nline\r\n'
    data = text.encode(codec)
    chunks = [data[at : at + size] for at in range(0, len(data), size)]

    assert [line.raw.decode() for line in split_lines(chunks, 100)] == ['{"a":"é😀"}', "line"]


def test_the_last_line_says_when_it_is_unfinished() -> None:
    """Only a newline finishes a line."""
    assert [line.unfinished for line in split_lines([b"a\nb"], 10)] == [False, True]
    assert [line.unfinished for line in split_lines([b"a\nb\n"], 10)] == [False, False]


def test_the_limit_itself_is_allowed() -> None:
    """Ten bytes fit ten; neither CR nor padding in front counts."""
    lines = split_lines([b"\0\0  0123456789\r\n01234567890\n"], 10)

    assert [line.too_long for line in lines] == [False, True]


@pytest.mark.parametrize(
    ("begin", "json_like"), [(b"{", True), (b" \0{", True), (b"[", False), (b"x", False)]
)
def test_a_long_line_says_whether_it_began_like_json(begin: bytes, json_like: bool) -> None:
    """That decides whether it is a loss or just text."""
    (line,) = split_lines([begin + b"x" * 20 + b"\n"], 10)

    assert line.too_long
    assert line.json_like is json_like


def test_memory_stays_flat_over_a_huge_line() -> None:
    """A gigabyte without newline would otherwise end the process; 64 MiB here."""

    def chunks() -> Iterator[bytes]:
        yield b'{"a":"'
        for _ in range(1024):
            yield b"x" * 65_536
        yield b'"}\nnext\n'

    tracemalloc.start()
    lines = list(split_lines(chunks(), 1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [(line.too_long, line.raw[:4]) for line in lines] == [(True, b'{"a"'), (False, b"next")]
    assert peak < 6 << 20


def test_padding_before_a_line_may_be_longer_than_any_line() -> None:
    """After copytruncate a file may begin with megabytes of NUL."""
    lines = split_lines([b"\0" * 1000, b"\0" * 1000, b"{}\n"], 10)

    assert [line.raw for line in lines] == [b"{}"]
