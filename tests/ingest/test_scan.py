"""Of a block only the lines that matter are looked at, and none of those is missed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Event, Ignored, Rejected
from service.ingest import scan
from service.ingest.needles import Search
from service.ingest.scan import Block
from tests.ingest.support import case, recogniser

READER = recogniser()

Account = tuple[int, list[tuple[int, Event | Rejected]]]
"""How many records there are, and which of them are more than ignored."""


def one_by_one(text: bytes) -> Account:
    """The outcome of each line, and where it stands among those that are records."""
    outcomes = [READER.line(raw) for raw in text.split(b"\n")]
    records = [outcome for outcome in outcomes if outcome is not None]
    found = [(n, outcome) for n, outcome in enumerate(records) if not isinstance(outcome, Ignored)]
    return len(records), found


def scanned(text: bytes, *, search: Search = READER.search, dense: bool) -> Account:
    """The same by way of a block."""
    block = Block(text, search, dense=dense)
    blank = 0
    found: list[tuple[int, Event | Rejected]] = []
    for place, raw in block.lines():
        outcome = READER.line(raw)
        if outcome is None:
            blank += 1
        elif not isinstance(outcome, Ignored):
            found.append((block.number(place) - blank, outcome))
    return block.newlines - blank, found


LINES = st.sampled_from(
    [
        b"", b" ", b"\r", b"\0\0", b"text", b"  at async run (x.js:1)", b"Retired tool called",
        b'{"msg":"Retired tool called","tool":"t"}', b'{"msg":"Retired tool called","tool":"t"}\r',
        b' {"msg":"Retired tool called","tool":"t"} ', b'\0{"msg":"Retired tool called","tool":"t"}',
        b'\xef\xbb\xbf{"msg":"Retired tool called","tool":"t"}', b'{"msg":"Retired tool called"}',
        b'{"msg":"Tools listed","x":"Retired tool called tools/list"}', b'{"msg":"other"}',
        b'{"msg":"oth', b'{"msg":"Retired tool called"', b'["Retired tool called"]', b"[]",
        b"[2026-10-05] Retired tool called", b"}", b"}\r", b"\r}", b"}\r\r", b"{", b"\xef\xbc\xa1 Tools listed",
    ]
)  # fmt: skip
BLOCKS = st.lists(LINES | st.binary(max_size=20), min_size=1, max_size=20).map(
    lambda lines: b"\n".join(lines) + b"\n"
)


@pytest.mark.parametrize("dense", [False, True])
@given(text=BLOCKS)
def test_a_block_is_the_sum_of_its_lines(text: bytes, dense: bool) -> None:
    """Same outcomes, same places, same number of records, whatever stands between."""
    assert scanned(text, dense=dense) == one_by_one(text)


@given(text=BLOCKS, window=st.integers(1, 40))
def test_a_broken_line_is_found_wherever_a_window_ends(text: bytes, window: int) -> None:
    """Lines without a closing brace are sought window by window."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_WINDOW", window)

        assert scanned(text, dense=False) == one_by_one(text)


@given(text=BLOCKS)
def test_it_is_the_same_where_the_fast_search_is_missing(text: bytes) -> None:
    """On a platform without the libraries for it."""
    plain = Search(READER.needles, fast=False)

    assert scanned(text, search=plain, dense=False) == one_by_one(text)


@pytest.mark.parametrize("number", ["04", "05", "08", "09", "15", "35", "39", "40"])
@pytest.mark.parametrize("dense", [False, True])
def test_the_cases_come_to_the_same_in_blocks(number: str, dense: bool) -> None:
    """As whole files."""
    text = case(number) + b"\n"

    assert scanned(text, dense=dense) == one_by_one(text)


@given(st.lists(st.sampled_from([*READER.needles, b"x", b" ", b"\n", b'"', b"tools", b"Tool "])))
def test_both_searches_find_the_same_lines(parts: list[bytes]) -> None:
    """Needles that touch, or stand twice in a line, hide no other line's."""
    text = b"".join(parts)

    def lines(search: Search) -> set[int]:
        return {text.count(b"\n", 0, at) for at in search.places(text)}

    assert lines(READER.search) == lines(Search(READER.needles, fast=False))
