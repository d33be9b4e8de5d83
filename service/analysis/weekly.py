"""
Which word stands, out of one look a week.

Who looks again and again finds a difference by chance sooner or later. So a word counts only once two looks
that follow each other agreed on it, a week apart, and until then the one before it stands.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from service.clock import DAY_US

WEEK_US = 7 * DAY_US
FIRST_MONDAY_US = 4 * DAY_US
"""1970-01-05T00:00:00Z."""
CAUGHT_UP = 8
"""So many Mondays that were missed are looked at later, at most."""


def monday(at_us: int) -> int:
    """
    The last Monday 00:00 UTC that is not after an instant; both in µs since 1970-01-01T00:00:00Z.

    >>> monday(0) // DAY_US, monday(4 * DAY_US) // DAY_US, monday(11 * DAY_US - 1) // DAY_US
    (-3, 4, 4)
    """
    return (at_us - FIRST_MONDAY_US) // WEEK_US * WEEK_US + FIRST_MONDAY_US


def due(now_us: int, first_us: int, looked: Collection[int]) -> tuple[int, ...]:
    """
    The Mondays to look at now, ascending: of the last `CAUGHT_UP` those that were not looked at and that
    something had happened before, the first event being at `first_us`.
    """
    last = monday(now_us)
    weeks = (last - back * WEEK_US for back in reversed(range(CAUGHT_UP)))
    return tuple(week for week in weeks if week > first_us and week not in looked)


@dataclass(frozen=True, slots=True)
class Standing:
    """
    What stands once a look was taken. All None while no two looks agreed.

    `since_us` is the Monday that confirmed `word`, the second of the two; `before` the word that stood
    until then, None where it is the first. `changed`: it took the place of another on this very Monday.
    """

    word: str | None = None
    since_us: int | None = None
    before: str | None = None
    changed: bool = False


def standing(looks: Iterable[tuple[int, str]]) -> list[Standing]:
    """
    What stands after each look. *looks* are (Monday in µs, word), ascending, each Monday once.

    - Two looks agree where their words are equal and their Mondays follow each other. A Monday without a
      look confirms nothing: nobody knows what would have been said then. It unseats nothing, either.
    - The first word stands after two looks, too. It is no change: nothing stood that it differs from.
    - One look that differs (A A B A) leaves what stands, and so do words that alternate (A A B A B).
    - "Cannot tell", "not enough data" and the like are words as all others. A claim that the data no
      longer bears out must not stand for ever, and one poor week must not take it down.

    >>> [each.word for each in standing([(monday(0) + n * WEEK_US, w) for n, w in enumerate("AABAB")])]
    [None, 'A', 'A', 'A', 'A']
    """
    found: list[Standing] = []
    stands = Standing()
    last: tuple[int, str] | None = None
    for week_us, word in looks:
        confirmed = last == (week_us - WEEK_US, word)
        if confirmed and word != stands.word:
            stands = Standing(word, week_us, stands.word, changed=stands.word is not None)
        else:
            stands = Standing(stands.word, stands.since_us, stands.before)
        found.append(stands)
        last = (week_us, word)
    return found
