"""Row `queries`: six requests to a service whose database holds a year of traffic."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks import product, queries
from benchmarks.measure import take
from benchmarks.report import Entry, Row, Spread, Target
from benchmarks.served import postgresql_answers, postgresql_database
from benchmarks.workshop import Workshop

MILLION = 1_000_000
BOUNDS = {"A": (150, 50), "B": (500, 150)}
"""Mix → milliseconds within which 95 % of the answers to each request must be, and are aimed to be."""
GROWTH = (2, 1.2)
"""The same for how many times longer mix A may take when it is ten times larger."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What a database holds, and what keeps it."""

    mix: str
    events: int
    engine: str

    @property
    def label(self) -> str:
        """For a table."""
        return f"mix {self.mix}, {self.events / MILLION:g} M, {self.engine}"


def plan(shop: Workshop) -> list[Stored]:
    """What is asked: mix A on SQLite, at a tenth of the most and at the most; in a long run all four."""
    most = shop.options.stored
    growth = [Stored("A", most // 10, "SQLite"), Stored("A", most, "SQLite")]
    others = [
        Stored("B", most, "SQLite"),
        Stored("A", most, "PostgreSQL"),
        Stored("B", most, "PostgreSQL"),
    ]
    return [*growth, *others] if shop.options.long else growth


def asked(shop: Workshop) -> Row:
    """Make each database, and time the requests to it."""
    entries, measured = [], dict[Stored, list[queries.Timed]]()
    for stored in plan(shop):
        if stored.engine == "PostgreSQL" and not postgresql_answers(shop.options.postgresql):
            shop.say_once("no PostgreSQL answers at the given URL, so its rows are left out")
            continue
        with _database(shop, stored) as url:
            shop.say(f"making a database of {stored.events:,} events: {stored.label}")
            take(
                [
                    *(sys.executable, "-m", "benchmarks.databases", "--mix", stored.mix),
                    *("--events", str(stored.events), "--seed", str(shop.options.seed)),
                    *("--url", url),
                ]
            )
            timed = _timed(shop, url)
        entries += [Entry(f"{stored.label}: {one.request}", _numbers(one)) for one in timed]
        measured[stored] = timed
    title = f"requests to a running service, {shop.options.repetitions} times each, 95th percentile"
    remark = (
        "An event is committed before each request, so that no answer can be one that was kept. *cpu* is "
        "that of the service, without PostgreSQL's."
    )
    return Row("queries", title, entries, _targets(measured), [remark])


def _targets(measured: dict[Stored, list[queries.Timed]]) -> list[Target]:
    """Bounds of time are for ten million events; the growth is that of the request that grows most."""
    targets = [
        Target(
            f"slowest of the six, {stored.label}",
            max(one.p95_ms for one in timed),
            *BOUNDS[stored.mix],
            "ms",
            at_most=True,
        )
        for stored, timed in measured.items()
        if stored.events >= 10 * MILLION
    ]
    sizes = sorted(
        (one for one in measured if (one.mix, one.engine) == ("A", "SQLite")),
        key=lambda one: one.events,
    )
    if len(sizes) > 1:
        less, more = (measured[sizes[place]] for place in (0, -1))
        growth = max(b.p95_ms / a.p95_ms for a, b in zip(less, more, strict=True))
        targets.append(Target("mix A, from a tenth to all", growth, *GROWTH, at_most=True))
    return targets


@contextmanager
def _database(shop: Workshop, stored: Stored) -> Iterator[str]:
    if stored.engine == "PostgreSQL":
        with postgresql_database(shop.options.postgresql) as url:
            yield url
        return
    path = shop.folder / "asked.db"
    try:
        yield product.sqlite(path)
    finally:
        product.remove(path)


def _timed(shop: Workshop, url: str) -> list[queries.Timed]:
    found = shop.folder / "timed.json"
    take(
        [
            *(sys.executable, "-m", "benchmarks.queries", "--url", url, "--tables", "six"),
            *("--repetitions", str(shop.options.repetitions), "--json", str(found)),
        ]
    )
    return [queries.Timed(**one) for one in json.loads(found.read_text())["six"]]


def _numbers(one: queries.Timed) -> dict[str, Spread]:
    return {
        "p50 ms": Spread.of([one.p50_ms]),
        "p95 ms": Spread.of([one.p95_ms]),
        "cpu ms": Spread.of([one.cpu_ms]),
        "kB": Spread.of([one.kilobytes]),
    }
