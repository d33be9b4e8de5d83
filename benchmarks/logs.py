"""Rows about reading a log of which little is of interest: speed, plain and gzipped, and memory."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks import data, product
from benchmarks.measure import Taken, take, warm
from benchmarks.peers import (
    DUCKDB,
    GZIP,
    INSTALLED_BY,
    ONE_CORE,
    PLAIN,
    RG_JQ,
    ZCAT_GREP,
    Peer,
    Question,
)
from benchmarks.report import Entry, Row, Target, compared, ratio_targets, resources
from benchmarks.workshop import Workshop

Bounds = dict[Peer, tuple[float | None, float | None]]
"""Peer → what the ratio must be at least, and what is aimed at, where few lines are events."""
FEW = 0.01

PLAIN_BOUNDS: Bounds = {ONE_CORE: (1.3, 3), RG_JQ: (0.4, 1)}
GZIP_BOUNDS: Bounds = {DUCKDB: (1.5, 3), ZCAT_GREP: (2.5, 4)}
READY = (
    "Last Call stores every event of the six kinds exactly once, with roll-ups, and accounts for every "
    "record, into a SQLite database that `lastcall db upgrade` has made ready; the peers only count."
)


def mixed(shop: Workshop) -> Row:
    """The mixed log as it stands."""
    options = shop.options
    title = f"{options.size} MB, {options.share:g} of the lines are events"
    bounds = PLAIN_BOUNDS if options.share <= FEW else {}
    return against(shop, "mixed", title, shop.mixed, shop.mixed.path, PLAIN, bounds)


def denser(shop: Workshop, share: float) -> Row:
    """A smaller log with more events."""
    contents = shop.mixed_at(share)
    title = f"{shop.options.small} MB, {share:g} of the lines are events"
    try:
        return against(shop, f"mixed-{share * 100:.0f}", title, contents, contents.path, PLAIN, {})
    finally:
        contents.path.unlink()


def gzipped(shop: Workshop) -> Row:
    """The mixed log, gzipped."""
    path = shop.gzipped
    bounds = GZIP_BOUNDS if shop.options.share <= FEW else {}
    title = (
        f"the mixed log of {shop.options.size} MB, gzipped to {path.stat().st_size / 1e6:.0f} MB"
    )
    return against(shop, "gzip", title, shop.mixed, path, GZIP, bounds)


def memory(shop: Workshop) -> Row:
    """What the mixed log takes above an empty one."""
    empty = data.Contents(shop.folder / "empty.log")
    empty.path.touch()
    logs = {
        "an empty log": (empty, empty.path),
        "plain": (shop.mixed, shop.mixed.path),
        "gzip": (shop.mixed, shop.gzipped),
    }
    entries = [
        Entry(name, resources([_ours(shop, *log) for _ in range(shop.options.rounds)]))
        for name, log in logs.items()
    ]
    floor, *above = (entry.numbers["RSS MB"].median for entry in entries)
    targets = [
        Target(f"{name}, above an empty log", each - floor, 40, 25, "MB", at_most=True)
        for name, each in zip(("plain", "gzip"), above, strict=True)
    ]
    title = f"`lastcall ingest` of the mixed log of {shop.options.size} MB"
    return Row("memory", title, entries, targets)


def against(
    shop: Workshop,
    name: str,
    title: str,
    contents: data.Contents,
    path: Path,
    peers: Sequence[Peer],
    bounds: Bounds,
) -> Row:
    """
    Measure Last Call and every peer that is installed on a log, in turns.

    Raises:
        Wrong: Somebody counts otherwise than the log holds.
    """
    contestants = [
        (f"{peer.name}, {question.value}", peer, question)
        for peer in _present(shop, peers)
        for question in Question
    ]
    taken: dict[str, list[Taken]] = {product.NAME: [], **{label: [] for label, *_ in contestants}}
    warm(path)
    for _ in range(shop.options.rounds):
        taken[product.NAME].append(_ours(shop, contents, path))
        for label, peer, question in contestants:
            one = take(peer.command(question, path))
            if not peer.agrees(question, one.output, contents.cells):
                raise product.Wrong(f"{label} counts otherwise than the log holds")
            taken[label].append(one)
    entries = compared(taken, product.NAME)
    named = {label: bounds[peer] for label, peer, _ in contestants if peer in bounds}
    return Row(name, title, entries, ratio_targets(entries, named), [READY])


def _present(shop: Workshop, peers: Sequence[Peer]) -> list[Peer]:
    for peer in peers:
        if missing := peer.missing():
            shop.say_once(f"{peer.name} is left out: no {' and no '.join(missing)}; {INSTALLED_BY}")
    return [peer for peer in peers if not peer.missing()]


def _ours(shop: Workshop, contents: data.Contents, path: Path) -> Taken:
    database = product.ready(shop.folder, "events.db")
    try:
        one = product.ingest(contents, path, database)
        product.check(contents, product.sqlite(database))
        return one
    finally:
        product.remove(database)
