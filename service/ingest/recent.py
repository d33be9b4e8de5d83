"""
A dictionary of bounded size that keeps what was used lately.
"""

from typing import Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(Generic[_K, _V]):
    """
    Remembers at least the *size* entries that were used last, and at most twice as many.

    Two generations: what is asked for moves into the younger one; when that is full, the elder one is
    forgotten. Threads may share it: the worst that can happen is that an entry is forgotten early.
    """

    __slots__ = ("_elder", "_size", "_younger")

    def __init__(self, size: int) -> None:
        self._size = size
        self._younger: dict[_K, _V] = {}
        self._elder: dict[_K, _V] = {}

    def get(self, key: _K) -> _V | None:
        """Return what is remembered, or None."""
        found = self._younger.get(key)
        if found is None:
            found = self._elder.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: _K, value: _V) -> None:
        """Remember a value, which is not None."""
        if len(self._younger) >= self._size:
            self._elder, self._younger = self._younger, {}
        self._younger[key] = value
