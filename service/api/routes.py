"""Every route that reads, under one prefix."""

from fastapi import APIRouter

from service.api import (
    callers,
    clients,
    coverage,
    events,
    health,
    names,
    reactions,
    rejects,
    series,
    servers,
)

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
for noun in (
    servers,
    names,
    callers,
    clients,
    reactions,
    events,
    series,
    coverage,
    health,
    rejects,
):
    router.include_router(noun.router)
