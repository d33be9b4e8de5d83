"""What was measured of clients' reactions, how, and how sure it is: Markdown for whoever makes a client."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.analysis.cure_texts import count
from service.analysis.labels import WORDS
from service.analysis.markdown import code

ROWS_SHOWN: Final = 100
"""Rows that a report lists; the table has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    What became of some episodes: of all, where `client` is empty, else of one client (None: those that name
    none), and of one `version` or `era` of it where `split` says so. Shares are from 0 to 1; `events` are
    addresses of the events behind it.
    """

    server: str = ""
    client: str | None = ""
    split: str | None = None
    clients: int
    notifications: int
    episodes: int
    labels: dict[str, int]
    measured: int
    refreshed: int
    share: tuple[float, float, float] | None
    background: tuple[int, int]
    excess: tuple[float, float, float] | None
    watched: int
    median_s: float | None
    in_flight: int
    elsewhere: int
    known_channel: bool
    events: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that a report is about. Times are local texts of the zone `tz`."""

    whole: Part
    parts: Sequence[Part]
    since: str
    until: str
    as_of: str
    tz: str
    covered_hours: int
    hours: int
    gaps: int
    refresh_s: int


METHOD: Final = (
    (
        "An episode is notifications to one session at most {refresh_s} s apart. It is refreshed at once when that "
        "session lists the tools from the first of them to {refresh_s} s after the last. A listing of another "
        "session, as at a later connect, is no reaction. Sessions without an id are matched by client."
    ),
    (
        "A share is of the episodes whose window is over and which had a channel as far as the log tells; its "
        "interval is Wilson's, 95 %."
    ),
    (
        "Some clients list anyway, mostly when they connect. So the same look was taken where nobody had told them: at "
        "the earlier connects of the same clients where their own hello triggered the notification, else at the same "
        "hour 7, 14, … days earlier. The excess is (share - background) / (1 - background) (Abbott), its 95 % "
        "interval put together from both (MOVER); it may reach beyond 100 %."
    ),
    (
        "Time to listing is the median of Kaplan and Meier. A session is watched to its last line (through the "
        "window at least), its next episode or the end of the log."
    ),
    "Stale calls at most 120 s after a notification may have been on their way; they are counted apart.",
)
FOOLED: Final = (
    (
        "A notification sent is not one received: where the log does not tell who had a stream open, clients "
        "without one count as if they had ignored it."
    ),
    "One name can stand for many people and products; a client that is a gateway answers for others.",
    "Episodes of one client are no independent trials: an interval over few clients says less than it seems.",
    "A gateway or proxy that keeps the list may answer a listing itself, and the server then never sees it.",
    "A client that went silent may have been shut down; that is neither success nor failure.",
    "An upgrade at the same time changes what is measured: look at each version by itself.",
)


def report(case: Case) -> str:
    """The report, as Markdown in which whatever a stranger chose stands in code spans."""
    return "\n\n".join(_blocks(case)) + "\n"


def _blocks(case: Case) -> Iterator[str]:
    yield "# What clients do when the list of tools changes"
    gaps = f", with {count(case.gaps, 'gap')}" if case.gaps else ""
    yield (
        f"Measured from {case.since} to {case.until} ({case.tz}), as of {case.as_of}; the log covers "
        f"{case.covered_hours:,} of {case.hours:,} hours{gaps}."
    )
    if not case.whole.episodes:
        yield "No notification to a client was logged in this range, so nothing was measured."
        return
    yield "## All together"
    yield _part(case.whole)
    yield "## Each by itself"
    yield "\n".join(_line(part) for part in case.parts[:ROWS_SHOWN])
    if len(case.parts) > ROWS_SHOWN:
        yield f"… and {len(case.parts) - ROWS_SHOWN:,} more, which the table has."
    yield "## How this was measured"
    yield "\n".join(f"- {line.format(refresh_s=case.refresh_s)}" for line in METHOD)
    yield "## What would fool it"
    yield "\n".join(f"- {line}" for line in FOOLED)


def _part(part: Part) -> str:
    return (
        f"{count(part.clients, 'client')}, {count(part.notifications, 'notification')}, "
        f"{count(part.episodes, 'episode')}. {_said(part)}"
    )


def _line(part: Part) -> str:
    who = "What names no client" if part.client is None else code(part.client)
    split = f", {code(part.split)}" if part.split is not None else ""
    line = (
        f"- {who}{split} at {code(part.server)}: {count(part.episodes, 'episode')}. {_said(part)}"
    )
    return f"{line} Events: {code(part.events)}." if part.events else line


