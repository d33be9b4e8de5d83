"""
Results that take seconds, kept until what they are made from changes.

`kept` goes by the question: the data's version, which every transaction raises, the hour up to which
silences are judged, and what is asked. `kept_by` goes by the material itself: whoever has gathered it need
not ask whether the data changed, and a line that brings nothing to it costs no second calculation. A result
holds no connection.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from service.answers.scope import Scope
from service.clock import HOUR_US
from service.store.engine import Engine
from service.store.read_words import data_version

ResultT = TypeVar("ResultT")

KEPT = 32
"""Results of one database, or of any material, the oldest asked for going first."""


class _Slot:
    """One result, once it is made."""

    def __init__(self) -> None:
        self.making = Lock()
        self.made = False
        self.result: Any = None


class _Shelf:
    """The results that were asked for last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], ResultT]) -> ResultT:
        """The result under a key, made where there is none."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > KEPT:
                self._slots.popitem(last=False)
        with slot.making:  # whoever asks the same meanwhile waits for the one answer
            if not slot.made:
                slot.result, slot.made = make(), True
            found: ResultT = slot.result
            return found


_lock = Lock()
_of_questions: "WeakKeyDictionary[Engine, _Shelf]" = WeakKeyDictionary()
_of_material = _Shelf()


def kept(scope: Scope, what: Hashable, make: Callable[[], ResultT]) -> ResultT:
    """
    The result of *make*, or of the last time that it was asked for with nothing changed since.

    *what* names it, with everything in the question that decides it but server, name, rules left out,
    range, cut and settings.
    """
    cut, query = scope.cut, scope.query
    key = (
        what,
        data_version(scope.connection),
        query.server,
        query.name,
        query.excluded,
        scope.since_us,
        # without later events, the same as of any later instant
        None if cut.is_latest else (cut.as_of_us, scope.until_us),
        None if query.until is None else scope.until_us,
        min(cut.as_of_us, scope.moment.now_us) // HOUR_US,
        str(scope.moment.rules()),
    )
    with _lock:
        shelf = _of_questions.setdefault(scope.connection.engine, _Shelf())
    return shelf.get(key, make)


def kept_by(what: str, material: object, make: Callable[[], ResultT]) -> ResultT:
    """
    The result of *make*, or of the last time with the same material: all that *make* goes by, as tuples of
    text, numbers, None, frozen results whose `repr` tells all, and arrays of numbers.
    """
    digest = blake2b(digest_size=32)
    _add(digest, material)
    return _of_material.get((what, digest.digest()), make)


def _add(digest: blake2b, material: object) -> None:
    """Each part with its kind and length, so that no two materials read alike."""
    if isinstance(material, tuple):
        digest.update(b"(%d" % len(material))
        for part in material:
            _add(digest, part)
        return
    if isinstance(material, np.ndarray):
        said = f"[{material.dtype.str}{material.shape}".encode()
        body = np.ascontiguousarray(material).tobytes()
    else:
        said, body = b"=", repr(material).encode("utf-8", "surrogatepass")
    digest.update(b"%d%s%d:" % (len(said), said, len(body)))
    digest.update(body)
