"""The page of all clients, and that of one."""

from typing import Any

from fastapi import Request, Response

from dashboards.empty import emptiness
from dashboards.pages.frame import EVENTS, METHODS, ROWS, needed, new_router, own_rows, shown
from dashboards.pivot import pivot
from dashboards.reading import Reading, callers_chart, calls_chart, reading_of
from service import answers
from service.answers.query import LIMIT_MAX, plain
from service.errors import NotFound
from service.names import shown_key

ROWS_BESIDE = 20
"""Rows of the tables beside the page's own."""
TOLD = 25
"""Marks and aliases of a client that are shown."""
router = new_router()


@router.api_route("/clients", methods=METHODS)
def clients_page(request: Request) -> Response:
    """Which clients were there, what each still calls, and what each does when notified."""
    with reading_of(request) as look:
        found = look.ask(answers.clients, sort=look.state.sort or "-stale_calls", **own_rows(look))
        told = look.ask(answers.reactions, name=None, sort="-episodes", limit=ROWS)
        every = look.ask(answers.overview)
        return shown(
            request,
            look,
            "clients.html",
            clients=found.as_json(),
            reactions=told.as_json(),
            calls=pivot(calls_chart(look, "client")),
            empty=emptiness(look, every.more["totals"].stale_calls, found),
        )


@router.api_route("/client", methods=METHODS)
def client_page(request: Request) -> Response:
    """One client: the names it calls, when, and what it does when notified."""
    with reading_of(request) as look:
        client = needed(look, "client")
        # of all time first: what the others ask for lies in what it reads
        ever = look.ask(answers.clients, since=None, until=None, name=None, server=None)
        if client and not ever.items:
            raise NotFound(f"no client {client!r} was ever seen")
        facts = look.ask(answers.clients)
        who = look.ask(
            answers.callers, sort=look.state.sort or "-stale_calls", **own_rows(look, ROWS_BESIDE)
        )
        told = look.ask(answers.reactions, name=None)
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        spelled = _spelling(ever.items, client)
        asked = None
        is_guest = look.moment.bound is not None  # whom nobody asks to write, or shows who did
        if client and who.items and not is_guest:
            asked = look.ask(answers.contact, limit=1).as_json()
        return shown(
            request,
            look,
            "client.html",
            cures=look.ask(answers.cures, limit=ROWS_BESIDE, sort="-active_days").as_json(),
            stopped=look.ask(
                answers.stopped, by="client", since=None, sort="probability", limit=ROWS_BESIDE
            ).as_json(),
            uptake=look.ask(answers.uptake, limit=ROWS_BESIDE, sort="-stale_calls").as_json(),
            vintage=look.ask(answers.vintage, name=None, limit=ROWS_BESIDE).as_json(),
            letter=asked,
            told=None if is_guest else _told(look, spelled),
            left_out=who.more["excluded_calls"],
            client=spelled,
            facts=facts.as_json(),
            callers=who.as_json(),
            reactions=told.as_json(),
            events=last.as_json(),
            calls=pivot(calls_chart(look, "name")),
            callers_by_day=pivot(callers_chart(look)),
            empty=emptiness(look, sum(row.stale_calls for row in facts.items), who, {"client"}),
        )


def _spelling(rows: tuple[answers.ClientRow, ...], asked: str) -> str | None:
    """The client as its rows spell it; None for what names no client."""
    return next((row.client for row in rows), asked or None)


def _told(look: Reading, client: str | None) -> dict[str, Any]:
    """The marks of a client that stand, and the clients that are said to be it."""
    every = look.ask(answers.aliases, name=None, client=None, server=None, limit=LIMIT_MAX)
    mine = [row for row in every.items if client and shown_key(row.target) == shown_key(client)]
    return {
        "marks": look.ask(answers.marks, limit=TOLD).as_json(),
        "aliases": [plain(row) for row in mine[:TOLD]],
    }
