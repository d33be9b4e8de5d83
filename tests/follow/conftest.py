"""Followers over the database of a test, on files of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from service.follower import Follower
from service.pipeline import Pipeline
from service.settings import Settings
from service.store.driver import Writer
from tests.follow.support import Start

NOW_US = 1_791_331_200_000_000
"""2026-10-07T00:00:00Z."""


@pytest.fixture
def start(database_url: str) -> Iterator[Start]:
    """Starts followers, each as a new process would: nothing but files and database is kept."""
    with ExitStack() as made:

        def begin(*patterns: str | Path, now_us: int = NOW_US, **settings: Any) -> Follower:
            given = Settings(database_url=database_url, **settings)
            writer = made.enter_context(closing(Writer(database_url)))
            pipeline = made.enter_context(closing(Pipeline(writer, given, clock=lambda: now_us)))
            names = [str(pattern) for pattern in patterns]
            follower = Follower(
                names,
                pipeline,
                writer,
                given,
                server=None,
                source="files",
                clock=lambda: now_us,
            )
            return made.enter_context(closing(follower))

        yield begin


@pytest.fixture
def ingest(database_url: str) -> Callable[..., dict[str, object]]:
    """Reads whole files, as `lastcall ingest` does."""
    from service import intake

    def read(*paths: Path) -> dict[str, object]:
        settings = Settings(database_url=database_url)
        done = intake.read([str(path) for path in paths], settings, server=None, source="files")
        assert done.unread == []
        return done.receipt.as_json()

    return read
