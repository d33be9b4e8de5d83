"""What the command prints. Text from logs is a stranger's: control characters are shown, not sent."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from typer import echo

from service.events import Receipt
from service.ingest.explain import Explanation

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
_err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def safe(text: object) -> str:
    r"""Show control and direction characters as `\xNN`, so that no text can drive the terminal."""
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", str(text))


def minute(instant: str | None, zone: tzinfo) -> str:
    """Write an instant to the minute in a zone."""
    if instant is None:
        return "–"
    return datetime.fromisoformat(instant).astimezone(zone).strftime("%Y-%m-%d %H:%M")


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
        times = "once" if hint.count == 1 else f"{hint.count} times"
        echo(f"\nnot recognised, {times}: {safe(hint.message)}")
        echo("  a profile that would read it, to be saved as .toml in LASTCALL_PROFILE_DIR:")
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


def rejects(answer: Mapping[str, Any]) -> None:
    """Print rejected records, newest first."""
    if not answer["items"]:
        echo("Nothing was rejected in the time that rejected records are kept.")
    for row in answer["items"]:
        echo(
            f"{minute(row['arrived'], UTC)}  {row['reason']}  {safe(row['server'])}/{safe(row['source'])} "
            f"record {row['position'] + 1} of its delivery"
        )
        echo(f"  {safe(row['excerpt'])[:300]}")


def stats(found: Mapping[str, Any], indent: str = "") -> None:
    """Print nested counts; members that end in `_us` are instants."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            echo(f"{indent}{name}")
            stats(value, indent + "  ")
        elif isinstance(value, list):
            echo(f"{indent}{name}")
            for item in value:
                echo(f"{indent}  " + ", ".join(_member(*member) for member in item.items()))
        else:
            echo(indent + _member(name, value))


def _member(name: str, value: object) -> str:
    """One figure in words."""
    if isinstance(value, Mapping):
        return f"{name} (" + ", ".join(_member(*member) for member in value.items()) + ")"
    if name.endswith("_us"):
        name = name.removesuffix("_us")
        at = datetime.fromtimestamp(value / 1e6, UTC) if isinstance(value, int) else None
        return f"{name} {at:%Y-%m-%dT%H:%M:%SZ}" if at else f"{name} –"
    return f"{name} {safe(value)}"
