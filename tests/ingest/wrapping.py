"""Lines as shippers and container runtimes wrap them, drawn from a generator of random numbers."""

import json
import random
from collections.abc import Callable
from datetime import datetime

Wrap = Callable[[random.Random, bytes, datetime], list[bytes]]
"""Wraps a line; gives several where it is split."""

DOCKER_PART = 16_384


def _cri(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    stream = rng.choice([b"stdout", b"stderr"])
    parts = [line]
    while rng.random() < 0.2:
        cut = rng.randrange(len(parts[-1]) + 1)
        parts[-1:] = [parts[-1][:cut], parts[-1][cut:]]
    if rng.random() < 0.03:
        parts.pop()
    tags = [b"P"] * (len(parts) - 1) + [rng.choice([b"F", b"F", b"F:x"])]
    return [
        b"%b %b %b %b" % (_iso(at), stream, tag, part)
        for tag, part in zip(tags, parts, strict=False)
    ]


def _docker(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    stream = rng.choice(["stdout", "stderr"])
    text = line + b"\n"
    parts = [text[start : start + DOCKER_PART] for start in range(0, len(text), DOCKER_PART)]
    return [
        _compact({"log": _text(part), "stream": stream, "time": _iso(at).decode()})
        for part in parts
    ]


def _compose(rng: random.Random, line: bytes, _at: datetime) -> list[bytes]:
    return [rng.choice([b"mcp-1  | ", b"mcp_1 |", b"api.x-2     | "]) + line]


def _rfc5424(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    data = rng.choice([b"-", b"", b'[a b="c"]', b'[a@1 b="\\"]x"][c]'])
    mark = rng.choice([b"", b"\xef\xbb\xbf"])
    header = b"<134>1 %b mcp-1 mcp 7 -" % rng.choice([b"-", _iso(at)])
    return [b" ".join([header, *([data] if data else []), mark + line])]


def _rfc3164(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    time = rng.choice([at.strftime("%b %e %H:%M:%S").encode(), _iso(at)])
    return [rng.choice([b"<14>", b""]) + time + rng.choice([b" vm ", b" "]) + b"mcp[7]: " + line]


def _octets(_rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    message = b"<14>1 %b h a - - - %b" % (_iso(at), line)
    return [b"%d %b" % (len(message), message)]


def _coloured(rng: random.Random, line: bytes, _at: datetime) -> list[bytes]:
    return [b"\x1b[32m%b%b" % (line, rng.choice([b"\x1b[0m", b""]))]


def _fields(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    text, time = _text(line), _iso(at).decode()
    return [
        _compact(
            rng.choice(
                [
                    {"@timestamp": time, "message": text, "host": {"name": "a"}},
                    {"@timestamp": time, "message": text, "log.level": "info"},
                    {"date": at.timestamp(), "log": text},
                    {"log": text, "tag": "x", "level": "info"},
                    {"file": "x", "message": text, "source_type": "file", "timestamp": time},
                    {"time": at.timestamp(), "sourcetype": "x", "event": text},
                    {"logName": "l", "insertId": "i", "timestamp": time, "textPayload": text},
                    {"id": "3" * 56, "timestamp": int(at.timestamp() * 1000), "message": text},
                    {"level": "info", "msg": text},
                ]
            )
        )
    ]


def _journald(rng: random.Random, line: bytes, at: datetime) -> list[bytes]:
    record: dict[str, object] = {"MESSAGE": rng.choice([_text(line), list(line[:2_000])])}
    record["__REALTIME_TIMESTAMP"] = str(int(at.timestamp() * 1_000_000))
    if rng.random() < 0.5:
        record["__CURSOR"] = f"s={rng.randrange(40)}"
    return [_compact(record)]


WRAPS: list[Wrap] = [
    _cri, _cri, _docker, _docker, _compose, _rfc5424, _rfc3164, _octets, _coloured, _fields, _journald,
]  # fmt: skip


def nest(rng: random.Random) -> list[Wrap]:
    """Return some wrappers, innermost first; none as often as not."""
    return [rng.choice(WRAPS) for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3, 8]))]


def wrapped(rng: random.Random, line: bytes, at: datetime, around: list[Wrap]) -> list[bytes]:
    """Return a line within wrappers, as one line or several."""
    lines = [line]
    for wrap in around:
        lines = [outer for inner in lines for outer in wrap(rng, inner, at)]
    return lines


def counted(lines: list[bytes], at: datetime) -> bytes:
    """Return a stream of syslog messages with octet counts."""
    messages = [b"<14>1 %b h a - - - %b\n" % (_iso(at), line) for line in lines]
    return b"".join(b"%d %b" % (len(message), message) for message in messages)


def exported(rng: random.Random, lines: list[bytes], at: datetime) -> bytes:
    """Return a journal in its export format."""
    entries = []
    for number, line in enumerate(lines):
        fields = b"__CURSOR=s=%d\n__REALTIME_TIMESTAMP=%d\nPRIORITY=6\n" % (
            number,
            at.timestamp() * 1_000_000,
        )
        if rng.random() < 0.2:
            message = b"MESSAGE\n" + len(line).to_bytes(8, "little") + line + b"\n"
        else:
            message = b"MESSAGE=%b\n" % line
        entries.append(fields + message + b"\n")
    return b"".join(entries)


def _iso(at: datetime) -> bytes:
    return at.isoformat(timespec="microseconds").encode()


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _compact(record: object) -> bytes:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()
