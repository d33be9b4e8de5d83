"""Retired names out of files: what is read, what is not and why; and what storing them changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from service import importing
from service.cataloguing import open_cataloguing
from service.cli import app
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"a": {"replacedBy": ["b"]} "c": {}}',
            "1: no JSON: Expecting ',' delimiter at column 29",
        ),
        ('{"a":\n {"replacedBy": ["b"}}', "2: no JSON: Expecting ',' delimiter at column 21"),
        ('["a" "b"]', "1: no JSON: Expecting ',' delimiter at column 6"),
        ('{"a": {}', "1: no JSON: Expecting ',' delimiter at column 9"),
        ('{"a": {}} {"b": {}}', "1: no JSON: Extra data at column 11"),
    ],
)
@pytest.mark.parametrize("is_json", [True, None])
def test_of_broken_json_no_half_is_read(text: str, problem: str, is_json: bool | None) -> None:
    """It is said where it breaks, and it is not taken for JavaScript, also from standard input."""
    found = read(text, is_json=is_json)
    assert (found.problems, found.entries, found.names) == ([problem], [], None)


def test_comments_and_trailing_commas_are_no_fault_of_json() -> None:
    """Settings files have them. Where such a file breaks its line is named."""
    assert entries(read('// old ones\n{"a": {"lastRelease": "1"},}\n', is_json=True)) == {
        "a": {"last_release": "1"}
    }
    broken = read('// old ones\n{"a": {"lastRelease": "1" "b": 1},}\n', is_json=True)
    assert broken.problems == ["2: the file is no JSON value"]


def test_a_name_that_a_file_has_twice_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last one counts; in two files it is no matter."""
    twice, other = tmp_path / "twice.json", tmp_path / "other.json"
    twice.write_text('{"a": {"replacedBy": ["b"]}, "c": {}, "a": {"replacedBy": ["d"]}}')
    other.write_text('{"c": {}}')
    database = str(tmp_path / "x.db")
    run = ["catalogue", "import", str(twice), str(other), "--server", "maps", "--db", database]
    app(run, standalone_mode=False)
    said = capsys.readouterr()
    assert f"more than once, of which the last counts: {twice}: a" in said.err
    assert said.err.count("more than once") == 1
    app(["catalogue", "list", "--db", database], standalone_mode=False)
    assert "a: release not said, replaced by d" in capsys.readouterr().out


def test_a_list_of_all_names_says_that_it_waits_for_a_snapshot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until there is one; entries wait for nothing."""
    every, some = tmp_path / "names.json", tmp_path / "some.json"
    every.write_text('["a", "b"]')
    some.write_text('{"a": {}}')
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'x.db'}")
    run = ["--server", "maps", "--db", str(tmp_path / "x.db")]
    app(["catalogue", "import", str(some), *run], standalone_mode=False)
    assert "snapshot" not in capsys.readouterr().err
    app(["catalogue", "import", str(every), *run], standalone_mode=False)
    assert "held against a snapshot, and there is none yet" in capsys.readouterr().err
    with open_cataloguing(settings) as cataloguing:
        cataloguing.snapshot(
            "maps", ({"name": "a"},), None,
            version=None, protocol_version=None, source="rest", actor="rest",
        )  # fmt: skip
    app(["catalogue", "import", str(every), *run], standalone_mode=False)
    assert "snapshot" not in capsys.readouterr().err


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5_000, "0x" + "f" * 5_000, "1_0e4_00"])
def test_a_number_that_is_infinite_costs_only_its_own_entry(number: str) -> None:
    """As one is that no JavaScript number can be; in a text, and by itself."""
    found = read(
        f"const retired = {{a: {{message: `x${{{number}}}`}}, b: {{lastRelease: {number}}}, "
        "c: {message: 'fine'}};",
        is_json=False,
    )
    assert list(entries(found)) == ["c"]
    assert [problem.partition(" cannot")[0] for problem in found.problems] == ["1: a", "1: b"]
    assert all("infinite" in problem for problem in found.problems)


LONG = f"const T0 = '{'x' * 1_000}'; const T = {'+'.join(['T0'] * 1_000)};\n"
MANY = f"const M0 = [{'1,' * 1_000}]; const M = [{'...M0,' * 900}];\n"
DEEP = "const A0 = ['x'];" + "".join(f"const A{n} = [{f'A{n - 1},' * 10}];" for n in range(1, 30))
GROWING = {
    "one text of many": (LONG, f"`{'${T}' * 5_000}`"),
    "a sum of texts": (LONG, "+".join(["T"] * 5_000)),
    "texts joined": (LONG + f"const L = [{'T,' * 5_000}];", "L.join('')"),
    "texts one by one": (LONG + "".join(f"const X{n} = T + '';" for n in range(3_000)), "T + ''"),
    "lists that hold each other": (DEEP, "A29"),
    "lists that are spread": (MANY + "".join(f"const Y{n} = [...M];" for n in range(1_000)), "[...M]"),
}  # fmt: skip


@pytest.mark.parametrize(("before", "value"), GROWING.values(), ids=GROWING.keys())
def test_constants_that_hold_each_other_are_bounded_together(before: str, value: str) -> None:
    """Each of these is gigabytes if it is put together; what is too large is said, and costs its entry."""
    text = f"{before}const retired = {{a: {{message: 'first'}}, b: {{replacedBy: {value}}}}};"
    found = read(text, is_json=False, constant="retired")
    assert list(entries(found)) == ["a"]
    assert found.problems == ["1: b cannot be read: it is too large"] or [
        problem.partition(":")[2].rpartition(": ")[2] for problem in found.problems
    ] == ["it is too large"]


def test_a_long_text_that_thousands_of_entries_share_is_bounded(tmp_path: Path) -> None:
    """So are names, and a group that is looked at under many names."""
    shared = ",".join(f"a{n}: {{message: T, replacedBy: M}}" for n in range(3_000))
    aliases = "".join(f"const N{n} = M;" for n in range(3_000))
    found = read(f"{LONG}{MANY}{aliases}const retired = {{{shared}}};", is_json=False)
    assert (len(found.entries), len(found.problems)) == (0, 3_000)
    names = read(f"{LONG}const names = [{'T,' * 3_000}];", is_json=False)
    assert [problem.partition(": ")[2] for problem in names.problems] == ["it is too large"]


@pytest.mark.parametrize(
    "text", ["null", "{}", "[]", '{"entries": []}', "  ", "const retired = {};"]
)
def test_a_file_without_an_entry_is_said_to_hold_none(text: str) -> None:
    """A step that writes nothing into it would otherwise pass for ever."""
    for is_json in (None, not text.startswith("const")):
        (problem,) = read(text, is_json=is_json).problems
        assert (
            "a map from name to {lastRelease, replacedBy, message}" in problem
            or "no JSON" in problem
        )
