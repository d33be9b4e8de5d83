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
    local = datetime.fromisoformat(instant).astimezone(zone).replace(tzinfo=None)
    return local.isoformat(" ", "minutes")


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


def undone(done: Mapping[str, Any]) -> None:
    """Print what taking a batch back came to."""
    if done["dry_run"]:
        say("dry run: nothing was changed")
    echo(
        safe(
            f"batch {done['batch']}: {done['kind']} {done['label']} of {done['server']}/{done['source']}"
        )
    )
    _counted("events deleted", done["deleted"], done["events"])
    heirs = {f"to batch {batch}": events for batch, events in done["heirs"].items()}
    _counted("events left to other batches", done["handed_over"], heirs)
    records = {
        fate: n for fate, n in done["records"].items() if fate not in ("suppressed", "resend")
    }
    _counted("records out of the account", sum(records.values()), records)
    echo(f"rejected records deleted {done['quarantined']}")
    if done["kind"] == "follow" and not done["dry_run"]:
        say(
            "`lastcall follow` goes on behind these lines; to have them again, read the file with "
            "`lastcall ingest`"
        )


def forgotten(done: Mapping[str, Any], *, to_come: bool) -> None:
    """Print what forgetting a client or a server came to, or is *to_come* to."""
    of = [f"{what} {done[what]}" for what in ("client", "server") if done[what] is not None]
    echo(safe(f"{' at '.join(of)}: {'would be forgotten' if to_come else 'forgotten'}"))
    if done["spellings"]:
        echo(safe("spellings: " + ", ".join(done["spellings"])))
    _counted("events", done["deleted"], done["events"])
    for what, name in (
        ("sessions", "sessions that nothing else is known of"),
        ("callers", "callers that nothing else is known of"),
        ("quarantined", "rejected records"),
        ("told", "marks, releases and the like"),
        ("batches", "batches"),
        ("followed", "followed files"),
    ):
        if done[what]:
            echo(f"{name} {done[what]}")
    if not to_come:
        say("the same lines, sent or read again, bring it back; back-ups still hold it")


def _counted(what: str, number: int, parts: Mapping[str, int]) -> None:
    """Print a number and what it is made of."""
    made = ", ".join(f"{n} {part}" for part, n in parts.items())
    echo(f"{what} {number}" + (f": {made}" if made else ""))


def audit(answer: Mapping[str, Any]) -> None:
    """Print lines of the audit, newest first."""
    if not answer["items"]:
        echo("Nothing was changed by hand, or taken back.")
    for row in answer["items"]:
        said = (
            (name, value)
            for name, value in row["detail"].items()
            if value not in (None, "", {}, [])
        )
        detail = ", ".join(_member(*member) for member in said)
        echo(
            f"{minute(row['at'], UTC)}  {safe(row['actor'])}  {safe(row['action'])} {safe(row['subject'])}"
            + (f": {detail}" if detail else "")
        )


def tokens(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print tokens, a line each."""
    if not rows:
        echo("No token was ever made.")
    for row in rows:
        limits = [f"{name} {value:,}" for name, value in row["limits"].items() if value is not None]
        said = [row["scope"], f"made {minute(row['created'], UTC)} by {row['created_by']}"]
        said.append(f"last used {minute(row['last_used'], UTC)}")
        if row["revoked"]:
            said.append(f"revoked {minute(row['revoked'], UTC)} by {row['revoked_by']}")
        echo(safe(f"{row['name']}: " + ", ".join(said + limits)))


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
