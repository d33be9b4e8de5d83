"""What has arrived of a server's log, and of what cannot be used, what would make it right."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from service.answers.health import FATES
from service.answers.query import EVERY, Filter, Instant, Moment
from service.errors import BadParameter
from service.events import Reason
from service.store import read_health, read_words
from service.store.engine import Connection

Word = Literal["waiting", "stored", "known", "ignored", "rejected"]

REMEDIES: Final[dict[Reason, str]] = {
    Reason.INVALID_JSON: "It begins like JSON and breaks off, or is none. Send lines whole, one record a line, and see "
    "whether the shipper cuts long ones.",
    Reason.INCOMPLETE_LINE: "The file ends in the middle of it. End the last line with a newline.",
    Reason.INVALID_PAIRS: "Behind its message stands something that is no key=value, or one key twice. Quote values "
    "that hold a space.",
    Reason.MISSING_TOOL: "It is a call that names no tool. Log the name as tool, beside client.",
    Reason.NOT_AN_OBJECT: "A record is a JSON object. Send the logger's line itself, not a list or a bare value.",
    Reason.SEVERAL_RECORDS: "It is an export of OpenTelemetry with several records in one line. Send it to /v1/logs.",
    Reason.BAD_TIMESTAMP: "Its time cannot be read. Log ISO 8601, such as 2026-10-05T10:15:02.114Z, or epoch "
    "milliseconds.",
    Reason.IMPLAUSIBLE_TIMESTAMP: "Its time lies before 2001 or after 2261. See in which unit the logger counts.",
    Reason.FUTURE_TIMESTAMP: "Its time lies too far ahead of the clock here. Set the clock of the server that logs, or "
    "LASTCALL_FUTURE_SKEW_S.",
    Reason.LINE_TOO_LONG: "It is longer than LASTCALL_MAX_LINE_BYTES. Log less in a line, or raise that.",
    Reason.TOO_DEEP: "It nests deeper than LASTCALL_MAX_DEPTH. Log it flatter, or raise that.",
    Reason.UNSUPPORTED_ENCODING: "Its encoding is not one that can be read. Send UTF-8.",
    Reason.INVALID_ENCODING: "It is not text in the encoding that it names. Send UTF-8.",
}
"""What would make a rejected record right, by its reason."""
_SAID: Final[dict[Word, str]] = {
    "waiting": "Waiting for the first line.",
    "stored": "The first line is stored.",
    "known": "Lines arrive. All of them were stored before, and count once.",
    "ignored": "Lines arrive, and none is one that counts. A line counts by its message, such as Retired tool called, "
    "or by an MCP method such as tools/call.",
    "rejected": "Lines arrive, and none can be used.",
}

FEEDS: Final = 5
"""That are named, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongRow:
    """Records that were rejected for one reason, and what would make them right."""

    reason: str
    records: int
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """
    What has arrived: `received` is the sum of the four fates. `says` is the `word` as a sentence: `waiting` (nothing),
    `stored` (something new), `known` (only what was stored before), `rejected` or `ignored`. `wrong` are the reasons
    of what was rejected, the most frequent first. `came` says from which feed; where several brought something on the
    last day (UTC) on which anything came, it names them. It is null while `waiting`.
    """

    server: str | None
    source: str | None
    word: Word
    says: str
    came: str | None
    received: int
    accepted: int
    duplicates: int
    ignored: int
    rejected: int
    wrong: tuple[WrongRow, ...]
    generated_at: Instant

    @property
    def counts(self) -> str:
        """The four fates in the form in which `seen` takes them."""
        return ",".join(str(getattr(self, fate)) for fate in FATES)


def arrivals(
    connection: Connection,
    moment: Moment,
    *,
    server: str | None,
    source: str | None = None,
    seen: str | None = None,
) -> Arrivals:
    """
    Say what has arrived of a server, or of one source, since it was *seen* last: the four fates as they were then.

    Raises:
        BadParameter: `seen` is not such.
    """
    before = _before(seen)
    known = read_words.servers(connection)
    ids = None if server is None else [id_ for id_, name in known.items() if name == server]
    fates: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    days: dict[str, int] = {}
    for account in read_health.accounts(connection, None, ids, source):
        fates[account.fate] += account.records
        days[account.source] = max(account.day, days.get(account.source, 0))
        if account.fate == "rejected":
            reasons[account.reason] += account.records
    told = ("accepted", "duplicate", "ignored", "rejected")
    since = {
        # what was taken back since is not owed
        name: max(fates[fate] - earlier, 0)
        for name, fate, earlier in zip(FATES, told, before, strict=True)
    }
    word = _word(since)
    return Arrivals(
        server=server,
        source=source,
        word=word,
        says=_SAID[word],
        came=None if word == "waiting" else _came(days),
        received=sum(since.values()),
        **since,
        wrong=tuple(
            WrongRow(reason=reason, records=records, remedy=REMEDIES[Reason(reason)])
            for reason, records in reasons.most_common()
            if since["rejected"]
        ),
        generated_at=Instant(moment.now_us),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLines:
    """
    How many lines were `accepted`, stored for the first time, ever, and how many of them are `new`: since there were
    so many as were seen. What is taken back is not taken off, so only differences mean something.
    """

    accepted: int
    new: int
    generated_at: Instant


def new_lines(
    connection: Connection, moment: Moment, *, server: Filter = EVERY, seen: int | None = None
) -> NewLines:
    """Say how many lines the servers that pass brought anew since that number was *seen*."""
    ids = None
    if server.is_set:
        ids = [id_ for id_, name in read_words.servers(connection).items() if server.takes(name)]
    accepted = read_words.accepted(connection, ids)
    return NewLines(
        accepted=accepted,
        new=max(accepted - (seen or 0), 0),
        generated_at=Instant(moment.now_us),
    )


def _came(days: dict[str, int]) -> str:
    """From which feed, by the last day on which each brought something."""
    feeds = sorted(feed for feed, day in days.items() if day == max(days.values()))
    if len(feeds) == 1:
        return f"It came from the feed {feeds[0]}."
    more = f" and {len(feeds) - FEEDS} more" if len(feeds) > FEEDS else ""
    return f"It came from one of the feeds {', '.join(feeds[:FEEDS])}{more}."


def _before(seen: str | None) -> tuple[int, ...]:
    parts = (seen or "0,0,0,0").split(",")
    if len(parts) != len(FATES) or not all(_is_number(part) for part in parts):
        raise BadParameter("seen", f"must be four whole numbers, {', '.join(FATES)}: 12,0,3,1")
    return tuple(map(int, parts))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _word(since: dict[str, int]) -> Word:
    if since["accepted"]:
        return "stored"
    if since["rejected"]:
        return "rejected"
    if since["duplicates"]:
        return "known"
    return "ignored" if since["ignored"] else "waiting"
