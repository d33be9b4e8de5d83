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
CALLS = ("call", "stale_call", "unknown_call")
FATES = ("received", "accepted", "duplicates", "ignored", "rejected")

Who = tuple[str | None, str | None]
"""A client and its bridge."""
Message = tuple[str, str | None, str | None]
"""A kind, the name that was called, and the outcome where a call ended otherwise than asked for."""


@dataclass(frozen=True)
class Client:
    """
    One of the clients: what it calls itself, which old name it calls, how often while that works, and
    how often it connects.
    """

    name: str
    old_name: str | None
    in_time: int = 1
    connections: int = 1
    via: str | None = None


CLIENTS = {
    "listens": Client("example-listens", "add"),
    "lists_once": Client("example-lists-once", "getTinyImage"),
    "never_lists": Client("example-never-lists", "printEnv"),
    "through_proxy": Client("example-proxied", "structuredContent", via="example-proxy"),
    "connects_anew": Client("example-connects-anew", "getResourceLinks", in_time=2, connections=6),
    "retire": Client("example-admin", None, in_time=0),
}

CURES = {
    "lists_once": "refresh",  # "lists when it connects and goes on with that"
    "through_proxy": "refresh",  # the same, behind a proxy
    "connects_anew": "refresh",  # its listings are older than the change, whatever it connects to since
    "listens": "refresh",  # did it not listen, it would go on with its first list
    "never_lists": "hard_coded",  # "has a name written into it"
}
"""What README of the examples says of each client that goes on calling, as a cure."""

# Who stays connected, and so has a channel for the notification; since 2026-07-28 only whoever listens has.
STAYING = ("listens", "lists_once", "never_lists", "through_proxy")
LISTENING = ("listens",)


def check(service: Running, story: Story) -> None:
    """
    Hold every answer of REST about a story against what the clients know of it.

    Raises:
        AssertionError: One differs; the text begins with the subject: events, sessions, health,
            names, callers, clients, reactions or cures.
    """
    events = service.rows("events", server=SERVER)
    same("events", by_client(story, events), expected_events(story))
    same("sessions", sessions(events), expected_sessions(story))
    accounts = service.rows("health", server=SERVER)
    account = {fate: sum(row[fate] for row in accounts) for fate in FATES}
    same("health", account, expected_account(service, story))
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


def by_client(story: Story, events: list[dict[str, Any]]) -> dict[Who, Counter[Message]]:
    """What each client is said to have done, through which bridge, each message once."""
    found: dict[Who, Counter[Message]] = {}
    for event in events:
        same("events", (event["counted"], event["inferred"]), (True, False))
        did = found.setdefault((event["client"], event["via"]), Counter())
        if heard(story, {event["kind"]: 1}):
            did[event["kind"], event["name"], event["outcome"]] += 1
    return found


def expected_events(story: Story) -> dict[Who, Counter[Message]]:
    return {(CLIENTS[who].name, CLIENTS[who].via): messages(story, who) for who in story.did}


def messages(story: Story, who: str) -> Counter[Message]:
    """
    What a client did. It counts by kind; which names its calls were of, says README of the examples: its
    old name while that works, the tool that retires it, and, if it has learnt of it, the new name.
    """
    client, did = CLIENTS[who], Counter(story.did[who])
    old = client.old_name
    new = RETIRED[old]["replacedBy"][0] if old else None
    stdio = story.setting.transport == "stdio"
    retires = int(who in (STAYING if stdio else ("retire",)))
    found: Counter[Message] = Counter(
        {(kind, None, None): n for kind, n in heard(story, did).items() if kind not in CALLS}
    )
    found["call", old, None] = client.in_time
    found["call", "retire-old-names", None] = retires
    found["call", new, None] += did["call"] - client.in_time - retires
    found["stale_call", old, "tombstone"] = did["stale_call"]
    found["unknown_call", "get-links", "unknown tool"] = did["unknown_call"]
    return +found


def expected_account(service: Running, story: Story) -> dict[str, int]:
    """
    Every record that arrived was an event of a client. A `listen` that is no message cannot be counted
    by clients; of these the account has to hold as many as there are events.
    """
    listens = service.rows("events", server=SERVER, kind="listen")
    unheard = 0 if heard(story, {"listen": 1}) else len(listens)
    accepted = sum(messages(story, who).total() for who in story.did) + unheard
    return {**dict.fromkeys(FATES, 0), "received": accepted, "accepted": accepted}


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
    """What `names`, `callers`, `clients`, `reactions` and `cures` have to show, in their order."""
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
        "cures": [
            {
                "name": CLIENTS[who].old_name,
                "client": CLIENTS[who].name,
                "via": [CLIENTS[who].via] if CLIENTS[who].via else [],
                "cure": expected_cure(story, who),
            }
            for who in ordered
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


def expected_cure(story: Story, who: str) -> str:
    """A client that neither lists nor greets may be older than the log: a day's calls do not tell."""
    ungreeted = story.setting.modern and who == "never_lists"
    return "cannot_tell" if ungreeted else CURES[who]


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
