"""What a log says of one client's calls to one retired name, and the words for what would end them."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from service.analysis.fixed_times import Day
from service.analysis.known import Client, Expected

Word = Literal[
    "unattributed",
    "exclude",
    "gateway",
    "hard_coded",
    "rescan",
    "client_fault",
    "refresh",
    "cannot_tell",
]
WORDS: Final[tuple[Word, ...]] = get_args(Word)
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    What the log says of one client's calls to one retired name of one server in a range.

    Each call is one of five: after the last listing of its session, which was fetched once the name was
    known as retired (`again`) or before that (`old`); in a session without a listing up to it, whose
    greeting was logged (`whole`) or not (`cut`); without a session (`lone`).
    """

    name: str
    replaced_by: tuple[str, ...] = ()
    """What to call instead, none of which is retired itself."""
    no_replacement: bool = False
    """Whether it is said that nothing replaces it."""
    still_listed: bool = False
    """Whether the server's latest snapshot since it is retired has it all the same."""
    client: str | None
    version: str | None = None
    via: tuple[str, ...] = ()
    """The bridges that it comes through, which pass its name on."""
    known: Client | None = None
    again: int = 0
    old: int = 0
    whole: int = 0
    cut: int = 0
    lone: int = 0
    sessions: int = 0
    """Sessions with such a call."""
    again_sessions: int = 0
    """Of them, those with a call of `again`."""
    callers: int = 0
    days: tuple[Day, ...] = ()
    """Each local day with a call, in `tz`."""
    tz: str = "UTC"
    listings: int = 0
    """The client's listings at this server in the range."""
    listings_since: int = 0
    """Of them, those since the name is known as retired."""
    others_listings: int = 0
    """The listings of everybody else there."""
    notifications: int = 0
    episodes: int = 0
    answered: int = 0
    """Notifications sent to the client, in how many episodes, and how many of these a listing followed."""
    hours: int = 0
    gap_hours: int = 0
    """Hours of the range, and those of them in which the server was not heard."""

    @property
    def calls(self) -> int:
        """All calls."""
        return self.again + self.old + self.unlisted

    @property
    def unlisted(self) -> int:
        """Calls that no listing of their session came before."""
        return self.whole + self.cut + self.lone

    @property
    def expected(self) -> Expected:
        """What the product is known to do, at the client's version."""
        return Expected("unknown") if self.known is None else self.known.at(self.version)

    @property
    def is_product(self) -> bool:
        """Whether a known product stands behind the name, and not a program of any kind."""
        return self.known is not None and self.known.kind == "product"
