"""The shapes that an overview answers in. All frozen."""

from dataclasses import dataclass
from typing import Literal

from service.analysis.change import Why, Word
from service.analysis.stopped import Reason
from service.analysis.stopped import Word as StopWord
from service.answers.names import NameRow
from service.answers.query import ABSENT, Absent, Instant

State = Literal["called", "quiet", "not_heard"]
Bucket = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """
    The last `days` times 24 hours, half-open: from `since` to `until`, which is `as_of` or now,
    whichever comes first. `clients` leaves unattributed calls out. `covered_hours` of its `hours` were
    watched; hours that it only shares count, so that there may be one more than 24 a day.
    """

    days: int
    since: Instant
    until: Instant
    stale_calls: int
    clients: int
    callers: int
    covered_hours: int
    hours: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalWindow(Window):
    """A window over all names together; `names` is how many of them were called in it."""

    names: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    The last 28 times 24 hours, from `since` to `until`, against as many from `before_since` to `since`:
    four whole weeks each, so that weekdays match. This describes, before and after: it is not adjusted
    for anything, and no cause.

    `stale_calls`, `clients` and `covered_hours` are of all of each period. Compared are only the hours
    that were watched in both, since what was not watched is not zero: each period is cut into 672 hours
    from its start, and one that was not watched in one period (all of it, where that start is not on the
    hour) is dropped from the other as well, so that weekdays and hours of the day still match.
    `matched_hours` are left (0 to 672), with `matched_calls` of the later period and
    `matched_calls_before` of the earlier one.

    `word` compares the matched calls: `fewer`, `more`, `equal`, or `none` where there were none in
    either. It is `cannot_compare` where the server was first heard, or had its first event, after
    `before_since` (`why` is `short_history`), or where fewer than 336 hours match (`gap`); elsewhere
    `why` is None. `pct` is the change of the matched calls in per cent to one decimal; None where they
    cannot be compared or either are fewer than 30, since percentages of small numbers mislead.
    """

    days: int
    since: Instant
    until: Instant
    before_since: Instant
    stale_calls: int
    stale_calls_before: int
    clients: int
    clients_before: int
    covered_hours: int
    hours: int
    covered_hours_before: int
    hours_before: int
    matched_hours: int
    matched_calls: int
    matched_calls_before: int
    word: Word
    why: Why | None
    pct: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalChange(Change):
    """
    The change over all names together; `names` and `names_before` are how many of them were called.
    History is too short where it is for one of their servers that was ever heard. An hour matches where it was watched, in
    both periods, on every server of the question that had been heard before, so that matched calls need
    not be the sum of those of the rows.
    """

    names: int
    names_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Whether everyone has stopped: `word`, `reason`, `probability`, `interval` and `wait_days` of `stopped`, and
    `because`, a sentence with the numbers that it rests on. It is of the clients asked for, in all time up to
    the end of the range.
    """

    word: StopWord
    reason: Reason | None
    because: str
    probability: float | None
    interval: tuple[float, float] | None
    wait_days: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopCure:
    """
    What would make a client stop: `word` and `do` are `cure` and `do` of `cures`; nothing is to be asked of one
    whose own `verdict` says that it stopped.
    """

    verdict: StopWord
    word: str
    do: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopClient:
    """
    The client with the most calls; `client` is None for those that name none. `cure` is there where detail is
    asked for.
    """

    client: str | None
    stale_calls: int
    cure: TopCure | Absent | None = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkPoint:
    """
    One bucket of a small picture, as in `series`: `start` is an instant, `label` the local date. A
    `value` of 0 where the server was not watched throughout (`covered`) is no zero. `notifications` are those
    that the server sent in it, where detail is asked for.
    """

    start: Instant
    label: str
    value: int
    covered: bool
    notifications: int | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow(NameRow):
    """
    One retired name of one server, with what its page begins with. With a client filter, all of it is
    about the calls of that client.

    `server` to `unattributed_calls` are of the range and those of `names`. `top_client` and `spark` are
    of the range too: the client with the most calls (where equal, one with a name, then by text; None where there are none), and the
    calls in at most 100 local days, else weeks, else months, of which a longer range shows the last 100.

    All else is whatever the range. `retired_at` is since when the name is retired: as the catalogue
    says, else by the first line that says so, else when it was entered. `last_call_ever` is the time of
    the last counted call before `as_of`, None for a name that was never called. `windows` are the last 7, 30
    and 90 days, `change` the last four weeks against the four before.

    `state` describes and does not judge: `called` in the last 7 times 24 hours before `as_of` or now,
    whichever comes first (or since then, by a clock that is ahead); else `quiet`, where the server was
    watched in all of these hours; else `not_heard`, where it was not, so that silence proves nothing.
    `quiet_hours` are the whole hours of the clock from `last_call_ever` (of a name that was never called,
    from the first hour in which its server was heard) to then, of which the server was watched in
    `quiet_covered_hours`.
    """

    retired_at: Instant
    last_call_ever: Instant | None
    state: State
    quiet_hours: int
    quiet_covered_hours: int
    windows: tuple[Window, ...]
    change: Change
    top_client: TopClient | None
    spark: tuple[SparkPoint, ...]
    verdict: Verdict | Absent = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewTotals:
    """
    All rows of the question together, those of other pages too. `names` is how many there are, `state`
    how many in each state; with detail, `verdict` how many have each verdict. `clients` and `callers` are distinct over all names. An hour counts as
    watched where every server of the question was that had been heard before.
    """

    names: int
    state: dict[State, int]
    stale_calls: int
    clients: int
    callers: int
    unattributed_calls: int
    windows: tuple[TotalWindow, ...]
    change: TotalChange
    verdict: dict[StopWord, int] | Absent = ABSENT
