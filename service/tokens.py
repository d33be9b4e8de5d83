"""
What lets somebody in: tokens, what each may do, and how much. All frozen; no secret is in any of them.
"""

import hashlib
import secrets
from dataclasses import dataclass, fields
from enum import StrEnum

PREFIX = "lct_"
"""By which a secret of ours is known where it was left lying about."""
SECRET_BYTES = 32


class Scope(StrEnum):
    """What a token may do."""

    INGEST = "ingest"
    """Deliver log lines, of one server or of any."""
    READ = "read"
    """Ask for everything that is shown, but for what only admins see."""
    ADMIN = "admin"
    """All that the others may, and tell and take back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one token may deliver; None is what the settings say. Each is at most its setting."""

    records_per_s: int | None = None
    """Records a second, on the long run."""
    burst: int | None = None
    """Records that may come at once; None is ten seconds' worth."""
    sent_bytes: int | None = None
    """Size of a body as it is sent."""
    body_bytes: int | None = None
    """Size of a body after decompression."""
    line_bytes: int | None = None
    depth: int | None = None
    """Deepest nesting of JSON."""

    def given(self) -> dict[str, int]:
        """Those that are given, by name."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in said.items() if value is not None}


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token. `server` is the only one that an `ingest` token may deliver lines of; None is any."""

    id: int
    name: str
    scope: Scope
    server: str | None
    limits: Limits
    created_us: int
    actor: str
    """Who made it."""
    used_us: int | None = None
    """When it was last used, to the minute."""
    revoked_us: int | None = None
    revoked_by: str | None = None

    @property
    def scope_text(self) -> str:
        """The scope as it is written: `ingest:maps`, `ingest:*`, `read`, `admin`."""
        if self.scope is Scope.INGEST:
            return f"{self.scope}:{self.server or '*'}"
        return str(self.scope)


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that was just made, with its secret, which nobody is told again."""

    token: Token
    secret: str


def new_secret() -> str:
    """A secret of 256 random bits, in characters that may stand in a URL as they are."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """What is kept of a secret: SHA-256, hex. Nobody guesses 256 random bits, so a slow hash adds nothing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
