"""What bodies have in common: a value that was parsed becomes a line again."""

import json

import pytest

from service.ingest.bodies.bounds import record_of
from service.ingest.records import Line

MAX_LINE = 1_000


@pytest.mark.parametrize("odd", ["\ud800", "\udfff\ud800", 2**70, [[[]]]])
def test_an_object_is_about_as_long_as_it_was(odd: object) -> None:
    """Also where something in it makes that it is written the slow way."""
    value = {"odd": odd, "msg": "é" * 450}
    line = record_of(value, MAX_LINE)

    assert isinstance(line, Line)
    assert not line.too_long
    assert json.loads(line.raw) == value


def test_an_object_that_is_longer_than_a_line_is_marked() -> None:
    """In bytes, as every line."""
    line = record_of({"odd": "\ud800", "msg": "é" * 500}, MAX_LINE)

    assert isinstance(line, Line)
    assert line.too_long
