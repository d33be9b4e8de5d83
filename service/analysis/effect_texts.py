"""The sentences of an effect: what is claimed, how sure it is, what to do next, and what was checked."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from service.analysis.cure_texts import count
from service.analysis.effect.results import (
    Effect,
    Guard,
    GuardName,
    Interval,
    Missing,
    Outcome,
)

TWO_WAVES = (
    "Tell half of the clients first and the others two weeks later: the command `lastcall plan` lets chance "
    "decide who comes first, and reads the result."
)
NEXT_TIME = (
    "These clients have been told; it cannot be repeated for them. At the next removal let `lastcall plan` draw "
    "who is told first."
)
FEW = 8
"""With fewer clients a roll-out in two waves gives no answer."""
_MUCH = 2.0
"""From so many times as many on, per cent are harder to read than times."""


@dataclass(frozen=True, slots=True)
class Setting:
    """
    What is known beside an effect. `goes_back` is the first day of the log, where the range begins later;
    `all_told` that no client is left to be told, `all_list` that all that were told listed again at once.
    """

    goes_back: str | None = None
    all_told: bool = False
    all_list: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """
    A verdict in plain words. `sentence` holds its numbers, `sure` what speaks for it and what it rests
    on, `next` what to do now.
    """

    sentence: str
    sure: str
    next: str


@dataclass(frozen=True, slots=True)
class Check:
    """One guard in plain words: what was asked of the data, what was found, what would have been needed."""

    name: GuardName
    outcome: Outcome
    question: str
    found: str
    needed: str


def change(ratio: float) -> str:
    """
    A ratio as a change.

    >>> change(0.39), change(1.25), change(1.0), change(3.4), change(0.0)
    ('61 % fewer', '25 % more', 'as many', '3.4 times as many', '100 % fewer')
    """
    per_cent = round(100 * abs(1 - ratio))
    if per_cent == 0:
        return "as many"
    if ratio >= _MUCH:
        return f"{ratio:.1f} times as many"
    return f"{per_cent} % {'fewer' if ratio < 1 else 'more'}"


def between(interval: Interval) -> str:
    """
    An interval of a ratio as one of a change.

    >>> between((0.25, 0.59)), between((0.75, 1.39)), between((1.1, 1.4)), between((0.0, None))
    ('41–75 % fewer', '25 % fewer to 39 % more', '10–40 % more', '100 % fewer to any number')
    """
    low, high = interval
    if high is None:
        return f"{change(low)} to any number"
    ends = [round(100 * abs(1 - ratio)) for ratio in (low, high)]
    if high < 1 and ends[1]:
        return f"{ends[1]}–{ends[0]} % fewer"
    if low > 1 and high < _MUCH and ends[0]:
        return f"{ends[0]}–{ends[1]} % more"
    return f"{change(low)} to {change(high)}"


def _beside(ratio: float, interval: Interval) -> str:
    """
    An interval beside its ratio, whose word is not said again.

    >>> _beside(0.39, (0.25, 0.59)), _beside(1.02, (0.75, 1.39))
    ('41–75 %', '25 % fewer to 39 % more')
    """
    text, word = between(interval), change(ratio).rpartition(" % ")[2]
    return text.removesuffix(f" {word}") if " to " not in text else text


def words(effect: Effect, setting: Setting = Setting()) -> Words:
    """The verdict in plain words."""
    return Words(_sentence(effect), _sure(effect), _next(effect, setting))


def is_cut(effect: Effect) -> bool:
    """Whether there is no answer, and clients were left out that called nothing before they were notified."""
    return effect.rate_ratio is None and any(each.why == "no baseline" for each in effect.left_out)


def both(interval: Interval | None, with_trend: Interval | None) -> str | None:
    """
    What each of the two intervals takes for granted, the second that clients had trends of their own; None
    where there are not two.

    >>> both((0.25, 0.59), (0.4, 1.1))
    '41–75 % fewer, if clients that were notified early and late would have gone on alike; 60 % fewer to 10 % more, if those that were notified early were leaving on a trend of their own.'
    """
    if interval is None or with_trend is None:
        return None
    return (
        f"{between(interval)}, if clients that were notified early and late would have gone on "
        f"alike; {between(with_trend)}, if those that were notified early were leaving on a trend of "
        "their own."
    )


def _sentence(effect: Effect) -> str:
    if effect.reason == "usable notified clients" and effect.clients_notified == 1:
        return "Only 1 client was notified: too few."
    told = count(effect.clients_notified, "client")
    told += " was notified" if effect.clients_notified == 1 else " were notified"
    if effect.rate_ratio is None or effect.interval is None:
        reason = effect.reason or "notified clients"
        return _WHY_NOT.get(reason, "No answer can be given.").format(told=told)
    used = count(effect.clients_used, "client")
    times = count(effect.observed or 0, "time")
    return (
        f"After being notified, {used} called the old names {times} where "
        f"{round(effect.expected or 0):,} were expected: {change(effect.rate_ratio)}, 95 % interval "
        f"{_beside(effect.rate_ratio, effect.interval)}."
    )


def why(effect: Effect) -> str | None:
    """
    Why the verdict is no more than it is, where it claims nothing: the check that failed, or the interval;
    None of a claim.
    """
    if effect.verdict in ("reduced", "increased"):
        return None
    no_answer = effect.rate_ratio is None or effect.interval is None
    return _sentence(effect) if no_answer else _sure(effect)


_WHY_NOT: Final[dict[GuardName, str]] = {
    "notified clients": (
        "No notification to a client that calls an old name was logged, so there is nothing to compare."
    ),
    "stale calls of notified clients": (
        "{told}, with too few stale calls to compare before with after."
    ),
    "support": (
        "{told}, and hardly anybody was left to compare with in the same weeks. Fewer calls afterwards may "
        "be what would have happened anyway."
    ),
    "clients to compare with": (
        "There are too few clients to tell those that were notified from those that were not."
    ),
    "usable notified clients": (
        "{told}, of which too few called an old name both before and while others were not yet notified."
    ),
    "calls before": "Too few stale calls came before the notifications.",
    "expected calls": (
        "So few calls were to be expected after the notifications that fewer would not show."
    ),
    "interval": "The clients are too few for an interval.",
    "own activity": (
        "Most notifications came right after their client's own activity, when calls are frequent anyway, "
        "and the log has no greeting of each session to measure that by."
    ),
}


def _sure(effect: Effect) -> str:
    """What speaks for the verdict, and what it rests on."""
    known = effect.rate_ratio is not None
    match effect.verdict:
        case "reduced" | "increased":
            return _robust() if effect.strength == "robust" else _alike(effect)
        case "no detectable change":
            return "Half as many and twice as many can both be ruled out. A smaller change cannot."
        case "not enough data":
            return (
                "The interval holds both no change and half or twice as many, so it rules out neither."
                if known
                else "This is no sign that notifications do not help: these numbers cannot tell."
            )
        case "cannot separate from the trend":
            return (
                "Clients that were notified had drifted away from the others before they were notified, "
                "so what came after is no answer."
                if known
                else "Clients update, and old names are called less with time. A drop after a "
                "notification is only told from that by clients that were not notified yet, and behaved "
                "alike before."
            )
        case "cannot separate from the client's own activity":
            return (
                "A server that notifies when a client connects notifies when it is about to call: more "
                "calls follow, whatever the notification does."
            )


def _robust() -> str:
    return (
        "The comparison is with clients that had not been notified yet, in the same weeks. Moved two weeks "
        "back, it shows no effect, as it should; and it holds, too, if clients that were notified early "
        "were leaving on a trend of their own. “After”, not “because”: chance did not decide who was "
        "notified when."
    )


def _alike(effect: Effect) -> str:
    adjusted = effect.trend.interval
    with_trend = f" (it is then {between(adjusted)})" if adjusted else ""
    return (
        "The comparison is with clients that had not been notified yet, in the same weeks. It rests on one "
        "thing that this log cannot show: that both would have gone on alike. If clients that were notified "
        f"early were leaving on a trend of their own, the change is not certain{with_trend}."
    )


def _next(effect: Effect, setting: Setting) -> str:
    if setting.goes_back is not None and is_cut(effect):
        return f"This range begins too late. Choose Everything: the log goes back to {setting.goes_back}."
    waves = NEXT_TIME if setting.all_told else TWO_WAVES
    match effect.verdict:
        case "reduced":
            go_on = "Go on notifying. " + (_ALL_LIST if setting.all_list else _SOME_DO_NOT)
            return go_on if effect.strength == "robust" else f"{go_on} {_surer(waves)}"
        case "increased":
            return (
                "See which clients and names it comes from, below, and whether the new list still holds an "
                "old name."
            )
        case "no detectable change":
            return (
                "Notifying did not visibly change these calls. The page To do says what would: the cure of "
                "each client."
            )
        case "cannot separate from the client's own activity":
            return (
                "Log the greeting of each session (Client initialized), or notify at a time of your own. "
                + waves
            )
        case "cannot separate from the trend":
            return (
                "What these notifications did can no longer be told. For the next one: "
                f"{_small(TWO_WAVES)}"
            )
        case "not enough data":
            several = effect.clients_notified == 0 or effect.clients_notified >= FEW
            wanted = _wanted(effect.missing)
            return " ".join([*wanted, *([waves] if several else [])] or ["Wait for more calls."])


_SOME_DO_NOT: Final = (
    "The page Reactions says which clients do not list again, and To do what would cure them."
)
_ALL_LIST: Final = "All list again; what is left are names written down: see To do."


def _surer(waves: str) -> str:
    """How to be sure the next time, or this time still."""
    return waves if waves == NEXT_TIME else f"To be sure: {_small(waves)}"


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _wanted(missing: Missing | None) -> list[str]:
    """What would make an answer, as far as it is known."""
    if missing is None:
        return []
    wanted = [
        f"{number:,} more {one if number == 1 else many}"
        for number, one, many in (
            (missing.clients, "notified client", "notified clients"),
            (missing.others, "client not yet notified", "clients not yet notified"),
            (missing.calls, "stale call", "stale calls"),
            (missing.weeks, "week", "weeks"),
        )
        if number
    ]
    return [f"About {' and '.join(wanted)} would be needed."] if wanted else []


Form = Literal["count", "share", "times"]
_CHECKS: Final[dict[GuardName, tuple[str, Form]]] = {
    "notified clients": ("Was any client that calls an old name notified?", "count"),
    "stale calls of notified clients": (
        "Did notified clients make enough stale calls? (those on the day itself are among them)",
        "count",
    ),
    "support": (
        "Were other clients not yet notified in the weeks after? (the share of what notified clients did)",
        "share",
    ),
    "clients to compare with": (
        "Are there others to compare with, where few were notified? (clients)",
        "count",
    ),
    "usable notified clients": (
        "Did enough notified clients call before, and later beside others that were not?",
        "count",
    ),
    "calls before": ("Were there enough stale calls before?", "count"),
    "expected calls": ("Would enough calls have been expected after?", "count"),
    "interval": ("Are there enough clients to know how much they differ?", "count"),
    "own activity": (
        "Were sessions logged, or few notifications sent just after their client's own event? (the share)",
        "share",
    ),
    "placebo": ("Two weeks before the real notifications, was there no effect yet?", "times"),
    "trend": (
        "Were clients that were notified early on no trend of their own, or does it hold with one?",
        "times",
    ),
    "precision": (
        "Where “no change” is not excluded: are halving and doubling? (the greatest change left)",
        "times",
    ),
}


def checks(effect: Effect) -> tuple[Check, ...]:
    """The list of guards in plain words, in their order; what comes after the first that failed is not asked."""
    found: list[Check] = []
    ended = False
    for guard in effect.guards:
        asked = replace(guard, outcome="not checked") if ended else guard
        found.append(_check(asked, effect))
        ended = ended or guard.outcome == "failed"
    return tuple(found)


def _check(guard: Guard, effect: Effect) -> Check:
    question, form = _CHECKS[guard.name]
    unknown = guard.found is None or guard.outcome == "not checked"
    found = "–" if guard.found is None or unknown else _written(guard.found, form)
    needed = f"at least {_written(guard.needed, form)}"
    match guard.name:
        case "clients to compare with":
            needed += ", where fewer than 3 were notified"
        case "interval":
            needed += " that can be left out in turn"
        case "placebo":
            interval = effect.placebo.interval
            found = "–" if interval is None or unknown else _ratios(interval)
            needed = "an interval with 1"
        case "trend":
            found = "–" if guard.found is None or unknown else f"{guard.found:.1f} standard errors"
            if guard.outcome == "passed" and (guard.found or 0) > guard.needed:
                found += "; with it, an interval without 1"
            needed = f"a trend of at most {guard.needed:.1f}, or with it an interval without 1"
        case "own activity" | "precision":
            needed = f"at most {_written(guard.needed, form)}"
            if guard.name == "own activity":
                needed = f"sessions that are logged, or {needed}"
                if effect.exposure == "sessions" and not unknown:
                    found = f"sessions are logged ({found})"
        case _:
            pass
    return Check(guard.name, guard.outcome, question, found, needed)


def _ratios(interval: Interval) -> str:
    high = "no bound" if interval[1] is None else f"{interval[1]:.2f}"
    return f"{interval[0]:.2f} to {high}"


def _written(number: float, form: Form) -> str:
    """
    A number in the form of its check.

    >>> _written(0.5, "share"), _written(12.0, "count"), _written(2.0, "times")
    ('50 %', '12', '2.0 times')
    """
    if form == "share":
        return f"{round(100 * number)} %"
    return f"{number:,.0f}" if form == "count" else f"{number:.1f} times"
