"""From a request to what is stored of it: what all receivers share."""

from fastapi import Request

from service import names
from service.api.admission import Workplace, read_body
from service.api.rates import Rates
from service.ingest.records import Reader
from service.pipeline import Delivered, Pipeline
from service.tokens import Limits
from service.visitors import visitor_of


async def deliver(
    request: Request,
    read: Reader,
    *,
    server: str | None = None,
    source: str | None,
    protocol: str,
    read_first: bool = False,
) -> Delivered:
    """
    Store a request's body, whole, before it is answered.

    Args:
        request: Its body is read here, within the limits of the settings and of the token.
        read: Makes records of it, by the protocol that it came in.
        server: The MCP server whose log it is, where the sender says so; that of the token, where it has one.
        source: The name of the feed, where the sender says so; else that of the token.
        protocol: What the feed is called without a token.
        read_first: Read the body also where nothing of it can be stored, for answers that go through it.

    Raises:
        LastCallError: Nothing is stored; its status says whether the same request can succeed later.
    """
    state = request.app.state
    workplace: Workplace = state.workplace
    rates: Rates = state.rates
    visitor = visitor_of(request)
    token = visitor.token
    named = (token.server if token else None) or names.feed_name("server", server)
    feed = names.feed_name("source", source) or (token.name if token else protocol)
    limits = token.limits if token else Limits()
    if visitor.unsure is not None:
        state.outages.writing.failed(visitor.unsure)
    refusal = visitor.unsure or rates.refusal(token)
    if refusal is not None and not read_first:
        raise refusal

    def store(data: bytes) -> Delivered:
        pipeline: Pipeline = state.pipeline
        if refusal is not None:
            pipeline.read(data, read, limits)
            raise refusal
        with state.outages.writing.watching():
            return pipeline.request(data, read, server=named, source=feed, limits=limits)

    delivered = await workplace.run(store, await read_body(request))
    rates.charge(token, delivered.receipt.received)
    return delivered
