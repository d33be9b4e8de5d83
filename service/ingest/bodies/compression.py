"""
Bodies as they were before compression, never more of them than the limit.

Senders forget to say what they compressed with, and proxies inflate a body and leave what was said: where
the first bytes tell, they count; else Content-Encoding does.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable
from typing import Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.foreign import kind_of, said

ACCEPTED: Final = "send it as it is, or with Content-Encoding gzip, deflate, zstd or snappy"

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZLIB: Final = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_SNAPPY: Final = b"\xff\x06\x00\x00sNaPpY"
_MOST_LAYERS: Final = 3
_HEAD_BYTES: Final = 256
_CONTROL: Final = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")

_ZSTD_WINDOW: Final = 8 * 1024 * 1024
"""What every decoder should be able to hold (RFC 8878)."""
_ZSTD_PIECE: Final = 256
"""At least four bytes make a block, and a block at most 128 KiB: so much comes out before it is counted."""


def decode_body(data: bytes, content_encoding: str | None, limit: int) -> bytes:
    """
    Return a request's body as it was before compression, at most *limit* bytes.

    Args:
        data: The body as it came.
        content_encoding: The header of that name: any number of encodings, in the order in which they
            were applied.
        limit: In bytes.

    Raises:
        BodyTooLarge: More than *limit* bytes, before or after; no more than that is inflated.
        BodyNotDecodable: It is broken, or an encoding that is not accepted.
    """
    names = [name.strip().lower() for name in (content_encoding or "").split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    if len(names) > _MOST_LAYERS:
        raise BodyNotDecodable(f"{len(names)} encodings upon another; {ACCEPTED}")
    if len(data) > limit:
        raise too_large(limit)
    _refuse_foreign(data)
    for name in reversed(names):
        data = _layer(name, data, limit)
    for _ in range(_MOST_LAYERS):
        found = _sniffed(data)
        inner = data if found is None else _as_is_or(found, data, limit)
        if inner is data:
            _refuse_foreign(data)
            return data
        data = inner
    if _sniffed(data) is not None:
        raise BodyNotDecodable(f"more than {_MOST_LAYERS} encodings upon another; {ACCEPTED}")
    return data


def too_large(limit: int) -> BodyTooLarge:
    """Return the refusal of a body of more than *limit* bytes."""
    return BodyTooLarge(f"the body is larger than {limit} bytes; send fewer records at a time")


def looks_compressed(body: bytes) -> bool:
    """Say whether a body may be larger than it looks: all are that do not begin as text does."""
    return not _is_text(body[:_HEAD_BYTES], whole=len(body) <= _HEAD_BYTES)


def _refuse_foreign(data: bytes) -> None:
    kind = kind_of(data)
    if kind not in (None, "zstd"):
        raise BodyNotDecodable(f"the body is {kind}, which cannot be read here; {ACCEPTED}")


def _layer(name: str, data: bytes, limit: int) -> bytes:
    """Take one encoding off that is said to be there."""
    decoder = _NAMED.get(name)
    if decoder is None:
        if _sniffed(data) is None and not _is_text(data):
            raise BodyNotDecodable(f"the encoding {name[:40]!r} cannot be read here; {ACCEPTED}")
        return data
    found = _sniffed(data)
    if found is None or decoder is _snappy:  # a block of snappy may begin like anything
        try:
            return _as_is_or(decoder, data, limit)
        except BodyNotDecodable:
            if found is None:
                raise
    return _as_is_or(found, data, limit)


def _as_is_or(decoder: "_Decoder", data: bytes, limit: int) -> bytes:
    try:
        return decoder(data, limit)
    except BodyNotDecodable:
        if _is_text(data):
            return data
        raise


def _sniffed(data: bytes) -> "_Decoder | None":
    if data.startswith(_GZIP):
        return _gunzip
    if data.startswith(_ZSTD):
        return _unzstd
    if data.startswith(_SNAPPY):
        return _snappy
    return _deflate if data.startswith(_ZLIB) else None


def _is_text(data: bytes, *, whole: bool = True) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if whole or error.end < len(data) or error.reason != "unexpected end of data":
            return False
    return _CONTROL.search(data) is None


def _broken(name: str, why: object) -> BodyNotDecodable:
    return BodyNotDecodable(f"broken {name} ({why}); {ACCEPTED}")


# ----------------------------------------------------------------------------- one function an encoding


def _gunzip(data: bytes, limit: int) -> bytes:
    """Inflate gzip of any number of members."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        try:
            text = file.read(limit + 1)
        except EOFError:
            raise BodyNotDecodable(f"the gzip stream ends too early; {ACCEPTED}") from None
        except (OSError, zlib.error) as error:
            raise _broken("gzip", said(error)) from error
    if len(text) > limit:
        raise too_large(limit)
    return text


