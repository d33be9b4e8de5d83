"""
Links that show one filter to whoever holds them: what each is bound to, and until when. All frozen; no secret is in
any of them.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from service.tokens import SECRET_BYTES

PREFIX: Final = "lcs_"
"""By which the secret of a link is known where it was left lying about."""
KEYS: Final = ("server", "name", "client")
"""What a link can be bound to: the filters that questions have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """
    The filter that a link shows, and nothing beside it. `client=""` is the calls that name no client; None is any
    name, or any client, of the server.
    """

    server: str
    name: str | None = None
    client: str | None = None

    def given(self) -> dict[str, str]:
        """What it is bound to, by the names of the filters."""
        said = {key: getattr(self, key) for key in KEYS}
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A link. It ends at `expires_us` (None: never), or when it is revoked."""

    id: int
    bound: Bound
    embed: tuple[str, ...]
    """Origins whose pages may frame it."""
    created_us: int
    actor: str
    """Who made it."""
    expires_us: int | None
    used_us: int | None = None
    """When it was last used, to the minute."""
    revoked_us: int | None = None
    revoked_by: str | None = None
    known_as: frozenset[str] = frozenset()
    """Keys of the client that it is bound to, whatever that is called by now; only of a link that was looked up."""

    def stands(self, now_us: int) -> bool:
        """Whether it still shows anything."""
        return self.revoked_us is None and (self.expires_us is None or now_us < self.expires_us)


@dataclass(frozen=True, slots=True)
class SharedNow:
    """A link that was just made, with its secret, which nobody is told again."""

    share: Share
    secret: str

    @property
    def path(self) -> str:
        """Where it leads, below the root of the service."""
        return f"/shared/{self.secret}/"


def new_secret() -> str:
    """A secret of 256 random bits, in characters that may stand in a path as they are."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)
