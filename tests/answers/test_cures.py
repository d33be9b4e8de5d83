"""
Cures from stored rows, on both databases: the demo's clients, each with the cure that reading its
description promises, and random logs against the definitions read literally.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from service import answers, demo, intake
from service.answers import Moment, Query
from service.answers.query import iso
from service.events import Kind
from service.settings import Settings
from service.store.engine import Engine, make_engine, reading
from tests.answers import world
from tests.answers.test_reactions import HOUR, START, busy_rows
from tests.answers.world import Seen
from tests.told import Told

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOMENT = Moment(round(NOON.timestamp()) * 1_000_000, 0)

DEMO = {
    # their people hold copies of the list across connections, and these products are known to
    ("maps", "claude-code"): "refresh",
    ("maps", "Visual Studio Code"): "refresh",
    ("maps", "codex-mcp-client"): "refresh",
    ("maps", "Zed"): "refresh",
    ("reference", "claude-code"): "refresh",
    ("reference", "goose"): "refresh",
    ("reference", "opencode"): "refresh",
    # so do these, but nothing is known of the product, and some of its sessions listed since
    ("maps", "Windsurf"): "cannot_tell",
    # these list whenever they connect, and call an old name in the same session all the same
    ("maps", "cursor-vscode"): "client_fault",
    ("maps", "claude-ai"): "client_fault",
    # so does this one, and it is known to keep a snapshot whatever it fetches
    ("maps", "openai-mcp"): "rescan",
    # at three o'clock every day, without listing; at six, and its library lists
    ("maps", "mcp"): "hard_coded",
    ("reference", "@n8n/n8n-nodes-langchain.mcpClientTool"): "hard_coded",
    ("maps", None): "unattributed",
}
"""What each of the demo's clients is to be told, from the comments in its source."""


def ask(engine: Engine, moment: Moment = MOMENT, **asked: Any) -> list[dict[str, Any]]:
    with reading(engine) as connection:
        found = answers.cures(connection, Query.of(limit=1_000, **asked), moment).as_json()
    rows: list[dict[str, Any]] = json.loads(json.dumps(found, allow_nan=False))["items"]
    return rows


def test_each_client_of_the_demo_has_the_cure_that_its_description_promises(
    database_url: str,
) -> None:
    """Whichever name it calls, where it calls it more than once; the demo's months end at noon."""
    intake.read_lines(demo.demo_logs(NOON), Settings(database_url=database_url))
    engine = make_engine(database_url)
    rows = ask(engine)
    engine.dispose()

    found: dict[tuple[str, str | None], set[str]] = {}
    for row in rows:
        if row["stale_calls"] > 1:  # the first call may be the one that tells of the retirement
            # the demo spells one product in two ways, which are one client
            client = "Windsurf" if row["client"] == "windsurf" else row["client"]
            found.setdefault((row["server"], client), set()).add(row["cure"])
    assert found == {who: {word} for who, word in DEMO.items()}
    bridged = {row["client"] for row in rows if row["via"] == ["mcp-remote"]}
    assert bridged == {"claude-ai"}
    gap = "hours: a listing in them is not known."
    assert all(
        any(gap in sentence for sentence in row["why"])
        for row in rows
        if row["cure"] in ("hard_coded", "refresh", "cannot_tell")
    )


def literally(seen: list[Seen], since: int, until: int) -> dict[tuple[str, str, str], list[int]]:
    """(server, name, client key or "") → calls, again, old, unlisted, sessions, listings."""
    stale = [s for s in seen if s.stale]
    found: dict[tuple[str, str, str], list[Seen]] = {}
    for s in stale:
        if since <= s.row.time_us < until:
            found.setdefault((s.row.server, s.name or "", s.key or ""), []).append(s)
    lists = [s for s in seen if s.row.kind is Kind.LISTING]
    result = {}
    for (server, name, key), calls in found.items():
        retired = min(
            s.row.time_us
            for s in seen
            if s.row.kind is Kind.STALE_CALL and (s.row.server, s.name) == (server, name)
        )
        split = [_which(s, lists, retired) for s in calls]
        mine = [s for s in lists if (s.row.server, s.key or "") == (server, key)]
        result[server, name, key] = [
            len(calls),
            *(split.count(word) for word in ("again", "old", "none")),
            len({s.row.session for s in calls} - {None}),
            sum(since <= s.row.time_us < until for s in mine),
        ]
    return result


