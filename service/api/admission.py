"""
How much of what senders deliver is in memory at once.

A request is let in when there is room for its body; until then no more of it is read than the first
piece (`service.connection`). Who waits too long for room, finds too many waiting, or is too slow to
fill what was set aside, is told to come again.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NamedTuple, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.problems import refusal
from service.errors import BodyNotDecodable, BodyTooLarge, Busy
from service.ingest.bodies.compression import looks_compressed
from service.log import Outage
from service.settings import Settings
from service.tokens import NO_LIMITS
from service.tokens import Scope as TokenScope
from service.visitors import STRANGER_BYTES, Visitor, visitor_in, visitor_of

SLOWEST_BYTES_S: Final = 16 * 1024
"""A body that comes more slowly than this, after the first wait, gives up its room."""

STORING_SHARE: Final = 4
"""A body takes many times its size while it is stored, so of those kept only a part is stored at once."""

STORING_PATIENCE_S: Final = 30
"""How long a body that has been read waits for those before it: as long as a writer does."""

MOST_WAITING: Final = 1_024
"""More requests than these are turned away at once: each that waits takes some 10 KiB."""

THREADS: Final = 16
"""Deliveries at work at once; questions have threads of their own."""

STRANGERS_BYTES: Final = 1024 * 1024
"""Room for what strangers send, who may log in: they take none of what senders have."""
READERS_BYTES: Final = 1024 * 1024
"""Room for the forms of whoever may only read."""
READER_BYTES: Final = 64 * 1024

_INFLATION: Final = 8
"""What is set aside for a body that may be compressed, which does not say its size beforehand."""

_TOO_MUCH: Final = "more arrives at once than there is room for; send this body again later"
_BODILESS: Final = {"GET", "HEAD", "OPTIONS"}
_T = TypeVar("_T")


class Overloaded(Busy):
    """There is no room for a body, or its sender is too slow to be given any."""


class _Waiting(NamedTuple):
    amount: int
    granted: "asyncio.Future[None]"


class Budget:
    """A number of bytes that requests share; who does not fit waits, in the order of arrival."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._free = size
        self._queue: deque[_Waiting] = deque()

    @asynccontextmanager
    async def hold(self, amount: int, patience_s: float) -> AsyncIterator[None]:
        """
        Set *amount* bytes aside while the block runs; more than there are takes all of them.

        Raises:
            Overloaded: There was no room within *patience_s* seconds, or too many wait for it.
        """
        amount = min(amount, self._size)
        try:
            async with asyncio.timeout(patience_s):
                await self._take(amount)
        except TimeoutError:
            raise Overloaded(_TOO_MUCH) from None
        try:
            yield
        finally:
            self._give(amount)

    async def _take(self, amount: int) -> None:
        if not self._queue and amount <= self._free:
            self._free -= amount
            return
        if len(self._queue) >= MOST_WAITING:
            raise Overloaded(_TOO_MUCH)
        mine = _Waiting(amount, asyncio.get_running_loop().create_future())
        self._queue.append(mine)
        try:
            await mine.granted
        except asyncio.CancelledError:
            if mine.granted.cancelled():
                self._queue.remove(mine)
                self._grant()
            else:
                self._give(amount)  # granted in the same moment
            raise

    def _give(self, amount: int) -> None:
        self._free += amount
        self._grant()

    def _grant(self) -> None:
        while self._queue and self._queue[0].amount <= self._free:
            if self._queue[0].granted.cancelled():
                return  # it is about to leave the queue, and looks after those behind it
            first = self._queue.popleft()
            self._free -= first.amount
            first.granted.set_result(None)


class Admission:
    """
    ASGI middleware: lets requests with a body in, as many at once as there is room for.

    It stands before all that costs memory, since the waiting may be many.
    """

    def __init__(self, app: ASGIApp, settings: Settings, outage: Outage) -> None:
        """*outage* is told whether there is room."""
        self._app = app
        self._limit = settings.max_body_bytes
        self._patience_s = settings.body_wait_s
        self._kept = Budget(settings.held_bytes)
        self._strangers = Budget(STRANGERS_BYTES)
        self._readers = Budget(READERS_BYTES)
        self._outage = outage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on when there is room, or answer 503."""
        if scope["type"] != "http" or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        length = _length(Headers(scope=scope))
        amount = self._limit if length is None else min(length, self._limit)
        room, most = self._room(visitor_in(scope))
        amount = min(amount, most)
        async with AsyncExitStack() as held:
            try:
                with self._outage.watching():
                    await held.enter_async_context(room.hold(amount, self._patience_s))
            except Overloaded as error:
                await refusal(error)(scope, receive, send)
                return
            await self._app(scope, receive, send)

    def _room(self, visitor: Visitor) -> tuple[Budget, int]:
        """Where there is room for what somebody sends, and how much of it at most: nobody takes what others need."""
        if visitor.is_stranger:
            return self._strangers, STRANGER_BYTES
        token = visitor.token
        if token is None:
            return self._kept, self._limit
        if token.scope is TokenScope.READ:
            return self._readers, READER_BYTES
        limits = (token.limits.sent_bytes, token.limits.body_bytes)
        return self._kept, min([self._limit, *(each for each in limits if each)])


class Workplace:
    """Where bodies are stored, as many at once as there is room for."""

    def __init__(self, settings: Settings) -> None:
        self._room = Budget(max(1, settings.held_bytes // STORING_SHARE))
        self._threads = CapacityLimiter(THREADS)

    async def run(self, store: Callable[[bytes], _T], body: bytes) -> _T:
        """
        Hand a body to *store*, in a thread.

        Raises:
            Overloaded: Those before it take too long.
        """
        inflated = _INFLATION if looks_compressed(body) else 1
        async with self._room.hold(len(body) * inflated, STORING_PATIENCE_S):
            return await to_thread.run_sync(store, body, limiter=self._threads)


async def read_body(request: Request) -> bytes:
    """
    Read the body as it came, never more than the limit of the settings or the token plus one piece.

    Raises:
        BodyTooLarge: It has more bytes than the limit.
        BodyNotDecodable: The sender hung up.
        Overloaded: The sender is too slow.
    """
    settings: Settings = request.app.state.settings
    token = visitor_of(request).token
    limits = token.limits if token else NO_LIMITS
    limit = min(
        settings.max_body_bytes,
        limits.sent_bytes or settings.max_body_bytes,
        limits.body_bytes or settings.max_body_bytes,
    )
    if (_length(request.headers) or 0) > limit:
        raise _too_large(limit)
    pieces, size = [], 0
    begun = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(settings.body_wait_s) as patience:
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise _too_large(limit)
                pieces.append(piece)
                patience.reschedule(begun + settings.body_wait_s + size / SLOWEST_BYTES_S)
    except TimeoutError:
        raise Overloaded(
            "the body comes too slowly to keep room for it; send it again, in smaller parts"
        ) from None
    except ClientDisconnect:
        raise BodyNotDecodable("the sender hung up before the end of the body") from None
    return b"".join(pieces)


def _length(headers: Headers) -> int | None:
    """The length that a body is said to have; None where nothing is said, or nothing that can be."""
    said = headers.get("content-length", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 20 else None


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"a body may have at most {limit} bytes; send it in parts")
