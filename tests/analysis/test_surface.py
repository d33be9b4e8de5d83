"""The five rules: each fires on a pair that breaks a cached copy, and is silent on its harmless twin."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis import surface
from service.analysis.schemas import arguments


def tool(
    description: str = "Finds a route.",
    annotations: dict[str, Any] | None = None,
    required: tuple[str, ...] = ("to",),
    **properties: Any,
) -> dict[str, Any]:
    """A tool `route` with an argument `to`, and more."""
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, **properties},
        "required": list(required),
    }
    made = {"name": "route", "description": description, "inputSchema": schema}
    return made if annotations is None else {**made, "annotations": annotations}


def findings(before: Any, after: Any) -> list[tuple[str, str, str | None]]:
    """(rule, weight, argument) of each finding."""
    found = surface.compare([before] if before else [], [after] if after else []).findings
    return [(each.rule, each.weight, each.argument) for each in found]


STOP = {"type": "object", "properties": {"at": {"type": "string"}, "for": {"type": "integer"}}}
NAME_LOST = ("name_lost", "breaks", None)
PAIRS: dict[str, tuple[Any, Any, list[tuple[str, str, str | None]]]] = {
    "a name lost": (tool(), None, [NAME_LOST]),
    "a name renamed": (tool(), {**tool(), "name": "route2"}, [NAME_LOST]),
    "optional made required": (
        tool(via={"type": "string"}),
        tool(via={"type": "string"}, required=("to", "via")),
        [("argument_required", "breaks", "via")],
    ),
    "new and required": (
        tool(),
        tool(via={"type": "string"}, required=("to", "via")),
        [("argument_required", "breaks", "via")],
    ),
    "optional made required, deep inside": (
        tool(stops={"type": "array", "items": STOP}),
        tool(stops={"type": "array", "items": {**STOP, "required": ["at"]}}),
        [("argument_required", "breaks", "stops[].at")],
    ),
    "another type": (
        tool(via={"type": "string"}),
        tool(via={"type": "array", "items": {"type": "string"}}),
        [("argument_changed", "breaks", "via")],
    ),
    "another type of the items": (
        tool(via={"type": "array", "items": {"type": "string"}}),
        tool(via={"type": "array", "items": {"type": "object"}}),
        [("argument_changed", "breaks", "via[]")],
    ),
    "a type where there was none": (
        tool(via={}), tool(via={"type": "string"}), [("argument_changed", "breaks", "via")],
    ),
    "a value lost": (
        tool(by={"enum": ["car", "bike"]}), tool(by={"enum": ["car"]}),
        [("argument_changed", "breaks", "by")],
    ),
    "a value lost behind a reference": (
        {**tool(by={"$ref": "#/$defs/by"}), "inputSchema": {
            **tool(by={"$ref": "#/$defs/by"})["inputSchema"], "$defs": {"by": {"enum": ["car", "bike"]}}}},
        tool(by={"anyOf": [{"const": "car"}, {"type": "null"}]}),
        [("argument_changed", "breaks", "by")],
    ),
    "a tighter bound": (
        tool(n={"type": "integer", "maximum": 50}), tool(n={"type": "integer", "maximum": 25}),
        [("argument_changed", "breaks", "n")],
    ),
    "a pattern where there was none": (
        tool(n={"type": "string"}), tool(n={"type": "string", "pattern": "^[a-z]$"}),
        [("argument_changed", "breaks", "n")],
    ),
    "another default": (
        tool(n={"type": "integer", "default": 10}), tool(n={"type": "integer", "default": 20}),
        [("argument_changed", "breaks", "n")],
    ),
    "an argument lost": (
        tool(stops={"type": "array", "items": STOP}), tool(),
        [("argument_changed", "breaks", "stops")],
    ),
    "another meaning of an argument": (
        tool(n={"type": "number", "description": "Distance in metres"}),
        tool(n={"type": "number", "description": "Distance in kilometres"}),
        [("argument_changed", "look_at", "n")],
    ),
    "another meaning of the tool": (
        tool("Finds the shortest route."), tool("Finds the fastest route."),
        [("argument_changed", "look_at", None)],
    ),
    "it destroys now": (
        tool(annotations={"readOnlyHint": True}), tool(annotations={"readOnlyHint": False}),
        [("annotation_changed", "breaks", None)] * 3,
    ),
    "it reaches out now": (
        tool(annotations={"openWorldHint": False}), tool(annotations={}),
        [("annotation_changed", "breaks", None)],
    ),
    "it reads only now": (
        tool(annotations={"destructiveHint": False, "idempotentHint": True}),
        tool(annotations={"readOnlyHint": True}),
        [("annotation_changed", "look_at", None)],
    ),
}  # fmt: skip
TWINS: dict[str, tuple[Any, Any]] = {
    "the same": (tool(), tool()),
    "a name gained": (None, tool()),
    "required made optional": (tool(), tool(required=())),
    "new and optional": (tool(), tool(via={"type": "string"})),
    "new, with members that must be given within": (
        tool(),
        tool(stop={**STOP, "required": ["at"]}),
    ),
    "a wider type": (
        tool(via={"type": "string"}),
        tool(via={"anyOf": [{"type": "string"}, {"type": "null"}]}),
    ),
    "whole numbers, then any numbers": (tool(n={"type": "integer"}), tool(n={"type": "number"})),
    "no type any more": (tool(n={"type": "integer", "maximum": 3}), tool(n={})),
    "a value gained": (tool(by={"enum": ["car"]}), tool(by={"enum": ["bike", "car"]})),
    "a looser bound": (
        tool(n={"type": "integer", "maximum": 25, "minimum": 1, "pattern": "x"}),
        tool(n={"type": "integer", "maximum": 50}),
    ),
    "the default written out in another order": (
        tool(n={"type": "object", "default": {"a": 1, "b": 2}}),
        tool(n={"type": "object", "default": {"b": 2, "a": 1}}),
    ),
    "spaces, case and a full stop": (
        tool("Finds  a route", n={"type": "string", "description": "The Name."}),
        tool("finds a\nroute.", n={"type": "string", "description": "the name"}),
    ),
    "a first description": (
        tool(n={"type": "string"}),
        tool(n={"type": "string", "description": "The name"}),
    ),
    "what the protocol takes for granted, written out": (
        tool(annotations={}),
        tool(annotations={
            "title": "Route", "readOnlyHint": False, "destructiveHint": True,
            "idempotentHint": False, "openWorldHint": True,
        }),
    ),
    "a tool that reads only destroys nothing, said or not": (
        tool(annotations={"readOnlyHint": True}),
        tool(annotations={"readOnlyHint": True, "destructiveHint": True}),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), PAIRS.values(), ids=PAIRS.keys())
def test_what_breaks_a_cached_copy_is_found(before: Any, after: Any, expected: Any) -> None:
    """With its rule, its weight and the argument."""
    assert findings(before, after) == expected


@pytest.mark.parametrize(("before", "after"), TWINS.values(), ids=TWINS.keys())
def test_its_harmless_twin_is_silent(before: Any, after: Any) -> None:
    """A surface may gain, and say the same in other ways."""
    assert findings(before, after) == []


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Publishing to a host is a separate step and not yet configured.", "not yet"),
        ("Currently only Europe is covered.", "Currently"),
        ("Now supports trucks.", "Now supports"),
        ("Trucks are now possible.", "are now"),
        ("Prices as of 2026-10-05.", "2026-10-05"),
        ("Data of October 2026.", "October 2026"),
        ("This server has 14 tools.", "has 14 tools"),
        ("Supports over 200 languages.", "Supports over 200 languages"),
        ("Bicycles are coming soon.", "coming soon"),
        ("This will be removed.", "will be removed"),
    ],
)
def test_a_description_that_tells_of_its_day_is_to_be_looked_at(text: str, phrase: str) -> None:
    """Whether it is new or has always said so; of an argument too."""
    told = surface.compare([tool(text)], [tool(text)]).findings
    assert [(each.rule, each.weight) for each in told] == [("dated_description", "look_at")]
    assert phrase in (told[0].after or "").split("; ")
    argument = tool(n={"type": "string", "description": text})
    assert findings(None, argument) == [("dated_description", "look_at", "n")]


@pytest.mark.parametrize(
    "text",
    [
        "Knows where you are.",
        "Call this as soon as the route is known; nowhere else.",
        "Returns at most 100 results, the 5 nearest first.",
        "A date, for example 2026-10-05.",
        "Dates such as 2026-10-05 or October 2026",
        "Use YYYY-MM-DD format: 2026-10-05",
        "The yet unknown 3 sides.",
    ],
)
def test_a_description_that_stays_true_is_silent(text: str) -> None:
    """Limits, examples and words that merely look alike."""
    assert findings(None, tool(text)) == []


def test_a_finding_says_what_was_and_why_it_breaks() -> None:
    """In words that need no look at the schemas."""
    before = tool(by={"type": "string", "enum": ["car", "bike"]})
    after = tool(by={"type": "string", "enum": ["car"]})
    (found,) = surface.compare([before], [after]).findings
    assert (found.tool, found.before, found.after) == (
        "route", 'one of "bike", "car"', 'one of "car"',
    )  # fmt: skip
    assert "old schema" in found.why


def test_recursive_and_hostile_schemas_come_to_an_end() -> None:
    """A schema that holds itself, one that refers to itself, and what is no schema at all."""
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    schema = {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": node},
    }
    assert "root.child.child" in arguments(schema)
    looped = {"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "elsewhere.json"}}}
    assert set(arguments(looped)) == {"a", "b"}
    no_schemas: list[Any] = [
        None,
        7,
        [],
        {"properties": 3},
        {"properties": {"a": None}, "required": "a"},
    ]
    for broken in no_schemas:
        assert arguments(broken) == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "properties", "items", "enum", "anyOf", "$ref", "required", "a",
                         "default", "minimum", "description", "const", "allOf"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150)
@given(json_values, json_values, json_values)
def test_no_listing_makes_the_comparison_fail(one: Any, other: Any, more: Any) -> None:
    """Whatever stands in the place of a schema, a description or annotations; a copy of it is the same."""
    before = {"name": "x", "description": more, "inputSchema": one, "annotations": other}
    after = {"name": "x", "description": one, "inputSchema": other, "annotations": more}
    surface.compare([before], [after])
    again = surface.compare([before], [json.loads(json.dumps(before))])
    assert {each.rule for each in again.findings} <= {"dated_description"}
