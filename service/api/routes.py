"""Every collection, under one prefix."""

from fastapi import APIRouter

from service.api import (
    aliases,
    callers,
    check,
    clients,
    coverage,
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
    aliases,
    exclusions,
    marks,
    check,
    health,
    rejects,
):
    router.include_router(noun.router)
