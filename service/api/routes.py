"""Every collection, under one prefix."""

from fastapi import APIRouter

from service.api import (
    aliases,
    audit,
    batches,
    callers,
    catalogue,
    check,
    clients,
    compare,
    contact,
    coverage,
    cures,
    events,
    exclusions,
    health,
    marks,
    names,
    overview,
    reactions,
    rejects,
    releases,
    series,
    servers,
    snapshots,
    todo,
    uptake,
    vintage,
)

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
for noun in (
    servers,
    overview,
    todo,
    contact,
    names,
    compare,
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
    aliases,
    exclusions,
    marks,
    check,
    catalogue,
    snapshots,
    health,
    rejects,
    batches,
    audit,
):
    router.include_router(noun.router)
