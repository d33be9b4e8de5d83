"""
What senders to Elasticsearch ask and set up before they send: answered so that they go on.

There is no cluster, and templates, policies and pipelines change nothing here.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from service.api.receivers.elasticsearch_answers import PRODUCT, answered, nothing_at, refusal
from service.refusals import route_class

VERSION: Final = "8.11.0"
"""What senders are told that they speak to: clients of 7, 8 and 9 take it."""

READ: Final = ["GET", "HEAD"]
_SENDERS: Final = re.compile(
    r"elastic|logstash|beats?/|vector/|fluent|rsyslog|syslog-ng", re.IGNORECASE
)

Handshake: Final = route_class(refusal)
"""The class of routes that refuse as Elasticsearch does."""
router = APIRouter(route_class=Handshake)


class ForSenders(APIRoute):
    """A route that is there for senders to Elasticsearch only, where people see a page."""

    for_senders = True
    refuses = staticmethod(refusal)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match nothing that `is_sender` does not."""
        if is_sender(Headers(scope=scope)):
            return super().matches(scope)
        return Match.NONE, {}


def is_sender(headers: Headers) -> bool:
    """
    Say whether a request for `/` wants the banner of Elasticsearch rather than a page.

    It does where it does not ask for HTML, and accepts Elasticsearch's own type, has the header of its
    clients or the User-Agent of a known sender.
    """
    accept = headers.get("accept", "")
    if "text/html" in accept:
        return False
    return (
        "vnd.elasticsearch" in accept
        or "x-elastic-client-meta" in headers
        or _SENDERS.search(headers.get("user-agent", "")) is not None
    )


async def banner(request: Request) -> Response:
    """What every client asks first."""
    content = {
        "name": "lastcall",
        "cluster_name": "lastcall",
        "cluster_uuid": "lastcall",
        "version": {
            "number": VERSION,
            "build_flavor": "default",
            "build_type": "tar",
            "build_snapshot": False,
            "lucene_version": "9.8.0",
            "minimum_wire_compatibility_version": "7.17.0",
            "minimum_index_compatibility_version": "7.0.0",
        },
        "tagline": "You Know, for Search",
    }
    return answered(request, content)


@router.api_route("/_license", methods=READ)
async def license_(request: Request) -> Response:
    """Of the kind that asks for nothing."""
    said = {"status": "active", "uid": "lastcall", "type": "basic", "issued_to": "lastcall"}
    return answered(request, {"license": said})


@router.api_route("/_xpack", methods=READ)
async def xpack(request: Request) -> Response:
    """No features."""
    said = {"status": "active", "uid": "lastcall", "type": "basic", "mode": "basic"}
    return answered(request, {"build": {}, "license": said, "features": {}})


@router.api_route("/_cluster/health", methods=READ)
@router.api_route("/_cluster/health/{index}", methods=READ)
async def cluster_health(request: Request) -> Response:
    """Well."""
    shards = {"active_primary_shards": 1, "active_shards": 1, "unassigned_shards": 0}
    nodes = {"number_of_nodes": 1, "number_of_data_nodes": 1}
    said = {"cluster_name": "lastcall", "status": "green", "timed_out": False}
    return answered(request, {**said, **nodes, **shards})


@router.api_route("/_cat/health", methods=READ)
async def cat_health(request: Request) -> Response:
    """Well, in one line."""
    if request.query_params.get("format") == "json":
        return answered(request, [{"cluster": "lastcall", "status": "green"}])
    return Response("lastcall green 1 1\n", headers=PRODUCT, media_type="text/plain")


@router.api_route("/_refresh", methods=["GET", "POST"])
@router.api_route("/{index}/_refresh", methods=["GET", "POST"])
async def refresh(request: Request) -> Response:
    """Nothing is to be done: what was answered is stored."""
    return answered(request, {"_shards": {"total": 1, "successful": 1, "failed": 0}})


@router.api_route("/_{kind}/{name}", methods=[*READ, "PUT", "POST"])
@router.api_route("/_{kind}/{more}/{name}", methods=[*READ, "PUT", "POST"])
async def thing(request: Request, kind: str, name: str, more: str = "") -> Response:
    """A policy, template, pipeline or stream: one that is looked for is there, so that none is made; one
    that is made all the same is taken, whatever is in it."""
    there = _THERE.get(f"{kind}/{more}" if more else kind)
    if there is None:
        raise nothing_at(request)
    return answered(request, there(name) if request.method in READ else {"acknowledged": True})


_THERE: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "ilm/policy": lambda name: {name: {"version": 1, "policy": {"phases": {}}}},
    "index_template": lambda name: {
        "index_templates": [{"name": name, "index_template": {"index_patterns": [name]}}]
    },
    "component_template": lambda name: {
        "component_templates": [{"name": name, "component_template": {"template": {}}}]
    },
    "template": lambda name: {name: {"index_patterns": [name], "settings": {}, "mappings": {}}},
    "ingest/pipeline": lambda name: {name: {"processors": []}},
    "data_stream": lambda name: {"data_streams": [{"name": name, "status": "GREEN"}]},
}
"""What is said of a thing of each kind, by the path of the kind."""
