"""What the tests of this folder share: fixed secrets, a fixed clock, and the samples."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from service.events import Event, Ignored, Rejected
from service.ingest.body import records
from service.ingest.keys import Hasher, Secrets
from service.ingest.lines import lines_of
from service.ingest.profiles import load_profiles
from service.ingest.recognise import Recogniser
from service.ingest.records import Parsed, Record

DATA = Path(__file__).parent / "data"
SECRETS = Secrets(key=b"the key secret of the tests", identity=b"the identity secret")
HASHER = Hasher(SECRETS)
NOW = "2026-10-06T00:00:00Z"
TIME = "2026-10-05T10:15:02.114Z"
CALL_NS = 1_791_195_302_114_000_000
"""2026-10-05T10:15:02.114Z, worked out with `date -u -d … +%s`."""

Outcome = Event | Rejected | Ignored


def recogniser(now: str = NOW, max_depth: int = 100) -> Recogniser:
    """The built-in profiles with a clock that stands still."""
    now_us = int(datetime.fromisoformat(now).timestamp()) * 1_000_000
    return Recogniser(load_profiles(), HASHER, max_depth=max_depth, clock=lambda: now_us)


def single(parts: Iterable[bytes | Record]) -> list[Record]:
    """Blocks of lines taken apart."""
    found: list[Record] = []
    for part in parts:
        found.extend(lines_of(part) if isinstance(part, bytes) else [part])
    return found


def outcomes(body: bytes, reader: Recogniser, max_line: int = 1 << 20) -> list[Outcome]:
    """What each record of a body is, in order."""
    found = []
    for record in single(records(body, max_line)):
        if isinstance(record, Parsed):
            found.append(reader.value(record.value))
        elif outcome := reader.read(record):
            found.append(outcome)
    return found


def case(name: str) -> bytes:
    """The bytes of one of the numbered cases."""
    (path,) = (DATA / "cases").glob(f"{name}-*")
    return path.read_bytes()


def tally(found: list[Outcome]) -> dict[str, int]:
    """How many are events, ignored, or rejected for each reason."""
    words = Counter(
        item.reason.value if isinstance(item, Rejected) else type(item).__name__.lower()
        for item in found
    )
    return dict(words)


def events(found: list[Outcome]) -> list[Event]:
    """The events among outcomes."""
    return [item for item in found if isinstance(item, Event)]


def only_event(line: bytes, reader: Recogniser | None = None) -> Event:
    """The event that a line is."""
    outcome = (reader or recogniser()).line(line)
    assert isinstance(outcome, Event), outcome
    return outcome


def line(message: str = "Retired tool called", /, **data: object) -> bytes:
    """A line as TomTom's server writes it."""
    record = {"level": "info", "time": TIME, "pid": 7, "hostname": "mcp-1", "data": data}
    return json.dumps({**record, "msg": message}).encode()
