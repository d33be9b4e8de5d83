"""The pages of a running service: each asks `service.answers` and shows what they say."""

from fastapi import APIRouter

from dashboards.pages import catalogue, clients, forms, health, names, todo, told

router = APIRouter()
for room in (names, todo, clients, catalogue, health, told, forms):
    router.include_router(room.router)
