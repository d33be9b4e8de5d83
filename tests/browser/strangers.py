"""Names that strangers chose, and the months of the demo in which every client, retired name and server bears one."""

import json
from collections.abc import Mapping
from datetime import datetime

from service import demo
from tests.acceptance.service import Running

NAMES = (
    "gateway (via inner) (via outer)",
    "GATEWAY (via inner)",
    "tool/1.0/2.0",
    "B" * 300,
    "<img src=x onerror=alert(1)>",
    "<b>bold</b> &lt;i&gt;",
    '"><script>alert(1)</script>',
    "{{ 7 * 7 }}{% raw %}",
    "%{x} ${y}",
    "=1+1",
    "a" * 256,
    "שלום עולם",
    "\u202eevil\u202c",
    "../../etc/passwd?x=1&y=2#z",
    "other",
    "😀 name with spaces",
)
HEADINGS = ("Log", "Notifications")
"""Headings of a table behind a figure, which a series must not be taken for."""
SERVERS = {"maps": '"><script>alert("maps")</script>', "reference": "../../<i>x</i>?tz=UTC&a=1#b"}
RELEASES = {"1.8.0": "1.8.0-<b>&amp;", "2.1.201": "2.1.201'\"><u>"}
_SPELLED = {"tool", "client", "clientVersion", "client_version", "lastRelease", "last_release"}


def fill(service: Running, now: str) -> None:
    """Deliver them, and tell of some: marks, an alias, a rule, entries of the catalogue, releases, a batch taken back."""
    at = datetime.fromisoformat(now)
    logs = {
        server: [json.loads(line) for line in lines] for server, lines in demo.demo_logs(at).items()
    }
    calls = [
        each.get("data", each)
        for lines in logs.values()
        for each in lines
        if "Retired tool called" in each.values()
    ]
    clients = sorted({one["client"] for one in calls if "client" in one})
    new = dict(zip(clients, (*NAMES, *HEADINGS), strict=False))
    new |= dict(zip(sorted({one["tool"] for one in calls}), reversed(NAMES), strict=False))
    new |= RELEASES
    for server, lines in logs.items():
        for each in lines:
            said = each.get("data", each)
            said.update({key: new.get(said[key], said[key]) for key in _SPELLED & said.keys()})
        body = "\n".join(json.dumps(each) for each in lines)
        sent = service.client.post("/ingest", params={"server": SERVERS[server]}, content=body)
        assert sent.json()["rejected"] == 0
    for release in demo.demo_releases(at):
        service.app.state.cataloguing.release(
            SERVERS[release.server],
            RELEASES.get(release.version, release.version),
            release.at_us,
            source="demo",
            actor="demo",
        )
    _tell(service)


def _tell(service: Running) -> None:
    maps, note = SERVERS["maps"], {"note": NAMES[4]}
    for kind, client in (("contacted", NAMES[5]), ("known", NAMES[8]), ("resolved", NAMES[6])):
        told = {"kind": kind, "server": maps, "client": client, "at": "2026-09-20", **note}
        _post(service, "marks", told)
    _post(service, "aliases", {"client": NAMES[2], "target": NAMES[0], **note})
    _post(service, "exclusions", {"client": NAMES[7], **note})
    for name in (NAMES[-1], NAMES[6]):
        entry = {"server": maps, "name": name, "message": NAMES[4], "replaced_by": [NAMES[5]]}
        _post(service, "catalogue", entry)


def _post(service: Running, path: str, told: Mapping[str, object]) -> None:
    answer = service.client.post(f"/api/v1/{path}", json=told)
    assert answer.status_code == 200, answer.text
