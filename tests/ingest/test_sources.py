"""Files: named, matched, plain or gzip; what cannot be read is named."""

import bz2
import gzip
import io
import lzma
import os
import random
import sqlite3
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from service.errors import UnreadableInput
from service.ingest.sources import CHUNK_BYTES, Source, expand, open_source


def read(path: Path) -> bytes:
    with open_source(str(path)) as source:
        return b"".join(source.chunks())


def test_names_and_patterns_become_files(tmp_path: Path) -> None:
    """A name stands as it is, also one that looks like a pattern; matches are sorted."""
    for name in ("b.log", "a.log", "x[1].log", "c.txt"):
        (tmp_path / name).write_text("")
    at = str(tmp_path)

    assert expand([f"{at}/*.txt", f"{at}/x[1].log", "-", f"{at}/[ab].log"]) == [
        f"{at}/c.txt", f"{at}/x[1].log", "-", f"{at}/a.log", f"{at}/b.log",
    ]  # fmt: skip


def test_all_that_is_not_there_is_named_at_once(tmp_path: Path) -> None:
    """A missing file, a pattern without match and a directory, each with its own words."""
    with pytest.raises(UnreadableInput) as refused:
        expand([str(tmp_path / "no.log"), str(tmp_path / "*.log"), str(tmp_path)])

    assert "no.log: no such file" in refused.value.detail
    assert "*.log: no file matches" in refused.value.detail
    assert "is a directory" in refused.value.detail


def test_a_plain_file_comes_in_pieces(tmp_path: Path) -> None:
    """Never more than a chunk is held, and progress can be told."""
    data = os.urandom(CHUNK_BYTES * 2 + 5)
    (tmp_path / "a").write_bytes(data)
    source = open_source(str(tmp_path / "a"))
    seen = [(len(chunk), source.consumed) for chunk in source.chunks()]
    source.close()

    assert seen == [
        (CHUNK_BYTES, CHUNK_BYTES), (CHUNK_BYTES, 2 * CHUNK_BYTES), (5, 2 * CHUNK_BYTES + 5),
    ]  # fmt: skip
    assert source.size == len(data)


@pytest.mark.parametrize("name", ["a.gz", "a.log"])
def test_gzip_is_known_by_its_bytes_not_its_name(tmp_path: Path, name: str) -> None:
    """Several members, padding between and behind them."""
    data = os.urandom(CHUNK_BYTES) + bytes(4 * CHUNK_BYTES)
    packed = gzip.compress(data, mtime=0) + b"\0\0" + gzip.compress(b"end\n", mtime=0) + b"\0" * 100
    (tmp_path / name).write_bytes(packed)
    source = open_source(str(tmp_path / name))
    chunks = list(source.chunks())
    source.close()

    assert b"".join(chunks) == data + b"end\n"
    assert max(map(len, chunks)) <= CHUNK_BYTES
    assert source.consumed == source.size == len(packed)


def test_a_file_named_gz_that_is_plain_is_plain(tmp_path: Path) -> None:
    """Some rotations rename and never compress."""
    (tmp_path / "a.gz").write_bytes(b"plain\n")

    assert read(tmp_path / "a.gz") == b"plain\n"


def drained(path: Path) -> tuple[bytes, str]:
    """All that a file gives until it breaks off, and what is said of it then."""
    seen = b""
    with open_source(str(path)) as source:
        try:
            for chunk in source.chunks():
                seen += chunk
        except UnreadableInput as error:
            return seen, str(error)
    return seen, ""


@pytest.mark.parametrize("at", [2, 12, 30, 1_000, 300_000, -300, -12, -5, -1])
def test_a_cut_gzip_gives_what_it_has_and_then_its_name(tmp_path: Path, at: int) -> None:
    """Nothing that could be read is lost, wherever the file ends, and the loss is not silent."""
    rng = random.Random(1)
    data = b"".join(b"%x\n" % rng.getrandbits(64) for _ in range(200_000))
    packed = gzip.compress(data, mtime=0)[:at]
    (tmp_path / "cut.gz").write_bytes(packed)
    seen, error = drained(tmp_path / "cut.gz")

    assert error.endswith("cut.gz: the gzip stream ends too early; the file is cut")
    whole = zlib.decompressobj(wbits=31).decompress(packed)
    assert whole.startswith(seen)
    assert len(whole) - len(seen) < 8  # what the last, half code stands for


def test_a_spoilt_gzip_gives_what_it_has_and_then_its_name(tmp_path: Path) -> None:
    """Its sum does not fit, or what follows it is none of it."""
    data = b"line\n" * 200_000
    whole = gzip.compress(data, mtime=0)
    for packed in (whole[:-8] + b"\1" * 8, whole + b"no gzip" * 9):
        (tmp_path / "bad.gz").write_bytes(packed)
        seen, error = drained(tmp_path / "bad.gz")

        assert "bad.gz: broken gzip" in error
        assert data.startswith(seen)
        assert len(seen) >= len(data) - CHUNK_BYTES


def test_an_empty_file_has_no_chunks(tmp_path: Path) -> None:
    """It is no error either."""
    (tmp_path / "a").write_bytes(b"")

    assert read(tmp_path / "a") == b""


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """With the system's reason."""
    with pytest.raises(UnreadableInput, match=r"gone\.log: No such file"):
        open_source(str(tmp_path / "gone.log"))


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves it open for others."""
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(b"a\n", mtime=0)))
    monkeypatch.setattr("sys.stdin", stdin)
    with open_source("-") as source:
        assert b"".join(source.chunks()) == b"a\n"

    assert source.size is None
    assert not stdin.closed


def test_what_a_pipe_has_is_taken_without_waiting_for_more() -> None:
    """A program that is still running may be read from; its lines do not wait for a full chunk."""
    reading, writing = os.pipe()
    os.write(writing, b"first\n")
    with Source("pipe", os.fdopen(reading, "rb"), None) as source:
        assert next(source.chunks()) == b"first\n"
    os.close(writing)


def sqlite_file(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a)")
    return path.read_bytes()


def test_a_file_that_is_no_log_is_named_with_what_it_is(tmp_path: Path) -> None:
    """Taken for text, it would be lines that nobody knows. A log that only begins alike is a log."""
    text = b'{"msg":"Retired tool called"}\n'
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.log", text)
    files = {
        "xz": lzma.compress(text),
        "bzip2": bz2.compress(text),
        "zstd": zstandard.compress(text),
        "zip": zipped.getvalue(),
        "a SQLite database": sqlite_file(tmp_path / "a.db"),
    }
    path = tmp_path / "server.log"
    for kind, data in files.items():
        path.write_bytes(data)
        with open_source(str(path)) as opened, pytest.raises(UnreadableInput) as caught:
            list(opened.chunks())
        assert caught.value.detail.startswith(f"{path}: is {kind}, which cannot be read")

    for log in (b"BZhello\n", b"PK\n", b"(", b"SQLite\n"):
        path.write_bytes(log)
        with open_source(str(path)) as opened:
            assert b"".join(opened.chunks()) == log
