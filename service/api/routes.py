"""Every collection, under one prefix."""

from fastapi import APIRouter

from service.api import (
    callers,
    catalogue,
    clients,
    coverage,
    events,
    health,
    names,
    overview,
    reactions,
    rejects,
    releases,
    series,
    servers,
    snapshots,
)

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
for noun in (
    servers,
    overview,
    names,
    callers,
    clients,
    reactions,
    events,
    series,
    coverage,
    releases,
    catalogue,
    snapshots,
    health,
    rejects,
):
    router.include_router(noun.router)
