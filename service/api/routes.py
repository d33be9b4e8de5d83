"""Every collection, under one prefix."""

from fastapi import APIRouter

from service.api import (
    audit,
    batches,
    callers,
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
    health,
    rejects,
    batches,
    audit,
):
    router.include_router(noun.router)