def _which(call: Seen, lists: list[Seen], retired: int) -> str:
    before = [
        s.row.time_us
        for s in lists
        if call.row.session is not None
        and (s.row.server, s.row.session) == (call.row.server, call.row.session)
        and s.row.time_us <= call.row.time_us
    ]
    return "none" if not before else "again" if max(before) >= retired else "old"


@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_what_the_definitions_count(engine: Engine, seed: int) -> None:
    """Inferred clients, gateways' names, calls logged twice, a range and an as_of that cut."""
    rows = busy_rows(seed)
    world.store(engine, rows, seed=seed)
    since, until, as_of = START + HOUR // 2, START + 2 * HOUR, START + (8 + seed) * HOUR // 4
    seen = world.read(rows, as_of)
    moment = Moment(START + 1_000 * HOUR, 0)

    found = ask(engine, moment, since=iso(since), until=iso(until), as_of=iso(as_of))

    expected = literally(seen, since, min(until, as_of))
    columns = ("stale_calls", "again_calls", "old_calls", "unlisted_calls", "sessions", "listings")
    assert [
        (row["server"], row["name"], row["client"], [row[column] for column in columns])
        for row in found
    ] == [
        (server, name, world.display(seen, key) if key else None, expected[server, name, key])
        for server, name, key in sorted(expected)
    ]
    assert any(row["again_calls"] for row in found)


def test_a_listing_is_older_or_newer_than_the_retirement_of_the_name(engine: Engine) -> None:
    """
    One session lists at 0 and calls at 20, another lists at 10 and calls at 20; a third client is the
    first to be told that the name is retired, at 10: equal times count as since.
    """
    minutes = [
        (0, Kind.LISTING, "early", "a"),
        (10, Kind.STALE_CALL, "teller", "c"),
        (10, Kind.LISTING, "late", "b"),
        (20, Kind.STALE_CALL, "early", "a"),
        (20, Kind.STALE_CALL, "late", "b"),
    ]
    rows = [
        Told(
            time_us=START + minute * 60_000_000,
            key=key,
            kind=kind,
            server="maps",
            client=client,
            session=session,
            tool="route" if kind is Kind.STALE_CALL else None,
        )
        for key, (minute, kind, client, session) in enumerate(minutes)
    ]
    world.store(engine, rows)

    found = {row["client"]: row for row in ask(engine, Moment(START + HOUR, 0))}
    assert {client: (row["cure"], row["old_calls"]) for client, row in found.items()} == {
        "early": ("refresh", 1),
        "late": ("client_fault", 0),
        "teller": ("cannot_tell", 0),
    }


def test_filters_choose_rows_and_change_none(engine: Engine) -> None:
    """By server, name and client: what is left is as it was, others' listings included."""
    world.store(engine, busy_rows(4))
    moment = Moment(START + 1_000 * HOUR, 0)
    every = ask(engine, moment)

    assert ask(engine, moment, server="shop") == [r for r in every if r["server"] == "shop"]
    assert ask(engine, moment, name="map") == [r for r in every if r["name"] == "map"]
    assert ask(engine, moment, client="") == [r for r in every if r["client"] is None]
    assert ask(engine, moment, client="zed") == [r for r in every if r["client"] == "zed"]
    by_cure = ask(engine, moment, sort="cure")
    assert [r["cure"] for r in by_cure] == sorted(r["cure"] for r in every)


def test_without_data_there_are_no_rows(engine: Engine) -> None:
    assert ask(engine) == []
