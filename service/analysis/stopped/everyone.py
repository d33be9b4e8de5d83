"""
Has everyone stopped calling this name?

Everyone is every client that called it. The probability that all stopped is the product of theirs, as if
they stopped independently; `bounds` hold however they depend on each other. A client with too few calls
has no probability, so neither has everyone, and the word is not that they stopped. Nor is it where days
were not heard: somebody may have called only then. Of clients never heard there is `unseen_chance`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from service.analysis.stopped.rule import STOP_WORDS, SURE, WORDS, Judged, Reason, Word

PRECISION_DAYS = 0.01


@dataclass(frozen=True, slots=True)
class Everyone:
    """
    What can be said of all clients of a name together.

    `weakest` is the place of the client that the word hangs on, None where nobody ever called. `interval` goes over the models, `bounds`
    over how the clients depend on each other. All numbers are None where a client has none;
    `wait_days` also where days were not heard, which no waiting mends.
    """

    word: Word
    reason: Reason | None
    probability: float | None
    interval: tuple[float, float] | None
    bounds: tuple[float, float] | None
    wait_days: float | None
    weakest: int | None


def everyone(judged: Sequence[Judged], unheard_days: int = 0) -> Everyone:
    """
    Put clients together.

    Args:
        judged: Each client; of two that are equally weak the first is named.
        unheard_days: Days on which whoever called is not known.
    """
    if not judged:
        return Everyone("too few calls to judge", "no_calls", None, None, None, None, None)
    open_ = [each for each in judged if each.reason != "said_fixed"]
    weakest = min(range(len(judged)), key=lambda place: _strength(judged[place]))
    probability = interval = bounds = wait = None
    numbers = [each.probability for each in open_ if each.probability is not None]
    if open_ and len(numbers) == len(open_):
        lows, highs = zip(*(each.interval or (0.0, 1.0) for each in open_), strict=True)
        probability = prod(numbers)
        bounds = (_all_of(numbers), min(numbers))
        interval = (_all_of(lows), min(highs))
        wait = None if unheard_days else _wait(open_)
    word, reason = _word(open_, probability, interval, unheard_days)
    return Everyone(word, reason, probability, interval, bounds, wait, weakest)


def unseen_chance(active_days: Sequence[int]) -> float | None:
    """
    The chance that the next call is from a client never seen: of the active days of all clients, those
    of a client with no other (Good 1953, Biometrika 40:237-264, eq. 9).

    >>> unseen_chance([1, 1, 8])
    0.2
    """
    total = sum(active_days)
    return sum(days == 1 for days in active_days) / total if total else None


def _strength(judged: Judged) -> tuple[int, float]:
    """What orders clients from the one most surely calling to the one most surely stopped."""
    certain = 1.0 if judged.reason == "said_fixed" else 0.0
    return WORDS.index(judged.word), certain if judged.least is None else judged.least


def _all_of(chances: Sequence[float]) -> float:
    """The least chance that all hold (Bonferroni)."""
    return max(0.0, 1 - sum(1 - chance for chance in chances))


def _word(
    judged: Sequence[Judged],
    probability: float | None,
    interval: tuple[float, float] | None,
    unheard_days: int,
) -> tuple[Word, Reason | None]:
    words = {each.word for each in judged}
    unheard = next((each.history.not_heard_now for each in judged), None)
    if "still calling" in words:
        return "still calling", unheard
    if "too few calls to judge" in words:
        return "too few calls to judge", "too_few"
    if unheard_days:
        return "cannot tell", unheard or "gap"
    if not judged:
        return "stopped", "said_fixed"
    if probability is None or interval is None:
        return "cannot tell", None
    if probability < 0.5:
        return "still calling", None
    if probability < SURE or not words <= set(STOP_WORDS):
        return "cannot tell", None
    if words == {"stopped"} and interval[0] >= SURE:
        return "stopped", None
    return "probably stopped", None


def _wait(judged: Sequence[Judged]) -> float:
    """Heard days still to wait, without a call by anybody, until the product is `SURE`."""
    low, high = 0.0, max(each.wait_days or 0.0 for each in judged)

    def sure(days: float) -> bool:
        return prod(each.after(days) for each in judged) >= SURE

    if sure(low):
        return 0.0
    high = max(high, 1.0)
    while not sure(high):
        low, high = high, 2 * high
    while high - low > PRECISION_DAYS:
        middle = (low + high) / 2
        low, high = (low, middle) if sure(middle) else (middle, high)
    return high
