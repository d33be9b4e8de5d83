"""The pages of a running service: each asks `service.answers` and shows what they say."""

from fastapi import APIRouter

from dashboards.pages import clients, forms, health, names, todo

router = APIRouter()
for room in (names, todo, clients, health, forms):
    router.include_router(room.router)
