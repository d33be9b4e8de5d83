"""
How a connection is read: no further than the application asks.

asyncio reads up to 256 KiB and uvicorn keeps 64 KiB before anybody has asked for a body. With a
thousand senders that wait their turn that is a quarter of a gigabyte, so here a request that is not
yet being read holds its first piece only; the rest stays with the system and slows the sender down.
"""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_BYTES: Final = 2 * 1024
_PIECE_BYTES: Final = 128 * 1024
_HEAD_PATIENCE_S: Final = 20
"""A head that is not whole by then ends the connection: whoever opens many of them could open all."""

# Every connection reads into the same memory: what came is copied out before the next one reads.
_buffer: Final = memoryview(bytearray(_PIECE_BYTES))


class Connection(H11Protocol, asyncio.BufferedProtocol):
    """uvicorn's HTTP connection, reading a body piece by piece as the application takes it."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and expect a head."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._head_is_whole()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_PATIENCE_S, self.transport.close)

    def _head_is_whole(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        """Hand out what the next piece is read into: much only where it is asked for, or dropped."""
        within_body = self.conn.their_state is h11.SEND_BODY
        return _buffer if within_body else _buffer[:_HEAD_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        """Take a piece; unless the application is still waiting for one, read no more for now."""
        before: Any = self.cycle
        self.data_received(bytes(_buffer[:nbytes]))
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        else:
            self._head_is_whole()
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete or not cycle.more_body:
            return
        if cycle is not before or cycle.body:
            self.flow.pause_reading()
