"""
Logs to measure with, made from a seed, and what is in them.

A mixed log is what a server writes beside its tool traffic: long lines of no interest, a share of
events of six kinds, and the dirt of real files (cut lines, CRLF, blank lines). In a dense log every
line is an event, with the same dirt. What is in a log is counted while it is written, so that every
tool's answer can be checked. No two lines are equal.
"""

import gzip
import json
import random
import shutil
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

DAYS = 30
START = datetime(2026, 9, 1, tzinfo=UTC)
TOOLS = tuple(f"old-tool-{n:02}" for n in range(12))
CLIENTS = tuple(f"client-{n:03}" for n in range(200))
KINDS = {
    "stale_call": ("Retired tool called", 30),
    "call": ("Tool called", 40),
    "listing": ("Tools listed", 10),
    "hello": ("Client initialized", 10),
    "notification": ("Tool list changed notification sent", 5),
    "listen": ("Tool list subscription opened", 5),
}
"""Kind → (message, weight)."""
KIND_OF = {message: kind for kind, (message, _) in KINDS.items()}
FILLERS = 4_096
"""Different lines of no interest; they are repeated, which no tool measured here makes use of."""
LINES_A_SESSION, SESSIONS_AT_ONCE = 40, 30
CUT, CRLF, BLANK = 0.0002, 0.001, 0.0005
"""Shares of lines that are cut, that end in CRLF, and that are blank."""

Cell = tuple[str, str, str, str]
"""Kind, tool (empty where the kind has none), client, UTC day."""


@dataclass
class Contents:
    """What a log holds: records, those that are cut, and events by cell."""

    path: Path
    records: int = 0
    rejected: int = 0
    cells: Counter[Cell] = field(default_factory=Counter)

    @property
    def events(self) -> Counter[str]:
        """Events by kind."""
        return by_kind(self.cells)


def by_kind(cells: Counter[Cell]) -> Counter[str]:
    """Sum cells by kind."""
    found: Counter[str] = Counter()
    for (kind, *_), number in cells.items():
        found[kind] += number
    return found


def mixed(path: Path, size: int, seed: int, share: float) -> Contents:
    """
    Write a log of about *size* bytes in which *share* of the lines are events.

    Lines are in the order of time, pino with the fields under `data`, about 620 bytes where they are
    of no interest and 260 where they are events.
    """
    rng = random.Random(seed)
    fillers = [_filler(rng) for _ in range(FILLERS)]
    typical = 620 * (1 - share) + 260 * share
    step = timedelta(days=DAYS) / max(int(size / typical), 1)
    found = Contents(path)
    events = Events(rng)
    at, written = START, 0
    with path.open("wb", buffering=1 << 22) as out:
        while written < size:
            at += step
            dice = rng.random()
            if dice < share:
                line, cell = events.next(at)
                found.cells[cell] += 1
            else:
                line = fillers[int(dice * 1e9) % FILLERS].replace(b"@", _stamp(at).encode(), 1)
                line = _soiled(line, rng.random(), found)
            found.records += bool(line)
            written += out.write(line + b"\n")
    return found


def dense(path: Path, lines: int, seed: int) -> Contents:
    """Write a log of so many *lines*, each of them an event unless it is cut or blank."""
    rng = random.Random(seed)
    step = timedelta(days=DAYS) / max(lines, 1)
    found = Contents(path)
    events = Events(rng)
    with path.open("wb", buffering=1 << 22) as out:
        for number in range(lines):
            whole, cell = events.next(START + number * step)
            line = _soiled(whole, rng.random(), found)
            found.cells[cell] += line.startswith(whole)
            found.records += bool(line)
            out.write(line + b"\n")
    return found


def compressed(contents: Contents) -> Path:
    """The same log, gzipped beside it."""
    target = contents.path.with_suffix(contents.path.suffix + ".gz")
    with contents.path.open("rb") as source, gzip.open(target, "wb", compresslevel=6) as out:
        shutil.copyfileobj(source, out, 1 << 22)
    return target


class Events:
    """
    Lines of the six kinds, each with a request id of its own.

    Clients and tools are used unevenly. A session has one client, of one of that client's two
    versions, and some forty lines, among those of the sessions that began shortly before.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._kinds = list(KINDS)
        self._weights = [weight for _, weight in KINDS.values()]
        self._number = 0
        self._sessions: list[tuple[str, str, str]] = []

    def next(self, at: datetime) -> tuple[bytes, Cell]:
        """The next line, without its newline, and the cell in which it counts."""
        rng = self._rng
        self._number += 1
        (kind,) = rng.choices(self._kinds, self._weights)
        session, client, version = self._session()
        data: dict[str, object] = {
            "client": client,
            "clientVersion": version,
            "sessionId": session,
            "requestId": str(self._number),
        }
        tool = ""
        if kind == "stale_call":
            tool = TOOLS[int(rng.random() ** 2 * len(TOOLS))]
            data |= {"tool": tool, "lastRelease": "1.6.10", "replacedBy": [f"new-{tool[4:]}"]}
        elif kind == "call":
            data["tool"] = tool = f"tool-{int(rng.random() ** 2 * 40)}"
        record = {
            "level": "info",
            "time": _stamp(at),
            "pid": 7,
            "hostname": "mcp-1",
            "data": data,
            "msg": KINDS[kind][0],
        }
        line = json.dumps(record, separators=(",", ":")).encode()
        return line, (kind, tool, client, at.date().isoformat())

    def _session(self) -> tuple[str, str, str]:
        """Id, client and version of one of the sessions under way."""
        rng = self._rng
        if self._number > len(self._sessions) * LINES_A_SESSION:
            number = int(rng.random() ** 3 * len(CLIENTS))
            version = f"{number % 3}.{number % 5}.{int(rng.random() < 0.2)}"
            self._sessions.append((f"{rng.getrandbits(128):032x}", CLIENTS[number], version))
        back = min(int(rng.expovariate(1 / SESSIONS_AT_ONCE)), len(self._sessions) - 1)
        return self._sessions[-1 - back]


def _soiled(line: bytes, dice: float, found: Contents) -> bytes:
    """The line with the dirt that *dice*, evenly from 0 to 1, has for it."""
    if dice < CUT:
        found.rejected += 1
        return line[: len(line) // 2]
    if dice < CUT + BLANK:
        return b""
    return line + b"\r" if dice < CUT + BLANK + CRLF else line


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def _filler(rng: random.Random) -> bytes:
    """A line of no interest: a request, with the headers and the query of a stranger."""
    words = " ".join(f"{rng.getrandbits(32):08x}" for _ in range(rng.randint(30, 58)))
    record = {
        "level": "info",
        "time": "@",
        "pid": 7,
        "hostname": "mcp-1",
        "data": {"path": f"/v1/{rng.getrandbits(24):x}", "status": 200, "detail": words},
        "msg": "request completed",
    }
    return json.dumps(record, separators=(",", ":")).encode()
