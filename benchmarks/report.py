"""What a run found, as a table for the terminal, as Markdown and as JSON."""

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from benchmarks.measure import Taken

DIGITS = {"wall s": 2, "cpu s": 2, "RSS MB": 0, "ratio": 2}
"""Digits behind the point by column; other columns have none."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over the rounds: median, least and greatest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> Self:
        """The spread of some numbers, at least one."""
        each = list(numbers)
        return cls(statistics.median(each), min(each), max(each))


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a row's table: column → number."""

    name: str
    numbers: dict[str, Spread]


@dataclass(frozen=True, slots=True)
class Target:
    """What must be reached, what is aimed at (None: no such), and what was reached."""

    what: str
    reached: float
    must: float | None = None
    aim: float | None = None
    unit: str = "×"
    at_most: bool = False

    def met(self, bound: float | None) -> bool:
        """Whether a bound is kept; the lack of one is."""
        return bound is None or (self.reached <= bound if self.at_most else self.reached >= bound)

    @property
    def short(self) -> bool:
        """Whether it lies short of what must be, or of what is aimed at."""
        return not (self.met(self.must) and self.met(self.aim))

    @property
    def verdict(self) -> str:
        """In words."""
        if not self.met(self.must):
            return "SHORT of what must be"
        return "pass, short of the aim" if not self.met(self.aim) else "pass"


@dataclass(slots=True)
class Row:
    """
    One question: a table, the targets that stand on it, and remarks.

    `hot` is where the time goes, as (share of all samples, function), set where a target is short.
    """

    name: str
    title: str
    entries: list[Entry]
    targets: list[Target] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    hot: list[tuple[float, str]] = field(default_factory=list)

    @property
    def short(self) -> bool:
        """Whether one of its targets is short."""
        return any(target.short for target in self.targets)


def resources(taken: Sequence[Taken]) -> dict[str, Spread]:
    """The columns that every measured command has."""
    return {
        "wall s": Spread.of(one.wall for one in taken),
        "cpu s": Spread.of(one.cpu for one in taken),
        "RSS MB": Spread.of(one.rss for one in taken),
    }


def compared(taken: dict[str, list[Taken]], product: str) -> list[Entry]:
    """
    An entry each, with the ratio of wall clocks to the product's of the same round.

    Above 1 the product is faster.
    """
    ours = taken[product]
    return [
        Entry(
            name,
            resources(each)
            | {"ratio": Spread.of(a.wall / b.wall for a, b in zip(each, ours, strict=True))},
        )
        for name, each in taken.items()
    ]


def ratio_targets(
    entries: Sequence[Entry], bounds: dict[str, tuple[float | None, float | None]]
) -> list[Target]:
    """The targets by name of a peer, for those peers that were measured."""
    return [
        Target(f"against {entry.name}", entry.numbers["ratio"].median, *bounds[entry.name])
        for entry in entries
        if entry.name in bounds
    ]


def text(row: Row) -> str:
    """The row for a terminal."""
    lines = [f"\n{row.name}: {row.title}", *_aligned(_table(row.entries))]
    if row.targets:
        lines += ["", *_aligned(_target_table(row.targets))]
    lines += [f"  {remark}" for remark in row.remarks]
    if row.hot:
        lines += ["  own time:", *(f"  {share:5.1%}  {function}" for share, function in row.hot)]
    return "\n".join(lines)


def markdown(run: dict[str, Any], rows: Sequence[Row]) -> str:
    """The whole of RESULTS.md; `run` is what is said of the machine and the data."""
    parts = [
        "# Results",
        (
            "Written by `python3 dev.py bench --write`; whoever changes a line here changes it back with the "
            "next run. Each round runs Last Call and every peer once, one after the other, from a warm page "
            "cache, start-up included. Numbers are medians over the rounds (least–greatest). A *ratio* is the "
            "peer's wall clock by that of Last Call in the same round: above 1, Last Call is faster. *RSS* is "
            "that of the largest process. The run stops where anybody counts otherwise than the log holds."
        ),
        "\n".join(f"- {name}: {value}" for name, value in run.items()),
    ]
    return "\n\n".join([*parts, *map(_section, rows)]) + "\n"


def replaced(old: str, run: dict[str, Any], rows: Sequence[Row]) -> str:
    """RESULTS.md with some rows measured anew; each says when, and the others stay as they were."""
    head, *sections = re.split(r"\n\n(?=## )", old.rstrip("\n"))
    of = {section.split("\n", 1)[0]: section for section in sections}
    for row in rows:
        said = f"Measured by itself on {run['date']}, seed {run['seed']}, {run['rounds']} rounds."
        of[f"## {row.name}"] = _section(replace(row, remarks=[*row.remarks, said]))
    return "\n\n".join([head, *of.values()]) + "\n"


def _section(row: Row) -> str:
    parts = [f"## {row.name}", row.title, _piped(_table(row.entries))]
    if row.targets:
        parts.append(_piped(_target_table(row.targets)))
    if row.remarks:
        parts.append("\n".join(f"- {remark}" for remark in row.remarks))
    if row.hot:
        parts.append("Where the time goes (own time, share of samples):")
        functions = [["share", "function"]]
        functions += [[f"{share:.1%}", f"`{function}`"] for share, function in row.hot]
        parts.append(_piped(functions))
    return "\n\n".join(parts)


def as_json(run: dict[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "run": run,
        "rows": {
            row.name: asdict(row)
            | {"targets": [asdict(each) | {"verdict": each.verdict} for each in row.targets]}
            for row in rows
        },
    }


def _table(entries: Sequence[Entry]) -> list[list[str]]:
    columns = list(dict.fromkeys(column for entry in entries for column in entry.numbers))
    return [
        ["", *columns],
        *(
            [entry.name, *(_shown(entry.numbers.get(column), column) for column in columns)]
            for entry in entries
        ),
    ]


def _shown(spread: Spread | None, column: str) -> str:
    if spread is None:
        return ""
    median, low, high = (
        f"{number:,.{DIGITS.get(column, 0)}f}"
        for number in (spread.median, spread.low, spread.high)
    )
    return median if low == high else f"{median} ({low}–{high})"


def _target_table(targets: Sequence[Target]) -> list[list[str]]:
    return [
        ["target", "must", "aim", "reached", ""],
        *(
            [
                target.what,
                _bound(target, target.must),
                _bound(target, target.aim),
                _number(target, target.reached),
                target.verdict,
            ]
            for target in targets
        ),
    ]


def _bound(target: Target, bound: float | None) -> str:
    if bound is None:
        return ""
    return ("≤ " if target.at_most else "≥ ") + _number(target, bound)


def _number(target: Target, number: float) -> str:
    if target.unit == "×":
        return f"{number:.2f}×"
    return f"{number:,.0f} {target.unit}"


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def _piped(table: Sequence[Sequence[str]]) -> str:
    head, *body = (
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in table
    )
    rule = "|---|" + "---:|" * (len(table[0]) - 1)
    return "\n".join([head, rule, *body])
