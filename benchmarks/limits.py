"""Row `limits`: what one sender notices of another that sends far more than its token may."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from benchmarks import product
from benchmarks.load import Sent
from benchmarks.measure import running, take
from benchmarks.report import Entry, Row, Spread, Target
from benchmarks.served import database, listening, quantile
from benchmarks.workshop import Workshop

LINES = 10
"""A body; one connection sends one after the other, as a log shipper does."""
LOUD = 8
"""Connections of the other, whose token has ten records a second."""
REMARKS = [
    (
        "One sender, over one connection, before and while another sends bodies of a thousand lines over "
        f"{LOUD} connections with a token of ten records a second; it is refused nearly always, and sends on at "
        "once. Both are processes on the two cores of the service."
    ),
]


def limits(shop: Workshop) -> Row:
    """Latency of the one before, and during the other."""
    with database(shop, "SQLite") as url:
        quiet = _token(url, "quiet")
        loud = _token(url, "loud", "--records-per-s", "10")
        with running([product.LASTCALL, "serve", "--port", "0", "--db", url]) as service:
            address = f"{listening(service)}/ingest"
            before = _load(shop, address, quiet, LINES, 1, shop.options.seed)
            with ThreadPoolExecutor(1) as pool:
                other = pool.submit(
                    _load, shop, address, loud, 1_000, LOUD, shop.options.seed + 1, "--refused"
                )
                during = _load(shop, address, quiet, LINES, 1, shop.options.seed + 2)
                noise = other.result()
            service.interrupt()
        stored = product.stored(url).total()
    sent = before.accepted + during.accepted + noise.accepted
    if stored != sent:
        raise product.Wrong(f"{sent} events were accepted, and {stored} are stored")
    entries = [
        Entry("before", _numbers(before)),
        Entry("during", _numbers(during)),
        Entry("the other one", _numbers(noise)),
    ]
    ratio = quantile(sorted(during.latencies), 0.5) / quantile(sorted(before.latencies), 0.5)
    targets = [Target("median latency, during by before", ratio, at_most=True)]
    title = f"bodies of {LINES} lines for {shop.options.seconds:g} s, one sender beside one over its rate"
    return Row("limits", title, entries, targets, REMARKS)


def _token(url: str, name: str, *limits: str) -> str:
    made = take(
        [product.LASTCALL, "tokens", "add", name, "--scope", "ingest:default", "--db", url, *limits]
    )
    return made.output.strip()


def _load(
    shop: Workshop,
    address: str,
    token: str,
    lines: int,
    connections: int,
    seed: int,
    *more: str,
) -> Sent:
    said = take(
        [
            *(sys.executable, "-m", "benchmarks.load", address, "--token", token),
            *("--lines", str(lines), "--connections", str(connections)),
            *("--seconds", str(shop.options.seconds), "--seed", str(seed), *more),
        ]
    )
    return Sent(**json.loads(said.output))


def _numbers(sent: Sent) -> dict[str, Spread]:
    ordered = sorted(sent.latencies)
    numbers = {
        "events/s": Spread.of([sent.accepted / sent.seconds]),
        "refused/s": Spread.of([sent.refused / sent.seconds]),
    }
    if ordered:
        numbers["p50 ms"] = Spread.of([quantile(ordered, 0.50) * 1_000])
        numbers["p95 ms"] = Spread.of([quantile(ordered, 0.95) * 1_000])
    return numbers
