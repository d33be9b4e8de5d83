"""The web application: database, routes, pages, and one form for every error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.routing import iter_route_contexts

from dashboards import figure_routes, pages
from dashboards.pages import explain, forms, frame, login, share, static, told
from service import __version__
from service.access import Access
from service.analysis.known import load_clients
from service.answers.query import moment_at
from service.api import (
    addressed,
    annotations,
    audit,
    callers,
    clients,
    compare,
    compressed,
    coverage,
    cures,
    door,
    effect,
    events,
    guard,
    ingest,
    misses,
    names,
    overview,
    problems,
    reactions,
    reference,
    rejects,
    releases,
    rooted,
    routes,
    said,
    series,
    shares,
    stopped,
    uptake,
    vintage,
)
from service.api.admission import Admission, Workplace
from service.api.needs import Need, Table, declare, show
from service.api.rates import Rates
from service.api.receivers import ROUTERS, loki, splunk
from service.api.shared import leads
from service.cataloguing import Cataloguing
from service.clock import Clock, system_clock
from service.log import Outages
from service.pipeline import Pipeline
from service.planning import Planning
from service.settings import Settings, answered_hosts, is_loopback
from service.shares import KEYS
from service.sharing import Sharing
from service.store.driver import Writer
from service.store.engine import make_engine
from service.store.migrate import ensure_ready
from service.taking_back import TakingBack
from service.telling import Telling
from service.weekly import Weekly


def create_app(settings: Settings, *, clock: Clock = system_clock) -> FastAPI:
    """
    Make the application. Its database is ready when this returns, so a problem with it shows before
    any port is opened.

    Raises:
        LastCallError: The database, or the user's file of known clients, cannot be used.
    """
    load_clients(settings.clients_file)
    engine = make_engine(settings.database_url)
    ensure_ready(engine, settings.auto_upgrade)

    writer = Writer(settings.database_url)
    reader = Writer(
        settings.database_url
    )  # who is asked for a token does not wait for what is stored
    pipeline = Pipeline(writer, settings, clock=clock)
    weekly = Weekly(engine, lambda: moment_at(clock(), settings))

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        weekly.start()
        yield
        weekly.close()
        pipeline.close()
        writer.close()
        reader.close()
        engine.dispose()

    access = Access(writer, settings=settings, reader=reader, clock=clock)
    sharing = Sharing(writer, reader=reader, clock=clock)

    app = FastAPI(
        title="Last Call",
        version=__version__,
        summary="Who still calls a retired MCP tool",
        docs_url=None,  # the usual pages load scripts from foreign hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.clock = clock
    app.state.engine = engine
    app.state.pipeline = pipeline
    skew_us = settings.future_skew_s * 1_000_000
    app.state.telling = Telling(writer, skew_us=skew_us, clock=clock)
    app.state.planning = Planning(writer, clock=clock)
    app.state.cataloguing = Cataloguing(writer, skew_us=skew_us, clock=clock)
    app.state.taking_back = TakingBack(writer, clock=clock)
    app.state.access = access
    app.state.sharing = sharing
    app.state.rates = Rates(clock)
    app.state.workplace = Workplace(settings)
    app.state.outages = outages = Outages()
    problems.install(app)
    misses.install(app, frame.refusal)
    app.add_middleware(compressed.Compressed)
    table = cache(lambda: Table(app.routes))
    app.state.shows = lambda path, bound: leads(table().place("GET", path, False), bound)
    app.add_middleware(addressed.Addressed)
    app.add_middleware(Admission, settings=settings, outage=outages.taking)
    app.add_middleware(
        door.Door,
        access=access,
        sharing=sharing,
        table=table,
        loopback=is_loopback(settings.host),
        outage=outages.reading,
    )
    app.add_middleware(guard.Guard, hosts=answered_hosts(settings))
    app.add_middleware(rooted.Rooted, root=settings.root_path)
    _declare_needs()
    _declare_shown()
    app.include_router(routes.router)
    app.include_router(ingest.router)
    app.include_router(ingest.router, prefix=routes.PREFIX)
    app.mount(addressed.PREFIX, addressed.router)  # before what may have any index in its path
    for receiver in ROUTERS:
        app.include_router(receiver)
    app.include_router(figure_routes.router)
    app.include_router(pages.router)

    manual = frame.new_router()

    @manual.get("/docs")
    def docs() -> HTMLResponse:
        """The reference of the API."""
        return HTMLResponse(reference.page(app.openapi()), headers=frame.HEADERS)

    app.include_router(manual)
    described = [
        each.endpoint for each in iter_route_contexts(app.routes) if each.path == app.openapi_url
    ]
    declare(filter(None, [docs, *described]), reading=Need.READ, writing=Need.ADMIN)
    return app


def _declare_needs() -> None:
    """What routes need that are not otherwise: what is particular first."""
    declare([told.undo_page], reading=Need.ADMIN, writing=Need.ADMIN)
    declare(explain.router, reading=Need.READ, writing=Need.READ)  # it keeps nothing
    for router in (audit.router, rejects.router, shares.router, forms.router, share.router):
        declare(router, reading=Need.ADMIN, writing=Need.ADMIN)
    for router in (login.router, static.router):
        declare(router, reading=Need.NOTHING, writing=Need.NOTHING)
    declare([loki.ready, splunk.health, splunk.probe], reading=Need.NOTHING, writing=Need.ADMIN)
    for router in (ingest.router, addressed.router, *ROUTERS):
        declare(router, reading=Need.INGEST, writing=Need.INGEST)
    for router in (routes.router, figure_routes.router, pages.router):
        declare(router, reading=Need.READ, writing=Need.ADMIN)


def _declare_shown() -> None:
    """
    What links show. Nothing else, and nothing that is new: not what people told each other, what arrived, what
    is to be done, nor the catalogue, all of which is for whoever has a token.
    """
    show(static.router, beside=KEYS)
    show(figure_routes.router, *KEYS)  # each figure says what it heeds
    show([pages.names.names_page, pages.names.name_page], *KEYS)
    show([pages.clients.clients_page, pages.clients.client_page], "server", "client")
    show([pages.reactions.reactions_page], "server", "client")
    show([pages.effect.effect_page], "server", "name")
    for noun in (
        overview,
        names,
        compare,
        callers,
        stopped,
        cures,
        clients,
        uptake,
        events,
        series,
        said,
        annotations,
    ):
        show(noun.router, *KEYS)
    for noun in (reactions, vintage):
        show(noun.router, "server", "client")
    show(effect.router, "server", "name")  # one client is held against the others
    for noun in (coverage, releases):  # hours, versions and instants, of no name and no client
        show(noun.router, "server", beside=("name", "client"))
