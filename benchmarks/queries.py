"""
Time requests to a running service, with an event committed before each of them.

    python3 -m benchmarks.queries --url sqlite:///ten-million.db
    python3 -m benchmarks.queries --url sqlite:///ten-million.db --tables six --repetitions 50
    python3 -m benchmarks.queries --url sqlite:///ten-million.db --tables pages --only effect --again
    python3 -m benchmarks.queries --url sqlite:///million.db --verify

The database is one that `benchmarks.databases` made not long before. `lastcall serve` runs in a process
of its own and is asked over one connection on loopback; between any two timed requests one new line
is posted to it, so that no answer can be one that was kept; `--again` times the same request once more, when it may
be. `--verify` times nothing: it compares
answers, over several zones and ranges, with what pandas finds in the rows.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

TABLES = ("six", "collections", "pages")
REPETITIONS = 30
IDLE_S = 2
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Timed:
    """
    One request: milliseconds of wall clock (median and 95th percentile), mean processor time of the
    service (without the database's, where that is another process), and the size of the answer.
    """

    request: str
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    kilobytes: float


def main() -> None:
    """Time or verify what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--url", required=True)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--only", default="", help="requests whose name holds this text")
    parser.add_argument("--again", action="store_true", help="time what is asked a second time")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    asked = parser.parse_args()
    if asked.verify:
        from benchmarks import reference  # needs pandas

        sys.exit(reference.verify(asked.url))
    found = measure(asked.url, asked.tables, asked.repetitions, asked.only, asked.again)
    for name, rows in found.items():
        show(name, rows)
    if asked.json:
        kept = {name: [asdict(row) for row in rows] for name, rows in found.items()}
        asked.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def measure(
    url: str,
    tables: Sequence[str] = TABLES,
    repetitions: int = REPETITIONS,
    only: str = "",
    again: bool = False,
) -> dict[str, list[Timed]]:
    """
    Time the requests of some tables against a service on the database at *url*: the first after each
    event, or the second.
    """
    with serving(url) as service:
        subject = subject_of(service)
        every = {"six": six(subject), "collections": collections(subject), "pages": pages(subject)}
        return {
            table: timed(
                service,
                subject,
                {name: path for name, path in every[table].items() if only in name},
                repetitions,
                again,
            )
            for table in tables
        }


def show(title: str, rows: Sequence[Timed]) -> None:
    """Print one table."""
    print(f"\n{title:52}{'p50 ms':>9}{'p95 ms':>9}{'cpu ms':>9}{'kB':>9}")
    for row in rows:
        print(
            f"{row.request:52}{row.p50_ms:9.1f}{row.p95_ms:9.1f}{row.cpu_ms:9.1f}{row.kilobytes:9.1f}"
        )


# ----------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class Subject:
    """What the requests are about: the retired name that is called most, and who calls it most."""

    server: str
    name: str
    client: str


def since(days: int) -> str:
    """The date from which a range covers so many days, today included."""
    return (datetime.now(UTC) - timedelta(days=days - 1)).date().isoformat()


def _api(collection: str, **asked: Any) -> str:
    return f"/api/v1/{collection}" + (f"?{urlencode(asked)}" if asked else "")


def subject_of(service: "Service") -> Subject:
    """Find what to ask about."""
    found = json.loads(service.get(_api("overview", sort="-stale_calls", since=since(90))))
    for row in found["items"]:
        if row["top_client"] and row["top_client"]["client"]:
            return Subject(row["server"], row["name"], row["top_client"]["client"])
    raise ValueError("no retired name was called in the last 90 days; make a new database")


def six(subject: Subject) -> dict[str, str]:
    """The requests that the targets are about."""
    one = {"server": subject.server, "name": subject.name}
    return {
        "names, 30 d": _api("names", since=since(30)),
        "callers of one name, 90 d": _api("callers", since=since(90), limit=1000, **one),
        "series of stale calls by client, top 20, 90 d": _api(
            "series", by="client", top=20, tz="Asia/Kolkata", since=since(90)
        ),
        "series of callers by day, 30 d": _api("series", metric="callers", since=since(30)),
        "clients, 90 d": _api("clients", since=since(90), limit=1000),
        "events of one name and client": _api("events", client=subject.client, **one),
    }


def collections(subject: Subject) -> dict[str, str]:
    """Every REST collection, over the default range and over 90 days."""
    asked: dict[str, dict[str, Any]] = {
        "servers": {},
        "overview": {},
        "todo": {},
        "cures": {},
        "contact": {"client": subject.client},
        "stopped": {},
        "stopped by client": {"by": "client"},
        "uptake": {},
        "vintage": {},
        "effect": {"server": subject.server},
        "effect/clients": {"server": subject.server},
        "effect/names": {"server": subject.server},
        "effect/weeks": {"server": subject.server},
        "reactions/latency": {},
        "names": {},
        "callers": {},
        "clients": {},
        "reactions": {},
        "events": {},
        "series": {},
        "series by client": {"by": "client", "top": 20},
        "series by version": {"by": "version", "top": 20},
        "series of callers": {"metric": "callers"},
        "series of notifications": {"metric": "notifications"},
        "series by hour": {"bucket": "hour"},
        "coverage": {},
        "catalogue": {},
        "catalogue/lint": {},
        "listed": {},
        "releases": {},
        "health": {},
        "rejects": {},
        "batches": {},
    }
    ranges: dict[str, dict[str, Any]] = {"all": {}, "90 d": {"since": since(90)}}
    return {
        f"{name}, {label}": _api(name.partition(" ")[0], **more, **range_)
        for name, more in asked.items()
        for label, range_ in ranges.items()
    }


