"""A pipeline over the database of a test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from service.pipeline import Pipeline
from service.settings import Settings
from service.store.driver import Writer

NOW_US = 1_791_331_200_000_000
"""2026-10-07T00:00:00Z."""


@pytest.fixture
def new_pipeline(database_url: str) -> Iterator[Callable[[Settings], Pipeline]]:
    """Makes pipelines that write to the test's database, by a clock that stands at `NOW_US`."""
    with ExitStack() as made:

        def make(settings: Settings) -> Pipeline:
            writer = made.enter_context(closing(Writer(database_url)))
            return made.enter_context(closing(Pipeline(writer, settings, clock=lambda: NOW_US)))

        yield make
