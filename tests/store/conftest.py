"""Databases of the store's own tests."""

from collections.abc import Callable

import pytest

from service.store.engine import Engine


@pytest.fixture
def two_engines(new_engine: Callable[[], Engine]) -> tuple[Engine, Engine]:
    """Two databases, wiped by each example."""
    return new_engine(), new_engine()
