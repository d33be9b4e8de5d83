"""What the command prints. Text from logs is a stranger's: control characters are shown, not sent."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from typer import echo

from service.events import Receipt
from service.ingest.explain import Explanation

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_out = Console(highlight=False, soft_wrap=False)
_err = Console(stderr=True, highlight=False, soft_wrap=True)


def safe(text: object) -> str:
    r"""Show control and direction characters as `\xNN`, so that no text can drive the terminal."""
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", str(text))


def _cell(value: object) -> str:
    return escape(safe(value))


def say(text: str) -> None:
    """Print a line beside the results."""
    _err.print(escape(safe(text)))


def complain(text: str) -> None:
    """Print what went wrong."""
    _err.print(f"[bold red]lastcall:[/] {escape(safe(text))}")


class Followed(Protocol):
    """A source that knows how much of it was read."""

    @property
    def consumed(self) -> int:
        """Bytes read so far, compressed ones where the source is."""
        ...


class Bar:
    """A progress bar over all files of a run: bytes, events, rate, time left."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=total, events=0, rate=0)
        self._bytes = 0
        self._events = 0

    def follow(self, source: Followed) -> Callable[[Receipt], None]:
        """Return what to call with the receipt while `source` is read."""
        bytes_before, events_before = self._bytes, self._events

        def show(receipt: Receipt) -> None:
            self._bytes = bytes_before + source.consumed
            self._events = events_before + receipt.accepted + receipt.duplicates
            elapsed = self._progress.tasks[self._task].elapsed or 0
            rate = round(receipt.received / elapsed) if elapsed > 0.1 else 0
            self._progress.update(self._task, completed=self._bytes, events=self._events, rate=rate)

        return show


@contextmanager
def progress(total: int | None) -> Iterator[Bar]:
    """Show a progress bar on a terminal, and nothing elsewhere. *total*: bytes to read."""
    columns = (
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[events]} events stored"),
        TextColumn("{task.fields[rate]} records/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as shown:
        yield Bar(shown, total)


def receipt(done: Receipt, *, dry_run: bool, hints: Sequence[Any]) -> None:
    """Print a receipt; of a dry run, with what looked like tool traffic and was not recognised."""
    if dry_run:
        say("dry run: nothing was stored")
    echo(f"received {done.received}")
    for word in ("accepted", "duplicates", "ignored", "rejected"):
        echo(f"  {word:<10} {getattr(done, word)}")
    for reason, number in sorted(done.reasons.items()):
        echo(f"    {reason} {number}")
    if done.events:
        echo("events: " + ", ".join(f"{n} {kind}" for kind, n in sorted(done.events.items())))
    if done.rejected and not dry_run:
        say("`lastcall rejects` lists what was rejected, and why")
    for hint in hints:
        echo(f"\nnot recognised, {hint.count} times: {safe(hint.message)}")
        echo("  a profile that would read it:")
        echo("\n".join(f"    {safe(line)}" for line in hint.profile.splitlines()))
    if not hints and not done.accepted and not done.duplicates and done.received:
        say("no line was recognised; `lastcall explain LINE` shows why for one of them")


def explanation(found: Explanation) -> None:
    """Print what was made of one line."""
    echo(safe(found.why))
    for tried in found.tried:
        echo(f"  profile {safe(tried.profile)}: {safe(tried.why_not or 'matches')}")
    if found.fields:
        width = max(len(field.field) for field in found.fields)
        echo("fields")
        for field in found.fields:
            echo(f"  {field.field:<{width}}  {safe(field.value)}   (from {safe(field.place)})")
    if found.ingredients:
        echo("counts once by: server, " + ", ".join(name for name, _ in found.ingredients))


def _table(
    title: str, columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[object]]
) -> None:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    for name, number in columns:
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    _out.print(table)


def report(answer: Mapping[str, Any], done: Receipt) -> None:
    """Print who still calls what."""
    names, callers = answer["names"], answer["callers"]
    span = names["range"]
    echo(
        f"{done.received} records received: {done.accepted} accepted, {done.duplicates} duplicates, "
        f"{done.ignored} ignored, {done.rejected} rejected"
    )
    if not names["items"]:
        echo("No retired name was called in what was read.")
        return
    coverage = names["coverage"]
    echo(
        f"{_short(span['since'])} to {_short(span['until'])} ({span['tz']}), heard in "
        f"{coverage['covered_hours']} of {coverage['hours']} hours, {coverage['gap_count']} gaps"
    )
    _table(
        "Retired names that are still called",
        [
            ("Name", False),
            ("Server", False),
            ("Stale calls", True),
            ("Clients", True),
            ("Callers", True),
            ("Active days", True),
            ("Last call", False),
            ("Replaced by", False),
        ],
        [
            (
                r["name"],
                r["server"],
                r["stale_calls"],
                r["clients"],
                r["callers"],
                r["active_days"],
                _short(r["last_call"]),
                ", ".join(r["replaced_by"]) or "-",
            )
            for r in names["items"]
        ],
    )
    _table(
        "Who calls them",
        [
            ("Name", False),
            ("Client", False),
            ("Versions", False),
            ("Stale calls", True),
            ("Callers", True),
            ("Active days", True),
            ("Last call", False),
        ],
        [
            (
                r["name"],
                "(not named)" if r["client"] is None else r["client"],
                ", ".join(r["versions"]),
                r["stale_calls"],
                r["callers"],
                r["active_days"],
                _short(r["last_call"]),
            )
            for r in callers["items"]
        ],
    )


def _short(instant: str | None) -> str:
    return "-" if instant is None else instant[:16].replace("T", " ")


def rejects(answer: Mapping[str, Any]) -> None:
    """Print rejected records, newest first."""
    if not answer["items"]:
        echo("Nothing was rejected in the time that rejected records are kept.")
    for row in answer["items"]:
        echo(
            f"{_short(row['arrived'])}  {row['reason']}  {safe(row['server'])}/{safe(row['source'])} "
            f"record {row['position']}"
        )
        echo(f"  {safe(row['excerpt'])[:300]}")


def stats(found: Mapping[str, Any], indent: str = "") -> None:
    """Print nested counts."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            echo(f"{indent}{name}")
            stats(value, indent + "  ")
        elif isinstance(value, list):
            echo(f"{indent}{name}")
            for item in value:
                echo(f"{indent}  " + ", ".join(f"{k} {safe(v)}" for k, v in item.items()))
        else:
            echo(f"{indent}{name} {safe(value)}")


__all__ = ["complain", "progress", "receipt", "rejects", "report", "safe", "say", "stats"]
