"""Bodies that are made to burst: each is answered, and costs little memory whatever it claims to hold."""

import gzip
import shutil
import struct
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import cramjam
import httpx2 as httpx
import pytest
import zstandard

from tests.faults.programs import Server, event_line, serving

LIMIT = 8 * 1024 * 1024
ROOM = 64 * 1024 * 1024
ZEROS = bytes(128 * 1024 * 1024)
KEPT = 16 * 1024 * 1024
TOO_LARGE = 413
SIZES: dict[str, int] = {}
"""Of a service that has stored something and is idle."""


def zstd_blocks(number: int) -> bytes:
    """A frame of blocks of 128 KiB, each of one byte that is said once."""
    header = b"\x28\xb5\x2f\xfd\x00\x58"  # no checksum, no size, a window of 2 MiB
    block = (128 * 1024) << 3 | 1 << 1
    blocks = [(block | (each == number - 1)).to_bytes(3, "little") + b"a" for each in range(number)]
    return header + b"".join(blocks)


def snappy_claim(size: int) -> bytes:
    """A block that claims to hold so much."""
    written = bytearray()
    while size > 127:
        written.append(size & 127 | 128)
        size >>= 7
    return bytes([*written, size]) + b"\0a"


ZLIB = zlib.compress(ZEROS, 9)
COMPRESSED = {
    "gzip": ("gzip", gzip.compress(ZEROS)),
    "gzip of many members": ("gzip", gzip.compress(bytes(1 << 20)) * 64),
    "zlib": ("deflate", ZLIB),
    "deflate": ("deflate", ZLIB[2:-4]),
    "zstd": ("zstd", zstandard.compress(ZEROS)),
    "zstd of many blocks": ("zstd", zstd_blocks(100_000)),
    "zstd with a window of a gigabyte": ("zstd", b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00"),
    "snappy": ("snappy", bytes(cramjam.snappy.compress_raw(bytes(16 << 20)))),
    "snappy that claims": ("snappy", snappy_claim(2**32 - 1)),
    "framed snappy": ("snappy", bytes(cramjam.snappy.compress(ZEROS))),
    "gzip in gzip": ("gzip, gzip", gzip.compress(gzip.compress(ZEROS))),
    "zstd in gzip": ("zstd, gzip", gzip.compress(zstandard.compress(ZEROS))),
}  # fmt: skip


def filled(start: bytes, part: bytes, end: bytes = b"") -> bytes:
    return start + part * ((LIMIT - len(start) - len(end)) // len(part)) + end


def varint_field(number: int, inner: bytes) -> bytes:
    size, length = len(inner), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + inner


def raw_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def gz_text(data: bytes) -> str:
    return b64encode(gzip.compress(data)).decode()


PATHS = {
    "an array of empty arrays": ("/ingest", filled(b"[", b"[],", b"[]]")),
    "an array of empty objects": ("/ingest", filled(b"[", b"{},", b"{}]")),
    "an array of numbers": ("/ingest", filled(b"[", b"0,", b"0]")),
    "an array in an array": ("/ingest", filled(b'[{"a":[', b"[],", b"[]]}]")),
    "an array of broken objects": ("/ingest", filled(b"[5,", b"{}x,", b"5]")),
    "brackets": ("/ingest", b"[" * LIMIT),
    "braces": ("/ingest", b'{"a":' * (LIMIT // 5)),
    "objects without separators": ("/ingest", filled(b"", b"{}")),
    "a wrapper of many": ("/ingest", filled(b'{"logs":[', b'"",', b'""]}')),
    "members": ("/ingest", filled(b"{", b'"":0,', b'"":0}')),
    "msgpack of empty maps": ("/ingest", filled(b"", b"\x80")),
    "msgpack that claims": ("/ingest", b"\xdd\xff\xff\xff\xff" * 1000),
    "msgpack of claims in a map": ("/ingest", b"\x91\x81\xa1a" + b"\xdd\x00\x7f\xff\xff" * 500),
    "msgpack of a map of empty maps": (
        "/ingest",
        b"\x91\x81\xa1a\xdd" + struct.pack(">I", LIMIT - 100) + b"\x80" * (LIMIT - 100),
    ),
    "a form of many parts": (
        "/ingest",
        filled(b"", b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n", b"--b--\r\n"),
    ),
    "Loki entries": (
        "/loki/api/v1/push",
        filled(b'{"streams":[{"values":[', b'["",""],', b"[]]}]}"),
    ),
    "Loki streams": ("/loki/api/v1/push", filled(b'{"streams":[', b"{},", b"{}]}")),
    "Loki protobuf streams": ("/loki/api/v1/push", raw_snappy(filled(b"", b"\x0a\x00"))),
    "Loki protobuf entries": (
        "/loki/api/v1/push",
        raw_snappy(varint_field(1, filled(b"", b"\x12\x00")[: LIMIT - 100])),
    ),
    "Splunk events": ("/services/collector", filled(b"", b"{}")),
    "one Splunk event": (
        "/services/collector",
        b"".join([b'{"event":{"a":[%b[]]}}' % (b"[]," * 345_000)] * 8)[:LIMIT],
    ),
    "a Firehose of bombs": (
        "/firehose",
        b'{"records":[%b]}' % b",".join([b'{"data":"%b"}' % gz_text(ZEROS).encode()] * 4),
    ),
    "a Pub/Sub bomb": ("/pubsub", b'{"message":{"data":"%b"}}' % gz_text(ZEROS).encode()),
    "a journal that claims": (
        "/upload",
        b"__CURSOR=1\nMESSAGE\n" + b"\xff" * 7 + b"\x7f" + b"a\n" * 1000,
    ),
    "journal entries": ("/upload", filled(b"", b"__CURSOR=1\n\n")),
    "logplex": ("/logplex", filled(b"", b"3 <1>\n")),
}


LONG = {"logplex", "objects without separators", "an array of empty objects"}
"""They are not large in memory, but millions of records."""

MEMBERS = gzip.compress(bytes(1 << 20)) * 7_900
"""Nearly eight gigabytes."""


def gigabytes(number: int) -> bytes:
    """One member of so many gigabytes."""
    member = zlib.compressobj(9, wbits=31)
    parts = [member.compress(ZEROS) for _ in range(number * 8)]
    return b"".join([*parts, member.flush()])


def zstd_of(number: int) -> bytes:
    frame = zstandard.ZstdCompressor().compressobj()
    parts = [frame.compress(ZEROS) for _ in range(number * 8)]
    return b"".join([*parts, frame.flush()])


LARGER: dict[str, tuple[str, Callable[[], bytes]]] = {
    "gzip of 4 GB": ("gzip", lambda: gigabytes(4)),
    "gzip of 8 GB in members": ("gzip", lambda: MEMBERS),
    "gzip in gzip of 8 GB": ("gzip, gzip", lambda: gzip.compress(MEMBERS)),
    "gzip in gzip in gzip": ("gzip", lambda: gzip.compress(gzip.compress(MEMBERS))),
    "zstd of 4 GB": ("zstd", lambda: zstd_of(4)),
    "zstd of 64 GB in blocks": ("zstd", lambda: zstd_blocks(500_000)),
    "zstd of frames": ("zstd", lambda: zstandard.compress(ZEROS) * 600),
    "a block of snappy": (
        "snappy",
        lambda: bytes(cramjam.snappy.compress_raw(bytes(170 << 20))),
    ),
    "frames of snappy": ("snappy", lambda: bytes(cramjam.snappy.compress(bytes(160 << 20)))),
}
"""What takes seconds to make."""

OPEN = b'{"a":[' * (LIMIT // 6 - 100)
CLOSED = b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000
EXPORT = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[%b]}]}]}'
DEEPER: dict[str, tuple[str, bytes]] = {
    f"{name}, {what}": (path, (around % deep)[:LIMIT])
    for what, deep in {"open": OPEN, "closed": CLOSED}.items()
    for name, (path, around) in {
        "an array": ("/ingest", b"[%b]"),
        "a wrapper": ("/ingest", b'{"logs":[%b]}'),
        "a bulk action": ("/_bulk", b"%b\n{}\n"),
        "a document": ("/_bulk", b'{"index":{}}\n%b\n'),
        "an entry": ("/loki/api/v1/push", b'{"streams":[{"values":[["1",%b]]}]}'),
        "an event": ("/services/collector", b'{"event":%b}'),
        "a record of OTLP": ("/v1/logs", EXPORT),
        "a record of Firehose": ("/firehose", b'{"records":[%b]}'),
        "a message": ("/pubsub", b'{"message":%b}'),
    }.items()
}
CLAIMS = {"text": b"\xdb", "bytes": b"\xc6", "list": b"\xdd", "map": b"\xdf", "extension": b"\xc9"}
FORWARD = b"\x92\xa3tag"
PACKED: dict[str, tuple[str, bytes]] = {
    **{
        f"msgpack whose {name} claims": (
            "/ingest",
            start + claim + b"\xff\xff\xff\xff" + b"\x01" * 90,
        )
        for name, claim in CLAIMS.items()
        for start in (b"\x91\x81\xa1a",)
    },
    **{
        f"msgpack whose {name} claims what fits": (
            "/ingest",
            b"\x91\x81\xa1a" + claim + struct.pack(">I", LIMIT - 100) + b"\x01" * LIMIT,
        )
        for name, claim in CLAIMS.items()
    },
    "a forward of tiny entries": (
        "/ingest",
        FORWARD + b"\xdd" + struct.pack(">I", 2_000_000) + b"\x92\x01\x80" * 2_000_000,
    ),
    "a forward of packed entries": (
        "/ingest",
        FORWARD + b"\xc6" + struct.pack(">I", 6_000_000) + b"\x92\x01\x80" * 2_000_000,
    ),
    "a forward of a bomb": (
        "/ingest",
        FORWARD + b"\xc6" + struct.pack(">I", len(MEMBERS) // 2) + MEMBERS[: len(MEMBERS) // 2],
    ),
}
EXPORTS = {
    "records": EXPORT % (b"{}," * 2_700_000 + b"{}"),
    "scopes": b'{"resourceLogs":[{"scopeLogs":[%b{}]}]}' % (b"{}," * 2_700_000),
    "resources": b'{"resourceLogs":[%b{}]}' % (b"{}," * 2_700_000),
    "a wrong one among records": EXPORT % (b"{}," * 2_700_000 + b'{"flags":-1}'),
    "values": EXPORT % (b'{"body":{"arrayValue":{"values":[%b{}]}}}' % (b"{}," * 2_700_000)),
    "attributes": EXPORT % (b'{"attributes":[%b{}]}' % (b"{}," * 2_700_000)),
}


@pytest.fixture(scope="module")
def server(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service in a process of its own."""
    folder = tmp_path_factory.mktemp("bombs")
    shutil.copyfile(sqlite_template, folder / "calls.db")
    with serving(Server(f"sqlite:///{folder / 'calls.db'}", folder / "serve.log")) as started:
        httpx.post(f"{started.url}/ingest", content=event_line("zed", 1)).raise_for_status()
        yield started


def growth(server: Server, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, int]:
    """The status of a request, and by how many bytes the service was larger than idle meanwhile."""
    idle = SIZES.setdefault(server.url, server.memory("VmRSS"))
    if server.memory("VmRSS") > idle + KEPT:  # what the last one left would hide the next
        server.stop()
        server.start()
        httpx.post(f"{server.url}/ingest", content=event_line("zed", 1)).raise_for_status()
    Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # the peak begins anew
    status = httpx.post(server.url + path, content=body, headers=headers, timeout=120).status_code
    return status, server.memory("VmHWM") - idle


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_bomb_is_refused_before_it_bursts(server: Server, name: str) -> None:
    """Whatever it is compressed with and claims, it is too large, and little of it is inflated."""
    encoding, body = COMPRESSED[name]
    status, grown = growth(server, "/ingest", body[:LIMIT], {"Content-Encoding": encoding})

    assert status == TOO_LARGE
    assert grown < ROOM, f"{grown / 2**20:.0f} MiB"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in PATHS],
)
def test_a_body_of_the_largest_size_takes_little_memory(server: Server, name: str) -> None:
    """Millions of values, or deep ones, are answered in the protocol, never by running out of memory."""
    path, body = PATHS[name]
    status, grown = growth(server, path, body, {"Content-Encoding": "identity"})

    assert status in {200, 204, 400, 413, 422}
    assert grown < ROOM, f"{grown / 2**20:.0f} MiB"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize("name", LARGER)
def test_a_bomb_of_gigabytes_is_refused_before_it_bursts(server: Server, name: str) -> None:
    """As a smaller one is."""
    encoding, make = LARGER[name]
    body = make()
    assert len(body) <= LIMIT
    status, grown = growth(server, "/ingest", body, {"Content-Encoding": encoding})

    assert status == TOO_LARGE
    assert grown < ROOM, f"{grown / 2**20:.0f} MiB"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
@pytest.mark.parametrize("name", [*DEEPER, *PACKED, *EXPORTS])
def test_what_is_deep_or_claims_much_takes_little_memory(server: Server, name: str) -> None:
    """At every receiver, whether it is closed or not."""
    body = EXPORTS.get(name)
    path, body = (DEEPER | PACKED)[name] if body is None else ("/v1/logs", body)
    kind = "application/msgpack" if name in PACKED else "application/json"
    status, grown = growth(server, path, body, {"Content-Type": kind})

    assert status in {200, 204, 400, 413, 422}
    assert grown < ROOM, f"{grown / 2**20:.0f} MiB"
