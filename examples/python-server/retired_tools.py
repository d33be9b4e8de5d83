"""Answer calls to retired tools, tell clients that the list changed, and log both.

Copy this file into a server on the `mcp` SDK 2.x, give it the names that are gone, and connect it:

    retired = RetiredTools(names, json_logger(sys.stderr))
    server = MCPServer("maps", middleware=[retired], subscriptions=retired.bus)
    app = retired.watch_streams(server.streamable_http_app())  # over HTTP only
    await retired.announce("deploy")  # once the list has changed

It stands in the SDK's middleware, so every line is about a message that came or went.
"""

import os
import platform
import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TextIO, cast

import structlog
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

NOTIFICATION = "Tool list changed notification sent"
LISTEN = "Tool list subscription opened"


def json_logger(stream: TextIO) -> Any:
    """Return a logger of JSON lines; never on standard output, which belongs to MCP on stdio."""

    def add_time(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
        # Nanoseconds tell two equal calls from one line that was delivered twice.
        seconds, ns = divmod(time.time_ns(), 10**9)
        return {"timestamp": f"{datetime.fromtimestamp(seconds, UTC):%FT%T}.{ns:09d}Z", **event}

    steps: list[Any] = [
        structlog.processors.add_log_level,
        add_time,
        structlog.processors.JSONRenderer(),
    ]
    logger = structlog.PrintLogger(stream)
    return structlog.wrap_logger(logger, processors=steps, wrapper_class=structlog.BoundLogger)


class RetiredTools:
    """Middleware for `MCPServer`; `names` maps a retired name to its facts, see `answer`."""

    def __init__(self, names: Mapping[str, Mapping[str, Any]], log: Any) -> None:
        self.names, self.log, self.bus = names, log, InMemorySubscriptionBus()
        self._trigger = ""
        self._sessions: dict[Connection, dict[str, Any]] = {}  # those that began with a handshake
        self._streams: dict[str, int] = {}  # open GET streams of each session
        self._process = uuid.uuid4().hex  # on stdio the process is the session

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Let the SDK answer, then log what it did; only the text for a retired name is changed."""
        who = self._who(ctx)
        if ctx.method == "subscriptions/listen":
            ctx = replace(ctx, session=cast(Any, _ListenStream(ctx.session, self, who)))
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        if ctx.method == "initialize":
            who["protocol_version"] = result["protocolVersion"]
            self._remember(ctx.session._connection, who)
            # The SDK says false whatever a server does, and some clients go by it.
            result["capabilities"]["tools"]["listChanged"] = True
        if ctx.method in ("initialize", "server/discover"):
            self.log.info("Client initialized", **who)
        elif ctx.method == "tools/list":
            who |= {"ttl_ms": result["ttlMs"]} if "ttlMs" in result else {}
            self.log.info("Tools listed", listed_count=len(result["tools"]), **who)
        elif ctx.method == "tools/call":
            return self._called((ctx.params or {})["name"], result, who)
        return result

    def _who(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
        """Return the fields of a line that say who sent the message."""
        # The SDK keeps clientInfo of `initialize`, and since 2026-07-28 that of the request's
        # _meta["io.modelcontextprotocol/clientInfo"], in one place; `initialize` itself is not
        # there yet. Only the connection knows the session's id, and it has no public name yet.
        known = ctx.session.client_params
        info = known.client_info.model_dump() if known else (ctx.params or {}).get("clientInfo", {})
        who = {
            "client": info.get("name"),
            "client_version": info.get("version"),
            "session_id": ctx.session._connection.session_id,
            "request_id": ctx.request_id if ctx.request_id is None else str(ctx.request_id),
            "protocol_version": ctx.protocol_version,
        }
        if ctx.request is None:
            who |= {"transport": "stdio", "session_id": self._process}
            who |= {"hostname": platform.node(), "pid": os.getpid()}
        return {key: value for key, value in who.items() if value is not None}

    def _called(self, tool: str, result: dict[str, Any], who: dict[str, Any]) -> HandlerResult:
        """Log a call by how the SDK answered it; a name that still works is not retired yet."""
        unknown = f"Unknown tool: {tool}"
        texts = [block.get("text") for block in result.get("content", ())]
        if not result.get("isError") or texts != [unknown]:
            self.log.info("Tool called", tool=tool, **who)
            return result
        if tool not in self.names:
            self.log.warning(unknown, tool=tool, **who)
            return result
        text, facts = self.answer(tool), self.names[tool]
        about = {"last_release": facts["lastRelease"], "replaced_by": facts["replacedBy"]}
        self.log.warning("Retired tool called", tool=tool, **who, **about, tombstone=text)
        return {**result, "content": [{"type": "text", "text": text}]}

    def answer(self, tool: str) -> str:
        """Return what a caller of a retired name is told: the replacement, and how inputs map."""
        facts = self.names[tool]
        gone = f"The tool '{tool}' was retired after {facts['lastRelease']}"
        if not facts["replacedBy"]:
            return f"{gone} and nothing replaces it. List the tools again."
        new = " and ".join(f"'{name}'" for name in facts["replacedBy"])
        return f"{gone}. Call {new} instead; its inputs: {facts['inputs']}."

    async def announce(self, trigger: str) -> None:
        """Send `notifications/tools/list_changed` to whoever has a channel for it."""
        self._trigger = trigger
        for connection, who in list(self._sessions.items()):
            if "transport" in who or who.get("session_id") in self._streams:
                await connection.send_tool_list_changed()
                self.log.info(NOTIFICATION, trigger=trigger, **who)
        await self.bus.publish(ToolsListChanged())  # the listen streams of 2026-07-28

    def _remember(self, connection: Connection, who: dict[str, Any]) -> None:
        self._sessions[connection] = {key: who[key] for key in who if key != "request_id"}
        connection.exit_stack.callback(self._sessions.pop, connection, None)

    def watch_streams(self, app: Any) -> Any:
        """Wrap the ASGI app: the channel of an older session is a GET request, not a message."""

        async def watched(scope: Any, receive: Any, send: Any) -> None:
            session = dict(scope.get("headers", ())).get(b"mcp-session-id", b"").decode("latin-1")
            opened = False

            async def observe(message: Any) -> None:
                nonlocal opened
                await send(message)
                if message["type"] == "http.response.start" and message["status"] == 200:
                    opened = True
                    self._streams[session] = self._streams.get(session, 0) + 1
                    known = (who for who in self._sessions.values() if who["session_id"] == session)
                    self.log.info(LISTEN, **next(known, {"session_id": session}))

            try:
                await app(
                    scope, receive, observe if scope.get("method") == "GET" and session else send
                )
            finally:
                if opened and self._streams[session] == 1:
                    del self._streams[session]
                elif opened:
                    self._streams[session] -= 1

        return watched


class _ListenStream:
    """The session of a `subscriptions/listen` request, which logs what it has written."""

    def __init__(self, session: ServerSession, retired: RetiredTools, who: dict[str, Any]) -> None:
        self._session, self._retired, self._who = session, retired, who

    async def send_notification(self, notification: Any, *args: Any, **options: Any) -> None:
        await self._session.send_notification(notification, *args, **options)
        log, method = self._retired.log, notification.method
        if method == "notifications/tools/list_changed":
            log.info(NOTIFICATION, trigger=self._retired._trigger, **self._who)
        elif method != "notifications/subscriptions/acknowledged":
            return
        elif notification.params.notifications.tools_list_changed:
            log.info(LISTEN, **self._who)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)
