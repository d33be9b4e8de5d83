"""Databases of the store's own tests."""

from collections.abc import Callable, Iterator

import pytest

from service.store.driver import Writer
from service.store.engine import Engine


@pytest.fixture
def two_engines(new_engine: Callable[[], Engine]) -> tuple[Engine, Engine]:
    """Two databases, wiped by each example."""
    return new_engine(), new_engine()


@pytest.fixture
def opened(database_url: str) -> Iterator[Writer]:
    """A writer on a fresh migrated database, the one of `engine`."""
    made = Writer(database_url)
    yield made
    made.close()
