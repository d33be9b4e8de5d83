"""Retired names out of files: what is read, what is not and why; and what storing them changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from service import importing
from service.entries import MESSAGE_LIMIT
from service.settings import Settings
from service.store import read_catalogue
from service.store.engine import Engine, reading
from tests.store.support import query

DATA = Path(__file__).parent / "data"
EXAMPLE = Path(__file__).parents[2] / "examples" / "retired.json"


def read(text: str, **given: Any) -> importing.Read:
    return importing.read_text(text, "maps", **given)


def entries(found: importing.Read) -> dict[str, dict[str, Any]]:
    return {each.name: dict(each.said) for each in found.entries}


def test_a_source_map_is_read_without_being_run() -> None:
    """Comments, templates, constants, enums, trailing commas; what would have to be run is named with its
    line, and costs only its own entry."""
    found = importing.read_files([str(DATA / "retiredTools.ts")], "maps")

    assert entries(found) == {
        "tomtom-static-map": {
            "last_release": "1.6.10",
            "replaced_by": ("tomtom-dynamic-map",),
            "message": "Call 'tomtom-dynamic-map': it’s the same, with \"more\".",
        },
        "tomtom-ev-routing": {
            "last_release": "1.6.10",
            "replaced_by": ("tomtom-route-planner",),
            "message": "'tomtom-ev-routing' is now 'tomtom-route-planner'.\nPut `vehicle` first.",
        },
        "tomtom-reachable-range": {
            "last_release": "1.6.11",
            "replaced_by": (),
            "message": "list the tools again; or ask",
        },
        "tidy": {"last_release": "1.0", "replaced_by": (), "message": None},
    }
    path = DATA / "retiredTools.ts"
    assert found.problems == [
        (
            f"{path}:25: tomtom-get-viz-data cannot be read: line 27: PLACES is not a constant of this "
            "file; write its value out"
        ),
        (
            f"{path}:30: tomtom-waypoint-routing cannot be read: line 31: latest(…) would have to be run; "
            "write the value out"
        ),
        f"{path}:36: an entry cannot be read: MORE is not a constant of this file; write its value out",
    ]
    assert found.ignored == {"migrate": 1}


@pytest.mark.parametrize(
    "text",
    [
        '{"route": {"lastRelease": "1.0", "replacedBy": "plan", "retiredAt": "2026-10-05"}}',
        (
            '[{"name": "route", "last_release": "1.0", "replaced_by": ["plan"], '
            '"retired_at": "2026-10-05T00:00:00Z"}]'
        ),
        (
            '{"entries": [{"server": "maps", "name": "route", "lastRelease": "1.0", '
            '"replacedBy": ["plan", "plan"], "retiredAt": "2026-10-05T02:00:00+02:00"}]}'
        ),
        (
            "module.exports = 1;\nexport default {route: {lastRelease: '1.0', replacedBy: ['plan'], "
            "retiredAt: '2026-10-05'}}"
        ),
        (
            "export const GONE = new Map([['route', {lastRelease: `1.0`, replacedBy: ['plan',], "
            "retiredAt: '2026-10-05'}]]);"
        ),
        (
            "const retired = Object.freeze({route: {lastRelease: '1.0', /* c */ replacedBy: ['plan'], "
            "retiredAt: '2026-10-05'}});"
        ),
        (
            "\ufeff// JSON with comments\n{\"route\": {\"lastRelease\": '1.0', replacedBy: ['plan'], "
            '"retiredAt": "2026-10-05",},}'
        ),
    ],
)
def test_every_form_says_the_same(text: str) -> None:
    """Maps and lists, camel case and snake case, one replacement or a list of them."""
    found = read(text)

    assert found.problems == []
    assert entries(found) == {
        "route": {
            "last_release": "1.0",
            "replaced_by": ("plan",),
            "retired_us": 1_791_158_400_000_000,
        }
    }


def test_the_retired_json_of_the_examples_is_read() -> None:
    """All of it, but for a member that is theirs alone."""
    found = importing.read_files([str(EXAMPLE)], "maps")

    example = json.loads(EXAMPLE.read_text("utf-8"))
    assert entries(found) == {
        name: {"last_release": facts["lastRelease"], "replaced_by": tuple(facts["replacedBy"])}
        for name, facts in example.items()
    }
    assert (found.problems, found.ignored) == ([], {"inputs": len(example)})


def test_a_list_of_names_is_the_list_of_all_names() -> None:
    """As toolNames.json has it; live ones are no entries."""
    found = read('["echo",\n "add"]')
    assert (found.names, found.entries, found.problems) == (("echo", "add"), [], [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no constant holds"),
        ("7", "does not hold a map"),
        ('{"a": "b"}', "1: a cannot be read: an entry must be an object"),
        ('{"a":\n {"replacedBy": [""]}}', "1: a cannot be read: replaced_by: missing"),
        ('{"a": {"replacedBy": 7}}', "replaced_by: must be a list of names"),
        ('{"a": {"lastRelease": 1.7}}', "last_release: must be text"),
        ('{"a": {"retiredAt": "soon"}}', "retired_at: not a time"),
        ('{"a": {"retiredAt": 5}}', "retired_at: must be text"),
        ('{"a": {"hidden": "yes"}}', "hidden: must be true or false"),
        ('{"": {"lastRelease": "1"}}', "name: missing"),
        ('[{"lastRelease": "1"}]', "name: must be text"),
        ('[{"name": "a", "server": "shop"}]', "it is of the server shop"),
        (json.dumps({"a": {"message": "m" * (MESSAGE_LIMIT + 1)}}), "at most 10000 characters"),
        ("[" * 9_000 + "]" * 9_000, "an entry must be an object"),
        ("const A = {x: {lastRelease: '1'}}, B = {y: {lastRelease: '1'}};", "choose with --constant"),
        ("const retired = {a: {lastRelease: self}}; const self = self;", "self refers to itself"),
        ("const retired = {a: {lastRelease: process.env.V, replacedBy: []}};", "is not a constant"),
        ("const retired = {a: {lastRelease: tag`1`, replacedBy: []}};", "would have to be run"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(text: str, problem: str) -> None:
    """With its line first, and nothing is taken of it."""
    found = read(text)

    assert found.entries == []
    assert any(problem in said for said in found.problems), found.problems
    assert all(said.split(":")[0].isdigit() for said in found.problems)


def test_a_broken_entry_costs_none_of_its_neighbours() -> None:
    """A syntax error is said with its line; so is which constant it was."""
    text = (
        "export const RETIRED = {\n a: {lastRelease: '1'},\n b: {lastRelease '2'},\n"
        " c: {lastRelease: '3'},\n};\nconst other = {d: {lastRelease: '4'}};"
    )
    found = read(text)
    assert list(entries(found)) == ["a", "c"]
    assert [said.split(":")[0] for said in found.problems] == ["3", "3"]
    assert list(entries(read(text, constant="other"))) == ["d"]
    assert "no constant nope" in read(text, constant="nope").problems[-1]


def test_constants_that_double_each_other_do_not_grow_without_end() -> None:
    """The one that would is a problem; it is no matter of patience or memory."""
    doubled = "".join(f"const t{i + 1} = t{i} + t{i};" for i in range(60))
    spread = "".join(f"const l{i + 1} = [...l{i}, ...l{i}];" for i in range(60))
    text = f"const t0 = 'x'; {doubled} const l0 = ['x']; {spread}"
    found = read(
        text + "const retired = {a: {lastRelease: t60}, b: {replacedBy: l60}, c: {message: 'm'}};"
    )

    assert list(entries(found)) == ["c"]
    assert len(found.problems) == 2


def test_hostile_names_are_kept_as_lines_spell_them() -> None:
    """NUL and lone surrogates are what no database holds; the rest is text."""
    found = read('{"\\u202e<b>\\ud800\\u0000": {"replacedBy": ["=1+1", "\\ud83d\\ude00"]}}')
    assert entries(found) == {"\u202e<b>\ufffd": {"replaced_by": ("=1+1", "😀")}}


def holding(engine: Engine) -> dict[str, Any]:
    with reading(engine) as connection:
        found = read_catalogue.entries(connection, {1})
        return {entry.name: (entry.facts, entry.hidden) for entry, _ in found}


def test_an_import_says_what_it_changes_and_again_changes_nothing(
    engine: Engine, database_url: str
) -> None:
    """The same before it is stored and as it is stored; members that are not told stay."""
    settings = Settings(database_url=database_url, auto_upgrade=True)
    first = read('{"a": {"lastRelease": "1", "retiredAt": "2026-10-05"}, "b": {}}')
    second = read('["a", "c"]\n')
    third = read('{"a": {"lastRelease": "2"}, "b": {"hidden": true}}')

    outcomes = []
    for one in (first, first, second, second, third, third):
        outcomes.append([change["outcome"] for change in importing.changes(settings, "maps", one)])
        importing.store(settings, "maps", one)

    assert outcomes == [
        ["created", "created"], ["unchanged", "unchanged"], [], [],
        ["changed", "changed"], ["unchanged", "unchanged"],
    ]  # fmt: skip
    facts, hidden = holding(engine)["a"]
    assert (facts.last_release, facts.retired_us, hidden) == ("2", 1_791_158_400_000_000, False)
    assert holding(engine)["b"][1] is True
    assert query(engine, "SELECT count(*) FROM entry") == [(4,)]
    assert query(engine, "SELECT count(*) FROM snapshot") == [(1,)]
    changes = importing.changes(settings, "maps", read('{"a": {"retiredAt": null}}'))
    assert changes[0]["changes"] == {"retired_at": ["2026-10-05T00:00:00.000Z", None]}
