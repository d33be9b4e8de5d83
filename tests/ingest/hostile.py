"""Files as strangers and broken disks leave them, drawn from a seed."""

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.ingest.support import DATA, recogniser
from tests.ingest.wrapping import counted, exported, nest, wrapped

NEEDLES = recogniser().needles
SAMPLES = [
    line
    for path in sorted((DATA / "profiles").iterdir())
    for line in path.read_bytes().splitlines()
    if line
]
"""Lines of every profile, of several kinds."""

_TIME = re.compile(rb'"(?:2026-10-05[T ]10:15:02[^"]*)"|\b1791195302(?:114|\.114)\b')
_TEXT_TIME = re.compile(
    rb"(?<=time=)2026-10-05T10:15:02\S*|^2026-10-05 10:15:02,114|(?<=\[)05/Oct/2026:10:15:02 \+0000(?=\])"
)
_TEXT_VALUE = re.compile(rb'(?<==)(?:s1|r1|claude-code)(?= |$)|(?<=")(?:s1|tomtom-ev-routing)(?=")')
_NASTY_TEXT = [
    b"", b'""', b'" "', b'"a\\"b"', b'"\\x22 tool=x"', b'"\\ud800"', b"caf\xc3\xa9", b"\xff", b'"\xff\xfe"', b"<nil>", b"null",
    b"a b", b"a=b", b'a"b', b'"a', b'"a" tool=x', b'x msg="Retired tool called" tool=y', b"x tool=y", b"x method=tools/call",
    b"[a b]", b"\\", b'"\\', b"=?base64?dA==?=", b"-", b"x" * 300, b"\x1b[0m", b"\xe2\x80\xa8", b"7", b"007", b"\t",
]  # fmt: skip
_SESSION = re.compile(rb'"s1"')
_REQUEST = re.compile(rb'"r1"')
_CLIENT = re.compile(rb'"claude-code"')
_NASTY = [
    b'""', b'" "', b'"\\u0031"', b'"a\\"b"', b'"\\\\"', b'"\xc3\xa9"', b'"\xff\xfe"', b'"\\ud800"', b'"\x01"', b"7",
    b"7.0", b"-7", b"07", b"1e3", b"18446744073709551615", b"1" * 40, b"true", b"null", b"NaN", b'["x"]', b"{}",
    b'"' + b"x" * 300 + b'"', b'"Retired tool called"', b'"%d%s%%"', b'"7"', b'"007"', b'"\t"', b'"a,b"', b'"}"',
]  # fmt: skip
_PLAIN = [
    b"no interest",
    b'{"msg":"request completed","ms":%d}',
    b"  at run (x.js:1)",
    b"[2026-10-05] x",
]

Mutation = Callable[[random.Random, bytes], bytes]


