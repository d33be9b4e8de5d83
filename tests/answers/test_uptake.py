"""Uptake from stored rows, on both databases: a story told in minutes, and random logs read literally."""

import json
from dataclasses import replace
from typing import Any

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.events import Caller, CallerLevel, Fact, Kind
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.test_reactions import HOUR, MINUTE, START, busy_rows
from tests.answers.world import Seen
from tests.told import Told

LATER = Moment(START + 1_000 * HOUR, 0)
NOW_CALL = Fact(last_release="1.6.12", replaced_by=("plan",), message="Call plan.")
OLD_TEXT = Fact(last_release="1.6.12", replaced_by=("plan",), message="It is gone.")
NUMBERS = ("stale_calls", "replaced", "retried", "left", "too_early", "cannot_tell")


def ask(engine: Engine, moment: Moment = LATER, **asked: Any) -> list[dict[str, Any]]:
    with reading(engine) as connection:
        found = answers.uptake(connection, Query.of(limit=1_000, **asked), moment).as_json()
    rows: list[dict[str, Any]] = json.loads(json.dumps(found, allow_nan=False))["items"]
    return rows


def told(minute: float, kind: Kind, tool: str, session: str | None, **more: Any) -> Told:
    given: dict[str, Any] = {"client": "zed", "server": "maps", **more}
    if kind is Kind.STALE_CALL:
        given.setdefault("fact", NOW_CALL)
    return Told(
        time_us=START + round(minute * MINUTE),
        key=round(minute * 1_000) * 7 + hash_of(session, tool),
        kind=kind,
        tool=tool,
        session=session,
        **given,
    )


def hash_of(session: str | None, tool: str) -> int:
    return sum(map(ord, f"{session}{tool}"))


STORY = [
    # one session is told, calls the dead name once more, then the replacement
    told(0, Kind.STALE_CALL, "route", "a"),
    told(1, Kind.STALE_CALL, "route", "a"),
    told(3, Kind.CALL, "plan", "a"),
    # one goes on at once, by a gateway's spelling of the replacement
    told(20, Kind.STALE_CALL, "route", "b", fact=OLD_TEXT),
    told(21, Kind.CALL, "mcp__maps__plan", "b"),
    # one does something else
    told(40, Kind.STALE_CALL, "route", "c", fact=OLD_TEXT),
    told(41, Kind.CALL, "search", "c"),
    # nobody knows who this was
    told(60, Kind.STALE_CALL, "route", None),
    told(61, Kind.CALL, "plan", None),
]


def test_a_story_is_counted_as_it_was_told(engine: Engine) -> None:
    """
    Five calls: one retried, two replaced, one left, one of nobody. Of the three sessions two took the
    replacement up, and of the four calls that can be judged a half.
    """
    world.store(engine, STORY)
    (row,) = ask(engine)

    assert [row[number] for number in NUMBERS] == [5, 2, 1, 1, 0, 1]
    assert (row["sessions"], row["sessions_replaced"], row["share"]) == (3, 2, 0.5)
    assert (row["reason"], row["replaced_by"]) == (None, ["plan"])
    assert "message" not in row


def test_each_text_that_callers_were_told_has_a_row(engine: Engine) -> None:
    """Of "Call plan." one was retried, one replaced, one is nobody's; of the older text one and one."""
    world.store(engine, STORY)
    rows = ask(engine, by="message")

    assert [(row["message"], [row[number] for number in NUMBERS]) for row in rows] == [
        ("Call plan.", [3, 1, 1, 0, 0, 1]),
        ("It is gone.", [2, 1, 0, 1, 0, 0]),
    ]


@pytest.mark.parametrize(("rows", "reason", "seen"), [
    ([row for row in STORY if row.kind is not Kind.CALL], "no_ordinary_calls", False),
    ([replace(row, session=None) for row in STORY], "no_identity", False),
    ([replace(row, fact=None) for row in STORY], "no_replacement", True),
])  # fmt: skip
def test_what_cannot_be_known_is_null_with_a_reason(
    engine: Engine, rows: list[Told], reason: str, seen: bool
) -> None:
    """Never zero; without a replacement retries can still be told."""
    world.store(engine, rows)
    (row,) = ask(engine)

    assert row["reason"] == reason
    assert row["replaced"] is row["share"] is row["sessions_replaced"] is None
    assert (row["retried"], row["left"]) == ((1, 3) if seen else (None, None))


def test_a_window_that_is_not_over_is_too_early(engine: Engine) -> None:
    """As of a minute after the call of the third session, which may still go on to the replacement."""
    world.store(engine, STORY)
    (row,) = ask(engine, since=iso(START + 35 * MINUTE), as_of=iso(START + 42 * MINUTE))

    assert (row["stale_calls"], row["too_early"], row["reason"]) == (1, 1, "too_early")
    assert row["left"] is None


