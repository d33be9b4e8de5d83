"""A profile, and what one is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from service.errors import LastCallError
from service.events import Kind, Outcome
from service.ingest.textlines import Format

Path = tuple[str, ...]
"""Keys from the record's top down to a value."""

KEY_FIELDS: Final = (
    "address", "client", "hostname", "listed_count", "pid", "principal", "request_id", "session",
    "tool", "trigger", "version",
)  # fmt: skip
"""What may tell one event from another, sorted; time and kind always do."""

FIELDS: Final = frozenset(KEY_FIELDS) | {
    "time", "sent", "message", "method", "user_agent", "protocol_version", "last_release",
    "replaced_by", "tombstone", "outcome", "ttl_ms", "server", "error", "stdio",
}  # fmt: skip
"""Every field that a path can be given for."""


class BadProfile(LastCallError):
    """A profile's TOML file cannot be used; the message names the file and the key."""

    title = "Profile cannot be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One logger's records. Alternatives stand in the order in which they are tried."""

    name: str
    requires: tuple[Path, ...]
    """Places that hold something other than null in every record of this logger."""
    paths: Mapping[str, tuple[Path, ...]]
    """Field → where it is; the first that holds something counts."""
    key_fields: tuple[str, ...]
    """The fields that tell events apart, sorted; frozen at release."""
    messages: Mapping[str, Kind]
    methods: Mapping[str, Kind]
    unknown_tool: tuple[str, ...]
    """Texts that say that a tool is not known, with `{tool}` where its name stands."""
    both: Mapping[str, Kind] = field(default_factory=dict)
    """What a message and a method mean together, with a space between them; asked first."""
    ignored: frozenset[str] = frozenset()
    """Messages and methods of this logger that are no event unless `both` says so: no other profile is asked."""
    kind: Kind | None = None
    """What a record is of which neither message nor method says it."""
    needle: str | None = None
    """A key of `requires` that is looked for in a line in place of messages and methods."""
    json: tuple[Path, ...] = ()
    """Places that hold an object as a JSON text; paths lead on into it."""
    outcome: Outcome | None = None
    """What became of a stale call where the record does not say it."""
    greeting_tools: frozenset[str] = frozenset()
    """Tools a call of which is a hello."""
    stdio: bool | None = None
    """Whether every record comes from a stdio server; None: the field `stdio` says so."""
    formats: frozenset[Format] = frozenset({"json"})
    """The forms of records that it reads."""
    head: frozenset[str] = frozenset()
    """Keys of text that may stand in front of the message or method: what the logger writes by itself.
    Behind any other key, which may hold a user's words, neither counts."""
    headers: bool = False
    """Whether its texts are values of HTTP headers. A method that is no kind counts as nothing then, as if it
    stood in `ignored`, and so does a call without a tool: a stranger chose it."""
    built_in: bool = False
    """Whether it came with Last Call."""
