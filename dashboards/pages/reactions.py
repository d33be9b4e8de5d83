"""The page of reactions: what clients do when they are told that the list of tools has changed."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fastapi import Request, Response

from dashboards.empty import emptiness
from dashboards.figures.listing_times import drawn
from dashboards.pages.frame import METHODS, new_router, own_rows, shown
from dashboards.reading import Reading, listing_times, reading_of
from service import answers
from service.analysis.labels import WORDS
from service.analysis.reaction_texts import FOOLED, METHOD, Habit, duration, habits
from service.answers.query import LIMIT_MAX, plain

router = new_router()

COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "refreshed": "series-3",
        "came_back": "series-1",
        "listed_within": "series-3",
        "listed_later": "series-1",
        "later_connect": "series-6",
        "ignored": "called",
        "silent": "series-4",
        "too_few": "other",
        "too_early": "gap",
        "no_channel": "nobody",
    }
)
"""The colour of each label; its word and number stand beside it."""


@router.api_route("/reactions", methods=METHODS)
def reactions_page(request: Request) -> Response:
    """Which clients list again because they were told, by version, how fast, and how sure that is."""
    with reading_of(request) as look:
        found = look.ask(
            answers.reactions,
            name=None,
            by="version",
            sort=look.state.sort or "-episodes",
            **own_rows(look),
        )
        steps, curve = listing_times(look)
        left_out = found.more["excluded_notifications"]
        return shown(
            request,
            look,
            "reactions.html",
            left_out=0,
            reactions=found.as_json(),
            steps=[plain(row) for row in drawn(steps)],
            curve=curve.as_json(),
            habits=habits(_habits(look)),
            words=WORDS,
            colours=COLOURS,
            duration=duration,
            method=METHOD,
            fooled=FOOLED,
            refresh_s=look.moment.refresh_window_us // 1_000_000,
            empty=emptiness(look, found.more["totals"].episodes, found, left_out=left_out),
        )


def _habits(look: Reading) -> list[Habit]:
    """What each client did in the range, at all servers and versions, the one told most often first."""
    rows = look.ask(answers.reactions, name=None, sort="-episodes", limit=LIMIT_MAX).items
    found: dict[str | None, Habit] = {}
    for row in rows:
        old = found.get(row.client, Habit(row.client, 0, 0, (0, 0)))
        shares = row.shares
        found[row.client] = Habit(
            row.client,
            old.measured + shares.measured,
            old.refreshed + shares.refreshed,
            (
                old.background[0] + shares.background_listed,
                old.background[1] + shares.background_n,
            ),
        )
    return list(found.values())