def pages(subject: Subject) -> dict[str, str]:
    """Every page and the figures on it, over 90 days, as it opens, and over everything."""
    name = {"server": subject.server, "name": subject.name}
    client = {"client": subject.client}
    paths: dict[str, tuple[str, dict[str, str]]] = {
        "/": ("/", {}),
        "/ in Asia/Kolkata": ("/", {"tz": "Asia/Kolkata"}),
        "/name": ("/name", name),
        "/clients": ("/clients", {}),
        "/client": ("/client", client),
        "/todo": ("/todo", {}),
        "/effect": ("/effect", {"server": subject.server}),
        "/reactions": ("/reactions", {}),
        "/catalogue": ("/catalogue", {}),
        "/told": ("/told", {}),
        "/health": ("/health", {}),
        "figure of calls": ("/figures/light/calls-by-client.json", {}),
        "figure of a client's calls": ("/figures/light/calls-by-name.json", client),
        "figure of callers": ("/figures/light/callers.json", name),
        "figure of records": ("/figures/light/records.json", {}),
    }
    ranges = {"90 d": {}, "all": {"days": "all"}}
    return {
        f"{label}, {range_}": f"{path}?{urlencode({**asked, **more})}"
        for label, (path, asked) in paths.items()
        for range_, more in ranges.items()
    }


# ----------------------------------------------------------------------------- the service


class Service:
    """A running service and one connection to it."""

    def __init__(self, process: "subprocess.Popen[str]", host: str) -> None:
        self._process = process
        self.host = host
        self._used = time.monotonic()
        self._connection = http.client.HTTPConnection(host, timeout=120)

    def get(self, path: str) -> bytes:
        """The body of an answer."""
        self._refresh()
        self._connection.request("GET", path)
        return self._body(path)

    def post(self, path: str, body: bytes) -> bytes:
        """The body of the answer to what is sent."""
        self._refresh()
        self._connection.request("POST", path, body)
        return self._body(path)

    def _refresh(self) -> None:
        """Take another connection where this one has been idle for so long that the service may have closed it."""
        now = time.monotonic()
        if now - self._used > IDLE_S:
            self._connection.close()
        self._used = now

    def _body(self, path: str) -> bytes:
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise ValueError(f"{path}: {answer.status} {body[:500].decode(errors='replace')}")
        return body

    def cpu_ms(self) -> float:
        """Processor time that the service has taken so far."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():  # of Linux only
            return 0.0
        user, system = stat.read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) * 1_000 / _TICKS


@contextmanager
def serving(url: str) -> Iterator[Service]:
    """`lastcall serve` on a database, for as long as the context lasts."""
    command = [str(Path(sys.executable).with_name("lastcall")), "serve", "--port", "0", "--db", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"http://([^/\s]+)", line):
                    yield Service(process, found[1])
                    return
            raise RuntimeError("".join(said))
        finally:
            process.terminate()


def timed(
    service: Service,
    subject: Subject,
    requests: Mapping[str, str],
    repetitions: int,
    again: bool = False,
) -> list[Timed]:
    """Ask every request so many times, in turns, each after an event was committed and once *again*."""
    walls: dict[str, list[float]] = {name: [] for name in requests}
    cpus: dict[str, list[float]] = {name: [] for name in requests}
    sizes: dict[str, int] = {}
    for number in range(-1, repetitions):
        for name, path in requests.items():
            commit(service, subject)
            if again:
                service.get(path)
            cpu, start = service.cpu_ms(), time.perf_counter()
            body = service.get(path)
            wall = (time.perf_counter() - start) * 1_000
            if number >= 0:  # the first round warms up
                walls[name].append(wall)
                cpus[name].append(service.cpu_ms() - cpu)
            sizes[name] = len(body)
    return [
        Timed(
            name,
            round(statistics.median(each), 1),
            round(sorted(each)[int(0.95 * (len(each) - 1))], 1),
            round(statistics.fmean(cpus[name]), 1),
            round(sizes[name] / 1_000, 1),
        )
        for name, each in walls.items()
    ]


def commit(service: Service, subject: Subject) -> None:
    """Send one new line: a call of the subject's client to the subject's name."""
    data = {"tool": subject.name, "client": subject.client, "requestId": str(time.time_ns())}
    line = {"level": "info", "time": datetime.now(UTC).isoformat(), "data": data}
    body = json.dumps({**line, "msg": "Retired tool called"}).encode()
    query = urlencode({"server": subject.server, "source": "http"})
    receipt = json.loads(service.post(f"/ingest?{query}", body))
    if receipt["accepted"] != 1:
        raise ValueError(f"the line was not stored: {receipt}")


if __name__ == "__main__":
    main()
