"""
Has this client stopped calling this name?

P(stopped) = 1 / (1 + n p), where n are its active days and p the chance of its silence if it goes on: the
odds of BG/NBD (Fader, Hardie & Lee 2005) with a chance of 1 / (n + 1) to drop out after each active day.
p is the greater of two models, and the interval goes over four (`models`).

**Days that were not heard.** A pause between two calls is taken as long as it looks. A silence counts
heard days only, and ends where hearing did. P is what the heard days say. Whether a word may say that it
stopped is decided by the least P that any calls on the unheard days could have led to (`_worst`): so no
word gets stronger by silencing a source. `docs/adr/0024` holds the proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from service.analysis.stopped import models
from service.analysis.stopped.models import LEAST_DAYS, Gaps

Days = Sequence[int] | NDArray[np.int64]
Word = Literal[
    "still calling", "cannot tell", "probably stopped", "stopped", "too few calls to judge"
]
Reason = Literal["too_few", "no_calls", "gap", "not_heard", "sessions", "said_fixed"]
"""Why a word is not what the silence alone says. `too_few`: fewer than four active days. `no_calls`: none
at all, of a name. `gap`: it may have called on days that were not heard. `not_heard`: the days up to now
were not, so that it is the word of where hearing ended. `sessions`: it was there since, though not often
enough. `said_fixed`: somebody said so, and no call came since."""

WORDS: Final[tuple[Word, ...]] = (
    "still calling",
    "cannot tell",
    "too few calls to judge",
    "probably stopped",
    "stopped",
)
"""From the most alive to the least."""
STOP_WORDS: Final = ("probably stopped", "stopped")
SURE: Final = 0.95
DOUBTED: Final = (1 - SURE) / SURE
"""The odds n p at which P is `SURE`: 1/19."""


@dataclass(frozen=True, slots=True)
class History:
    """
    What is known of one client and name, in UTC days since any one day.

    Args:
        days: Days with a stale call that counts, ascending, each once.
        start: The day from which on calls could be heard: when the name was retired, where that is
            known, else the start of the record, and no later than the first active day.
        now: Until when is asked; a fraction of the day tells the time of day.
        unheard: Days from `start` up to `now` that were not heard and have no call, ascending.
        sessions: Days on which sessions of the client began, ascending, and how many did on each.
        last_seen: The last day with an event of the client that is no stale call; None where there
            never was one, so that nobody could see it.
        resolved: Whether somebody said it was fixed, so that only later days are there.
    """

    days: Sequence[int]
    start: int
    now: float
    unheard: Sequence[int] = ()
    sessions: tuple[Days, Days] = ((), ())
    last_seen: int | None = None
    resolved: bool = False

    @property
    def heard_until(self) -> float:
        """Where hearing ended: `now`, or the start of the unheard days that lead up to it."""
        end, day = self.now, int(np.ceil(self.now)) - 1
        for unheard in reversed(self.unheard):
            if unheard != day:
                break
            end, day = float(day), day - 1
        return end

    @property
    def not_heard_now(self) -> Literal["not_heard"] | None:
        """The reason for a word that is of where hearing ended, not of now; None where it is of now."""
        return "not_heard" if self.heard_until < self.now else None

    @property
    def silence(self) -> float:
        """Heard days since the noon of the last active day (since `start` where there is none)."""
        until = self.heard_until
        since = self.days[-1] + 0.5 if len(self.days) else float(self.start)
        missed = sum(since < day < until for day in self.unheard)
        return max(until - since - missed, 0.0)


@dataclass(frozen=True, slots=True)
class Worst:
    """
    What decides whether it stopped, whatever was called on unheard days: at most so many active days, at
    least so long a silence, and pauses of which one list is the worst.
    """

    number: int
    silence: float
    variants: tuple[Gaps, ...]

    def probability(self, days: float = 0.0) -> float:
        """The least P after so many more heard days of silence."""
        silence = self.silence + days
        chance = max(
            max(models.exponential(gaps, silence), models.empirical(gaps, silence))
            for gaps in self.variants
        )
        return _probability(self.number, chance)

    def wait(self) -> float:
        """Heard days still to wait, without a call, until the least P is `SURE`."""
        chance = DOUBTED / self.number
        needed = max(models.longest_doubted(gaps, chance) for gaps in self.variants)
        return max(needed - self.silence, 0.0)


@dataclass(frozen=True)
class Judged:
    """
    What can be said of one client and name.

    `probability` that it stopped, None below four active days. `least` is the least probability that calls
    on unheard days would leave (`probability` where all were heard), and decides on the words that it
    stopped. What a word does not need is worked out when it is asked for.
    """

    history: History
    active_days: int
    silent_days: float
    gaps: Gaps
    probability: float | None
    least: float | None
    worst: Worst | None

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """That of `probability` over four models, down to `least`; None where there is none."""
        if self.probability is None or self.least is None:
            return None
        number, silence, days = self.active_days, self.silent_days, self.history.days
        start = self.history.start
        chances = [
            models.exponential(self.gaps, silence),
            models.empirical(self.gaps, silence),
            models.power_law([day + 0.5 - start for day in days], silence),
            models.declining(days, silence),
        ]
        return (
            min(_probability(number, max(chances)), self.least),
            _probability(number, min(chances)),
        )

    @cached_property
    def wait_days(self) -> float | None:
        """So many more heard days without a call make it "probably stopped"; 0 where it is."""
        return None if self.worst is None else self.worst.wait()

    @cached_property
    def by_sessions(self) -> float | None:
        """The probability by the sessions since, None where there were none, or none before."""
        return None if self.worst is None else _by_sessions(self.history)

    @cached_property
    def seen_since(self) -> int:
        """Sessions that began on days after the last active one."""
        return _seen_since(self.history)

    @property
    def silent_altogether(self) -> bool | None:
        """No event of the client since; None where none can be seen."""
        return _silent_altogether(self.history)

    @cached_property
    def _said(self) -> tuple[Word, Reason | None]:
        return _word(self)

    @property
    def word(self) -> Word:
        """The verdict."""
        return self._said[0]

    @property
    def reason(self) -> Reason | None:
        """Why it is not what the silence alone says."""
        return self._said[1]

    def after(self, days: float) -> float:
        """The least probability after so many more heard days without a call; 0 where there is no number."""
        return 0.0 if self.worst is None else self.worst.probability(days)


_NO_GAPS = np.empty(0, dtype=np.float64)


def judge(history: History) -> Judged:
    """Judge one client and name."""
    number, silence = len(history.days), history.silence
    if number < LEAST_DAYS:
        return Judged(history, number, silence, _NO_GAPS, None, None, None)
    gaps = np.diff(np.asarray(history.days, dtype=np.float64))
    chance = max(models.exponential(gaps, silence), models.empirical(gaps, silence))
    probability = _probability(number, chance)
    worst = _worst(history, gaps, silence)
    least = worst.probability() if len(history.unheard) else probability
    return Judged(history, number, silence, gaps, probability, least, worst)


def rate_bound(quiet_days: float) -> float | None:
    """
    The upper bound of the calling days per day after so many heard days without one, one-sided at 95 %.

    The rule of three: 0 events in D days exclude a rate of 3 / D, as exp(-3) = 0.0498. None for no day.

    >>> rate_bound(30.0)
    0.1
    """
    return 3 / quiet_days if quiet_days > 0 else None


def _word(judged: Judged) -> tuple[Word, Reason | None]:
    history, probability, least = judged.history, judged.probability, judged.least
    unheard = history.not_heard_now
    gap: Reason = unheard or "gap"
    if not len(history.days) and history.resolved:
        return ("cannot tell", gap) if len(history.unheard) else ("stopped", "said_fixed")
    if probability is None or least is None:
        return "too few calls to judge", "too_few"
    if probability < 0.5:
        return "still calling", unheard
    if least < SURE:
        return "cannot tell", gap if probability >= SURE else unheard
    if judged.interval is None or judged.interval[0] < SURE:
        return "probably stopped", None
    # the two models of a falling rate are not bounded by what unheard days may hold
    if len(history.unheard):
        return "probably stopped", gap
    if judged.by_sessions is not None and judged.by_sessions < SURE:
        return "probably stopped", "sessions"
    return "stopped", None


def _probability(number: int, chance: float) -> float:
    return 1 / (1 + number * chance)


def _worst(history: History, gaps: Gaps, silence: float) -> Worst:
    """
    The worst that calls on unheard days could have come to.

    Further active days between two others split a pause, which lowers both models; only one before the
    first or after the last can raise them, most as far off as possible or not at all.
    """
    if not len(history.unheard):
        return Worst(len(history.days), silence, (gaps,))
    first, last = history.days[0], history.days[-1]
    before = [day for day in history.unheard if day < first]
    after = [day for day in history.unheard if day > last]
    variants = [gaps]
    if before:
        variants += [np.insert(each, 0, first - before[0]) for each in variants]
    if after:
        variants += [np.append(each, after[-1] - last) for each in variants]
        silence = max(history.heard_until - (after[-1] + 0.5), 0.0)
    return Worst(len(history.days) + len(history.unheard), silence, tuple(variants))


def _seen_since(history: History) -> int:
    """Sessions that began on days after the last active one."""
    days, number = (np.asarray(each, dtype=np.int64) for each in history.sessions)
    last = history.days[-1] if len(history.days) else history.start - 1
    return int(number[np.searchsorted(days, last, side="right") :].sum())


def _by_sessions(history: History) -> float | None:
    """P with sessions for days: the pauses and the silence are counted in sessions of the client."""
    days, number = (np.asarray(each, dtype=np.int64) for each in history.sessions)
    total = np.concatenate([[0], np.cumsum(number)])
    clock = total[np.searchsorted(days, np.asarray(history.days), side="right")].astype(np.float64)
    gaps, silence = np.diff(clock), float(total[-1] - clock[-1])
    if silence <= 0 or not gaps.any():
        return None
    chance = max(models.exponential(gaps, silence), models.empirical(gaps, silence))
    return _probability(len(history.days), chance)


def _silent_altogether(history: History) -> bool | None:
    if history.last_seen is None or not len(history.days):
        return None
    return history.last_seen <= history.days[-1]
