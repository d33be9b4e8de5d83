"""
What is said of one question. Nothing in it is NaN or infinite: where there is no number stands None.
"""

from dataclasses import dataclass
from typing import Literal

from service.analysis.effect.panel import Unit

Verdict = Literal[
    "reduced",
    "increased",
    "no detectable change",
    "not enough data",
    "cannot separate from the trend",
    "cannot separate from the client's own activity",
]
Strength = Literal["robust", "if trends were alike"]
"""Of "reduced" and "increased": whether it also holds when clients that were notified earlier may have
been on a trend of their own."""
Exposure = Literal["sessions", "calendar"]
Outcome = Literal["passed", "failed", "not checked"]
GuardName = Literal[
    "notified clients",
    "stale calls of notified clients",
    "support",
    "clients to compare with",
    "usable notified clients",
    "calls before",
    "expected calls",
    "interval",
    "own activity",
    "placebo",
    "trend",
    "precision",
]
Interval = tuple[float, float | None]
"""95 %, low and high. A high end of None has no bound."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A unit that was not used, why ("no baseline", "no supported week", or the asker's own reason),
    and its stale calls."""

    unit: Unit
    why: str
    calls: int


@dataclass(frozen=True, slots=True)
class Guard:
    """
    One check of the list. `found` and `needed` are in the check's own unit (calls, clients, a share);
    `found` is None where there was nothing to measure. Least: all up to "interval" (clients that could
    be left out). Most: "own activity" (the share of notifications after the client's own event, which
    fails in calendar time only), "trend" (t, fails only where the interval beside the trend holds 1) and
    "precision" (the greatest factor that is not ruled out). "placebo": its rate ratio, and the 1 that
    its interval must hold. "clients to compare with" fails where notified clients are few, too.
    """

    name: GuardName
    outcome: Outcome
    found: float | None
    needed: float


@dataclass(frozen=True, slots=True)
class Placebo:
    """The same estimate with notifications moved two weeks back, from days before the real ones."""

    rate_ratio: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Trend:
    """
    The same estimate with a trend by how early a client was notified. `delta`: that trend, in log
    units over the window per rank from first to last notified. `t`: delta over its standard error.
    `grouped`: more clients than samples, so that the jackknife left out groups of them.
    All None where there is no estimate to adjust, or no trend to be told from it.
    """

    delta: float | None
    t: float | None
    rate_ratio: float | None
    interval: Interval | None
    grouped: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """
    About what would make an answer; None where that does not help or cannot be said.

    clients: So many more notified clients of the present kind.
    others: So many more clients that are not yet notified, in the weeks after notifications.
    calls: So many more stale calls.
    weeks: So many more weeks at the present pace.
    sessions: Logging of every hello, so that calls can be held against sessions.
    randomise: Notifying in two waves drawn by lot, so that nothing but chance says who is earlier.
    """

    clients: int | None = None
    others: int | None = None
    calls: int | None = None
    weeks: int | None = None
    sessions: bool = False
    randomise: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """
    The verdict and what it rests on.

    rate_ratio: Stale calls per opportunity after notification over what was expected without; None
        where the guards up to "interval" do not all pass, since it would rest on too little.
    observed, expected: Stale calls in supported cells of notified clients; None without such cells.
    avoided: expected less observed, where there is a rate ratio.
    p_value: Of no change, two-sided, by the same t as the interval.
    left_out_share: The share of all stale calls that units left out hold; None without calls.
    much_left_out: That is more than a fifth, and has to be said with the verdict.
    support: The share of notified opportunity in weeks that had un-notified clients to compare with.
    naive_ratio: Calls per covered day after over before, of notified clients; adjusted for nothing.
    reason: The guard that decided; None where the interval did.
    missing: What would make an answer, where the verdict is none.
    uncovered: The share of cells that were missing.
    """

    verdict: Verdict
    strength: Strength | None
    reason: GuardName | None
    rate_ratio: float | None
    interval: Interval | None
    p_value: float | None
    observed: int | None
    expected: float | None
    avoided: float | None
    clients_notified: int
    clients_used: int
    left_out: tuple[LeftOut, ...]
    left_out_share: float | None
    much_left_out: bool
    support: float | None
    placebo: Placebo
    trend: Trend
    exposure: Exposure
    missing: Missing | None
    naive_ratio: float | None
    uncovered: float | None
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class ClientEffect:
    """
    One notified client, by an exact conditional interval.

    basis: "others": against un-notified clients of the same weeks. "before": there were none, so it
        is before and after only, described and never judged.
    before: Stale calls before the notification. observed, expected: after it.
    p_value: Of no change, two-sided. significant: kept when one false discovery in ten is allowed
        among all these clients, also those that cannot be judged; None for one of them.
    verdict: None where the client is not judged: fewer than 20 calls, too few cells to know how
        uneven calls are, or nothing to compare with.
    dispersion: How much more uneven than Poisson weekly calls are; counts are divided by it.
    """

    unit: Unit
    basis: Literal["others", "before"]
    before: int
    observed: int
    expected: float | None
    rate_ratio: float | None
    interval: Interval | None
    p_value: float | None
    significant: bool | None
    verdict: Verdict | None
    dispersion: float


@dataclass(frozen=True, slots=True)
class NameEffect:
    """
    The question for one retired name among several. `verdict` is the effect's own, unless it claims a
    change that is not kept when one false discovery in ten is allowed among all names that have one.
    """

    name: str
    effect: Effect
    significant: bool | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Week:
    """
    One week from Monday (`start`, a day number), for "observed against expected".

    notified, expected, band: Stale calls of notified clients in supported cells, what was expected of
        them, and the pointwise 95 % band: outside of it, the week alone would exclude "no change".
        None where the week has no supported cell; the band is None, too, with fewer than 4 clients.
    others, fitted: Stale calls of clients not yet notified, and what the model makes of them. The week's
        factor is theirs, so that they agree but for clients that are not in the model.
    notified_clients, other_clients: How many clients had opportunity in the cells counted.
    covered: The share of the week's cells that was covered.
    """

    start: int
    notified: int | None
    expected: float | None
    band: Interval | None
    others: int | None
    fitted: float | None
    notified_clients: int
    other_clients: int
    covered: float


@dataclass(frozen=True, slots=True)
class WeekSince:
    """
    Weeks since notification: 0 is the first seven days after its day, -1 the last seven before it.
    Weeks before are fitted, not predicted: their ratios lie about 1, and a slope in them is the sign.
    interval: None with fewer than 4 clients in the week.
    """

    week: int
    clients: int
    observed: int
    expected: float
    rate_ratio: float
    interval: Interval | None