def _deflate(data: bytes, limit: int) -> bytes:
    """Inflate what is called deflate: with the header of zlib or without."""
    with_header = data[:1] and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    for wbits in (15, -15) if with_header else (-15,):
        member = zlib.decompressobj(wbits)
        try:
            text = member.decompress(data, limit + 1)
        except zlib.error as error:
            why = said(error)
            continue
        if len(text) > limit:
            raise too_large(limit)
        if member.eof and not member.unused_data:
            return text
        why = "it ends too early" if not member.eof else "something follows"
    raise _broken("deflate", why)


def _unzstd(data: bytes, limit: int) -> bytes:
    """Inflate zstd of any number of frames; one that wants more memory than the limit is not begun."""
    import zstandard

    parts: list[bytes] = []
    left = limit
    window = max(_ZSTD_WINDOW, limit)
    frames = zstandard.ZstdDecompressor(max_window_size=window)
    at = 0
    try:
        while at < len(data):
            if zstandard.get_frame_parameters(data[at : at + 18]).window_size > window:
                raise too_large(limit)
            frame = frames.decompressobj()
            while not frame.eof:
                if at >= len(data):
                    raise BodyNotDecodable(f"the zstd stream ends too early; {ACCEPTED}")
                part = frame.decompress(data[at : at + _ZSTD_PIECE])
                at += _ZSTD_PIECE
                left -= len(part)
                if left < 0:
                    raise too_large(limit)
                parts.append(part)
            at = min(at, len(data)) - len(frame.unused_data)
    except zstandard.ZstdError as error:
        raise _broken("zstd", error) from error
    return b"".join(parts)


def _snappy(data: bytes, limit: int) -> bytes:
    """Inflate snappy, framed or a block alone. Both say how large they are before they are inflated."""
    import cramjam

    framed = data.startswith(_SNAPPY)
    try:
        size = _framed_size(data) if framed else cramjam.snappy.decompress_raw_len(data)
        if size > limit:
            raise too_large(limit)
        inflate = cramjam.snappy.decompress if framed else cramjam.snappy.decompress_raw
        return bytes(inflate(data))
    except cramjam.DecompressionError as error:
        raise _broken("snappy", error) from error


def _framed_size(data: bytes) -> int:
    """What the chunks of framed snappy say that they hold together."""
    import cramjam

    size, at = 0, 0
    while at < len(data):
        kind, length = data[at], int.from_bytes(data[at + 1 : at + 4], "little")
        at += 4
        if kind == 0:
            # A block's size is in its first five bytes, after four of a checksum.
            size += cramjam.snappy.decompress_raw_len(data[at + 4 : min(at + length, at + 9)])
        elif kind == 1:
            size += max(0, length - 4)
        at += length
    if at > len(data):  # which the library does not say
        raise _broken("snappy", "it ends too early")
    return size


_Decoder = Callable[[bytes, int], bytes]
_NAMED: Final[dict[str, _Decoder]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflate,
    "zstd": _unzstd,
    "snappy": _snappy,
    "x-snappy-framed": _snappy,
}
