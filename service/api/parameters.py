"""Query parameters, one class a form of question. A parameter that none of them knows is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from service.answers import Query
from service.answers.query import FILTERS, LIMIT, LIMIT_MAX, VALUES_MAX, Filter


def _values(description: str, *example: str) -> Any:
    return Field(description=description, examples=[list(example)], max_length=VALUES_MAX)


Server = Annotated[list[str], _values("only this MCP server; repeated: any of these", "maps")]
NotServer = Annotated[list[str], _values("not this MCP server; repeated: none of these", "test")]
Name = Annotated[
    list[str], _values("only this retired name; repeated: any of these", "tomtom-ev-routing")
]
NotName = Annotated[
    list[str], _values("not this retired name; repeated: none of these", "tomtom-ev-search")
]
Client = Annotated[
    list[str],
    _values(
        "only this client, in any spelling; empty: what names no client; repeated: any of these",
        "claude-code",
    ),
]
NotClient = Annotated[
    list[str],
    _values(
        "not this client, in any spelling; empty: only what names a client; repeated: none of these",
        "probe",
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

    server: Server = []
    not_server: NotServer = []
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
            description="answer as if only events before this instant had happened; what people told is as it "
            "is now",
            examples=["2026-10-06T00:00:00Z"],
        ),
    ] = None
    format: Format = None

    def query(self) -> Query:
        """The question in the words of `answers`."""
        asked: dict[str, Any] = self.model_dump(exclude={"format"})
        for key in FILTERS:
            asked[key] = Filter(tuple(asked.get(key, ())), tuple(asked.pop(f"not_{key}", ())))
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

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None
    excluded: Excluded = "hide"


class Shifted(Rows):
    """Rows about names, in a range and in the one before it."""

    shift: Annotated[
        Literal["length", "weeks"],
        Field(
            description="the range before ends where this one begins (`length`), or lies before it by its length "
            "rounded up to whole weeks, so that weekdays match"
        ),
    ] = "length"


class Overview(Rows):
    """Rows about names, with the verdict on each where detail is asked for."""

    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None
    detail: Annotated[
        bool,
        Field(description="verdicts, what would make top clients stop, and notifications, too"),
    ] = False


class Effect(Ranged):
    """What notifications did to the calls of names, over all clients or for one."""

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
    excluded: Excluded = "hide"


class EffectSeries(Paged):
    """What notifications did over time, of all clients."""

    name: Name = []
    not_name: NotName = []
    excluded: Excluded = "hide"


class EffectNames(EffectSeries):
    """What notifications did to each name, which can be sorted."""

    sort: Annotated[Sort, Field(examples=["rate_ratio"])] = None


class Uptake(Rows):
    """Rows about names and clients, or about each text that callers of a name were told."""

    by: Annotated[
        str,
        Field(description="none, or message: a row for each text that a call was answered with"),
    ] = "none"


class Stopped(Rows):
    """Rows about names, or about names and clients, with second opinions."""

    sort: Annotated[Sort, Field(examples=["-probability"])] = None
    by: Annotated[str, Field(description="none, or client: a row for each client of a name")] = (
        "none"
    )
    methods: Annotated[
        str,
        Field(description="rule, or (with by=client) all: published tests as second opinions"),
    ] = "rule"


class Listed(Paged):
    """Rows about names that still work, which can be sorted."""

    name: Annotated[
        list[str], _values("only this name; repeated: any of these", "tomtom-route-planner")
    ] = []
    not_name: Annotated[
        list[str], _values("not this name; repeated: none of these", "tomtom-route-planner")
    ] = []
    client: Client = []
    not_client: NotClient = []
    sort: Annotated[Sort, Field(examples=["-calls"])] = None
    excluded: Excluded = "hide"


class Todo(Paged):
    """What is to be done about names and clients."""

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
    show: Annotated[
        Literal["due", "all"],
        Field(
            description="what is due (open, unheeded or reopened), or all of it: contacted, known, resolved, too"
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

    name: Name = []
    not_name: NotName = []
    client: Annotated[
        list[str],
        Field(
            description="the client, in any spelling; exactly one",
            examples=[["claude-code"]],
            min_length=1,
            max_length=1,
        ),
    ]
    excluded: Excluded = "hide"
    format: MessageFormat = None  # type: ignore[assignment]  # one more form


class Named(Paged):
    """Rows about names, in their order."""

    name: Name = []
    not_name: NotName = []


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


ReportFormat = Annotated[
    Literal["json", "csv", "md"] | None,
    Field(
        description="`csv` for a table, `md` for a report about all rows; if not given, what the Accept "
        "header prefers"
    ),
]


class Reactions(Paged):
    """Rows about clients, of any name."""

    client: Client = []
    not_client: NotClient = []
    sort: Annotated[Sort, Field(examples=["-episodes"])] = None
    by: Annotated[
        str,
        Field(
            description="none, version (a row for each version of a client) or era (of the protocol)"
        ),
    ] = "none"
    excluded: Excluded = "hide"
    format: ReportFormat = None  # type: ignore[assignment]  # one more form


class Latency(Paged):
    """Steps of the time to listing, of any name."""

    client: Client = []
    not_client: NotClient = []
    excluded: Excluded = "hide"


class Marks(Paged):
    """Rows that somebody told of clients and names."""

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []


class Plan(BaseModel):
    """One plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: Annotated[
        str | None,
        Field(
            description="answer as if only events before this instant had happened",
            examples=["2026-10-06T00:00:00Z"],
        ),
    ] = None


class Said(Paged):
    """What was said each Monday."""

    question: Annotated[
        Literal["effect", "stopped"] | None,
        Field(description="only what was said to this question"),
    ] = None
    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
    by: Annotated[
        Literal["none", "client"],
        Field(
            description="none: of all clients together; client: of each; with `client`, of that one"
        ),
    ] = "none"
    changed: Annotated[
        bool,
        Field(description="only Mondays on which another word took the place of the standing one"),
    ] = False


class Vintage(Paged):
    """Rows about clients and releases: a copy of the list is known by all names that it holds."""

    client: Client = []
    not_client: NotClient = []
    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None
    excluded: Excluded = "hide"


class Servers(Paged):
    """Rows about servers."""

    sort: Annotated[Sort, Field(examples=["-stale_calls"])] = None


class Events(Paged):
    """Single events."""

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
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
    excluded: Annotated[
        Literal["hide", "count", "only"],
        Field(
            description="calls that a rule of `exclusions` leaves out: not listed, listed as all "
            "others, or nothing but these"
        ),
    ] = "hide"


class Series(Paged):
    """Values over time."""

    name: Name = []
    not_name: NotName = []
    client: Client = []
    not_client: NotClient = []
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


_MANY = f"given at most {VALUES_MAX} times, and once where the question is about one"
HINTS = {
    "limit": f"a whole number from 1 to {LIMIT_MAX}",
    "top": "a whole number from 1 to 100",
    "format": "json or csv, of /api/v1/contact and /api/v1/reactions md, too",
    "show": "due or all",
    "excluded": "hide, count or only",
    "server": _MANY,
    "not_server": _MANY,
    "name": _MANY,
    "not_name": _MANY,
    "client": f"the name of a client, such as claude-code; {_MANY}",
    "not_client": _MANY,
    "provenance": "true or false",
    "changed": "true or false",
    "detail": "true or false",
    "question": "effect or stopped",
    "dry_run": "true or false",
    "batch": "the number of a batch, as /api/v1/batches lists them",
}
"""What a parameter must be, where its type refuses a value."""
