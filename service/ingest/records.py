"""
What is read: records, as lines or as values that were parsed already, and what carried them here.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple


class Origin(NamedTuple):
    """What the wrappers around a record say of it that it may not say itself."""

    time: object = None
    """When the innermost wrapper that knows it was given the record: counts where the record has no time
    of its own. As `times.parse_time` reads it."""
    native_id: str | None = None
    """Names this record among all of its feed, the same whenever it is delivered; with a prefix for
    whose id it is. It tells equal records apart and is no part of them."""
    wrappers: tuple[str, ...] = ()
    """Names of the wrappers that were peeled off, outermost first."""


BARE: Final = Origin()
"""Of a record that nothing is wrapped around."""


class Line(NamedTuple):
    """One line that is not blank, without newline, carriage return and padding in front."""

    raw: bytes
    """The line; of a too long one its first 4 KiB."""
    unfinished: bool = False
    """The stream ended before the line's newline."""
    too_long: bool = False
    json_like: bool = False
    """Of a too long line: whether it begins like a JSON object."""
    origin: Origin = BARE


class Parsed(NamedTuple):
    """A record that came as a JSON value inside something larger."""

    value: object
    origin: Origin = BARE
    broken: bool = False
    """The value is the text of something that is no JSON."""


Record = Line | Parsed


class Limits(NamedTuple):
    """What is taken at most."""

    body_bytes: int
    """Of a request's body, before and after decompression."""
    line_bytes: int


class Body(NamedTuple):
    """A request's body, read."""

    records: Iterable[bytes | Record]
    """In order; bytes are a block of whole lines, see `lines.split_blocks`."""
    identity: bytes
    """What makes the body what it is: the same when it is sent again, whatever it is compressed with."""


Reader = Callable[[bytes, Limits], Body]
"""
Reads a request's body as it came; one for each protocol.

Raises:
    BodyTooLarge: It is larger than the limits, before or after decompression.
    BodyNotDecodable: It is not what the protocol says.
"""
