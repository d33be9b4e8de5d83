"""The landing page, and the page of one retired name."""

from typing import Any

from fastapi import Request, Response

from dashboards.empty import emptiness
from dashboards.pages.frame import EVENTS, METHODS, needed, new_router, own_rows, shown
from dashboards.pivot import pivot
from dashboards.reading import Reading, callers_chart, calls_chart, reading_of
from service import answers
from service.answers.overview import NEED
from service.answers.query import LIMIT_MAX, plain
from service.clock import DAY_US
from service.errors import NotFound

NAMES = 60
"""Rows of names on the landing page, each with its picture."""
CALLERS = 50
"""Clients of a name in one table; the others are a click away."""
WEEKS = 52
"""Rows of the weekly log on the page of a name."""
NEWS_US = 28 * DAY_US
"""So long a change of the word that stands is marked on the landing page."""
BESIDE = 25
"""Clients on the page of a name, with what would make each stop."""
VERSIONS = 20
"""Versions of an entry of the catalogue on the page of its name."""
router = new_router()


@router.api_route("/", methods=METHODS)
def names_page(request: Request) -> Response:
    """Who still calls what, and is it getting better."""
    with reading_of(request) as look:
        found = look.ask(
            answers.overview, sort=look.state.sort or NEED, detail=True, **own_rows(look, NAMES)
        )
        empty = emptiness(look, found.more["totals"].stale_calls, found)
        return shown(
            request,
            look,
            "names.html",
            names=found.as_json(),
            calls=pivot(calls_chart(look, "client")),
            releases=look.ask(answers.last_releases).items,
            left_out=found.more["excluded_calls"],
            news=_news(look),
            empty=empty,
        )


def _news(look: Reading) -> dict[tuple[str, str], dict[str, Any]]:
    """(server, name) → the last row of the weekly log on which its standing word changed, lately."""
    found = look.ask(
        answers.said,
        changed=True,
        question="stopped",
        client=None,
        since=None,
        until=None,
        limit=LIMIT_MAX,
    )
    since_us = look.seen_from_us - NEWS_US
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for row in found.items:  # the newest first
        if row.name is not None and row.week >= since_us:
            latest.setdefault((row.server, row.name), plain(row))
    return latest


@router.api_route("/name", methods=METHODS)
def name_page(request: Request) -> Response:
    """One retired name: who calls it, since when, how often."""
    with reading_of(request) as look:
        server, name = needed(look, "server"), needed(look, "name")
        facts = look.ask(answers.overview, client=None)
        if not facts.items:
            raise NotFound(f"no retired name {name!r} is known of server {server!r}")
        chosen = next(iter(look.ask(answers.overview).items), None)
        who = look.ask(answers.callers, sort=look.state.sort or "-stale_calls", **own_rows(look))
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        tiles = next(iter(look.ask(answers.names).items), None)
        return shown(
            request,
            look,
            "name.html",
            cures=look.ask(answers.cures, limit=BESIDE, sort="-active_days").as_json(),
            uptake=look.ask(answers.uptake, limit=CALLERS, sort="-stale_calls").as_json(),
            **_entry(look),
            said=look.ask(answers.said, limit=WEEKS).as_json(),
            left_out=who.more["excluded_calls"],
            facts=facts.as_json(),
            chosen=plain(chosen) if chosen else None,
            everyone=look.ask(answers.stopped, since=None, limit=1).as_json(),
            stopped=look.ask(
                answers.stopped, by="client", since=None, sort="probability", limit=CALLERS
            ).as_json(),
            tiles=tiles,
            callers=who.as_json(),
            events=last.as_json(),
            calls=pivot(calls_chart(look, "client")),
            callers_by_day=pivot(callers_chart(look)),
            empty=emptiness(look, tiles.stale_calls if tiles else 0, who, {"server", "name"}),
        )


def _entry(look: Reading) -> dict[str, Any]:
    """What the catalogue says, and said, of the name; who said it is for whoever has a token."""
    if look.moment.bound is not None:
        return {"entry": None, "versions": None}
    return {
        "entry": look.ask(answers.catalogue, client=None, limit=1).as_json(),
        "versions": look.ask(answers.history, client=None, limit=VERSIONS).as_json(),
    }
