"""Listings are written by strangers: what would take for ever ends, and what is not read is not called lost."""

from typing import Any

import pytest

from service.analysis import surface
from service.analysis.schemas import arguments


def listing(schema: Any, count: int = 1, **more: Any) -> list[dict[str, Any]]:
    """Tools `t0`, `t1`… with one schema."""
    return [{"name": f"t{i}", "inputSchema": schema, **more} for i in range(count)]


def recursive(ways: int, **more: Any) -> dict[str, Any]:
    """A schema that leads to itself over several ways at once."""
    member = {"a": {"$ref": "#/$defs/D"}}
    looped = {"type": "object", "properties": member, "anyOf": [{"$ref": "#/$defs/P"}] * ways}
    defs = {"D": looped, "P": {"properties": member}}
    return {"type": "object", "properties": {**member, **more}, "$defs": defs}


@pytest.mark.parametrize("ways", [1, 3, 50, 5_000])
def test_a_schema_that_leads_to_itself_over_many_ways_comes_to_an_end(ways: int) -> None:
    """Followed to the end these are (ways + 1) to the power of twelve arguments."""
    assert "a" in arguments(recursive(ways))
    assert surface.compare(listing(recursive(ways)), listing(recursive(ways))).findings == ()


def test_ten_thousand_recursive_schemas_are_compared() -> None:
    """What is read is bounded for the listing as a whole; what was lost is found in each of them."""
    before = listing(recursive(2, gone={"type": "string"}), 10_000)
    after = listing(recursive(2), 10_000)
    lost = [f.argument for f in surface.compare(before, after).findings if f.after is None]
    assert lost == ["gone"] * 10_000


def test_a_text_that_thousands_of_arguments_refer_to_is_no_work_for_each() -> None:
    """A megabyte over a reference of twenty bytes, five thousand times."""
    long = {"description": "x" * 1_000_000, "default": ["y" * 1_000_000], "enum": ["z" * 1_000_000]}
    properties = {f"a{i}": {"$ref": "#/$defs/long", "title": str(i)} for i in range(5_000)}
    schema = {"properties": properties, "$defs": {"long": long}}
    assert len(arguments(schema)) <= 5_000
    surface.compare(listing(schema), listing(schema))


@pytest.mark.parametrize("deeper", [1, 2, 3])
def test_what_was_not_read_of_the_longer_of_two_schemas_is_not_taken_for_lost(deeper: int) -> None:
    """A member more makes a recursive schema longer, so that it is read less deep."""
    node: dict[str, Any] = {"properties": {name: {"$ref": "#"} for name in "abc"}}
    more = {"properties": {**node["properties"], **{f"n{i}": {"$ref": "#"} for i in range(deeper)}}}
    assert surface.compare(listing(node), listing(more)).findings == ()


def test_a_schema_may_refer_to_the_whole_of_itself() -> None:
    """By `#`, the JSON pointer to the root (RFC 6901); anchors and other documents lead nowhere."""
    schema = {
        "properties": {
            "child": {"$ref": "#"},
            "anchor": {"$ref": "#root"},
            "other": {"$ref": "root.json#/properties"},
            "odd": {"$ref": "#/$defs/a~1b~0c"},
        },
        "$defs": {"a/b~c": {"type": "integer"}},
    }
    found = arguments(schema)
    assert "child.child.child.odd" in found
    assert [found[name].type_text for name in ("odd", "anchor")] == ["integer", "any type"]
    assert not [path for path in found if path.startswith(("anchor.", "other."))]


def test_a_description_of_a_hundred_thousand_dates_is_read() -> None:
    """What stands before each of them is looked at, not all that stands before."""
    text = "Data of 2000-01, " * 100_000 + "such as 2001-02, since 2002-03"
    (found,) = surface.compare([], listing({}, description=text)).findings
    assert found.after == "2000-01"


@pytest.mark.parametrize("bound", ["minimum", "maxLength"])
@pytest.mark.parametrize(
    ("was", "now"),
    [(1.5, 10**400), (-(10**400), 0.5), (10**400, 10**400 + 1), (1e308, -(10**309)), (2**53, 2.0**53)],
)  # fmt: skip
def test_bounds_are_compared_however_large_they_are(bound: str, was: float, now: float) -> None:
    """A number that no float can hold is one all the same."""
    tighter = now > was if bound == "minimum" else now < was
    before, after = ({"properties": {"n": {bound: value}}} for value in (was, now))
    found = surface.compare(listing(before), listing(after)).findings
    assert [f.argument for f in found] == (["n"] if tighter else [])


def test_ten_thousand_renamed_tools_have_a_guess_each() -> None:
    """By the words that tell them apart; those that all of them share say nothing."""
    likely = surface.Similar([f"new-tool-{i}" for i in range(10_000)])
    assert [likely.to(f"old-tool-{i}") for i in range(10_000)] == [
        (f"new-tool-{i}",) for i in range(10_000)
    ]
