"""
What people tell beside the logs: which spellings are one client, which calls are nobody's, and what was done
about a client. All frozen. Nothing here changes what is stored of a line: it is applied when reading, and can be
taken back.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """The client with the key `client` is the one called `target`."""

    client: str
    target: str
    note: str
    said_us: int
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """
    Calls that are not counted: those that have everything which is named here. None is for any.

    `client` is a pattern of client keys, with `*` for any text; `network` a range of addresses in CIDR
    form.
    """

    id: int
    server: str | None
    client: str | None
    version: str | None
    network: str | None
    note: str
    said_us: int
    actor: str


class MarkKind(StrEnum):
    """What can be said of a client and a name."""

    CONTACTED = "contacted"
    """Somebody wrote to them."""
    KNOWN = "known"
    """Somebody knows why, and lets it be."""
    RESOLVED = "resolved"
    """It is fixed since then: only later calls count, and reopen it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What somebody says of a client (its key; '' is whatever names none), of one name or (None) of all."""

    id: int
    kind: MarkKind
    server: str
    client: str
    name: str | None
    at_us: int
    note: str
    said_us: int
    actor: str
    withdrawn_us: int | None = None
    unknown: tuple[str, ...] = ()
    """Of a mark that was just told: `server`, `client` and `name` where nothing is known of it yet, as of
    one that is mistyped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What somebody writes beside an instant, of one server or (None) of all."""

    id: int
    server: str | None
    at_us: int
    text: str
    said_us: int
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    A roll-out in two waves: clients whose keyed hash is even are told from `wave_1_us` on, the others
    from `wave_2_us` on. `waves` holds the clients (their keys) that were known when it was made.
    """

    id: int
    server: str
    key: bytes
    wave_1_us: int
    wave_2_us: int
    note: str
    made_us: int
    actor: str
    waves: dict[str, int]
    withdrawn_us: int | None = None
