"""What the rows of one run share: its folder, what was asked for, and the logs that it made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchmarks import data


@dataclass(frozen=True, slots=True)
class Options:
    """
    What to measure with.

    `size` and `small` are MB of a mixed log, `share` is that of its lines that are events, `events` are
    lines of the dense log, `seconds` is how long each load lasts. `stored` are the events of the largest
    database that is asked, `repetitions` how often each request is made, and a `long` run asks both mixes
    on both databases. `postgresql` is the URL of a server on which databases may be made.
    """

    seed: int = 1
    share: float = 0.01
    rounds: int = 3
    size: int = 1_000
    small: int = 200
    events: int = 500_000
    seconds: float = 5.0
    stored: int = 10_000_000
    repetitions: int = 30
    long: bool = False
    postgresql: str = "postgresql://postgres@127.0.0.1:5432/postgres"


@dataclass
class Workshop:
    """One run. What is missing on this machine is said once, by `say`."""

    folder: Path
    options: Options
    say: Callable[[str], None]
    _said: set[str] = field(default_factory=set)

    def say_once(self, text: str) -> None:
        """Say something unless it was said before."""
        if text not in self._said:
            self._said.add(text)
            self.say(text)

    @cached_property
    def mixed(self) -> data.Contents:
        """The mixed log."""
        options = self.options
        self.say(f"making a mixed log of {options.size} MB")
        return data.mixed(
            self.folder / "mixed.log", options.size * 1_000_000, options.seed, options.share
        )

    @cached_property
    def gzipped(self) -> Path:
        """The mixed log, gzipped."""
        self.say("compressing it")
        return data.compressed(self.mixed)

    def mixed_at(self, share: float) -> data.Contents:
        """A smaller mixed log with another share of events."""
        options = self.options
        self.say(f"making a mixed log of {options.small} MB, {share:.0%} events")
        path = self.folder / f"mixed-{share:.0%}.log"
        return data.mixed(path, options.small * 1_000_000, options.seed, share)

    @cached_property
    def dense(self) -> data.Contents:
        """The dense log."""
        self.say(f"making a dense log of {self.options.events:,} lines")
        return data.dense(self.folder / "dense.log", self.options.events, self.options.seed)
