"""The path under which a reverse proxy shows the service: there in every request, whether the proxy took it off or not."""

from starlette.types import ASGIApp, Receive, Scope, Send


class Rooted:
    """ASGI middleware: puts the root path before the paths that lack it, as ASGI wants it."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        """*root* begins with a slash and ends in none; empty where there is no proxy, or it shows us at `/`."""
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        root = self._root
        if scope["type"] == "http" and root:
            scope = {**scope, "root_path": root}
            if not f"{scope['path']}/".startswith(f"{root}/"):
                scope["path"] = root + scope["path"]
                if scope.get("raw_path"):
                    scope["raw_path"] = root.encode() + scope["raw_path"]
        await self._app(scope, receive, send)


def root_of(scope: Scope) -> str:
    """The root path, also of a request that has come to a mount, whose own path counts as part of it."""
    root: str = scope.get("app_root_path", scope.get("root_path", ""))
    return root


def path_of(scope: Scope) -> str:
    """The path of a request without the root."""
    path: str = scope["path"]
    return path.removeprefix(root_of(scope)) or "/"


def raw_path_of(scope: Scope) -> bytes | None:
    """The same as it was sent, where that is known."""
    raw: bytes | None = scope.get("raw_path")
    return raw and raw.removeprefix(root_of(scope).encode())
