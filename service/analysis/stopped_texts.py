"""Why a verdict about silence is what it is: one sentence with its numbers, for a row of a table."""

from dataclasses import dataclass

from service.analysis.stopped import STOP_WORDS, Reason, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Rested:
    """What a verdict rests on: days as `stopped` has them."""

    verdict: Word
    reason: Reason | None
    active_days: int
    silent_days: int
    longest_pause_days: int | None
    gap_days: int


def because(found: Rested) -> str:
    """
    The reason for a verdict.

    >>> because(Rested(verdict="still calling", reason=None, active_days=61, silent_days=1,
    ...     longest_pause_days=9, gap_days=0))
    'Called on 61 days. Quiet for 1 day, and a caller paused for up to 9 before.'
    >>> because(Rested(verdict="stopped", reason="said_fixed", active_days=0, silent_days=30,
    ...     longest_pause_days=None, gap_days=0))
    'Somebody said that it is fixed, and no call came since.'
    """
    if found.reason == "said_fixed":
        return "Somebody said that it is fixed, and no call came since."
    if found.reason == "no_calls":
        return "No call to it was logged."
    if found.reason == "too_few":
        return (
            f"Called on {_days(found.active_days)}. A caller with fewer than four has no habit yet."
        )
    parts = [f"Called on {_days(found.active_days)}.", _quiet(found)]
    if found.gap_days and found.verdict != "still calling":
        was = "was" if found.gap_days == 1 else "were"
        parts.append(f"{_days(found.gap_days)} {was} not heard.")
    elif found.reason == "not_heard":
        parts.append("Not heard since.")
    elif found.reason == "sessions":
        parts.append("Its callers were seldom there since.")
    return " ".join(parts)


def _quiet(found: Rested) -> str:
    """The silence, against what was usual."""
    silent, pause = _days(found.silent_days), found.longest_pause_days
    if not found.silent_days:
        return "Quiet for less than a day."
    if pause is None:
        return f"Quiet for {silent}."
    if found.verdict in STOP_WORDS:
        return f"Quiet for {silent}; no caller paused for more than {pause} before."
    return f"Quiet for {silent}, and a caller paused for up to {pause} before."


def _days(number: int) -> str:
    return f"{number:,} day{'' if number == 1 else 's'}"
