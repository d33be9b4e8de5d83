"""
What can go wrong, each error naming what would succeed.

The API turns every one of these into one problem+json answer; commands print `detail` and end with
`exit_status`.
"""

from typing import ClassVar


class LastCallError(Exception):
    """Something a user can mend. `detail` says what was wrong and what would make it right."""

    status: ClassVar[int] = 400
    title: ClassVar[str] = "Request not understood"
    exit_status: ClassVar[int] = 2
    retry_after_s: int = 5
    """When to come again, where that helps (503)."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class BadParameter(LastCallError):
    """A parameter has a value that cannot be used."""

    status = 422
    title = "Parameter cannot be used"

    def __init__(self, parameter: str, detail: str) -> None:
        super().__init__(f"{parameter}: {detail}")
        self.parameter = parameter


class Conflict(LastCallError):
    """What the request builds on has changed since."""

    status = 409
    title = "Data changed"


class Unauthenticated(LastCallError):
    """Whoever asks shows no token that is known. Nothing more is said: not even whether it once was."""

    status = 401
    title = "Token needed"


class Forbidden(LastCallError):
    """Who asks is known, and may not do this."""

    status = 403
    title = "Not allowed"


class NotFound(LastCallError):
    """What was named is not here."""

    status = 404
    title = "Not found"


class TooLate(LastCallError):
    """What is asked for could have been done some time ago."""

    status = 409
    title = "Not possible any more"


class BodyTooLarge(LastCallError):
    """A request body, compressed or not, is larger than the limit."""

    status = 413
    title = "Body too large"


class BodyNotDecodable(LastCallError):
    """A request body is not the encoding or format that it claims to be."""

    status = 422
    title = "Body cannot be decoded"


class Busy(LastCallError):
    """The database cannot take the write now; the same request will succeed later."""

    status = 503
    title = "Try again later"
    exit_status = 1


class TooFast(Busy):
    """Somebody delivers more than they may; the same request will succeed later."""

    title = "Too many records"

    def __init__(self, detail: str, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class StorageUnavailable(Busy):
    """The database is missing, read-only, full or unreachable."""

    title = "Storage unavailable"


class SchemaOutOfDate(LastCallError):
    """The database was written by another version of the product."""

    status = 503
    title = "Database needs an upgrade"


class UnreadableInput(LastCallError):
    """A file that was named cannot be read."""

    exit_status = 1


class UnsafeSetup(LastCallError):
    """The product refuses to start in this configuration."""
