"""The pages of a running service: each asks `service.answers` and shows what they say."""

from fastapi import APIRouter

from dashboards.pages import (
    catalogue,
    clients,
    effect,
    explain,
    filters,
    forms,
    health,
    login,
    names,
    reactions,
    search,
    setup,
    share,
    static,
    todo,
    told,
)

router = APIRouter()
for room in (
    names,
    todo,
    clients,
    effect,
    reactions,
    catalogue,
    health,
    setup,
    explain,
    search,
    static,
    told,
    filters,
    forms,
    share,
    login,
):
    router.include_router(room.router)
router.include_router(search.data)
