"""
What the command prints. Text from logs is a stranger's: control characters are shown, not sent.

Rich draws on a terminal and is imported when there is something to draw: in a pipe, plain text does.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from click import echo

from service.events import Receipt

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from service.ingest.explain import Explanation

PATIENCE_S = 0.5
"""How long a run may take before it shows how far it is."""

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


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
    echo(safe(text), err=True)


def complain(text: str) -> None:
    """Print what went wrong."""
    if _at_terminal():
        from rich.text import Text

        _terminal().print(Text.assemble(("lastcall:", "bold red"), " ", safe(text)))
    else:
        echo(f"lastcall: {safe(text)}", err=True)


def _at_terminal() -> bool:
    """Whether somebody watches what is said beside the results."""
    return sys.stderr is not None and sys.stderr.isatty()


def _terminal() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


class Followed(Protocol):
    """A source that knows how much of it was read."""

    @property
    def consumed(self) -> int:
        """Bytes read so far, compressed ones where the source is."""
        ...


class Bar:
    """A progress bar over all files of a run: bytes, events, rate, time left."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._start = monotonic()
        self._bytes = 0
        self._events = 0
        self._records = 0
        self._drawn: Progress | None = None

    def follow(self, source: Followed) -> Callable[[Receipt], None]:
        """Return what to call with the receipt while `source` is read."""
        bytes_before, events_before, records_before = self._bytes, self._events, self._records

        def show(receipt: Receipt) -> None:
            self._bytes = bytes_before + source.consumed
            self._events = events_before + receipt.accepted + receipt.duplicates
            self._records = records_before + receipt.received
            elapsed = monotonic() - self._start
            if elapsed > PATIENCE_S:
                self._draw(round(self._records / elapsed))

        return show

    def _draw(self, rate: int) -> None:
        if self._drawn is None:
            self._drawn = _columns()
            self._drawn.add_task("", total=self._total, events=0, rate=0)
            self._drawn.start()
        (task,) = self._drawn.task_ids
        self._drawn.update(task, completed=self._bytes, events=self._events, rate=rate)

    def close(self) -> None:
        """Take the bar away."""
        if self._drawn is not None:
            self._drawn.stop()


def _columns() -> "Progress":
    """The parts of a bar, which vanishes when it is stopped."""
    from rich import progress as parts

    return parts.Progress(
        parts.BarColumn(),
        parts.DownloadColumn(),
        parts.TextColumn("{task.fields[events]} events stored"),
        parts.TextColumn("{task.fields[rate]} records/s"),
        parts.TimeRemainingColumn(),
        console=_terminal(),
        transient=True,
    )


@contextmanager
def progress(total: int | None) -> Iterator[Bar | None]:
    """
    A progress bar on a terminal, shown once the run takes longer than `PATIENCE_S`; None elsewhere.

    *total*: bytes to read.
    """
    if not _at_terminal():
        yield None
        return
    bar = Bar(total)
    try:
        yield bar
    finally:
        bar.close()


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


def explanation(found: "Explanation") -> None:
    """Print what was made of one line."""
    echo(safe(found.why))
    for wrapper in found.wrappers:
        echo(f"  inside of {safe(wrapper)}")
    alien = [tried for tried in found.tried if tried.alien]
    for tried in found.tried:
        if not tried.alien or len(alien) == 1:
            echo(f"  profile {safe(tried.profile)}: {safe(tried.why_not or 'matches')}")
    if len(alien) > 1:
        echo(
            f"  {len(alien)} other profiles are for lines with other keys (--json says which keys)"
        )
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
