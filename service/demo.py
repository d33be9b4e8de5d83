"""
Three realistic months of two servers' logs, the same every time but for the day they end on.

What is in them: names retired in steps, clients with names that real clients send, notifications at
staggered times, a frozen connector and a script that no notification can reach, calls without a
client's name, releases, and one gap where the shipper was broken. The numbers are made up.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.clock import DAY_US
from service.events import Release

DAYS = 92
GAP = (66.2, 68.7)
"""Days (from the start) between which nothing was shipped."""
SEED = 20_261
_HABIT = 0.04
"""How likely it is that a call goes to a name that the copy in hand lacks: a prompt or a permission list names it."""


@dataclass(frozen=True, slots=True)
class RetiredName:
    """A name that one of the servers no longer lists."""

    name: str
    last_release: str
    replaced_by: tuple[str, ...]
    day: int
    """Day of its retirement, from the start."""


@dataclass(frozen=True, slots=True)
class DemoClient:
    """How one client behaves."""

    name: str | None
    versions: tuple[str, ...]
    """Taken up one after the other, evenly over the months."""
    sessions_per_day: float
    calls: int
    """Calls of a session, about."""
    stale_share: float
    """Share of its calls that go to a name it still believes in."""
    notified_day: int | None = None
    """First day on which its sessions are sent notifications; None: it has no channel."""
    listens: bool = True
    """Whether it lists the tools again when told."""
    lists: bool = True
    """Whether it lists the tools on connecting."""
    copies: int = 0
    """Of how many people, each of whom has a copy of the list that is renewed with a version or when told; 0: of
    each connection."""
    addresses: int = 0
    """Size of its pool of addresses; 0: the server logs none."""
    daily_hour: int | None = None
    """Calls at this hour every day, as a script does."""


MAPS_NAMES = (
    RetiredName("tomtom-ev-routing", "1.6.12", ("tomtom-route-planner",), 8),
    RetiredName("tomtom-static-map", "1.6.12", ("tomtom-map-image", "tomtom-search"), 8),
    RetiredName("tomtom-waypoint-routing", "1.7.1", ("tomtom-route-planner",), 22),
    RetiredName("tomtom-reachable-range", "1.8.0", (), 36),
)
MAPS_RELEASES = {
    "1.6.12": -9,
    "1.7.0": 8,
    "1.7.1": 13,
    "1.8.0": 22,
    "1.9.0": 36,
    "1.9.1": 58,
    "1.10.0": 79,
}
"""Version → day from the start. A name's last release is the one before the day of its retirement."""
MAPS_LIVE = ("tomtom-route-planner", "tomtom-search", "tomtom-traffic", "tomtom-map-image")
# Told one after the other, two of them not before the last weeks: whoever is not told yet shows what would have
# happened anyway, and without such there is no answer to whether notifications helped.
MAPS_CLIENTS = (
    DemoClient("claude-code", ("2.1.201", "2.1.215", "2.1.234"), 3.2, 5, 0.3, 40, copies=14),
    DemoClient("Visual Studio Code", ("1.118.0", "1.119.2"), 2.1, 4, 0.3, 47, copies=9),
    DemoClient("cursor-vscode", ("1.0.0",), 1.8, 4, 0.16, 54),
    DemoClient("Windsurf", ("1.12.3",), 0.5, 3, 0.3, 61, copies=4),
    DemoClient("windsurf", ("1.13.0",), 0.4, 3, 0.3, 61, copies=3),
    DemoClient(
        "codex-mcp-client", ("0.146.0", "0.148.0-alpha.9"), 1.4, 4, 0.3, 54, listens=False, copies=8
    ),
    DemoClient("claude-ai (via mcp-remote 0.1.29)", ("0.1.0",), 0.8, 3, 0.2, 82),
    DemoClient("claude-ai", ("0.1.0",), 0.6, 3, 0.2, 82),
    DemoClient("Zed", ("0.214.5",), 0.4, 3, 0.3, 85, copies=3),
    DemoClient("openai-mcp", ("1.0.0",), 3.0, 1, 0.34, addresses=60),
    DemoClient("mcp", ("0.1.0",), 0.0, 1, 1.0, lists=False, addresses=2, daily_hour=3),
    DemoClient(None, (), 1.1, 1, 0.5, lists=False, addresses=20),
)
EVERYTHING_NAMES = (
    RetiredName("printEnv", "2025.12.18", ("get-env",), 15),
    RetiredName("add", "2025.12.18", ("get-sum",), 15),
    RetiredName("getTinyImage", "2025.12.18", ("get-tiny-image",), 15),
)
EVERYTHING_RELEASES = {"2025.12.18": -28, "2026.1.14": 15, "2026.1.26": 64}
EVERYTHING_LIVE = ("echo", "get-env", "get-sum")
EVERYTHING_CLIENTS = (
    DemoClient("claude-code", ("2.1.201", "2.1.234"), 1.0, 4, 0.3, 50, copies=5),
    DemoClient("goose", ("1.9.0", "1.10.1"), 0.6, 4, 0.3, 50, listens=False, copies=3),
    DemoClient("opencode", ("0.15.8",), 0.5, 3, 0.3, 57, copies=3),
    DemoClient("@n8n/n8n-nodes-langchain.mcpClientTool", ("1.0.0",), 0.0, 1, 1.0, daily_hour=6),
)


