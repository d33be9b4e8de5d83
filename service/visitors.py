"""Who makes a request, as the door of the service has found out. Routes ask here, and decide nothing."""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from service.errors import Busy
from service.shares import Bound, Share
from service.tokens import Scope, Token

COOKIE: Final = "lastcall_login"
"""In which a browser keeps a pass (`service.access`)."""
_KEY: Final = "lastcall.visitor"
STRANGER_BYTES: Final = 4 * 1024
"""Of what a stranger sends no more is read: a login is shorter."""
STRANGER_PATIENCE_S: Final = 3
"""How long a stranger may take to send it."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """
    Somebody at the door. Without a token it is whoever comes while the service is open, or somebody who may
    only see what all may.
    """

    token: Token | None = None
    logged_in: bool = False
    """By a cookie, on pages."""
    is_stranger: bool = False
    """Nobody asked who it is: what it may see is for all, and little is read of what it sends."""
    unsure: Busy | None = None
    """Why the token could not be looked up: nothing may be stored, and the sender is told to come again."""
    is_guest: bool = False
    """It came by a link that shows one filter, or that shows nothing any more. Whatever else it bears counts for
    nothing."""
    share: Share | None = None
    """The link, where it stands."""
    leads: Callable[[str], bool] = field(default=lambda _path: True, compare=False, repr=False)
    """Whether a page, by its path below the root, is one that this visitor can be led to."""

    @property
    def is_admin(self) -> bool:
        """Whether it may see and do everything; the door has let it in."""
        if self.is_guest:
            return False
        if self.token is None:
            return not self.is_stranger and self.unsure is None
        return self.token.scope is Scope.ADMIN


class _HasScope(Protocol):
    @property
    def scope(self) -> MutableMapping[str, Any]: ...


def announced(scope: Mapping[str, Any], visitor: Visitor) -> dict[str, Any]:
    """The scope of a request (ASGI), with who makes it."""
    return {**scope, _KEY: visitor}


def visitor_in(scope: Mapping[str, Any]) -> Visitor:
    """Who makes a request that the door has let in, by its scope."""
    found: Visitor = scope[_KEY]
    return found


def visitor_of(request: _HasScope) -> Visitor:
    """Who makes a request that the door has let in."""
    return visitor_in(request.scope)


def bound_of(request: _HasScope) -> Bound | None:
    """What everything that this request asks is bound to; None for whoever may ask for all."""
    share = visitor_of(request).share
    return None if share is None else share.bound


def actor_of(request: _HasScope, way: str) -> str:
    """Whom the audit names: the token, or the *way* in where none was needed."""
    token = visitor_of(request).token
    return way if token is None else token.name
