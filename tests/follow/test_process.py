"""`lastcall follow` in a process of its own: killed, stopped, and left without its database."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from service.store import engine as db
from service.store import stats
from tests.faults.programs import environment, until
from tests.follow.support import append, counted, line, lines, numbers

COMMAND = [sys.executable, "-c", "from service.cli import main; main()", "follow"]
POINTS = [
    f"{word}:{number}"
    for word, most in (("write", 12), ("before-commit", 3), ("after-commit", 3))
    for number in range(1, most + 1, 1 + most // 8)
]


class Log:
    """A log that is written to and rotated in every way, and the lines that were written to it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.path = folder / "app.log"
        self.written: list[int] = []
        self._random = random.Random(seed)
        self._next = 0
        self._generation: list[int] = []
        self._archives = 0
        self.path.touch()

    def work(self, steps: int) -> None:
        """Do some of what loggers and their rotation do."""
        for _ in range(steps):
            self._random.choices(
                [self._write, self._write_in_two, self._rename, self._copytruncate, self._compress],
                [12, 6, 1, 1, 1],
            )[0]()

    def _numbers(self) -> list[int]:
        """The next numbers; some lines are equal to earlier ones of the same file."""
        count = self._random.choice([1, 1, 2, 5, 60])
        found = list(range(self._next, self._next + count))
        self._next += count
        if self._generation and self._random.random() < 0.5:
            found.append(self._random.choice(self._generation))
        self._generation += found
        self.written += found
        return found

    def _write(self) -> None:
        append(self.path, lines(self._numbers()))

    def _write_in_two(self) -> None:
        data = lines(self._numbers())
        cut = self._random.randrange(len(data))
        append(self.path, data[:cut])
        append(self.path, data[cut:])

    def _archive(self) -> Path:
        self._archives += 1
        self._generation = []
        return self.path.with_name(f"app.log.{self._archives}")

    def _rename(self) -> None:
        self.path.rename(self._archive())
        self.path.touch()

    def _copytruncate(self) -> None:
        self._archive().write_bytes(self.path.read_bytes())
        os.truncate(self.path, 0)

    def _compress(self) -> None:
        """As gzip does it: the archive grows under its name, then the file goes."""
        plain = [each for each in self.path.parent.glob("app.log.*") if each.suffix != ".gz"]
        if plain:
            oldest = min(plain)
            packed = gzip.compress(oldest.read_bytes())
            archive = oldest.with_name(f"{oldest.name}.gz")
            append(archive, packed[: len(packed) // 2])
            append(archive, packed[len(packed) // 2 :])
            oldest.unlink()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "logs"
    made.mkdir()
    return made


def once(folder: Path, database_url: str) -> dict[str, Any]:
    """Read what is there, and stop."""
    done = subprocess.run(
        [*COMMAND, f"{folder}/app.log*", "--once", "--json"],
        env=environment(database_url),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    receipt: dict[str, Any] = json.loads(done.stdout)
    return receipt


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_instant_it_loses_nothing_and_counts_nothing_twice(
    seed: int, folder: Path, database_url: str
) -> None:
    """While a log is written to and rotated in every way, what is stored equals what was written."""
    log = Log(folder, seed)
    instants = random.Random(seed)
    for _ in range(5):
        process = subprocess.Popen(
            [*COMMAND, f"{folder}/app.log*"],
            env=environment(database_url, commit_records=10),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(5):
            log.work(4)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(instants.uniform(0, 0.3))
        process.kill()
        process.communicate()
        log.work(3)

    once(folder, database_url)

    assert numbers(database_url) == sorted(log.written)
    assert counted(database_url) == len(log.written)
    assert once(folder, database_url)["received"] == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("point", POINTS)
def test_killed_within_a_transaction_it_goes_on_as_if_nothing_had_been(
    point: str, folder: Path, database_url: str
) -> None:
    """Events and place are stored together or not at all: the second run meets no duplicate of its own."""
    log = folder / "app.log"
    log.write_bytes(lines([*range(40), *range(20)]))
    killed = subprocess.run(
        [sys.executable, "-m", "tests.acceptance.killed", point, "follow", str(log), "--once"],
        env={**os.environ, "LASTCALL_DATABASE_URL": database_url},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode in (-signal.SIGKILL, 0), killed.stderr
    append(log, lines([5, 50]))

    receipt = once(folder, database_url)

    assert receipt["duplicates"] == 0
    assert numbers(database_url) == sorted([*range(40), *range(20), 5, 50])


@contextmanager
def following(
    folder: Path, database_url: str, *more: str
) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A process that follows, and the file that it writes its log to."""
    said = folder.parent / "follow.log"
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [*COMMAND, f"{folder}/app.log*", *more],
            env=environment(database_url),
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    try:
        yield process, said
    finally:
        process.kill()
        process.communicate()


def stored(database_url: str) -> int:
    engine = db.make_engine(database_url)
    try:
        with db.reading(engine) as connection:
            return sum(stats.stats(connection)["events"].values())
    finally:
        engine.dispose()


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_it_is_told_to_and_says_what_came(
    asked: signal.Signals, folder: Path, database_url: str
) -> None:
    """With exit status 0, its place stored and a half-written line held back."""
    log = folder / "app.log"
    log.write_bytes(lines(range(3)) + line(3)[:20])
    with following(folder, database_url, "--json") as (process, _):
        until(lambda: stored(database_url) == 3, "the first lines")
        process.send_signal(asked)
        out, _ = process.communicate(timeout=60)

    assert process.returncode == 0
    receipt = json.loads(out)
    assert (receipt["received"], receipt["accepted"], receipt["pending"]) == (3, 3, 1)
    append(log, line(3)[20:])
    assert once(folder, database_url)["received"] == 1


def test_files_that_are_not_there_yet_are_said_once_and_waited_for(
    folder: Path, database_url: str
) -> None:
    """A mistyped pattern would follow nothing for ever and say nothing."""
    with following(folder, database_url) as (_, said):
        until(lambda: "waiting" in said.read_text(), "a word that there is none")
        (folder / "app.log").write_bytes(lines(range(3)))
        until(lambda: stored(database_url) == 3, "the lines")
        assert said.read_text().count(f"no file yet at {folder}/app.log*; waiting") == 1


def test_two_processes_on_one_file_count_nothing_twice(folder: Path, database_url: str) -> None:
    """Neither do they spoil each other's place."""
    log = Log(folder, 7)
    with following(folder, database_url) as (one, _), following(folder, database_url) as (two, _):
        for _ in range(8):
            log.work(10)
            with pytest.raises(subprocess.TimeoutExpired):
                one.wait(0.3)
        until(lambda: stored(database_url) == len(log.written), "all lines")
        assert one.poll() is two.poll() is None

    assert once(folder, database_url)["received"] == 0
    assert numbers(database_url) == sorted(log.written)


@pytest.fixture
def postgresql_url(postgresql_server: str, postgresql_template: str) -> Iterator[str]:
    """A database whose server can be told to refuse."""
    name = f"lastcall_follow_{uuid.uuid4().hex}"
    with psycopg.connect(postgresql_server, autocommit=True) as administrator:
        administrator.execute(f'CREATE DATABASE "{name}" TEMPLATE "{postgresql_template}"'.encode())
        yield (
            sa.make_url(postgresql_server).set(database=name).render_as_string(hide_password=False)
        )
        administrator.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def test_a_database_that_is_away_is_waited_for(
    folder: Path, postgresql_server: str, postgresql_url: str
) -> None:
    """It is said once when it goes and once when it is back; nothing is lost meanwhile."""
    log = folder / "app.log"
    log.write_bytes(lines(range(3)))
    name = sa.make_url(postgresql_url).database

    def told(said: Path, event: str) -> list[dict[str, Any]]:
        entries = [json.loads(each) for each in said.read_text().splitlines() if each[:1] == "{"]
        return [each for each in entries if each["event"] == event]

    def connections(allowed: str) -> None:
        with psycopg.connect(postgresql_server, autocommit=True) as administrator:
            administrator.execute(f'ALTER DATABASE "{name}" {allowed}'.encode())
            administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )

    with following(folder, postgresql_url) as (process, said):
        until(lambda: stored(postgresql_url) == 3, "the first lines")
        connections("ALLOW_CONNECTIONS false")
        append(log, lines(range(3, 6)))
        until(lambda: bool(told(said, "writing to the database fails")), "a word that it is away")
        append(log, lines(range(6, 9)))
        connections("ALLOW_CONNECTIONS true")
        until(lambda: stored(postgresql_url) == 9, "the lines that came meanwhile")
        until(
            lambda: bool(told(said, "writing to the database works again")),
            "a word that it is back",
        )
        assert len(told(said, "writing to the database fails")) == 1
        assert len(told(said, "writing to the database works again")) == 1
        assert process.poll() is None
    assert numbers(postgresql_url) == list(range(9))


def complaint(*arguments: str, database_url: str) -> tuple[int, str]:
    """Exit status of the command, and what it says on standard error."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(database_url),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["-"], 2, "ingest -"),
        (["{folder}"], 2, "is a folder"),
        (["{folder}/none.log", "--once"], 1, "no file matches"),
        ([], 2, "PATH"),
    ],
)
def test_what_cannot_be_followed_is_said(
    arguments: list[str], status: int, says: str, folder: Path, tmp_path: Path
) -> None:
    """With the exit status of the other commands."""
    given = [each.format(folder=folder) for each in arguments]

    found = complaint(*given, database_url=f"sqlite:///{tmp_path}/calls.db")

    assert found[0] == status
    assert says in found[1]
