"""
A dictionary of bounded size that keeps what was used lately.
"""

from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Recent(dict[_K, _V | None]):
    """
    Remembers at least the *size* entries that were used last, and at most twice as many; `recent[key]`
    is None where there is none.

    Two generations: the dictionary itself is the younger one; what is asked for moves into it; when it
    is full, the elder one is forgotten. Threads may share it: the worst that can happen is that an
    entry is forgotten early.
    """

    __slots__ = ("_elder", "_size")

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._elder: dict[_K, _V | None] = {}

    def __missing__(self, key: _K) -> _V | None:
        """Look among the elder ones; called by `recent[key]` where the younger have none."""
        found = self._elder.get(key)
        if found is not None:
            self.put(key, found)
        return found

    def put(self, key: _K, value: _V) -> None:
        """Remember a value, which is not None."""
        if len(self) >= self._size:
            self._elder = dict(self)
            self.clear()
        self[key] = value
