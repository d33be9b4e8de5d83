"""The web application: database, routes, pages, and one form for every error."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from dashboards import figure_routes, pages
from service import __version__
from service.analysis.known import load_clients
from service.api import addressed, guard, ingest, misses, problems, reference, routes
from service.api.admission import Admission, Workplace
from service.api.receivers import ROUTERS
from service.clock import Clock, system_clock
from service.log import Outages
from service.pipeline import Pipeline
from service.settings import Settings
from service.store.driver import Writer
from service.store.engine import make_engine
from service.store.migrate import ensure_ready
from service.telling import Telling


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
    pipeline = Pipeline(writer, settings, clock=clock)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        pipeline.close()
        writer.close()
        engine.dispose()

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
    app.state.workplace = Workplace(settings)
    app.state.outages = outages = Outages()
    problems.install(app)
    misses.install(app)
    hosts = (name.strip().lower() for name in settings.allowed_hosts.split(","))
    app.add_middleware(addressed.Addressed)
    app.add_middleware(Admission, settings=settings, outage=outages.taking)
    app.add_middleware(guard.Guard, hosts=frozenset(filter(None, hosts)))
    app.include_router(routes.router)
    app.include_router(ingest.router)
    app.include_router(ingest.router, prefix=routes.PREFIX)
    app.mount(addressed.PREFIX, addressed.router)  # before what may have any index in its path
    for receiver in ROUTERS:
        app.include_router(receiver)
    app.include_router(figure_routes.router)
    app.include_router(pages.router)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """The reference of the API."""
        policy = {"Content-Security-Policy": "default-src 'none'"}
        return HTMLResponse(reference.page(app.openapi()), headers=policy)

    return app
