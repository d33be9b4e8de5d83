"""
Logs to measure with, made from a seed, and what is in them.

A mixed log is what a server writes beside its tool traffic: long lines of no interest, a share of
events of six kinds, and the dirt of real files (cut lines, CRLF, blank lines). What is in it is
counted while it is written, so that every tool's answer can be checked.
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
FILLERS = 4_096
"""Different lines of no interest; they are repeated, which no tool measured here makes use of."""
CUT, CRLF, BLANK = 0.0002, 0.001, 0.0005
"""Shares of lines that are cut, that end in CRLF, and that are blank."""


@dataclass
class Contents:
    """What a log holds. `stale` counts by (tool, client, UTC day)."""

    path: Path
    records: int = 0
    rejected: int = 0
    events: Counter[str] = field(default_factory=Counter)
    stale: Counter[tuple[str, str, str]] = field(default_factory=Counter)


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
    at, written, number = START, 0, 0
    kinds, weights = list(KINDS), [weight for _, weight in KINDS.values()]
    with path.open("wb", buffering=1 << 22) as out:
        while written < size:
            number += 1
            at += step
            dice = rng.random()
            if dice < share:
                (kind,) = rng.choices(kinds, weights)
                line = _event(rng, kind, at, number, found)
            else:
                line = fillers[int(dice * 1e9) % FILLERS].replace(b"@", _stamp(at).encode(), 1)
                dirt = rng.random()
                if dirt < CUT:
                    line = line[: len(line) // 2]
                    found.rejected += 1
                elif dirt < CUT + BLANK:
                    line = b""
                elif dirt < CUT + BLANK + CRLF:
                    line += b"\r"
            found.records += bool(line)
            written += out.write(line + b"\n")
    return found


def compressed(contents: Contents) -> Path:
    """The same log, gzipped beside it."""
    target = contents.path.with_suffix(contents.path.suffix + ".gz")
    with contents.path.open("rb") as source, gzip.open(target, "wb", compresslevel=6) as out:
        shutil.copyfileobj(source, out, 1 << 22)
    return target


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


def _event(rng: random.Random, kind: str, at: datetime, number: int, found: Contents) -> bytes:
    """A line of one of the six kinds, counted."""
    client = CLIENTS[int(rng.random() ** 3 * len(CLIENTS))]
    data: dict[str, object] = {
        "client": client,
        "clientVersion": f"1.{number % 5}.0",
        "sessionId": f"{number % 5_000:08x}",
        "requestId": str(number),
    }
    if kind == "stale_call":
        tool = TOOLS[int(rng.random() ** 2 * len(TOOLS))]
        data |= {"tool": tool, "lastRelease": "1.6.10", "replacedBy": [f"new-{tool[4:]}"]}
        found.stale[tool, client, at.date().isoformat()] += 1
    elif kind == "call":
        data["tool"] = f"tool-{number % 40}"
    found.events[kind] += 1
    record = {
        "level": "info",
        "time": _stamp(at),
        "pid": 7,
        "hostname": "mcp-1",
        "data": data,
        "msg": KINDS[kind][0],
    }
    return json.dumps(record, separators=(",", ":")).encode()
