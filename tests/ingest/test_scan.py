"""Scanning a block and looking at each of its lines come to the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Ignored
from service.ingest.lines import Line, split_blocks, split_lines
from service.ingest.needles import Search
from service.ingest.scan import Scanned, Scanner
from tests.ingest.support import case, recogniser, tally

READER = recogniser()
SCANNER = Scanner(READER)


def one_by_one(block: bytes) -> Scanned:
    """The outcome of each line, and where it stands among those that are records."""
    outcomes = [READER.line(raw) for raw in block.split(b"\n")]
    records = [outcome for outcome in outcomes if outcome is not None]
    found = [(n, outcome) for n, outcome in enumerate(records) if not isinstance(outcome, Ignored)]
    return Scanned(len(records), found)


LINES = st.sampled_from(
    [
        b"", b" ", b"\r", b"\0\0", b"text", b"  at async run (x.js:1)", b"Retired tool called",
        b'{"msg":"Retired tool called","tool":"t"}', b'{"msg":"Retired tool called","tool":"t"}\r',
        b' {"msg":"Retired tool called","tool":"t"} ', b'\0{"msg":"Retired tool called","tool":"t"}',
        b'\xef\xbb\xbf{"msg":"Retired tool called","tool":"t"}', b'{"msg":"Retired tool called"}',
        b'{"msg":"Tools listed","x":"Retired tool called tools/list"}', b'{"msg":"other"}',
        b'{"msg":"oth', b'{"msg":"Retired tool called"', b'["Retired tool called"]', b"[]",
        b"[2026-10-05] Retired tool called", b"}", b"{", b"\xef\xbc\xa1 Tools listed",
    ]
)  # fmt: skip


@given(st.lists(LINES | st.binary(max_size=20), min_size=1, max_size=20))
def test_a_block_is_the_sum_of_its_lines(lines: list[bytes]) -> None:
    """Same outcomes, same places, same number of records, whatever stands between."""
    block = b"\n".join(lines) + b"\n"

    assert SCANNER.scan(block) == one_by_one(block)


@given(st.lists(LINES, min_size=1, max_size=20))
def test_it_is_the_same_where_the_fast_search_is_missing(lines: list[bytes]) -> None:
    """On a platform without the search library every line is looked at."""
    block = b"\n".join(lines) + b"\n"
    plain = recogniser()
    plain.search = Search(plain.needles, fast=False)

    assert Scanner(plain).scan(block) == one_by_one(block)


@pytest.mark.parametrize("number", ["04", "05", "08", "09", "15", "35", "39", "40"])
def test_the_cases_come_to_the_same_in_blocks(number: str) -> None:
    """As whole files, in the pieces in which they are read."""
    data = case(number)
    chunks = [data[at : at + 700] for at in range(0, len(data), 700)]
    outcomes = []
    ignored = 0
    for part in split_blocks(chunks, 1 << 20):
        if isinstance(part, Line):
            outcomes.append(READER.read(part))
        else:
            scanned = SCANNER.scan(part)
            outcomes += [outcome for _, outcome in scanned.found]
            ignored += scanned.records - len(scanned.found)
    expected = tally([READER.read(line) for line in split_lines([data], 1 << 20)])  # type: ignore[misc]

    found = tally([outcome for outcome in outcomes if outcome is not None])
    if ignored:
        found["ignored"] = found.get("ignored", 0) + ignored
    assert found == expected


@given(st.lists(st.sampled_from([*READER.needles, b"x", b" ", b"\n", b'"', b"tools", b"Tool "])))
def test_both_searches_find_the_same_lines(parts: list[bytes]) -> None:
    """Needles that touch, or stand twice in a line, hide no other line's."""
    block = b"".join(parts) + b"\n"
    slow, fast = Search(READER.needles, fast=False), READER.search

    assert sorted(set(fast.lines(block))) == list(slow.lines(block))
    assert fast.within(block) == slow.within(block)