@dataclass(frozen=True, slots=True)
class _Line:
    at: float
    """Days from the start."""
    message: str
    fields: dict[str, object]


def demo_logs(now: datetime) -> dict[str, list[bytes]]:
    """
    Return the lines of each server's log, oldest first, the last one shortly before `now`.

    The first day is `DAYS - 1` days before today. `maps` logs as pino with fields under `data`,
    `reference` as structlog does.
    """
    start = _start(now)
    until = (now - start) / timedelta(days=1)
    rng = random.Random(SEED)  # noqa: S311 - made-up data, the same every time
    maps = _server(rng, MAPS_NAMES, MAPS_LIVE, MAPS_CLIENTS, until)
    everything = _server(rng, EVERYTHING_NAMES, EVERYTHING_LIVE, EVERYTHING_CLIENTS, until)
    return {
        "maps": [_pino(line, start) for line in maps],
        "reference": [_structlog(line, start) for line in everything],
    }


def demo_releases(now: datetime) -> list[Release]:
    """Return the releases of both servers, with the same first day as `demo_logs`."""
    first_us = round(_start(now).timestamp()) * 1_000_000
    return [
        Release(server=server, version=version, at_us=first_us + day * DAY_US, source="demo")
        for server, days in (("maps", MAPS_RELEASES), ("reference", EVERYTHING_RELEASES))
        for version, day in days.items()
    ]