def _said(part: Part) -> str:
    """The numbers in sentences."""
    named = [f"{WORDS[label]} {n:,}" for label, n in part.labels.items() if n]
    lines = [f"What became of them: {'; '.join(named)}.", refreshed(part)]
    hits, number = part.background
    if number:
        lines.append(f"Not told, they listed {hits:,} of {number:,} times.")
    if part.excess is not None:
        lines.append(f"Because of it: {_span(part.excess)}.")
    if part.watched:
        lines.append(f"Median time to listing: {duration(part.median_s)} (n = {part.watched:,}).")
    if part.elsewhere:
        lines.append(f"Of those that did not, {part.elsewhere:,} listed in another session later.")
    if part.in_flight:
        lines.append(f"{count(part.in_flight, 'stale call')} in flight.")
    if not part.known_channel:
        lines.append("Channel unknown.")
    return " ".join(lines)


def refreshed(part: Part) -> str:
    """How many refreshed at once, as a share only where it is of more than one."""
    if not part.measured:
        return "None could be measured."
    counted = f"{part.refreshed:,} of {part.measured:,} at once"
    if part.share is None:
        return (
            f"{counted} ({'one episode' if part.measured == 1 else 'one client'}: no percentage)."
        )
    return f"{counted}: {_span(part.share)}."


def _span(value: tuple[float, float, float]) -> str:
    each, low, high = (f"{100 * number:.0f} %" for number in value)
    return f"{each} [{low}, {high}]"


def duration(time_s: float | None) -> str:
    """
    A length of time in the greatest unit that fits; None was not reached.

    >>> duration(0.174), duration(90), duration(259_200), duration(None)
    ('0.17 s', '1.5 min', '3 d', 'not reached')
    """
    if time_s is None:
        return "not reached"
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if time_s >= length:
            return f"{time_s / length:.2g} {unit}"
    return f"{time_s:.2g} s"


def did(episodes: int, answered: int, outcome: str, minutes: int) -> str:
    """
    What a client did about the list, in a word; nothing is said of its calls, which other things change, too.

    >>> did(3, 3, "answered_increased", 60), did(3, 0, "no_stale_calls", 60), did(3, 1, "mixed_reduced", 60)
    ('listed again each time', 'never listed again', 'listed again sometimes')
    >>> did(1, 1, "answered_reduced", 60), did(1, 0, "ignored_reduced", 60)
    ('listed again', 'did not list again')
    >>> did(1, 0, "too_early", 1440)
    'too early: 1,440 minutes are not over'
    """
    if outcome == "too_early":
        return f"too early: {count(minutes, 'minute')} are not over"
    if episodes == 1:
        return "listed again" if answered else "did not list again"
    words = {0: "never listed again", episodes: "listed again each time"}
    return words.get(answered, "listed again sometimes")


@dataclass(frozen=True, slots=True)
class Habit:
    """What one client did in all of its episodes that could be measured, and when nobody had told it."""

    client: str | None
    measured: int
    refreshed: int
    background: tuple[int, int]


SEEN_WELL: Final = 5
"""Of a client that was told so often or more, "every time" says something."""
NAMED: Final = 3
"""Clients that a sentence names; more are counted."""


def habits(found: Sequence[Habit]) -> str:
    """
    Who lists again, in a sentence; empty where nobody could be measured.

    >>> habits([Habit("a", 9, 9, (0, 9)), Habit("b", 2, 2, (0, 2)), Habit("c", 4, 0, (0, 4)),
    ...         Habit("d", 3, 3, (5, 5)), Habit(None, 3, 1, (0, 3))])
    '2 clients list again every time (1 of them seen fewer than 5 times); c never does; d lists anyway; what names no client does sometimes.'
    """
    kinds: dict[str, list[Habit]] = {"every": [], "never": [], "anyway": [], "some": []}
    for each in (each for each in found if each.measured):
        kinds[_kind(each)].append(each)
    parts = []
    if every := kinds["every"]:
        few = sum(each.measured < SEEN_WELL for each in every)
        seen = f" ({few:,} of them seen fewer than {SEEN_WELL} times)" if few else ""
        parts.append(
            f"{count(len(every), 'client')} {'lists' if len(every) == 1 else 'list'} again every time{seen}"
        )
    for kind, one, many in (
        ("never", "never does", "never do"),
        ("anyway", "lists anyway", "list anyway"),
        ("some", "does sometimes", "do sometimes"),
    ):
        if mine := kinds[kind]:
            parts.append(f"{_named(mine)} {one if len(mine) == 1 else many}")
    return f"{'; '.join(parts)}." if parts else ""


def _kind(habit: Habit) -> str:
    hits, number = habit.background
    if number and hits == number:
        return "anyway"
    return {habit.measured: "every", 0: "never"}.get(habit.refreshed, "some")


def _named(found: Sequence[Habit]) -> str:
    if len(found) > NAMED:
        return count(len(found), "client")
    names = [each.client or "what names no client" for each in found]
    return " and ".join([", ".join(names[:-1]), names[-1]][-len(names) :])
