"""Databases of a kind that a test names."""

from tests.faults.conftest import make_url

__all__ = ["make_url"]
