"""Requests of log shippers, changed in their bytes: what a broken sender or proxy may send."""

import base64
import gzip
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import cramjam
import zstandard

from tests.captures.runs import CALLS, Request, requests
from tests.faults.carriers import CARRIERS
from tests.faults.mutants import Mutants
from tests.faults.programs import event_line


def _snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def _framed(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress(data))


PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
    "snappy": _snappy,
    "x-snappy-framed": _framed,
}
_TYPES: Final = [
    "",
    "text/plain",
    "application/json",
    "application/x-protobuf",
    "application/msgpack",
    "application/x-ndjson",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "application/json; charset=utf-16",
    "a" * 5_000,
    "\x80/json\xff",
]
_ENCODINGS: Final = [*PACKERS, "", "identity", "br", "gzip, gzip", "gzip," * 9, "\xff", "g" * 3_000]
_ENVELOPES: Final = {
    "/firehose": b'{"requestId":"r","records":[{"data":"e30="},{"data":"%b"}]}',
    "/pubsub": b'{"message":{"data":"%b","messageId":"1","publishTime":"2026-10-05T10:15:02Z"}}',
}
_LENGTHS: Final = ["", "-1", "0", "abc", "9" * 30, "1, 2", "0x10"]


@dataclass(frozen=True)
class Sent:
    """A request as it goes over the wire."""

    request: Request
    length: str
    """What is said of the length of the body."""

    @property
    def is_true(self) -> bool:
        """Whether the length is that of the body."""
        return self.length == str(len(self.request.body))

    @property
    def is_short(self) -> bool:
        """Whether the body ends before its length."""
        return self.length.isdigit() and int(self.length) > len(self.request.body)


@cache
def pool() -> tuple[tuple[Request, bytes], ...]:
    """Recorded requests and made ones of those senders that nobody recorded, each with its plain body."""
    found = [each for run in sorted(CALLS) for each in requests(run) if each.body]
    lines = [event_line("made", number).rstrip() for number in range(3)]
    found += [Request("POST", c.path, c.headers, c.body(lines), "") for c in CARRIERS.values()]
    return tuple((each, _plain(each)) for each in found)


@cache
def _by_path() -> tuple[tuple[tuple[Request, bytes], ...], ...]:
    """The pool, by receiver: most recordings are of one of them."""
    paths: dict[str, list[tuple[Request, bytes]]] = {}
    for request, plain in pool():
        paths.setdefault(request.target.partition("?")[0], []).append((request, plain))
    return tuple(map(tuple, paths.values()))


def _plain(request: Request) -> bytes:
    if "protobuf" in request.headers.get("content-type", "") and "loki" in request.target:
        return bytes(cramjam.snappy.decompress_raw(request.body))
    return request.plain


class MutantRequests:
    """An endless supply of broken requests; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._bytes = Mutants(seed, [plain for _, plain in pool()])

    def __iter__(self) -> Iterator[Sent]:
        """Whole requests: the body is changed before or after its compression, or the headers are."""
        while True:
            request, plain = self._random.choice(self._random.choice(_by_path()))
            if request.target in _ENVELOPES and self._random.random() < 0.5:
                request, plain = self._inside(request.target)
            packed = plain != request.body
            if self._random.random() < 0.9:
                plain = self._bytes.changed(plain)
            if packed and self._random.random() < 0.8:
                name = request.headers.get("content-encoding", "snappy")
                request = replace(request, body=PACKERS[name](plain))
            elif self._random.random() < 0.3:
                request = self._packed(request, plain)
            else:
                request = replace(request, body=plain)
            if self._random.random() < 0.2:
                request = replace(request, body=self._bytes.changed(request.body))
            if self._random.random() < 0.2:
                request = self._with_headers(request)
            yield Sent(request, self._length(request.body))

    def _inside(self, path: str) -> tuple[Request, bytes]:
        """A broken body of any sender in base64, once or among others."""
        inner = self._bytes.changed(self._random.choice(pool())[1])
        if self._random.random() < 0.3:
            inner = self._random.choice(list(PACKERS.values()))(inner)
        data = _ENVELOPES[path] % base64.b64encode(inner)
        return Request("POST", path, {"content-type": "application/json"}, data, ""), data

    def _packed(self, request: Request, plain: bytes) -> Request:
        """Compressed with something that is named, or not."""
        name, pack = self._random.choice(list(PACKERS.items()))
        headers = dict(request.headers)
        with suppress(KeyError):
            del headers["content-encoding"]
        if self._random.random() < 0.8:
            headers["content-encoding"] = name
        return replace(request, body=pack(plain), headers=headers)

    def _with_headers(self, request: Request) -> Request:
        headers = dict(request.headers)
        for name, values in (("content-type", _TYPES), ("content-encoding", _ENCODINGS)):
            if self._random.random() < 0.5:
                headers[name] = self._random.choice(values)
        if self._random.random() < 0.2:
            other, _ = self._random.choice(pool())
            headers = other.headers
        return replace(request, headers=headers)

    def _length(self, body: bytes) -> str:
        true = len(body)
        if self._random.random() < 0.95:
            return str(true)
        return self._random.choice([*_LENGTHS, str(true + 7), str(true // 2), str(10**9)])
