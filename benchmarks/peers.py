"""
What others need for the same question: stale calls by (tool, client, UTC day) of a log file.

Each peer gets its own best documented settings, and every answer is compared with what the log holds.
`python3 -m benchmarks.peers NUMBER FILE` runs one and prints its answer, so that each is measured in a
process of its own, as Last Call is.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Answer = Counter[tuple[str, str, str]]

_JQ = 'select(.msg == "Retired tool called") | [.data.tool, .data.client, .time[:10]] | join("\\u001f")'
_DUCKDB = """
    SELECT data.tool, data.client, time[:10], count(*) FROM read_json(
        ?, format = 'newline_delimited', ignore_errors = true, maximum_object_size = 1048576,
        columns = {time: 'VARCHAR', msg: 'VARCHAR', data: 'STRUCT(tool VARCHAR, client VARCHAR)'})
    WHERE msg = 'Retired tool called' GROUP BY ALL
"""


class Missing(Exception):
    """A peer that is not installed; the text says how it would be."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool and how it answers; `counts_only` says that it counts lines and answers nothing else."""

    name: str
    run: Callable[[Path], Answer | int]
    counts_only: bool = False


def rg_jq(path: Path) -> Answer:
    """Ripgrep finds the lines, jq reads them, sort and uniq count them."""
    command = f"rg -N --no-filename -z -F {_quoted('Retired tool called')} {_quoted(str(path))}"
    return _counted(f"{command} | jq -rc {_quoted(_JQ)} | LC_ALL=C sort | uniq -c", "rg", "jq")


def zcat_grep(path: Path) -> int:
    """The lines that hold the message, and nothing else about them."""
    return int(
        _shell(f"zcat {_quoted(str(path))} | LC_ALL=C grep -cF 'Retired tool called'", "zcat")
    )


def duckdb_schema(path: Path, threads: int | None = None) -> Answer:
    """DuckDB with the schema given, so that it parses only what is asked for."""
    try:
        import duckdb
    except ImportError:
        raise Missing("pip install duckdb") from None
    with duckdb.connect() as connection:
        if threads is not None:
            connection.execute(f"SET threads = {threads}")
        rows = connection.execute(_DUCKDB, [str(path)]).fetchall()
    return Counter({(tool, client, day): number for tool, client, day, number in rows})


def duckdb_one_core(path: Path) -> Answer:
    """The same on one core."""
    return duckdb_schema(path, threads=1)


PLAIN = (
    Peer("DuckDB, schema given, one core", duckdb_one_core),
    Peer("DuckDB, schema given", duckdb_schema),
    Peer("rg | jq | sort | uniq", rg_jq),
)
GZIP = (
    Peer("DuckDB, schema given", duckdb_schema),
    Peer("zcat | grep -c", zcat_grep, counts_only=True),
)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _shell(command: str, *needed: str) -> str:
    for program in needed:
        if shutil.which(program) is None:
            raise Missing(f"apt-get install {'ripgrep' if program == 'rg' else program}")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    return done.stdout


def _counted(command: str, *needed: str) -> Answer:
    found: Answer = Counter()
    for line in _shell(command, *needed).splitlines():
        number, key = line.split(maxsplit=1)
        tool, client, day = key.split("\x1f")
        found[tool, client, day] = int(number)
    return found


EVERY = (*PLAIN, *GZIP)


def command(peer: Peer, path: Path) -> list[str]:
    """What runs a peer in a process of its own."""
    return [sys.executable, "-m", "benchmarks.peers", str(EVERY.index(peer)), str(path)]


def read(output: str) -> Answer | int:
    """The answer that such a process printed."""
    said = json.loads(output)
    if isinstance(said, int):
        return said
    return Counter({(tool, client, day): number for tool, client, day, number in said})


if __name__ == "__main__":
    try:
        answer = EVERY[int(sys.argv[1])].run(Path(sys.argv[2]))
    except Missing as reason:
        sys.exit(f"missing: {reason}")
    print(json.dumps(answer if isinstance(answer, int) else [[*k, n] for k, n in answer.items()]))
