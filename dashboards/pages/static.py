"""The files that pages load. They tell nothing, and the page to log in loads them, too."""

from fastapi import Request, Response

from dashboards.pages.frame import new_router
from dashboards.templating import asset, mark_of, packed

router = new_router()
FOR_EVER = "max-age=31536000, immutable"
A_WHILE = "max-age=300"


@router.get("/static/{path:path}")
def static(request: Request, path: str, v: str | None = None) -> Response:
    """The files that pages load; `v` tells which version of the file the page knows."""
    body, media_type = asset(path)
    # A vendored file bears its version in its name.
    known = path.startswith("vendor/") or v == mark_of(path)
    headers = {
        "Cache-Control": f"private, {FOR_EVER if known else A_WHILE}",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    accepted = request.headers.get("accept-encoding", "").replace(" ", "").split(",")
    for coding in ("br", "gzip"):
        if coding in accepted:
            headers["Content-Encoding"] = coding
            body = packed(path, coding)
            break
    return Response(body, media_type=media_type, headers=headers)