def _start(now: datetime) -> datetime:
    """The first day's midnight."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=DAYS - 1)


def _server(
    rng: random.Random,
    names: tuple[RetiredName, ...],
    live: tuple[str, ...],
    clients: tuple[DemoClient, ...],
    until: float,
) -> list[_Line]:
    lines = [
        line
        for client in clients
        for copies in [_Copies(rng, client)]
        for day in range(DAYS)
        for at in sorted(_starts(rng, client, day))
        for line in _session(rng, client, copies, at, names, live)
    ]
    lines += [_Line(hour / 24, "Health check", {"status": "ok"}) for hour in range(DAYS * 24)]
    heard = [line for line in lines if not GAP[0] <= line.at < GAP[1] and line.at < until]
    return sorted(heard, key=lambda line: line.at)


def _starts(rng: random.Random, client: DemoClient, day: int) -> list[float]:
    """When its sessions of a day begin: by day, fewer at the weekend."""
    if client.daily_hour is not None:
        return [day + (client.daily_hour + rng.uniform(0, 0.02)) / 24]
    weekday = 0.4 if day % 7 >= 5 else 1.0
    number = int(client.sessions_per_day * weekday + rng.random())
    return [day + min(max(rng.gauss(0.58, 0.15), 0), 0.999) for _ in range(number)]


class _Copies:
    """The copies of the list that the people of one client hold: by when each was made, and with which version."""

    def __init__(self, rng: random.Random, client: DemoClient) -> None:
        self._rng = rng
        self._client = client
        self._held: dict[int, tuple[float, str]] = {}
        self._person = 0

    def connect(self, at: float, version: str) -> bool:
        """Somebody connects; whether the tools are listed."""
        if not self._client.copies:
            return self._client.lists
        self._person = self._rng.randrange(self._client.copies)
        known = self._held.get(self._person)
        if known is not None and known[1] == version:
            return False
        self._held[self._person] = (at, version)
        return True

    def renew(self, at: float, version: str) -> None:
        """Whoever is connected lists the tools again."""
        self._held[self._person] = (at, version)

    def believed(self, names: Sequence[RetiredName], at: float) -> list[RetiredName]:
        """The retired names that a call may still go to: by the copy in hand, or by habit."""
        gone = [name for name in names if name.day <= at]
        if not self._client.copies:
            return gone
        made, _ = self._held[self._person]
        return [name for name in gone if name.day > made or self._rng.random() < _HABIT]


def _session(
    rng: random.Random,
    client: DemoClient,
    copies: _Copies,
    at: float,
    names: tuple[RetiredName, ...],
    live: tuple[str, ...],
) -> Iterator[_Line]:
    who = _identity(rng, client, at)
    version = str(who.get("clientVersion"))
    listed = copies.connect(at, version)
    if client.lists:
        yield _Line(at, "Client initialized", {**who, "protocolVersion": "2025-11-25"})
    if listed:
        yield _Line(at + 1e-6, "Tools listed", {**who, "count": len(live)})
    stale_share = client.stale_share
    told = client.notified_day is not None and at >= client.notified_day
    if told and client.listens and not client.copies:
        stale_share *= max(0.08, 0.6 ** (at - client.notified_day + 1))  # type: ignore[operator]
    now = at
    for number in range(max(1, round(rng.gauss(client.calls, 1)))):
        now += rng.expovariate(1) * 4 / 1440
        gone = copies.believed(names, now)
        if gone and rng.random() < stale_share:
            yield _stale(rng.choice(gone), now, who)
        else:
            yield _Line(now, "Tool called", {**who, "tool": rng.choice(live)})
        if number == 0 and told and rng.random() < 0.3:
            yield _Line(
                now + 2e-4, "Tool list changed notification sent", {**who, "trigger": "hello"}
            )
            if client.listens:
                later = now + 2e-4 + rng.uniform(0.05, 5) / 86_400
                yield _Line(later, "Tools listed", {**who, "count": len(live)})
                copies.renew(later, version)


def _identity(rng: random.Random, client: DemoClient, at: float) -> dict[str, object]:
    who: dict[str, object] = {}
    if client.name is not None:
        spread = int(at / DAYS * len(client.versions))
        who = {"client": client.name, "clientVersion": client.versions[spread]}
    if client.lists:
        who["sessionId"] = f"{rng.getrandbits(48):012x}"
    if client.addresses:
        who["ip"] = f"198.51.100.{rng.randrange(client.addresses)}"
    return who


def _stale(name: RetiredName, at: float, who: dict[str, object]) -> _Line:
    fact = {"lastRelease": name.last_release, "replacedBy": list(name.replaced_by)}
    return _Line(at, "Retired tool called", {**who, "tool": name.name, **fact})


def _instant(line: _Line, start: datetime) -> str:
    at = (start + timedelta(days=line.at)).astimezone(UTC).replace(tzinfo=None)
    return at.isoformat(timespec="microseconds") + "Z"


def _pino(line: _Line, start: datetime) -> bytes:
    record = {
        "level": "warn" if line.message.startswith("Retired") else "info",
        "time": _instant(line, start),
        "pid": 7,
        "hostname": "mcp-1",
        "data": line.fields,
        "msg": line.message,
    }
    return json.dumps(record, separators=(",", ":")).encode()


_SNAKE = {
    "clientVersion": "client_version",
    "sessionId": "session_id",
    "lastRelease": "last_release",
    "replacedBy": "replaced_by",
    "protocolVersion": "protocol_version",
}


def _structlog(line: _Line, start: datetime) -> bytes:
    fields = {_SNAKE.get(name, name): value for name, value in line.fields.items()}
    record = {**fields, "event": line.message, "level": "info", "timestamp": _instant(line, start)}
    return json.dumps(record).encode()
