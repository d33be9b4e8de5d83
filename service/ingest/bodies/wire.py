"""
The wire format of protobuf, read field by field.

A message that a library has parsed takes many times its bytes when it holds many small ones: four million
empty entries fit into a body. Read one after the other they take nothing.
"""

from collections.abc import Iterator
from typing import Final

from service.errors import BodyNotDecodable

VARINT: Final = 0
I64: Final = 1
BYTES: Final = 2
I32: Final = 5

_SIZES: Final = {I64: 8, I32: 4}


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """
    Yield (number, value) of the fields of a message, in order: a number (unsigned) for a varint, bytes
    for all else.

    Raises:
        BodyNotDecodable: It is no message, or cut.
    """
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if kind == BYTES:
            size, at = _varint(data, at)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise BodyNotDecodable(f"no protobuf: wire type {kind}")
        if size > len(data) - at:
            raise BodyNotDecodable("broken protobuf: a field is longer than its message")
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    for byte in data[at : at + 10]:
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << 64) - 1, at
        shift += 7
    raise BodyNotDecodable("broken protobuf: a number does not end")
