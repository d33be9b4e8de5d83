"""From a request to what is stored of it: what all receivers share."""

from fastapi import Request

from service import names
from service.api.admission import Workplace, read_body
from service.ingest.records import Reader
from service.pipeline import Delivered, Pipeline


async def deliver(
    request: Request, read: Reader, *, server: str | None = None, source: str
) -> Delivered:
    """
    Store a request's body, whole, before it is answered.

    Args:
        request: Its body is read here, within the limits of the settings.
        read: Makes records of it, by the protocol that it came in.
        server: The MCP server whose log it is, where the sender says so.
        source: The name of the feed.

    Raises:
        LastCallError: Nothing is stored; its status says whether the same request can succeed later.
    """
    state = request.app.state
    workplace: Workplace = state.workplace
    named = names.feed_name("server", server)
    feed = names.feed_name("source", source) or "http"

    def store(data: bytes) -> Delivered:
        pipeline: Pipeline = state.pipeline
        with state.outages.writing.watching():
            return pipeline.request(data, read, server=named, source=feed)

    return await workplace.run(store, await read_body(request))
