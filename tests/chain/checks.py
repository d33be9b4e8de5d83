"""
What Last Call has to say about a story. The expected values are what the clients counted on their side
of the wire, `examples/retired.json`, and what README of the examples promises of each client; nothing
is taken from the server's log.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.acceptance.service import Running
from tests.chain.stories import NEWER, OLDER, RETIRED, Setting, Story

SERVER = "everything"


@dataclass(frozen=True)
class Client:
    """One of the clients: what it calls itself, which old name it calls, how often it connects."""

    name: str
    old_name: str | None
    connections: int = 1
    via: str | None = None


CLIENTS = {
    "listens": Client("example-listens", "add"),
    "lists_once": Client("example-lists-once", "getTinyImage"),
    "never_lists": Client("example-never-lists", "printEnv"),
    "through_proxy": Client("example-proxied", "structuredContent", via="example-proxy"),
    "connects_anew": Client("example-connects-anew", "getResourceLinks", connections=6),
    "retire": Client("example-admin", None),
}

# Who stays connected, and so has a channel for the notification; since 2026-07-28 only whoever listens has.
STAYING = ("listens", "lists_once", "never_lists", "through_proxy")
LISTENING = ("listens",)


def check(service: Running, story: Story) -> None:
    """
    Hold every answer of REST about a story against what the clients know of it.

    Raises:
        AssertionError: One differs; the text begins with the subject: events, outcomes, sessions,
            names, callers, clients or reactions.
    """
    events = service.rows("events", server=SERVER)
    same("events", by_client(story, events), expected_events(story))
    same("outcomes", outcomes(events), expected_outcomes(story))
    same("sessions", sessions(events), expected_sessions(story))
    for collection, expected in expected_rows(story).items():
        shown = [
            {column: row[column] for column in expected[0]}
            for row in service.rows(collection, server=SERVER)
        ]
        same(collection, shown, expected)


def same(subject: str, found: Any, expected: Any) -> None:
    """Fail, naming the subject, unless both are equal."""
    assert found == expected, f"{subject}: {found} instead of {expected}"


def heard(story: Story, kinds: Mapping[str, int]) -> dict[str, int]:
    """
    Counts without `listen` where it is no message: over HTTP a session of 2025-11-25 opens a GET stream.
    """
    silent = story.setting == Setting(story.setting.server, OLDER, "http")
    return {kind: n for kind, n in sorted(kinds.items()) if not (silent and kind == "listen")}


def totals(story: Story, did: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """What these clients of a story did together, by kind."""
    return heard(story, sum(map(Counter, did.values()), Counter[str]()))


def by_client(
    story: Story, events: list[dict[str, Any]]
) -> dict[tuple[str | None, str | None], dict[str, int]]:
    """Events of each client and bridge, by kind, each message once."""
    found: dict[tuple[str | None, str | None], Counter[str]] = {}
    for event in events:
        same("events", (event["counted"], event["inferred"]), (True, False))
        found.setdefault((event["client"], event["via"]), Counter())[event["kind"]] += 1
    return {who: heard(story, kinds) for who, kinds in found.items()}


def expected_events(story: Story) -> dict[tuple[str | None, str | None], dict[str, int]]:
    return {
        (CLIENTS[who].name, CLIENTS[who].via): heard(story, did) for who, did in story.did.items()
    }


def outcomes(events: list[dict[str, Any]]) -> Counter[tuple[str, str, str]]:
    """Calls that ended otherwise than asked for, by client, name and outcome."""
    return Counter(
        (event["client"], event["name"], event["outcome"]) for event in events if event["outcome"]
    )


def expected_outcomes(story: Story) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for who, did in story.did.items():
        client = CLIENTS[who]
        found[client.name, client.old_name or "", "tombstone"] = did.get("stale_call", 0)
        found[client.name, "get-links", "unknown tool"] = did.get("unknown_call", 0)
    return +found


def sessions(events: list[dict[str, Any]]) -> dict[str, int]:
    """How many sessions a client's events belong to."""
    found: dict[str, set[str]] = {}
    for event in events:
        found.setdefault(event["client"], set()).update({event["session"]} - {None})
    return {client: len(hashes) for client, hashes in found.items()}


def expected_sessions(story: Story) -> dict[str, int]:
    """One for each connection, but that requests of 2026-07-28 over HTTP belong to none."""
    none = story.setting == Setting(story.setting.server, NEWER, "http")
    return {CLIENTS[who].name: 0 if none else CLIENTS[who].connections for who in story.did}


def expected_rows(story: Story) -> dict[str, list[dict[str, Any]]]:
    """What `names`, `callers`, `clients` and `reactions` have to show, in their order."""
    stale = {who: did["stale_call"] for who, did in story.did.items() if did.get("stale_call")}
    ordered = sorted(stale, key=lambda who: CLIENTS[who].old_name or "")
    return {
        "names": [expected_name(story, who, stale[who]) for who in ordered],
        "callers": [
            {
                "name": CLIENTS[who].old_name,
                "client": CLIENTS[who].name,
                "stale_calls": stale[who],
                "callers": callers(story, who),
                "versions": ["1.0.0"],
                "inferred_calls": 0,
            }
            for who in ordered
        ],
        "clients": [
            {
                "client": client.name,
                "via": [client.via] if client.via else [],
                "sessions": expected_sessions(story)[client.name],
                "stale_calls": stale.get(who, 0),
                "names": 1 if who in stale else 0,
                "callers": callers(story, who) if who in stale else 0,
            }
            for who, client in sorted(CLIENTS.items(), key=lambda pair: pair[1].name)
            if who in story.did
        ],
        "reactions": [
            expected_reaction(story, who)
            for who in sorted(notified(story), key=lambda who: CLIENTS[who].name)
        ],
    }


def expected_name(story: Story, who: str, stale_calls: int) -> dict[str, Any]:
    name = CLIENTS[who].old_name or ""
    return {
        "name": name,
        "stale_calls": stale_calls,
        "clients": 1,
        "callers": callers(story, who),
        "last_release": RETIRED[name]["lastRelease"],
        "replaced_by": RETIRED[name]["replacedBy"],
        "unattributed_calls": 0,
    }


def callers(story: Story, who: str) -> int:
    """On stdio each process is a caller: one for each connection that called; else the client is one."""
    stdio = story.setting.transport == "stdio"
    return story.did[who]["stale_call"] if stdio and CLIENTS[who].connections > 1 else 1


def notified(story: Story) -> set[str]:
    """Who is told of the change; the client that brings it about may or may not have a stream by then."""
    told = set(LISTENING if story.setting.modern else STAYING)
    return told | {"retire"} if story.did.get("retire", {}).get("notification") else told


def expected_reaction(story: Story, who: str) -> dict[str, Any]:
    """Each client is told once; the one that listens lists again, and no other does."""
    answered = 1 if who in LISTENING else 0
    after = story.did[who].get("stale_call", 0)
    return {
        "client": CLIENTS[who].name,
        "notifications": 1,
        "episodes": 1,
        "answered": answered,
        "ignored": 1 - answered,
        "stale_before": 0,
        "stale_after": after,
        "change_pct": None,
        "outcome": f"{'answered' if answered else 'ignored'}_increased"
        if after
        else "no_stale_calls",
    }
