"""
The records that travel between rooms. All frozen, all instants in UTC.

`ingest` makes an `Event` out of a line, `pipeline` adds the key and makes a `Row`, `store` keeps it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What a line says happened. The numbers are stored: never change or reuse one."""

    STALE_CALL = 1
    UNKNOWN_CALL = 2
    CALL = 3
    NOTIFICATION = 4
    LISTING = 5
    HELLO = 6
    LISTEN = 7

    @property
    def word(self) -> str:
        """The name used in REST, commands and documents, e.g. `stale_call`."""
        return self.name.lower()


TOOL_KINDS = (Kind.STALE_CALL, Kind.UNKNOWN_CALL, Kind.CALL)
"""The kinds that name a tool, in order of precedence where lines of one call meet (DESIGN §4)."""


class Outcome(IntEnum):
    """What became of a call to a retired name. The numbers are stored."""

    TOMBSTONE = 1
    UNKNOWN_TOOL = 2
    REDIRECTED = 3
    SUCCEEDED = 4

    @property
    def word(self) -> str:
        """The name used in REST, commands and documents, e.g. `unknown tool`."""
        return self.name.lower().replace("_", " ")


class Reason(StrEnum):
    """Why a record was rejected."""

    INVALID_JSON = "invalid_json"
    INCOMPLETE_LINE = "incomplete_line"
    INVALID_PAIRS = "invalid_pairs"
    MISSING_TOOL = "missing_tool"
    NOT_AN_OBJECT = "not_an_object"
    SEVERAL_RECORDS = "several_records"
    BAD_TIMESTAMP = "bad_timestamp"
    IMPLAUSIBLE_TIMESTAMP = "implausible_timestamp"
    FUTURE_TIMESTAMP = "future_timestamp"
    LINE_TOO_LONG = "line_too_long"
    TOO_DEEP = "too_deep"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    INVALID_ENCODING = "invalid_encoding"


class CallerLevel(IntEnum):
    """How a caller was told apart, most stable first. The numbers are stored; a caller at the level
    of its client is not stored but counted when reading."""

    PRINCIPAL = 1
    ADDRESS = 2
    PROCESS = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Event(NamedTuple):
    """
    One recognised line, in the words of the field, as logged.

    Text has NUL dropped and lone surrogates replaced by U+FFFD; nothing else is normalised. Blank
    text is None. `time_ns` is None only where the line has no time of its own. (A tuple: a frozen
    dataclass of as many fields takes five times as long to make.)
    """

    kind: Kind
    time_ns: int | None
    profile: str
    key_fields: tuple[tuple[str, str], ...]
    """(canonical name, canonical text) of every key field that the profile maps and the line has,
    sorted by name; without server, time and kind. Identities (session, principal, address) stand
    here in the clear and are hashed by `ingest.keys`."""
    server: str | None = None
    tool: str | None = None
    client: str | None = None
    version: str | None = None
    session: str | None = None
    request_id: str | None = None
    principal: str | None = None
    address: str | None = None
    user_agent: str | None = None
    hostname: str | None = None
    pid: str | None = None
    stdio: bool = False
    """Whether hostname and pid are those of a stdio process and so make a caller."""
    outcome: Outcome | None = None
    protocol_version: str | None = None
    last_release: str | None = None
    replaced_by: tuple[str, ...] | None = None
    """None where the line says nothing; an empty tuple where it says that nothing replaces it."""
    message: str | None = None
    trigger: str | None = None
    ttl_ms: int | None = None
    listed_count: int | None = None
    native_id: str | None = None
    """What the carrier of the line calls it (see `ingest.records.Origin`); no part of the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A record that is ours, or broken JSON, and cannot be used."""

    reason: Reason
    excerpt: str
    """The first 2 KiB as text; identities replaced by their hashes where the record parses."""
    time_ns: int | None = None
    whole: bool = True
    """Whether `excerpt` is the whole record."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A record that is not ours. `time_ns` counts for coverage where it was read."""

    time_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The identity behind a call. Hashes are lower-case hex."""

    level: CallerLevel
    digest: str
    network: str | None = None
    """Hash of the /24 or /48 that an address lies in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a stale call says about the retired name itself."""

    last_release: str | None
    replaced_by: tuple[str, ...] | None
    message: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Subject:
    """
    What an event says beside its time, session and request; many events share one. Never changed.

    Text is still in the clear and at most 256 characters (longer ones cut, with a hash), identities are
    hashed already. Compared by identity: two that say the same are merely looked up twice.
    """

    kind: Kind
    server: str
    client: str | None = None
    version: str | None = None
    tool: str | None = None
    caller: Caller | None = None
    outcome: Outcome | None = None
    fact: Fact | None = None
    trigger: str | None = None
    protocol_version: str | None = None
    ttl_ms: int | None = None
    listed_count: int | None = None
    arrival: bool = False
    """Whether the time is that of the arrival; then the key is unique by itself."""


Row = tuple[int, int, Subject, str | None, int | None, int]
"""
One event ready to be stored: (time in µs, key, subject, session, request, ns).

