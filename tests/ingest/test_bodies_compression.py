"""Compressed bodies come out as they went in, or not at all."""

import gzip
import lzma
import zlib
from collections.abc import Callable

import cramjam
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies.compression import decode_body, looks_compressed
from service.ingest.foreign import kind_of

LIMIT = 5_000
Compress = Callable[[bytes], bytes]


def raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


def zstd_stream(data: bytes) -> bytes:
    """Without its size in front, as senders write that compress while they go."""
    made = zstandard.ZstdCompressor().compressobj()
    return made.compress(data) + made.flush()


def decoded_or_refusal(body: bytes, header: str | None) -> bytes | str:
    try:
        return decode_body(body, header, LIMIT)
    except (BodyNotDecodable, BodyTooLarge) as error:
        return error.detail


WAYS: dict[str, tuple[str, Compress]] = {
    "gzip": ("gzip", lambda data: gzip.compress(data, mtime=0)),
    "zlib": ("deflate", zlib.compress),
    "deflate": ("deflate", raw_deflate),
    "zstd": ("zstd", zstandard.compress),
    "zstd stream": ("zstd", zstd_stream),
    "zstd frames": ("zstd", lambda data: zstandard.compress(data[:7]) + zstd_stream(data[7:])),
    "snappy": ("snappy", lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "framed snappy": ("snappy", lambda data: bytes(cramjam.snappy.compress(data))),
}
SELF_EVIDENT = ("gzip", "zlib", "zstd", "zstd stream", "zstd frames", "framed snappy")

way = pytest.mark.parametrize("name", WAYS)


@way
@given(
    data=st.binary(min_size=1, max_size=LIMIT) | st.text(min_size=1, max_size=500).map(str.encode)
)
def test_what_is_named_comes_out_as_it_was(name: str, data: bytes) -> None:
    """By the header alone, in any spelling of it."""
    encoding, compress = WAYS[name]
    body = compress(data)
    evident = data.startswith((b"\x1f\x8b", b"\x28\xb5", b"\x78", b"\xff\x06"))
    if len(body) <= LIMIT and not evident and kind_of(data) is None:
        assert decode_body(body, f" {encoding.upper()} ", LIMIT) == data


@pytest.mark.parametrize("name", SELF_EVIDENT)
@pytest.mark.parametrize("header", [None, "", "identity", "gzip", "deflate", "zstd", "br"])
def test_what_shows_itself_needs_no_header_and_survives_a_wrong_one(
    name: str, header: str | None
) -> None:
    """Senders forget the header, or name another."""
    assert decode_body(WAYS[name][1](b'{"a":1}\n'), header, LIMIT) == b'{"a":1}\n'


@pytest.mark.parametrize("header", [None, "gzip", "deflate", "zstd", "snappy", "br", "gzip, zstd"])
@pytest.mark.parametrize("text", [b'{"a":1}\n', b"x^ plain", "é".encode(), b""])
def test_text_that_a_proxy_has_inflated_stays_text(header: str | None, text: bytes) -> None:
    """The header stays behind when the encoding is taken off on the way."""
    assert decode_body(text, header, LIMIT) == text


@way
@pytest.mark.parametrize("outer", WAYS)
def test_several_encodings_come_off_in_the_reverse_order(name: str, outer: str) -> None:
    """The header lists them as they were applied."""
    body = WAYS[outer][1](WAYS[name][1](b"a\nb\n"))

    assert decode_body(body, f"{WAYS[name][0]}, {WAYS[outer][0]}", LIMIT) == b"a\nb\n"


@way
@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_is_exact(name: str, over: int) -> None:
    """As much passes, a byte more does not."""
    encoding, compress = WAYS[name]
    body = compress(b"a" * (LIMIT + over))
    if over:
        with pytest.raises(BodyTooLarge, match=str(LIMIT)):
            decode_body(body, encoding, LIMIT)
    else:
        assert decode_body(body, encoding, LIMIT) == b"a" * LIMIT


@way
@given(cut=st.integers(1, 40), noise=st.binary(min_size=1, max_size=8))
def test_what_is_broken_is_refused_in_words(name: str, cut: int, noise: bytes) -> None:
    """Cut anywhere, or with something behind it: never another error, and never other bytes."""
    encoding, compress = WAYS[name]
    data = bytes(range(256)) * 8
    body = compress(data)
    for broken in (body[:-cut], body + noise):
        found = decoded_or_refusal(broken, encoding)
        assert found == data or "zstd or snappy" in str(found)  # gzip may have padding behind it


@given(st.binary(max_size=200), st.sampled_from([None, "gzip", "deflate", "zstd", "snappy", "br"]))
def test_any_bytes_are_decoded_or_refused(body: bytes, header: str | None) -> None:
    """A stranger's bytes never end in an error that nobody expected."""
    assert isinstance(decoded_or_refusal(body, header), bytes | str)


def test_a_header_of_many_encodings_is_refused() -> None:
    """Each layer is work."""
    with pytest.raises(BodyNotDecodable, match="encodings"):
        decode_body(b"a", "gzip, " * 9 + "gzip", LIMIT)


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5])
def test_layers_that_nobody_named_come_off_or_are_refused(layers: int) -> None:
    """Else what is inside would be taken for lines that are none of ours."""
    body = b'{"a":1}'
    for _ in range(layers):
        body = gzip.compress(body)
    found = decoded_or_refusal(body, None)

    assert found == b'{"a":1}' if layers <= 3 else "upon another" in str(found)


@pytest.mark.parametrize("name", WAYS)
def test_whatever_may_grow_is_seen_beforehand(name: str) -> None:
    """What is set aside for a body depends on it."""
    assert looks_compressed(WAYS[name][1](b'{"msg":"Server started"}\n' * 20))
    assert not looks_compressed('{"msg":"é"}\n'.encode() * 100)
    assert not looks_compressed(b"")


@pytest.mark.parametrize("header", [None, "xz", "gzip"])
def test_what_is_compressed_otherwise_is_refused_by_its_name(header: str | None) -> None:
    """Whatever the header says, and also below what can be read."""
    for body in (lzma.compress(b"a\n"), gzip.compress(lzma.compress(b"a\n"))):
        with pytest.raises(BodyNotDecodable, match="the body is xz, which cannot be read here"):
            decode_body(body, header, 1000)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"BZ\xff", "broken gzip (it does not begin as gzip does)"),
        (gzip.compress(b"a")[:-8] + b"\0" * 8, "broken gzip (its checksum is wrong)"),
        (gzip.compress(b"a")[:10] + b"\xff" * 20, "broken gzip (invalid block type)"),
    ],
)
def test_a_refusal_is_in_plain_words(body: bytes, words: str) -> None:
    """Not in those of a library."""
    with pytest.raises(BodyNotDecodable) as caught:
        decode_body(body, "gzip", 1000)
    assert caught.value.detail.startswith(words)