def test_a_caller_stands_in_for_a_session(engine: Engine) -> None:
    """Without sessions, the same address is the same caller."""
    address = Caller(level=CallerLevel.ADDRESS, digest="a")
    world.store(engine, [replace(row, session=None, caller=address) for row in STORY[:3]])
    (row,) = ask(engine)

    assert [row[number] for number in NUMBERS] == [2, 1, 1, 0, 0, 0]
    assert (row["sessions"], row["sessions_replaced"]) == (1, 1)


PLANS = ("plan", "geo2")


def literally(seen: list[Seen], since: int, until: int) -> dict[tuple[str, str, str], list[int]]:
    """(server, name, client key or "") → calls, replaced, retried, left, cannot tell."""
    stale = [s for s in seen if s.stale]
    found: dict[tuple[str, str, str], list[int]] = {}
    for s in stale:
        if not since <= s.row.time_us < until:
            continue
        word = 4
        if s.row.session is not None or s.row.caller is not None:
            said = replaced_by(seen, s)
            ends = [
                min(
                    (o.row.time_us for o in others if after(s, o)),
                    default=2**62,
                )
                for others in (
                    [
                        o
                        for o in seen
                        if o.counted and o.row.kind is Kind.CALL and o.row.tool in said
                    ],
                    [o for o in stale if o.name == s.name],
                )
            ]
            word = 3 if min(ends) == 2**62 else 1 if ends[0] <= ends[1] else 2
        mine = found.setdefault((s.row.server, s.name or "", s.key or ""), [0] * 5)
        mine[0] += 1
        mine[word] += 1
    return found


def after(call: Seen, other: Seen) -> bool:
    """Whether the other call is of whoever made the first, and within the ten minutes after it."""
    if call.row.server != other.row.server:
        return False
    if not call.row.time_us < other.row.time_us <= call.row.time_us + 10 * MINUTE:
        return False
    if call.row.session is not None:
        return call.row.session == other.row.session
    return other.row.caller is not None and call.row.caller == other.row.caller


def replaced_by(seen: list[Seen], call: Seen) -> tuple[str, ...]:
    """What the latest stale call that says so says of the name; ties by the text of the list."""
    facts = [
        (-s.row.time_us, json.dumps(s.row.fact.replaced_by), s.row.fact.replaced_by)
        for s in seen
        if (s.row.server, s.name) == (call.row.server, call.name)
        and s.row.fact is not None
        and s.row.fact.replaced_by is not None
    ]
    return min(facts)[2] if facts else ()


def with_plans(seed: int) -> list[Told]:
    """A busy log in which every third call is one to a replacement, and most names have one."""
    rows = []
    for place, row in enumerate(busy_rows(seed)):
        turned = row
        if row.tool is not None and place % 3 == 0:
            changed: dict[str, Any] = {"kind": Kind.CALL, "tool": PLANS[place % 2], "fact": None}
            turned = replace(row, outcome=None, request_id=None, **changed)
        elif row.fact is not None and row.fact.replaced_by == ():
            turned = replace(row, fact=replace(row.fact, replaced_by=("plan",)))
        rows.append(turned)
    return rows


@pytest.mark.parametrize("seed", range(3))
def test_uptake_is_what_the_definition_counts(engine: Engine, seed: int) -> None:
    """Inferred clients, gateways' names, calls logged twice, a range that cuts; sums over all rows."""
    rows = with_plans(seed)
    world.store(engine, rows, seed=seed)
    since, until, as_of = START + HOUR // 2, START + 2 * HOUR, START + 900 * HOUR
    seen = world.read(rows, as_of)

    found = ask(engine, since=iso(since), until=iso(until), as_of=iso(as_of))

    expected = literally(seen, since, until)
    assert [(row["server"], row["name"], row["stale_calls"]) for row in found] == [
        (*key[:2], expected[key][0]) for key in sorted(expected)
    ]
    for row, key in zip(found, sorted(expected), strict=True):
        calls, replaced, retried, left, nobody = expected[key]
        assert row["cannot_tell"] == nobody
        if row["reason"] is None:
            assert (row["replaced"], row["retried"], row["left"]) == (replaced, retried, left)
            assert row["share"] == round(replaced / (calls - nobody), 4)
    assert sum(row["replaced"] or 0 for row in found) > 0
    assert sum(row["retried"] or 0 for row in found) > 0


def test_filters_choose_rows_and_change_none(engine: Engine) -> None:
    """By server, name and client, and by none: what is left is as it was."""
    world.store(engine, with_plans(4))
    every = ask(engine)

    assert ask(engine, server="shop") == [r for r in every if r["server"] == "shop"]
    assert ask(engine, name="map") == [r for r in every if r["name"] == "map"]
    assert ask(engine, client="zed") == [r for r in every if r["client"] == "zed"]
    assert ask(engine, client="") == [r for r in every if r["client"] is None]