def file_of(seed: int) -> bytes:
    """Return a file of up to a few hundred lines; the same seed gives the same file."""
    rng = random.Random(seed)
    shapes = [rng.choice(SAMPLES) for _ in range(rng.randint(1, 4))]
    nasty = rng.choice([0.0, 0.02, 0.3])
    share = rng.choice([0.02, 0.5, 1.0])
    at = datetime(2026, 10, 5, tzinfo=UTC)
    around = nest(rng)
    lines: list[bytes] = []
    for number in range(rng.choice([1, 6, 40, 300])):
        at += timedelta(milliseconds=rng.choice([0, 1, 999, 60_000, 4_000_000, -70_000]))
        if rng.random() < share:
            line = _varied(rng, rng.choice(shapes), at, number, nasty)
        else:
            line = rng.choice(_PLAIN).replace(b"%d", b"%d" % number)
        if rng.random() < 0.01:
            line = _huge(rng, line)
        lines += wrapped(rng, line, at, around)
    mutations = rng.choice([0, 0, 1, len(lines) // 8])
    for _ in range(mutations if lines else 0):  # a part that was lost may have been all there was
        n = rng.randrange(len(lines))
        lines[n] = rng.choice(MUTATIONS)(rng, lines[n])
    return _spoiled(rng, _framed(rng, lines, at))


def _framed(rng: random.Random, lines: list[bytes], at: datetime) -> bytes:
    dice = rng.random()
    if dice < 0.05:
        return counted(lines, at)
    if dice < 0.1:
        return exported(rng, lines, at)
    return b"".join(line + _end(rng) for line in lines)


def _varied(rng: random.Random, line: bytes, at: datetime, number: int, nasty: float) -> bytes:
    """The sample with another time, session, request id and client."""
    iso = at.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()

    def time(found: re.Match[bytes]) -> bytes:
        if rng.random() < nasty / 4:
            return rng.choice([*_NASTY, b'"yesterday"', b'"2026-02-30T00:00:00.000Z"'])
        if found[0].startswith(b'"'):
            return b'"%b"' % iso
        return b"%d" % (at.timestamp() * 1000)

    def text(choices: list[bytes]) -> Callable[[re.Match[bytes]], bytes]:
        return lambda _: (
            rng.choice(_NASTY) if rng.random() < nasty else b'"%b"' % rng.choice(choices)
        )

    if not line.startswith(b"{"):
        return _varied_text(rng, line, at, number, nasty)
    line = _TIME.sub(time, line)
    line = _SESSION.sub(text([b"s1", b"s2", b"9f1c", b"%d" % number]), line)
    line = _REQUEST.sub(text([b"%d" % number, b"%d" % number, b"req-%d" % number, b"7"]), line)
    return _CLIENT.sub(text([b"claude-code", b"Cursor", b"Zed"]), line)


def _varied_text(rng: random.Random, line: bytes, at: datetime, number: int, nasty: float) -> bytes:
    """The same of a line that is no JSON: values that are quoted, and such as a sloppy logger prints."""

    def time(found: re.Match[bytes]) -> bytes:
        if rng.random() < nasty / 4:
            return rng.choice([*_NASTY_TEXT, b"yesterday", b"2026-02-30T00:00:00Z"])
        pattern = "%d/%b/%Y:%H:%M:%S +0000" if found[0].startswith(b"05/") else "%Y-%m-%d %H:%M:%S"
        if b"T" in found[0]:
            pattern = "%Y-%m-%dT%H:%M:%SZ"
        return at.strftime(pattern).encode()

    def value(_: re.Match[bytes]) -> bytes:
        if rng.random() < nasty:
            return rng.choice(_NASTY_TEXT)
        return rng.choice([b"s1", b"s2", b"%d" % number, b"Cursor"])

    return _TEXT_VALUE.sub(value, _TEXT_TIME.sub(time, line))


def _end(rng: random.Random) -> bytes:
    dice = rng.random()
    if dice < 0.94:
        return b"\n"
    return rng.choice([b"\r\n", b"\n\n", b"\n \n", b"\n\0\0\n", b"\n\r\n", b" \n", b"\r\r\n"])


def _spoiled(rng: random.Random, text: bytes) -> bytes:
    """The whole file cut, marked or in another encoding, now and then."""
    dice = rng.random()
    if dice < 0.04:
        return b"\xef\xbb\xbf" + text
    if dice < 0.06:
        return text.decode(errors="replace").encode("utf-16")
    if dice < 0.1:
        return text.replace(b"\n", b"\r\n")
    if dice < 0.3:
        return text[: rng.randrange(len(text) + 1)]
    return text


def _cut(rng: random.Random, line: bytes) -> bytes:
    return line[: rng.randrange(len(line) + 1)]


def _flipped(rng: random.Random, line: bytes) -> bytes:
    at = rng.randrange(len(line) + 1)
    return line[:at] + bytes([rng.randrange(256)]) + line[at + 1 :]


def _interleaved(rng: random.Random, line: bytes) -> bytes:
    """Two writers without a lock: one line stands inside another."""
    at = rng.randrange(len(line) + 1)
    return line[:at] + rng.choice(SAMPLES) + line[at:]


def _with_needle(rng: random.Random, line: bytes) -> bytes:
    at = rng.randrange(len(line) + 1)
    return line[:at] + rng.choice(NEEDLES) + line[at:]


def _huge(rng: random.Random, line: bytes) -> bytes:
    pad = b"x" * rng.choice([3_000, 70_000, 300_000])
    return rng.choice([pad + line, line + pad, line.replace(b'{"', b'{"pad":"%b","' % pad, 1)])


def _deep(rng: random.Random, line: bytes) -> bytes:
    levels = rng.choice([50, 101, 2_000])
    return line.replace(b'{"', b'{"deep":%b%b,"' % (b"[" * levels, b"]" * levels), 1)


def _repeated(rng: random.Random, line: bytes) -> bytes:
    """A key that stands there twice: the last counts."""
    value = rng.choice([*_NASTY, b'"s3"'])
    key = rng.choice([b"time", b"sessionId", b"requestId", b"tool", b"msg", b"data", b"timestamp"])
    if not line.startswith(b"{"):
        pair = b"%b=%b" % (rng.choice([b"tool", b"msg", b"sessionId"]), rng.choice(_NASTY_TEXT))
        return rng.choice([pair + b" " + line, line + b" " + pair])
    pair = b'"%b":%b' % (key, value)
    return rng.choice([line.replace(b"{", b"{%b," % pair, 1), line[:-1] + b",%b}" % pair])


def _rewritten(rng: random.Random, line: bytes) -> bytes:
    """The same record written by another library."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return rng.choice(
        [
            json.dumps(record),
            json.dumps(record, sort_keys=True),
            json.dumps(record, separators=(" , ", " : ")),
            json.dumps([record]),
            json.dumps({"log": json.dumps(record)}),
        ]
    ).encode(errors="replace")


def _padded(rng: random.Random, line: bytes) -> bytes:
    pad = rng.choice(
        [b"\0", b" ", b"\t", b"\xef\xbb\xbf", b"\0" * 4_096, b"2026-10-05 app: ", b"q=x "]
    )
    return rng.choice([pad + line, line + pad])


MUTATIONS: list[Mutation] = [
    _cut, _flipped, _flipped, _interleaved, _with_needle, _huge, _deep, _repeated, _rewritten, _padded,
]  # fmt: skip
