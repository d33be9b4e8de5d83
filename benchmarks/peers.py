"""
What others need to answer two questions about a log file: how many stale calls there are by (tool,
client, UTC day), and how many events of all six kinds by (kind, tool, client, UTC day).

The second is what Last Call stores. Each peer gets its best documented settings, and prints lines of
`NUMBER MESSAGE␟TOOL␟CLIENT␟DAY` (those that only count print a number).
"""

import importlib.util
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from benchmarks.data import KIND_OF, KINDS, Cell

FIELD = "\x1f"
MODULES = ("duckdb", "polars")
INSTALLED_BY = "`python3 dev.py bench` installs it"


class Question(Enum):
    """Which events are counted."""

    STALE = "stale calls only"
    ALL = "all kinds"

    @property
    def messages(self) -> tuple[str, ...]:
        """Their messages."""
        return (KINDS["stale_call"][0],) if self is Question.STALE else tuple(KIND_OF)

    def of(self, cells: Counter[Cell]) -> Counter[Cell]:
        """The answer, out of a log's cells."""
        return Counter({cell: n for cell, n in cells.items() if KINDS[cell[0]][0] in self.messages})


@dataclass(frozen=True, slots=True)
class Peer:
    """
    A tool, the programs and modules it needs, and what runs it on a file.

    `counts_only` says that it counts lines and answers nothing else.
    """

    name: str
    needs: tuple[str, ...]
    command: Callable[[Question, Path], Sequence[str]]
    counts_only: bool = False

    def missing(self) -> list[str]:
        """What it needs and what is not installed."""
        return [one for one in self.needs if not _installed(one)]

    def agrees(self, question: Question, output: str, cells: Counter[Cell]) -> bool:
        """Whether it counted what the log holds."""
        expected = question.of(cells)
        if self.counts_only:
            return int(output) == expected.total()
        return read(output) == expected


def read(output: str) -> Counter[Cell]:
    """The cells that a peer printed."""
    found: Counter[Cell] = Counter()
    for line in output.splitlines():
        number, key = line.strip().split(" ", maxsplit=1)
        message, tool, client, day = key.split(FIELD)
        found[KIND_OF[message], tool, client, day] += int(number)
    return found


def frames(*arguments: str | Path) -> list[str]:
    """What runs DuckDB or polars in a Python of its own."""
    return [sys.executable, "-m", "benchmarks.frames", *map(str, arguments)]


def _installed(need: str) -> bool:
    found = importlib.util.find_spec(need) if need in MODULES else shutil.which(need)
    return found is not None


def _framed(how: str) -> Callable[[Question, Path], list[str]]:
    return lambda question, path: frames(how, question.name, path)


def _shell(command: str) -> list[str]:
    return ["bash", "-c", f"set -o pipefail; export LC_ALL=C; {command}"]


def _patterns(question: Question) -> str:
    return " ".join(f"-e {shlex.quote(message)}" for message in question.messages)


def rg_jq(question: Question, path: Path) -> list[str]:
    """Ripgrep finds the lines (it maps the file by itself), jq reads them, sort and uniq count them."""
    among = ", ".join(f'"{message}"' for message in question.messages)
    program = (
        f"select(.msg | IN({among})) "
        '| [.msg, .data.tool, .data.client, .time[:10]] | join("\\u001f")'
    )
    zipped = "-z" if path.suffix == ".gz" else ""
    search = f"rg --no-line-number {zipped} -F {_patterns(question)} {shlex.quote(str(path))}"
    return _shell(f"{search} | jq -r {shlex.quote(program)} | sort | uniq -c")


def zcat_grep(question: Question, path: Path) -> list[str]:
    """The lines that hold a message, and nothing else about them."""
    return _shell(f"zcat {shlex.quote(str(path))} | grep -cF {_patterns(question)}")


ONE_CORE = Peer("DuckDB, schema given, one core", ("duckdb",), _framed("duckdb-one"))
DUCKDB = Peer("DuckDB, schema given", ("duckdb",), _framed("duckdb"))
PREFILTER = Peer("DuckDB, lines filtered, then ->>", ("duckdb",), _framed("duckdb-lines"))
POLARS = Peer("polars, lines filtered, then decoded", ("polars",), _framed("polars"))
RG_JQ = Peer("rg | jq | sort | uniq", ("rg", "jq"), rg_jq)
ZCAT_GREP = Peer("zcat | grep -c", ("zcat", "grep"), zcat_grep, counts_only=True)

PLAIN = (ONE_CORE, DUCKDB, PREFILTER, POLARS, RG_JQ)
GZIP = (DUCKDB, ZCAT_GREP, Peer("rg -z | jq | sort | uniq", RG_JQ.needs, rg_jq))