Time and key (64 bits, signed) are its identity. `session` is the hash of the session id. `request` is
the number that stands for the request id (64 bits, signed), only where the event is a call and has a
session: lines with the same server, session, tool and request are one call. `ns` are the nanoseconds
beyond the µs, 0 to 999. A plain tuple: millions of them are made and sorted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A rejected record with its place in the delivery."""

    position: int
    """0-based number of the record in its delivery."""
    rejected: Rejected


class Native(NamedTuple):
    """A row whose record its carrier names, so that equal records can be told apart for certain."""

    at: int
    """Which of the portion's rows; its key is that of the first of its equals."""
    native_id: int
    """64 bits that stand for the name."""
    key: Callable[[int], int]
    """The key of the first of the row's equals (0), of the second, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """
    What one transaction stores of a delivery.

    A request is one portion; a file is as many as its commits. `rows` may hold several servers.
    """

    server: str
    """The server of the delivery: owns its source, batch, tallies and ledger lines."""
    source: str
    batch: "BatchName"
    arrived_us: int
    rows: list[Row] = field(default_factory=list)
    natives: list[Native] = field(default_factory=list)
    rejected: list[Quarantined] = field(default_factory=list)
    """The first of the rejected records, as many as are kept."""
    unkept: dict[Reason, int] = field(default_factory=dict)
    """How many more were rejected, by reason."""
    ignored: int = 0
    hours: dict[int, int] = field(default_factory=dict)
    """Hour (time // 3600 s) → lines heard in it, ignored ones too."""

    @property
    def received(self) -> int:
        """Records of this portion."""
        return len(self.rows) + len(self.rejected) + sum(self.unkept.values()) + self.ignored

    @property
    def reasons(self) -> Counter[str]:
        """How many records were rejected, by the word of the reason."""
        found = Counter(item.rejected.reason.value for item in self.rejected)
        found.update({reason.value: number for reason, number in self.unkept.items()})
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchName:
    """What can be taken back as one: an `ingest` run, or a source's requests of one UTC hour."""

    kind: str
    label: str
    """Unique among the batches of its source: a run's random id, or the hour as an ISO instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What a portion came to."""

    batch: int
    accepted: int
    duplicates: int
    events: dict[Kind, int]
    """Newly stored events by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A version of a server and when it came. `source` is the way we were told."""

    server: str
    version: str
    at_us: int
    source: str


class Recorded(StrEnum):
    """What it changed to record a release."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    MOVED = "moved"


POSITIONS_SHOWN = 100
"""Rejected records whose position a receipt tells."""


@dataclass(slots=True, kw_only=True)
class Receipt:
    """
    The account of one delivery: `received` is always the sum of the four outcomes.

    `positions` are those of the first 100 rejected records. `pending` is an unfinished tail that was
    held back (only ever non-zero for a followed file).
    """

    accepted: int = 0
    duplicates: int = 0
    ignored: int = 0
    rejected: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)
    pending: int = 0
    events: dict[str, int] = field(default_factory=dict)
    batch: int | None = None

    @property
    def received(self) -> int:
        """Records that arrived: accepted + duplicates + ignored + rejected."""
        return self.accepted + self.duplicates + self.ignored + self.rejected

    def add(self, other: "Receipt") -> None:
        """Add the account of another delivery of the same run."""
        self.accepted += other.accepted
        self.duplicates += other.duplicates
        self.ignored += other.ignored
        self.rejected += other.rejected
        self.pending += other.pending
        for reason, number in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + number
        for kind, number in other.events.items():
            self.events[kind] = self.events.get(kind, 0) + number
        self.positions = (self.positions + other.positions)[:POSITIONS_SHOWN]
        self.batch = other.batch if self.batch is None else self.batch

    def as_json(self) -> dict[str, object]:
        """The receipt in the form of `lastcall ingest --json` and of `POST /ingest`."""
        return {
            "received": self.received,
            "accepted": self.accepted,
            "duplicates": self.duplicates,
            "ignored": self.ignored,
            "rejected": self.rejected,
            "reasons": dict(sorted(self.reasons.items())),
            "positions": self.positions,
            "pending": self.pending,
            "events": dict(sorted(self.events.items())),
            "batch": self.batch,
        }
