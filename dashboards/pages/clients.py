"""The page of all clients, and that of one."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from dashboards.empty import emptiness
from dashboards.pages.frame import EVENTS, METHODS, ROWS, needed, new_router, own_rows, shown
from dashboards.pivot import pivot
from dashboards.reading import callers_chart, calls_chart, reading_of
from service import answers
from service.errors import NotFound

router = new_router()


@router.api_route("/clients", methods=METHODS)
def clientsown_rows(request: Request) -> HTMLResponse:
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
def clientown_rows(request: Request) -> HTMLResponse:
    """One client: the names it calls, when, and what it does when notified."""
    with reading_of(request) as look:
        client = needed(look, "client")
        facts = look.ask(answers.clients)
        who = look.ask(answers.callers, sort=look.state.sort or "-stale_calls", **own_rows(look))
        told = look.ask(answers.reactions, name=None)
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        ever = look.ask(answers.clients, since=None, until=None, name=None, server=None)
        if client and not ever.items:
            raise NotFound(f"no client {client!r} was ever seen")
        return shown(
            request,
            look,
            "client.html",
            client=_spelling(ever.items, client),
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
