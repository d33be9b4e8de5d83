"""Row `http`: events a second that `lastcall serve` has committed when it answers."""

import json
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import sqlalchemy as sa

from benchmarks import product
from benchmarks.load import Sent
from benchmarks.measure import Failed, Running, Taken, running, take
from benchmarks.report import Entry, Row, Spread, Target
from benchmarks.workshop import Workshop

START_SECONDS = 60
REMARKS = [
    (
        "The load comes from a process of its own on the same machine, over connections that stay open; each "
        "line is another event. *wall*, *cpu* and *RSS* are those of the service, its start and end included "
        "(of PostgreSQL they hold none)."
    ),
    (
        "Afterwards the database holds exactly the events that were sent, `lastcall db check` finds no "
        "difference, and a body that is sent again adds nothing."
    ),
]


@dataclass(frozen=True, slots=True)
class Load:
    """Lines a body, and connections that send at once."""

    lines: int
    connections: int

    @property
    def label(self) -> str:
        """For a table."""
        return f"{self.lines:,} lines a body × {self.connections} connections"


LOADS = (Load(1_000, 8), Load(100, 16), Load(10_000, 4))
AIMED_AT = LOADS[0]


def http(shop: Workshop) -> Row:
    """Every load on SQLite, and on PostgreSQL where there is one."""
    entries, targets = [], []
    for engine in ("SQLite", "PostgreSQL"):
        if engine == "PostgreSQL" and not postgresql_answers(shop.options.postgresql):
            shop.say_once("no PostgreSQL answers at the given URL, so its rows are left out")
            continue
        for load in LOADS:
            with database(shop, engine) as url:
                taken, sent = under_load(shop, url, load)
                prove(url, sent)
            rate = sent.accepted / sent.seconds
            name = f"{engine}, {load.label}"
            entries.append(Entry(name, _numbers(taken, sent, rate)))
            if load is AIMED_AT:
                targets.append(Target(name, rate, 20_000, 50_000, "events/s"))
    title = f"events sent for {shop.options.seconds:g} s each, committed before they are answered"
    return Row("http", title, entries, targets, REMARKS)


@contextmanager
def database(shop: Workshop, engine: str) -> Iterator[str]:
    """The URL of a database that is ready, for as long as the context lasts."""
    if engine == "SQLite":
        path = product.ready(shop.folder, "served.db")
        try:
            yield product.sqlite(path)
        finally:
            product.remove(path)
    else:
        with postgresql_database(shop.options.postgresql) as url:
            product.make_ready(url)
            yield url


def postgresql_answers(server: str) -> bool:
    """Whether a PostgreSQL can be reached."""
    try:
        psycopg.connect(server, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def postgresql_database(server: str) -> Iterator[str]:
    """The URL of a new database on a PostgreSQL server; it is dropped when the context ends."""
    name = f"lastcall_benchmark_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    try:
        yield sa.make_url(server).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def under_load(
    shop: Workshop, url: str, load: Load, around: tuple[str, ...] = ()
) -> tuple[Taken, Sent]:
    """
    Serve a database while a load is on it; *around* is a command that runs the service.

    Raises:
        Failed: The service or the load failed.
    """
    command = [*around, product.LASTCALL, "serve", "--port", "0", "--db", url]
    with running(command) as service:
        address = listening(service)
        said = take(
            [
                *(sys.executable, "-m", "benchmarks.load", f"{address}/ingest"),
                *("--lines", str(load.lines), "--connections", str(load.connections)),
                *("--seconds", str(shop.options.seconds), "--seed", str(shop.options.seed)),
            ]
        )
        service.interrupt()
        return service.taken(), Sent(**json.loads(said.output))


def prove(url: str, sent: Sent) -> None:
    """
    Hold what is stored against what was sent.

    Raises:
        Wrong: Something was lost, or stored twice.
        Failed: A roll-up differs from the events.
    """
    stored = product.stored(url).total()
    if not stored == sent.accepted == sent.events:
        raise product.Wrong(
            f"{sent.events} events were sent, {sent.accepted} accepted, and {stored} are stored"
        )
    product.check_rollups(url)


def listening(service: Running) -> str:
    """The address that the service says."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and not service.ended():
        said = service.errors.read_text(errors="replace") + service.output.read_text(
            errors="replace"
        )
        _, found, rest = said.partition("http://")
        if found and "\n" in rest:
            return found + rest.split()[0]
        time.sleep(0.02)
    service.kill()
    raise Failed(
        f"the service did not start: {service.errors.read_text(errors='replace')[-2_000:]}"
    )


def _numbers(taken: Taken, sent: Sent, rate: float) -> dict[str, Spread]:
    ordered = sorted(sent.latencies)
    return {
        "events/s": Spread.of([rate]),
        "p50 ms": Spread.of([quantile(ordered, 0.50) * 1_000]),
        "p99 ms": Spread.of([quantile(ordered, 0.99) * 1_000]),
        "wall s": Spread.of([taken.wall]),
        "cpu s": Spread.of([taken.cpu]),
        "RSS MB": Spread.of([taken.rss]),
    }


def quantile(ordered: list[float], share: float) -> float:
    """The value below which that share of the ordered ones lies."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
