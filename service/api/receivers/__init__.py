"""
Endpoints of log shippers, each with the paths and answers that its protocol demands.

One file a protocol; `ROUTERS` is all of them, asked in this order.
"""

from typing import Final

from fastapi import APIRouter

from service.api.receivers import (
    axiom,
    elasticsearch,
    firehose,
    journal,
    logplex,
    loki,
    otlp,
    pubsub,
    splunk,
)

ROUTERS: Final[tuple[APIRouter, ...]] = (
    loki.router,
    otlp.router,
    axiom.router,
    splunk.router,
    firehose.router,
    pubsub.router,
    logplex.router,
    journal.router,
    elasticsearch.router,  # last: it takes documents at paths that any index may have
)
