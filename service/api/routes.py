"""Every collection, under one prefix."""

from fastapi import APIRouter

from service.api import (
    callers,
    clients,
    coverage,
    cures,
    events,
    health,
    names,
    overview,
    reactions,
    rejects,
    releases,
    series,
    servers,
    uptake,
    vintage,
)

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
for noun in (
    servers,
    overview,
    names,
    callers,
    cures,
    clients,
    reactions,
    uptake,
    vintage,
    events,
    series,
    coverage,
    releases,
    health,
    rejects,
):
    router.include_router(noun.router)
