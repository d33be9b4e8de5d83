"""One file that is followed: where it is, whether it changed, and how far it was read."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Final, NamedTuple

from service.errors import UnreadableInput
from service.ingest import follow
from service.ingest.keys import Continued
from service.store.follow import Place

QUIET_S: Final = 30.0
"""A file that nothing names any more is let go when it was not written to for so long."""
RETRY_S: Final = 30.0
"""A file that could be opened and not be read is tried again when it was changed, or after so long."""


class Replaced(Exception):
    """The file was given other content while it was read, or its name another file."""


class State(NamedTuple):
    """What tells whether a file was changed."""

    size: int
    changed_ns: int
    linked: bool
    """Whether it still has a name."""


@dataclass(slots=True, eq=False)
class Tail:
    """One followed file, under the name that it has now."""

    path: str
    id: str
    file: BinaryIO | None = None
    content: follow.Content | None = None
    place: Place | None = None
    delivery: Continued | None = None
    done: State | None = None
    """As it was when all was read that could be."""
    trouble: str | None = None
    """Why it cannot be read now."""
    failed: tuple[State, float] | None = None
    """As it was when it could be opened and not be read, and when that was."""
    checked: State | None = None
    """As it was when all of a compressed file was found to begin with what was read of it."""
    ends: list[int] = field(default_factory=list)
    """Where a compressed file is still to be cut, the next place last."""
    searched: int = 0
    """Up to here no line ends behind the place."""
    pending: bool = False
    """Whether an unfinished last line is held back."""
    grew: float = field(default_factory=monotonic)

    @property
    def quiet(self) -> bool:
        """Whether it was not written to for a while."""
        return monotonic() - self.grew > QUIET_S

    def rests(self, state: State) -> bool:
        """Whether there is nothing to be done about a file in this state."""
        if self.failed is not None:
            before, at = self.failed
            return state == before and monotonic() - at < RETRY_S
        return state == self.done

    def fail(self, detail: str) -> None:
        """Note that the file cannot be read, and close it."""
        self.trouble, self.failed = detail, None
        if self.file is not None and (state := self.state()):
            self.failed = (state, monotonic())
        self.forget()
        self.close()

    def succeed(self, state: State) -> None:
        """Note that all was read that there was in this state."""
        self.searched = state.size
        self.done = state
        self.trouble = self.failed = None

    def state(self) -> State | None:
        """
        Return the file's state now, None where the name stands for another one meanwhile.

        Raises:
            UnreadableInput: It cannot be looked at.
        """
        try:
            about = Path(self.path).stat() if self.file is None else os.fstat(self.file.fileno())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UnreadableInput(f"{self.path}: {error.strerror or error}") from error
        if follow.file_id(about) != self.id:
            return None
        return State(about.st_size, about.st_mtime_ns, about.st_nlink > 0)

    def open(self) -> follow.Content:
        """
        Return the content; the file stays open until `close`.

        Raises:
            UnreadableInput: It cannot be opened.
            Replaced: The name stands for another file.
        """
        if self.file is None:
            self.file = follow.open_file(self.path)
            if self.state() is None:
                self.close()
                raise Replaced
        if self.content is None or self.place is None or not self.place.size:
            self.content = follow.content_of(self.path, self.file)  # it may have been empty before
        return self.content

    def close(self) -> None:
        """Close the file; how far it was read is kept."""
        if self.file is not None:
            self.file.close()
        self.file = self.content = None

    def forget(self) -> None:
        """Look up anew how far it was read: what is known of that may be wrong."""
        self.place = self.delivery = self.checked = self.done = None
        self.ends = []
        self.searched = 0

    def next_end(self, place: Place, content: follow.Content, *, last: bool) -> int | None:
        """
        Return where the next piece can end, None where no further line is whole; *last*: the
        unfinished line at the end is taken for whole.
        """
        if content.packed:
            return self.ends.pop() if self.ends else None
        newline, _ = follow.newline_of(content)
        start = max(place.size, self.searched - len(newline) + 1)
        return next(follow.piece_ends(content.chunks(start), start, newline, to_end=last), None)
