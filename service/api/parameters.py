"""Query parameters, one class a form of question. A parameter that none of them knows is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from service.answers import Query
from service.answers.query import LIMIT, LIMIT_MAX

Server = Annotated[str | None, Field(description="only this MCP server", examples=["maps"])]
Name = Annotated[
    str | None, Field(description="only this retired name", examples=["tomtom-ev-routing"])
]
Client = Annotated[
    str | None,
    Field(
        description="only this client, in any spelling; empty: only what names no client",
        examples=["claude-code"],
    ),
]
Source = Annotated[str | None, Field(description="only this source", examples=["files"])]
Limit = Annotated[
    int | None, Field(ge=1, le=LIMIT_MAX, description=f"rows of a page, {LIMIT} if not given")
]
Format = Annotated[
    Literal["json", "csv"] | None,
    Field(description="`csv` for a table; if not given, what the Accept header prefers"),
]


class Ranged(BaseModel):
    """Range and form, which every question has."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: Server = None
    since: Annotated[
        str | None,
        Field(
            description="start: an instant, or a local date in `tz`; if not given, the first event",
            examples=["2026-10-01"],
        ),
    ] = None
    until: Annotated[
        str | None,
        Field(
            description="end, not included: an instant, or a local date in `tz`; if not given, `as_of`",
            examples=["2026-10-05T12:00:00Z"],
        ),
    ] = None
    tz: Annotated[
        str, Field(description="IANA time zone of local dates and days", examples=["Asia/Kolkata"])
    ] = "UTC"
    as_of: Annotated[
        str | None,
        Field(
            description="answer as if only events before this instant had happened",
            examples=["2026-10-06T00:00:00Z"],
        ),
    ] = None
    format: Format = None

    def query(self) -> Query:
        """The question in the words of `answers`."""
        asked: dict[str, Any] = self.model_dump(exclude={"format"})
        return Query(**asked)


class Paged(Ranged):
    """A range of rows that come in pages."""

    limit: Limit = None
    cursor: Annotated[
        str | None,
        Field(description="`next_cursor` of the page before, with the same question; empty: none"),
    ] = None


Sort = Annotated[
    str | None,
    Field(
        description="a column, with - before it to descend; further pages by one that changes are "
        "409 once data has come"
    ),
]


Excluded = Annotated[
    Literal["hide", "count", "only"],
    Field(
        description="calls that a rule of `exclusions` leaves out: not counted, counted as all others, "
        "or nothing but these"
    ),
]


class Rows(Paged):
    """Rows about names and clients, which can be sorted."""

    name: Name = None
    client: Client = None
    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None
    excluded: Excluded = "hide"


class Uptake(Rows):
    """Rows about names and clients, or about each text that callers of a name were told."""

    by: Annotated[
        str,
        Field(description="none, or message: a row for each text that a call was answered with"),
    ] = "none"


class Listed(Paged):
    """Rows about names that still work, which can be sorted."""

    name: Annotated[
        str | None, Field(description="only this name", examples=["tomtom-route-planner"])
    ] = None
    client: Client = None
    sort: Annotated[Sort, Field(examples=["-calls"])] = None


class Todo(Paged):
    """What is to be done about names and clients."""

    name: Name = None
    client: Client = None
    show: Annotated[
        Literal["due", "all"],
        Field(
            description="what is open or reopened, or all of it: contacted, known, resolved, too"
        ),
    ] = "due"
    excluded: Excluded = "hide"


MessageFormat = Annotated[
    Literal["json", "csv", "md"] | None,
    Field(
        description="`csv` for a table, `md` for the message alone; if not given, what the Accept "
        "header prefers"
    ),
]


class Contact(Paged):
    """What to write to one client."""

    name: Name = None
    client: Annotated[
        str, Field(description="the client, in any spelling", examples=["claude-code"])
    ]
    excluded: Excluded = "hide"
    format: MessageFormat = None  # type: ignore[assignment]  # one more form


class Named(Paged):
    """Rows about names, in their order."""

    name: Name = None


class Compared(Paged):
    """Two snapshots of a server."""

    before: Annotated[
        str | None,
        Field(
            description="the earlier snapshot: a version, id or instant; if not given, the one before `after`",
            examples=["1.6.10"],
        ),
    ] = None
    after: Annotated[
        str | None,
        Field(
            description="the later snapshot: a version, id or instant; if not given, the latest",
            examples=["1.7.0"],
        ),
    ] = None


class Reactions(Paged):
    """Rows about clients, of any name."""

    client: Client = None
    sort: Annotated[Sort, Field(examples=["-episodes"])] = None


class Marks(Paged):
    """Rows that somebody told of clients and names."""

    name: Name = None
    client: Client = None


class Vintage(Paged):
    """Rows about clients and releases: a copy of the list is known by all names that it holds."""

    client: Client = None
    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None


class Servers(Paged):
    """Rows about servers."""

    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None


class Events(Paged):
    """Single events."""

    name: Name = None
    client: Client = None
    kind: Annotated[
        str | None, Field(description="only events of this kind", examples=["stale_call"])
    ] = None
    sort: Annotated[
        str | None,
        Field(description="`-time` (newest first) if not given, or `time`", examples=["-time"]),
    ] = None
    provenance: Annotated[
        bool, Field(description="also the batch and source that each event came with")
    ] = False


class Series(Paged):
    """Values over time."""

    name: Name = None
    client: Client = None
    limit: Annotated[
        int | None, Field(ge=1, le=LIMIT_MAX, description="rows of a page, all if not given")
    ] = None
    metric: Annotated[
        str,
        Field(
            description="stale_calls, clients, callers or notifications (those that were sent)",
            examples=["stale_calls"],
        ),
    ] = "stale_calls"
    bucket: Annotated[str, Field(description="hour, day, week (from Monday) or month")] = "day"
    by: Annotated[
        str, Field(description="none, name, client or version; of notifications none or client")
    ] = "none"
    top: Annotated[
        int | None,
        Field(ge=1, le=100, description="the N greatest series, all others in one row `other`"),
    ] = None
    excluded: Excluded = "hide"


class Sources(Paged):
    """Rows about sources."""

    source: Source = None


HINTS = {
    "limit": f"a whole number from 1 to {LIMIT_MAX}",
    "top": "a whole number from 1 to 100",
    "format": "json or csv, of /api/v1/contact md, too",
    "show": "due or all",
    "excluded": "hide, count or only",
    "client": "the name of a client, such as claude-code",
    "provenance": "true or false",
    "dry_run": "true or false",
    "batch": "the number of a batch, as /api/v1/batches lists them",
}
"""What a parameter must be, where its type refuses a value."""
